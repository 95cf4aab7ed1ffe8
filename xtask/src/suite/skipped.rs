//! How many tests were skipped, and for want of what: the tests note it in a file that a variable
//! names, because the output of a test that passes is not shown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use tempfile::NamedTempFile;

/// The variable that names the file, for `rethread_judges::skip`.
pub(super) const VARIABLE: &str = "RETHREAD_SKIPPED";

/// The file that tests note in why they are skipped: one line each, the reason, a tab and the test.
pub(super) struct SkipLog(NamedTempFile);

impl SkipLog {
    /// An empty file.
    pub(super) fn new() -> Result<Self> {
        Ok(Self(NamedTempFile::new()?))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What is said about it at the end; nothing if nothing was skipped.
    pub(super) fn summary(&self) -> Result<String> {
        Ok(summary(&std::fs::read_to_string(&self.0)?))
    }
}

fn summary(log: &str) -> String {
    let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for (why, test) in log.lines().filter_map(|line| line.split_once('\t')) {
        reasons.entry(why).or_default().insert(test);
        all.insert(test);
    }
    if all.is_empty() {
        return String::new();
    }
    let mut text = format!("\nSKIPPED in whole or in part: {} tests\n", all.len());
    for (why, tests) in reasons {
        let _ = writeln!(text, "{:>6}  {why}", tests.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_tests_are_counted_once_each_by_reason() {
        let log = "no corpus\ta::one\nno corpus\ta::two\nno strace\ta::one\nno corpus\ta::one\n";
        assert_eq!(
            summary(log),
            "\nSKIPPED in whole or in part: 2 tests\n     2  no corpus\n     1  no strace\n"
        );
        assert_eq!(summary(""), "");
    }
}
