//! A repository that somebody else wrote, in a home with conversations of every agent.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::opencode::store::{data, empty_database};
use crate::world::{World, json};

/// Formats of which the home has a session in the project.
pub(super) const FORMATS: [&str; 8] = [
    "atsf",
    "agentuse",
    "pi",
    "atomic",
    "claude-code",
    "codex",
    "gemini",
    "opencode",
];

/// A repository with a trick in it, and what shows that the trick worked.
pub(super) struct Trap {
    pub(super) w: World,
    /// A program that leaves the canary.
    pub(super) evil: PathBuf,
    canary: PathBuf,
    /// Variables that commands are run with.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// A session of each format, by its path.
    pub(super) sessions: Vec<(&'static str, String)>,
}

impl Trap {
    /// Everything but the trick. `init` is what `git init` is told.
    pub(super) fn new(init: &[&str]) -> Self {
        let w = World::new();
        let (evil, canary) = (w.root.join("evil.sh"), w.root.join("canary"));
        let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", canary.display());
        program(&evil, &script);
        w.git(&[&["init", "-q", "-b", "main"], init].concat());
        fs::write(w.project.join("README.md"), "# Shop\n").unwrap();
        fs::write(w.project.join(".gitattributes"), "* filter=evil\n").unwrap();
        w.git(&["add", "."]);
        w.git(&["commit", "-q", "-m", "start"]);
        empty_database(&data(&w).join("opencode.db"));
        let sessions = FORMATS.map(|format| (format, session(&w, format)));
        for name in ["old", "empty"] {
            w.ok(&["worktree", "add", name, "--path", &format!("../{name}")]);
        }
        let threads = w.root.join("empty/.agent/threads");
        fs::remove_dir_all(threads).unwrap();
        let config = r#"{"specVersion":"1.1","defaults":{"useWorktree":true},"worktreeHooks":{"initialPrompt":"hello"}}"#;
        fs::write(w.project.join(".agent/config.json"), config).unwrap();
        let trap = Self {
            w,
            evil,
            canary,
            variables: Vec::new(),
            sessions: sessions.to_vec(),
        };
        trap.touch();
        trap
    }

    /// The git folder, wherever `.git` leads to.
    pub(super) fn git_dir(&self) -> PathBuf {
        fs::canonicalize(self.w.project.join(".git")).unwrap()
    }

    /// Adds to the repository's configuration, as bytes.
    pub(super) fn configure(&self, text: impl AsRef<[u8]>) {
        let path = self.git_dir().join("config");
        let mut config = fs::read(&path).unwrap();
        config.extend(text.as_ref());
        config.push(b'\n');
        fs::write(&path, config).unwrap();
    }

    pub(super) fn evil(&self) -> &str {
        self.evil.to_str().unwrap()
    }

    /// What runs the evil program as a filter: files go through it.
    pub(super) fn evil_filter(&self) -> String {
        format!("{}; cat", self.evil())
    }

    /// Hooks of every name that git knows.
    pub(super) fn hooks_in(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        for name in [
            "post-checkout",
            "reference-transaction",
            "post-index-change",
            "pre-commit",
            "post-commit",
            "fsmonitor-watchman",
            "pre-auto-gc",
        ] {
            fs::copy(&self.evil, folder.join(name)).unwrap();
        }
    }

    /// Files that git must look into, because they seem changed.
    pub(super) fn touch(&self) {
        for folder in ["shop", "old", "empty"] {
            let file = self.w.root.join(folder).join("README.md");
            if file.exists() {
                fs::remove_file(&file).unwrap();
                fs::write(&file, "# Shop\n").unwrap();
            }
        }
    }

    /// Plain git, with the same variables, whatever comes of it.
    pub(super) fn plain_git(&self, folder: &Path, args: &[&str]) -> Output {
        let mut git = Command::new("git");
        git.args(args).current_dir(folder);
        self.run_plain(git)
    }

    pub(super) fn run_plain(&self, mut command: Command) -> Output {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.w.home)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("TERM", "dumb")
            .envs(self.variables.iter().cloned())
            .output()
            .unwrap()
    }

    /// What the evil program left since it was last asked for.
    pub(super) fn sprung(&self) -> Option<String> {
        let said = fs::read_to_string(&self.canary).ok()?;
        fs::remove_file(&self.canary).unwrap();
        Some(said)
    }

    pub(super) fn run(&self, args: &[String]) -> Output {
        let mut command = self.w.command(args);
        // Other ids than those that are there.
        command.env("RETHREAD_SEED", "2");
        command.envs(self.variables.iter().cloned());
        command.output().unwrap()
    }
}

pub(super) fn program(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Whether there is a program that runs another one on a terminal.
pub(super) fn has_terminals() -> bool {
    let version = Command::new("script").arg("--version").output();
    cfg!(target_os = "linux") && version.is_ok()
}

fn session(w: &World, format: &str) -> String {
    let made = json(&w.ok(&["new", "--format", format, "--json"]));
    let (id, path) = (
        made["id"].as_str().unwrap(),
        made["path"].as_str().unwrap().to_owned(),
    );
    let name = match format {
        "opencode" => format!("opencode:{id}"),
        _ => path,
    };
    for (role, text) in [
        ("user", "Where is the sign-in?"),
        ("agent", "In the cellar."),
    ] {
        let mut args = vec!["append", &name, "--role", role, text];
        if format == "opencode" {
            args.extend(["--model", "anthropic/claude-opus-4-5"]);
        }
        w.ok(&args);
    }
    name
}
