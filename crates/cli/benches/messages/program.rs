//! The two programs that are compared.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::benchmark::Outcome;

/// Where both work.
pub(crate) struct Desk {
    folder: PathBuf,
    python: PathBuf,
}

impl Desk {
    pub(crate) fn new(folder: &Path) -> Outcome<Self> {
        // The interpreter itself: what `python3` names may be a script that looks for it.
        let found = Command::new("python3")
            .args(["-c", "import sys; print(sys.executable)"])
            .output()
            .map_err(|e| format!("python3 is needed to compare with: {e}"))?;
        let python = String::from_utf8(found.stdout)?;
        std::fs::create_dir(folder.join("home"))?;
        Ok(Self {
            folder: folder.to_owned(),
            python: python.trim().into(),
        })
    }

    pub(crate) fn messages(&self) -> PathBuf {
        self.folder.join("messages")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.join("home").join(".cache")
    }

    /// Our program.
    pub(crate) fn rethread(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rethread"));
        command.arg("msg").args(args);
        self.prepare(command)
    }

    /// A script.
    pub(crate) fn python(&self, script: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-c", script]).args(args);
        self.prepare(command)
    }

    fn prepare(&self, mut command: Command) -> Command {
        command
            .current_dir(&self.folder)
            .env_clear()
            .env("HOME", self.folder.join("home"))
            .env("TZ", "UTC")
            .env("AGENT_MESSAGE_DIR", self.messages());
        command
    }
}
