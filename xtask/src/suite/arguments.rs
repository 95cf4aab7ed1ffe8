//! The arguments of `cargo xtask test`: for cargo, and behind `--` for the test programs.

use std::io::IsTerminal as _;

/// Options of cargo whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-p",
    "--package",
    "--exclude",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "-F",
    "--features",
    "-j",
    "--jobs",
    "--profile",
    "--target",
    "--target-dir",
    "--manifest-path",
    "--config",
    "--color",
    "-Z",
];

/// Options of cargo that say which programs are built; then no examples in docs are run.
const TARGETS: &[&str] = &[
    "--lib",
    "--bin",
    "--bins",
    "--test",
    "--tests",
    "--example",
    "--examples",
    "--bench",
    "--benches",
    "--all-targets",
];

/// What `cargo xtask test` was given.
pub(crate) struct TestArguments {
    /// Options of cargo.
    pub(crate) of_cargo: Vec<String>,
    /// Which tests to run, and how.
    of_programs: Vec<String>,
}

impl TestArguments {
    /// Tells the arguments apart. The name of a test may stand in front of `--`, too.
    pub(crate) fn parse(args: &[String]) -> Self {
        let (mut of_cargo, mut of_programs) = (Vec::new(), Vec::new());
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                of_programs.extend(args.cloned());
                break;
            }
            if !arg.starts_with('-') {
                of_programs.push(arg.clone());
                continue;
            }
            of_cargo.push(arg.clone());
            if WITH_VALUE.contains(&arg.as_str()) {
                of_cargo.extend(args.next().cloned());
            }
        }
        Self {
            of_cargo,
            of_programs,
        }
    }

    /// Whether it asks for what only cargo itself does.
    pub(crate) fn is_for_cargo_alone(&self) -> bool {
        let alone = ["--doc", "--no-run", "--help", "-h", "--message-format"];
        self.of_cargo.iter().any(|arg| alone.contains(&name(arg)))
    }

    /// Whether the examples in docs are run, too.
    pub(crate) fn has_doc_tests(&self) -> bool {
        !self.of_cargo.iter().any(|arg| TARGETS.contains(&name(arg)))
    }

    /// All packages, unless some are named.
    pub(crate) fn packages(&self) -> &'static [&'static str] {
        let mut named = self.of_cargo.iter().map(|arg| name(arg));
        if named.any(|arg| arg == "-p" || arg == "--package" || arg == "--workspace") {
            &[]
        } else {
            &["--workspace"]
        }
    }

    /// What each test program is given. Their output goes through a pipe, so they do not see that
    /// somebody is looking.
    pub(crate) fn of_programs(&self) -> Vec<String> {
        let mut all = self.of_programs.clone();
        let has_color = all.iter().any(|arg| name(arg) == "--color");
        if !has_color && std::io::stdout().is_terminal() {
            all.push("--color=always".to_owned());
        }
        all
    }
}

/// The name of an option, without its value.
fn name(arg: &str) -> &str {
    arg.split_once('=').map_or(arg, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> TestArguments {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        TestArguments::parse(&args)
    }

    #[test]
    fn names_of_tests_are_told_from_values_of_options() {
        let given = parse("-p rethread --test it msg::send -- --exact --nocapture");
        assert_eq!(given.of_cargo, ["-p", "rethread", "--test", "it"]);
        assert_eq!(given.of_programs, ["msg::send", "--exact", "--nocapture"]);
    }

    #[test]
    fn all_packages_and_examples_unless_some_are_named() {
        let all = parse("-- some_test");
        assert_eq!(all.packages(), ["--workspace"]);
        assert!(all.has_doc_tests());
        assert!(parse("-p rethread").packages().is_empty());
        assert!(parse("--package=rethread").packages().is_empty());
        assert!(!parse("--test=it").has_doc_tests());
        assert!(!parse("--lib").has_doc_tests());
    }

    #[test]
    fn what_only_cargo_does_is_left_to_it() {
        for line in ["--doc", "--no-run", "-p rethread --message-format=json"] {
            assert!(parse(line).is_for_cargo_alone(), "{line}");
        }
        assert!(!parse("-- --doc").is_for_cargo_alone());
    }
}
