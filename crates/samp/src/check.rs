//! Whether a message folder is as the document wants it.

use std::path::{Path, PathBuf};

use rethread_disk::FileKind;
use rethread_json::{Kind, LineSpan, Lines, Value};

use crate::{
    alias::{Alias, is_alias},
    error::Error,
    folder::{Folder, Log},
    number::is_whole,
    record::{LineReader, Record, StoredId, Unreadable},
    scan,
    seen::{FoundWatermark, Watermark},
    trouble::What,
};

/// One thing that is not as the document wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u64>,
    /// Whether the document demands it. What it only allows old records is a warning.
    pub is_error: bool,
    /// The rule's name.
    pub rule: &'static str,
    /// The section of the document.
    pub section: &'static str,
    /// What is wrong.
    pub message: String,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many logs.
    pub files: u64,
    /// How many lines that are not blank.
    pub records: u64,
    /// What the document forbids.
    pub errors: u64,
    /// What it only discourages.
    pub warnings: u64,
}

/// Checks every log and every reader's state. The folder must be there.
///
/// ```
/// use rethread_samp::{Folder, check};
///
/// let temp = tempfile::tempdir()?;
/// std::fs::write(temp.path().join("log-bob.jsonl"), "[1]\n")?;
/// let mut rules = Vec::new();
/// let checked = check(&Folder::new(temp.path()), &mut |violation| rules.push(violation.rule))?;
/// assert_eq!((checked.errors, rules), (1, vec!["object"]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(folder: &Folder, out: &mut dyn FnMut(&Violation)) -> Result<Checked, Error> {
    // A folder that is not there is a mistake here, not an empty one.
    let failed = |cause| rethread_disk::DiskError::Read {
        path: folder.path().to_owned(),
        cause,
    };
    std::fs::read_dir(folder.path()).map_err(failed)?;
    let mut sheet = CheckSheet {
        out,
        checked: Checked::default(),
    };
    let logs = folder.logs()?;
    for trouble in logs.troubles {
        let (rule, section) = match trouble.what {
            What::NotALog(FileKind::Symlink) => ("symlink", "§5"),
            _ => ("file", "§1"),
        };
        sheet.add_error(&trouble.path, None, rule, section, trouble.what.to_string());
    }
    let mut reader = LineReader::default();
    for log in &logs.logs {
        sheet.checked.files += 1;
        check_log(log, &mut reader, &mut sheet);
    }
    check_states(folder, &mut sheet);
    Ok(sheet.checked)
}

struct CheckSheet<'a> {
    out: &'a mut dyn FnMut(&Violation),
    checked: Checked,
}

impl CheckSheet<'_> {
    fn add_error(
        &mut self,
        path: &Path,
        line: Option<u64>,
        rule: &'static str,
        section: &'static str,
        message: String,
    ) {
        self.checked.errors += 1;
        (self.out)(&Violation {
            path: path.to_owned(),
            line,
            is_error: true,
            rule,
            section,
            message,
        });
    }

    fn add_warning(
        &mut self,
        path: &Path,
        line: Option<u64>,
        rule: &'static str,
        section: &'static str,
        message: String,
    ) {
        self.checked.warnings += 1;
        (self.out)(&Violation {
            path: path.to_owned(),
            line,
            is_error: false,
            rule,
            section,
            message,
        });
    }
}

fn check_log(log: &Log, reader: &mut LineReader, sheet: &mut CheckSheet<'_>) {
    let path = &log.path;
    if !is_alias(&log.owner) {
        let message = format!("`{}` is not an alias", log.owner.escape_debug());
        sheet.add_error(path, None, "file-alias", "§1", message);
    }
    let file = match scan::open_log(log) {
        Ok(file) => file,
        Err(e) => return sheet.add_error(path, None, "file", "§1", e.to_string()),
    };
    let mut lines = Lines::new(&file);
    loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(e) => return sheet.add_error(path, None, "file", "§1", e.to_string()),
        };
        let LineSpan {
            number, terminated, ..
        } = line.span;
        let Some(bytes) = line.whole() else {
            let message = format!("a line of {} bytes is too long to be read", line.span.len);
            sheet.add_warning(path, Some(number), "length", "§2", message);
            continue;
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        sheet.checked.records += 1;
        if !terminated {
            let message = "the last line is not ended".to_owned();
            sheet.add_error(path, Some(number), "line", "§2", message);
        }
        if std::str::from_utf8(bytes).is_err() {
            let message = "not UTF-8".to_owned();
            sheet.add_error(path, Some(number), "utf-8", "§2", message);
        }
        match reader.read(bytes) {
            Ok(record) => check_record(log, number, &record, sheet),
            Err(e @ Unreadable::Json(_)) => {
                sheet.add_error(path, Some(number), "json", "§2", e.to_string());
            }
            Err(e) => sheet.add_error(path, Some(number), "object", "§2", e.to_string()),
        }
    }
}

