//! Messages between agents, as they and their users meet them.

mod cases;
mod compact;
mod document;
mod install;
#[cfg(unix)]
mod other_names;
mod output;
mod watch;
mod weather;
mod who;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rethread_samp::Id;

use crate::world::{Answer, World, json};

/// The clock of all commands, in seconds.
const NOW: i64 = 1_794_744_000;

/// A world with a message folder, in which each agent works in a folder of its own name.
struct Post {
    w: World,
    dir: PathBuf,
}

impl Post {
    fn new() -> Self {
        let w = World::new();
        let dir = w.root.join("messages");
        Self { w, dir }
    }

    /// The folder in which an agent works.
    fn home_of(&self, agent: &str) -> PathBuf {
        let folder = self.w.root.join("agents").join(agent);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// The program, called by an agent.
    fn command(&self, agent: &str, args: &[&str]) -> Command {
        let mut all = vec!["msg"];
        all.extend(args);
        let mut command = self.w.command(&all);
        command
            .current_dir(self.home_of(agent))
            .env("AGENT_MESSAGE_DIR", &self.dir);
        command
    }

    fn run(&self, agent: &str, args: &[&str]) -> Answer {
        self.pipe(agent, args, "")
    }

    fn pipe(&self, agent: &str, args: &[&str], input: impl AsRef<[u8]>) -> Answer {
        crate::world::run_with(self.command(agent, args), input.as_ref())
    }

    /// A call that must succeed and have nothing to say.
    fn ok(&self, agent: &str, args: &[&str]) -> String {
        let answer = self.run(agent, args);
        assert_eq!(
            (answer.code, answer.err.as_str()),
            (0, ""),
            "{args:?}: {answer:?}"
        );
        answer.out
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(&self.dir).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    fn records(&self, agent: &str) -> Vec<serde_json::Value> {
        let text = self.read(&format!("log-{agent}.jsonl"));
        text.lines().map(json).collect()
    }

    /// The bodies of what is new for an agent.
    fn new_for(&self, agent: &str) -> Vec<String> {
        bodies(&self.ok(agent, &["inbox", "--json"]))
    }
}

fn bodies(out: &str) -> Vec<String> {
    let body = |line| json(line)["body"].as_str().unwrap().to_owned();
    out.lines().map(body).collect()
}

/// A command, under strace.
#[cfg(target_os = "linux")]
fn traced(strace: &Path, options: &[&str], command: &Command) -> Command {
    let mut traced = Command::new(strace);
    traced
        .args(options)
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap())
        .env_clear()
        .envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
    traced
}

/// A record with the right id, as any program may write it.
fn line(from: &str, to: &str, body: &str, ts: i64) -> String {
    let id = Id::of(ts, from, to, "t", body).to_string();
    let record = serde_json::json!({
        "id": id, "ts": ts, "from": from, "to": to, "thread": "t", "body": body,
    });
    format!("{record}\n")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
