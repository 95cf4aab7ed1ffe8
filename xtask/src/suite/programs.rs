//! Which test programs cargo built: its messages, one JSON object a line.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::TestProgram;

/// The test programs among what cargo says it built.
pub(super) fn parse(messages: &str) -> Result<Vec<TestProgram>> {
    let mut found = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("cargo's message is no JSON")?;
        let is_test = message["profile"]["test"] == true;
        let (Some(file), true) = (message["executable"].as_str(), is_test) else {
            continue;
        };
        let path = |value: &Value| Some(PathBuf::from(value.as_str()?));
        let manifest = path(&message["manifest_path"]).context("cargo names no package")?;
        let source = path(&message["target"]["src_path"]).context("cargo names no source")?;
        let package = manifest.parent().unwrap_or(Path::new("."));
        let source = source.strip_prefix(package).unwrap_or(&source);
        found.push(TestProgram {
            file: file.into(),
            package: package.to_owned(),
            source: source.display().to_string(),
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_with_tests_are_taken() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/x/crates/cli/Cargo.toml","target":{"src_path":"/x/crates/cli/src/main.rs"},"profile":{"test":false},"executable":"/x/target/debug/rethread"}
{"reason":"compiler-artifact","manifest_path":"/x/crates/cli/Cargo.toml","target":{"src_path":"/x/crates/cli/tests/it/main.rs"},"profile":{"test":true},"executable":"/x/target/debug/deps/it-1"}
{"reason":"compiler-artifact","manifest_path":"/x/crates/cli/Cargo.toml","target":{"src_path":"/x/crates/cli/src/lib.rs"},"profile":{"test":true},"executable":null}
{"reason":"build-finished","success":true}
"#;
        let found = parse(messages).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].file, Path::new("/x/target/debug/deps/it-1"));
        assert_eq!(found[0].package, Path::new("/x/crates/cli"));
        assert_eq!(found[0].title(), "cli: tests/it/main.rs");
    }
}
