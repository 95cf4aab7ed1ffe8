//! The real programs as judges: what do they make of a file that we wrote, and we of theirs?
//!
//! Only tests use this crate. `cargo xtask test` installs the programs and names each in a variable;
//! where one is missing, its tests are skipped, or fail where `CI` is set. A program runs once for
//! all tests of a binary: it is sent one JSON value a line and answers each with one.
//!
//! Clients that talk to a model are pointed at a [`StandInModel`] for it, and need no network.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "only tests use it: it asks for variables, and says what is skipped"
)]

mod browser;
mod client;
mod codex;
mod opencode;
mod process;
mod skip;
mod sshd;
mod standin;
mod turns;

pub use browser::{Browser, OpenedPage, PageExtent, PageView};
pub use client::{ClientKind, InstalledClient};
pub use process::JsonLineProcess;
pub use skip::{corpus, corpus_if_any, skip, skip_without};
pub use sshd::Sshd;
pub use standin::{HeldCall, ModelCall, StandInModel};
pub use turns::{Turn, turns_of_call};

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A version of pi that is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PiVersion {
    /// 0.87.1, on node 24.
    V0_87,
    /// 0.74.2, on node 20: it knows no `context_edit`, no `usage` and no `system` messages.
    V0_74,
}

impl PiVersion {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::V0_87, Self::V0_74];

    /// The variables that name the file with its `SessionManager`, and the node that runs it.
    const fn program_variables(self) -> [&'static str; 2] {
        match self {
            Self::V0_87 => ["RETHREAD_JUDGE_PI_0_87", "RETHREAD_JUDGE_NODE_24"],
            Self::V0_74 => ["RETHREAD_JUDGE_PI_0_74", "RETHREAD_JUDGE_NODE_20"],
        }
    }

    /// The running program; none if it is not installed, and then the test is to be skipped.
    ///
    /// # Panics
    ///
    /// If it is not installed where `CI` is set, or does not start.
    pub fn running_process(self) -> Option<&'static JsonLineProcess> {
        static RUNNING: [OnceLock<JsonLineProcess>; 2] = [OnceLock::new(), OnceLock::new()];
        let [new, old] = &RUNNING;
        let running = match self {
            Self::V0_87 => new,
            Self::V0_74 => old,
        };
        let [package, node] = self.program_variables().map(installed_program);
        let (package, node) = (package?, node?);
        Some(running.get_or_init(|| Self::start_process(&package, &node)))
    }

    fn start_process(package: &Path, node: &Path) -> JsonLineProcess {
        let driver = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pi.mjs");
        JsonLineProcess::start(node, &[driver.as_ref(), package.as_ref()])
    }
}

/// The command line of the MCP Inspector, to be given arguments; none if it is not installed, and then the
/// test is to be skipped.
///
/// # Panics
///
/// If it is not installed where `CI` is set.
pub fn mcp_inspector() -> Option<Command> {
    let program = installed_program("RETHREAD_JUDGE_INSPECTOR")?;
    let mut command = Command::new(installed_program("RETHREAD_JUDGE_NODE_24")?);
    command.arg(program).arg("--cli").stdin(Stdio::null());
    Some(command)
}

/// What `ccusage` says in JSON of a home: `agent` is its word for one, such as `claude`, and `report` is
/// `daily` or `session`. None if it is not installed, and then the test is to be skipped.
///
/// # Panics
///
/// If it is not installed where `CI` is set, or gives no answer.
pub fn ccusage_report(home: &Path, agent: &str, report: &str) -> Option<serde_json::Value> {
    let program = installed_program("RETHREAD_JUDGE_CCUSAGE")?;
    let mut command = std::process::Command::new(program);
    command.args([agent, report, "--json", "--offline", "--timezone", "UTC"]);
    command.env_clear().env("HOME", home).env("TZ", "UTC");
    let answer = match command.output() {
        Ok(answer) => answer,
        Err(e) => panic!("{command:?} does not start: {e}"),
    };
    match serde_json::from_slice(&answer.stdout) {
        Ok(value) => Some(value),
        Err(e) => panic!("{command:?}: {e}: {answer:?}"),
    }
}

/// The file that a variable names. In CI it must be there; elsewhere its tests are skipped.
fn installed_program(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    let path = path.filter(|path| path.exists());
    if path.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "`{variable}` names no program; run the tests by `cargo xtask test`"
        );
        skip(&format!("`{variable}` names no program"));
    }
    path
}
