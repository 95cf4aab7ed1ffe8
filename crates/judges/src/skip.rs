//! Tests that are skipped: for want of a program, or of real conversations.
//!
//! Nobody sees what a passing test prints, so each notes it in the file that `RETHREAD_SKIPPED`
//! names; `cargo xtask test` counts them at the end.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Says that the calling test is skipped, in whole or in part, and why.
pub fn skip(why: &str) {
    eprintln!("skipped: {why}");
    if let Some(log) = std::env::var_os("RETHREAD_SKIPPED") {
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("a test");
        append(Path::new(&log), &format!("{why}\t{test}\n"));
    }
}

/// Says that the calling test is skipped for want of a program.
///
/// # Panics
///
/// Where `CI` is set: nobody would notice it there.
pub fn skip_without(program: &str) {
    assert!(
        std::env::var_os("CI").is_none(),
        "{program} is not installed; run the tests by `cargo xtask test`"
    );
    skip(&format!("{program} is not installed"));
}

/// The folder of real conversations that `RETHREAD_CORPUS` names; none if it is not set, and then
/// the test is to be skipped, which is noted.
///
/// # Panics
///
/// If it names a folder that is missing or empty: a test over nothing shows nothing.
pub fn corpus() -> Option<PathBuf> {
    let folder = corpus_if_any();
    if folder.is_none() {
        skip("RETHREAD_CORPUS names no folder of real conversations");
    }
    folder
}

/// The same for a test that is whole without them, and reads them, too, where they are.
///
/// # Panics
///
/// As [`corpus`] does.
pub fn corpus_if_any() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("RETHREAD_CORPUS")?);
    if let Err(why) = check_corpus(&folder) {
        panic!("RETHREAD_CORPUS: `{}` {why}", folder.display());
    }
    Some(folder)
}

/// Whether a folder has anything in it.
fn check_corpus(folder: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(folder);
    let mut entries = entries.map_err(|e| format!("cannot be read: {e}"))?;
    let is_folder =
        |entry: std::io::Result<std::fs::DirEntry>| entry.is_ok_and(|entry| entry.path().is_dir());
    if entries.any(is_folder) {
        Ok(())
    } else {
        Err("holds no conversations".to_owned())
    }
}

/// Adds a line to a file in one piece: tests of several programs write to it at the same time.
fn append(file: &Path, line: &str) {
    let opened = std::fs::File::options().append(true).open(file);
    let written = opened.and_then(|mut opened| opened.write_all(line.as_bytes()));
    assert!(written.is_ok(), "`{}`: {written:?}", file.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_that_is_missing_or_empty_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let missing = check_corpus(&folder.path().join("missing"));
        assert!(missing.unwrap_err().starts_with("cannot be read"));
        assert!(check_corpus(folder.path()).is_err());
        std::fs::write(folder.path().join("README.md"), "").unwrap();
        assert!(check_corpus(folder.path()).is_err());
        std::fs::create_dir(folder.path().join("pi")).unwrap();
        assert_eq!(check_corpus(folder.path()), Ok(()));
    }

    #[test]
    fn each_note_is_a_line_behind_the_others() {
        let file = tempfile::NamedTempFile::new().unwrap();
        append(file.path(), "one\ta\n");
        append(file.path(), "two\tb\n");
        let noted = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(noted, "one\ta\ntwo\tb\n");
    }
}
