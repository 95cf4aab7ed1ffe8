//! A home, a project and a clock of their own for each test.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

/// A machine that holds nothing but what a test puts there.
pub(crate) struct World {
    _temp: TempDir,
    /// What commands put into the system's temporary folder, and leave there if they are killed.
    pub(crate) scratch: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
}

/// What a command answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) const NOW: &str = "2026-11-15T12:00:00.000Z";

impl World {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        let (home, project) = (root.join("home"), root.join("shop"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&project).unwrap();
        Self {
            _temp: temp,
            scratch: tempfile::tempdir().unwrap(),
            root,
            home,
            project,
        }
    }

    /// A world whose project is a git repository with one commit.
    pub(crate) fn with_git() -> Self {
        let world = Self::new();
        world.git(&["init", "-q", "-b", "main"]);
        fs::write(world.project.join("README.md"), "# Shop\n").unwrap();
        world.git(&["add", "."]);
        world.git(&["commit", "-q", "-m", "start"]);
        world
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.org")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The binary, in the project, with a clock and a seed of its own.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rethread"));
        // What it calls itself does not depend on where it was built.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(&mut command, "rethread");
        command
            .args(args)
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.home)
            .env("TMPDIR", self.scratch.path())
            .env("TZ", "UTC")
            .env("RETHREAD_NOW", NOW)
            .env("RETHREAD_SEED", "1")
            // What a fixture names, or what lies above, may exist on somebody's machine.
            .env("RETHREAD_WITHIN", &self.root)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Answer {
        answer(self.command(args).output().unwrap())
    }

    /// Runs a command with something on standard input.
    pub(crate) fn pipe(&self, args: &[&str], input: impl AsRef<[u8]>) -> Answer {
        run_with(self.command(args), input.as_ref())
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let answer = self.run(args);
        assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
        answer.out
    }

    /// Starts a thread and gives its id.
    pub(crate) fn thread(&self, title: &str) -> String {
        let out = self.ok(&["new", "--format", "atsf", "--title", title, "--json"]);
        json(&out)["id"].as_str().unwrap().to_owned()
    }

    /// Adds a whole message and gives its id.
    pub(crate) fn message(&self, thread: &str, message: &str) -> String {
        let answer = self.pipe(&["append", thread, "--message-json", "-"], message);
        assert_eq!(answer.code, 0, "{message}: {answer:?}");
        answer.out.trim().to_owned()
    }

    pub(crate) fn folder(&self, thread: &str) -> PathBuf {
        self.project.join(".agent/threads").join(thread)
    }

    pub(crate) fn log(&self, thread: &str) -> String {
        fs::read_to_string(self.folder(thread).join("messages.jsonl")).unwrap()
    }

    /// The lines of a thread's log, each as JSON.
    pub(crate) fn lines(&self, thread: &str) -> Vec<serde_json::Value> {
        self.log(thread).lines().map(json).collect()
    }

    pub(crate) fn manifest(&self, thread: &str) -> serde_json::Value {
        json(&fs::read_to_string(self.folder(thread).join("thread.json")).unwrap())
    }

    /// Puts a fixture where a thread or a whole store belongs. Folders named `dot-agent` and files
    /// named `gitignore` get the names that git would have acted on.
    pub(crate) fn fixture(&self, case: &str) {
        let from = fixtures().join(case);
        if from.join("thread.json").is_file() {
            let manifest = fs::read(from.join("thread.json")).unwrap();
            let manifest = String::from_utf8_lossy(&manifest).into_owned();
            let id = manifest
                .split("\"threadId\"")
                .nth(1)
                .unwrap()
                .split('"')
                .nth(1)
                .unwrap();
            copy(&from, &self.folder(id));
        } else {
            copy(&from, &self.project);
        }
    }

    /// Text without what differs from run to run.
    pub(crate) fn plain(&self, text: &str) -> String {
        let root = self.root.to_str().unwrap();
        // Agents name folders after the paths of others, some with dots and some without.
        let with_dots = root.replace(['/', '\\', ':'], "-");
        let without = with_dots.replace('.', "-");
        let mut plain = without_sizes(&text.replace(root, "[ROOT]"));
        for encoded in [with_dots, without] {
            plain = plain.replace(encoded.trim_start_matches('-'), "[ROOT]");
        }
        plain
    }
}

/// Text in which sizes of everything are not told: paths are in the files, and differ in length.
fn without_sizes(text: &str) -> String {
    let line = |line: &str| {
        let (before, after) = line.split_once(" KB")?;
        let (start, number) = before.rsplit_once(" · ")?;
        // Sizes of what was said are told.
        number.parse::<f64>().ok()?;
        Some(format!("{start} · [SIZE]{after}"))
    };
    let line = |text: &str| line(text).unwrap_or_else(|| text.to_owned());
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n")
}

/// The fixtures that the project keeps for ever.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/atsf")
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_str().unwrap().to_owned();
        let name = match name.as_str() {
            "dot-agent" => ".agent".to_owned(),
            "gitignore" => ".gitignore".to_owned(),
            _ => name,
        };
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(name));
        } else {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

pub(crate) fn answer(output: Output) -> Answer {
    Answer {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs a command with something on standard input.
pub(crate) fn run_with(mut command: Command, input: &[u8]) -> Answer {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A command that refuses its input closes the pipe early.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    answer(output)
}

/// Everything below a folder: paths with what is in them, but for the catalogue, which any command may
/// bring up to date.
pub(crate) fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let entry = entry.unwrap();
            if is_catalogue(&entry.path()) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.push((entry.path(), fs::read(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Whether this is the folder of the catalogue.
pub(crate) fn is_catalogue(path: &Path) -> bool {
    path.ends_with(".cache/rethread/catalogue")
}

/// Does something again and again on another thread while the test goes on, and ends it with the
/// test, also with one that fails.
pub(crate) fn while_repeating(again: impl Fn() + Sync, test: impl FnOnce()) {
    struct StopOnDrop<'a>(&'a AtomicBool);
    impl Drop for StopOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                again();
            }
        });
        test();
    });
}

/// The program that shows system calls. In CI it must be there; elsewhere its tests may be skipped.
pub(crate) fn strace() -> Option<PathBuf> {
    let found = program_on_path("strace");
    if found.is_none() {
        rethread_judges::skip_without("strace");
    }
    found
}

/// Where a program is that can be called by its name.
pub(crate) fn program_on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(name));
    found.find(|program| program.is_file())
}
