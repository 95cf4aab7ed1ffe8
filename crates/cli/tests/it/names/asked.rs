//! What a command asked the system for, as strace shows it.

use std::path::{Component, Path, PathBuf};

/// A path that the system was asked for.
#[derive(Debug)]
pub(super) struct Asked {
    /// Without `.` and `..`, as if there were no links.
    pub(super) path: PathBuf,
    pub(super) opens: bool,
    pub(super) writes: bool,
}

impl Asked {
    pub(super) fn read(line: &str, here: &Path) -> Option<Self> {
        let (_, call) = line.split_once(' ')?;
        let (name, rest) = call.trim_start().split_once('(')?;
        if name.starts_with("exec") {
            return None;
        }
        // Where there are two, the second is the one that is made.
        let from = rest.find('"')?;
        let (first, rest) = quoted(&rest[from..])?;
        let second = rest.find('"').and_then(|at| quoted(&rest[at..]));
        let makes_second = ["rename", "link", "symlink"]
            .iter()
            .any(|n| name.starts_with(n));
        let path = match second {
            Some((second, _)) if makes_second => second,
            _ => first,
        };
        let writes = match name {
            "open" | "openat" => ["O_WRONLY", "O_RDWR", "O_CREAT"]
                .iter()
                .any(|f| rest.contains(f)),
            "creat" => true,
            _ => [
                "rename",
                "link",
                "symlink",
                "unlink",
                "mkdir",
                "rmdir",
                "mknod",
                "chmod",
                "chown",
                "fchmodat",
                "fchownat",
                "truncate",
                "utime",
                "utimensat",
            ]
            .iter()
            .any(|n| name.starts_with(n)),
        };
        let mut whole = PathBuf::new();
        for part in here.join(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::CurDir => {}
                _ => whole.push(part),
            }
        }
        Some(Self {
            path: whole,
            opens: name.starts_with("open"),
            writes,
        })
    }
}

/// The text in quotation marks that this begins with, and what follows.
fn quoted(text: &str) -> Option<(PathBuf, &str)> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"')?.as_bytes();
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => break,
            b'\\' => {
                let digits = rest
                    .iter()
                    .take(3)
                    .take_while(|b| (b'0'..=b'7').contains(b))
                    .count();
                if digits > 0 {
                    let octal = std::str::from_utf8(&rest[..digits]).ok()?;
                    bytes.push(u8::try_from(u32::from_str_radix(octal, 8).ok()?).ok()?);
                    rest = &rest[digits..];
                    continue;
                }
                let (escaped, after) = rest.split_first()?;
                rest = after;
                bytes.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'v' => 0x0b,
                    b'f' => 0x0c,
                    b'e' => 0x1b,
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
            }
            other => bytes.push(*other),
        }
    }
    let rest = std::str::from_utf8(rest).ok()?;
    Some((PathBuf::from(std::ffi::OsString::from_vec(bytes)), rest))
}
