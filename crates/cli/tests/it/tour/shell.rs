//! A shell in an empty home, in which the commands of a page run one after the other.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::world::World;

/// What stands between the answers.
const MARK: &str = "-- answer --";

/// Who the home belongs to, on the page.
const HOME: &str = "/home/ann";

/// The time of the first command; each takes a minute.
const HOUR: &str = "2026-11-14T09";

pub(super) struct Shell<'a> {
    world: &'a World,
    /// Whether the program is to use colours.
    pub(super) coloured: bool,
}

impl<'a> Shell<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        Self {
            world,
            coloured: false,
        }
    }

    /// Runs the commands, and gives what each prints, on both of its ways, as somebody sees it.
    pub(super) fn run_all(&self, commands: &[&str]) -> Vec<String> {
        let w = self.world;
        let bin = Path::new(env!("CARGO_BIN_EXE_rethread")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut script = String::from("exec 2>&1\n");
        for (minute, command) in commands.iter().enumerate() {
            script += &format!("export RETHREAD_NOW={HOUR}:{minute:02}:00Z\n{command}\n");
            script += &format!("echo \"{MARK} $?\"\n");
        }
        let file = w.root.join("tour.sh");
        fs::write(&file, script).unwrap();
        let mut sh = Command::new("sh");
        sh.arg(&file).current_dir(&w.home).env_clear();
        sh.env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", &w.home)
            .env("TMPDIR", w.scratch.path())
            .env("TZ", "UTC")
            .env("LANG", "C.UTF-8")
            .env("RETHREAD_SEED", "1")
            .env("RETHREAD_WITHIN", &w.root)
            .stdin(Stdio::null());
        if self.coloured {
            sh.env("CLICOLOR_FORCE", "1").env("TERM", "xterm-256color");
        }
        let output = sh.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut answers: Vec<String> = Vec::new();
        let mut rest = text.as_str();
        for command in commands {
            let (answer, behind) = rest.split_once(MARK).unwrap();
            let (code, behind) = behind.split_once('\n').unwrap();
            let is_done = code == " 0" || code == " 3" && answer.contains("warning: ");
            assert!(is_done, "`{command}` ends with{code}: {answer}");
            answers.push(self.plain(answer.trim_end_matches('\n')));
            rest = behind;
        }
        answers
    }

    /// Text with the home that the page speaks of.
    pub(super) fn plain(&self, text: &str) -> String {
        let home = self.world.home.to_str().unwrap();
        let encoded = home.replace(['/', '.'], "-");
        let plain = text.replace(home, HOME);
        let plain = plain.replace(&encoded, &HOME.replace('/', "-"));
        let lines = plain.lines().map(str::trim_end);
        lines.collect::<Vec<_>>().join("\n")
    }
}