fn check_record(log: &Log, line: u64, record: &Record<'_>, sheet: &mut CheckSheet<'_>) {
    let path = &log.path;
    let line = Some(line);
    for key in ["ts", "from", "to", "thread", "body"] {
        if record.field(key).is_none() {
            let message = format!("`{key}` is missing");
            sheet.add_error(path, line, "required", "§2", message);
        }
    }
    if let Some(ts) = record.field("ts")
        && !(ts.kind() == Kind::Number && is_whole(ts.raw()) && !ts.raw().starts_with(b"-"))
    {
        let message = format!("`ts` is {}, not an integer of 0 or more", shown_value(ts));
        sheet.add_error(path, line, "ts", "§2", message);
    }
    for key in ["from", "to"] {
        let value = record.field(key);
        let is_name = |value: Value<'_>| value.str().is_some_and(|text| is_alias(&text));
        if let Some(value) = value.filter(|value| !is_name(*value)) {
            let message = format!("`{key}` is {}, not an alias", shown_value(value));
            sheet.add_error(path, line, "alias", "§1", message);
        }
    }
    for key in ["thread", "body"] {
        let value = record.field(key);
        if let Some(value) = value.filter(|value| value.kind() != Kind::String) {
            let message = format!("`{key}` is {}, not a string", shown_value(value));
            sheet.add_error(path, line, "string", "§2", message);
        }
    }
    if !record.is_text() {
        let message = "a string holds half a character, which UTF-8 cannot say".to_owned();
        sheet.add_error(path, line, "text", "§3", message);
    }
    check_id(path, line, record, sheet);
    if let Some(from) = record.from().filter(|from| **from != *log.owner) {
        let message = format!(
            "`from` is `{}`, but this is the log of `{}`: one writer a log",
            from.escape_debug(),
            log.owner.escape_debug()
        );
        sheet.add_error(path, line, "single-writer", "§5", message);
    }
}

fn check_id(path: &Path, line: Option<u64>, record: &Record<'_>, sheet: &mut CheckSheet<'_>) {
    let id = record.id();
    match record.stored_id() {
        StoredId::Right => {}
        StoredId::Missing => {
            let message = format!("`id` is missing, as in records of old; it is {id}");
            sheet.add_warning(path, line, "id-missing", "§3", message);
        }
        StoredId::Wrong(stored) if stored.parse::<crate::id::Id>().is_ok() => {
            let message = format!("`id` is {stored}, but {id} follows from the content");
            sheet.add_error(path, line, "id", "§3", message);
        }
        StoredId::Wrong(stored) => {
            let stored: String = stored.chars().take(40).collect();
            let message = format!("`id` is `{}`, not 16 hex digits", stored.escape_debug());
            sheet.add_error(path, line, "id-form", "§2", message);
        }
    }
}

/// The beginning of a value as it is spelled.
fn shown_value(value: Value<'_>) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(value.raw());
    let mut short: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    format!("`{}`", short.escape_debug())
}

/// The watermarks of readers must be what the document says, or other readers stumble over them.
fn check_states(folder: &Folder, sheet: &mut CheckSheet<'_>) {
    let Ok(entries) = std::fs::read_dir(folder.path()) else {
        return;
    };
    let mut readers: Vec<Alias> = entries
        .flatten()
        .filter_map(|entry| Alias::new(entry.file_name().to_str()?.strip_prefix(".seen-")?).ok())
        .collect();
    readers.sort();
    for reader in readers {
        let path = folder.seen_of(&reader);
        if matches!(Watermark::read(&path), Ok(FoundWatermark::Watermark(_))) {
            continue;
        }
        let message = "not a watermark, `{\"ts\": …, \"ids\": […]}`".to_owned();
        sheet.add_error(&path, None, "watermark", "§6", message);
    }
}
