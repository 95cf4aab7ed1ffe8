//! 500 names that are not names: as ids, as names of pictures, as sessions. Nothing outside of the
//! store is written, and what only data names is not even looked at.

mod agentuse;
mod asked;
mod list;
mod worktrees;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rethread_disk::SafeName;
use serde_json::json;
use tempfile::TempDir;

use self::asked::Asked;
use self::list::{HOW_MANY, SECRET, names};
use crate::every_call::{is_there, world_in_memory, wrapped};
use crate::world::{World, tree};

fn is_name(name: &str) -> bool {
    SafeName::new(name).is_ok()
}

/// A world with something to find at every level, and a link that leads out.
struct Place {
    world: World,
    _disk: Option<TempDir>,
    names: Vec<String>,
    /// Everything outside of the store, to see that it stays so.
    outside: Vec<(PathBuf, Vec<u8>)>,
}

impl Place {
    fn new() -> Self {
        let (world, disk) = world_in_memory();
        fs::create_dir(world.root.join("outside")).unwrap();
        for folder in [
            &world.root,
            &world.home,
            &world.project,
            &world.root.join("outside"),
        ] {
            fs::write(folder.join(SECRET), b"a secret").unwrap();
        }
        let names = names(&world);
        let mut place = Self {
            world,
            _disk: disk,
            names,
            outside: Vec::new(),
        };
        place.outside = place.everything_outside();
        place
    }

    fn store(&self) -> PathBuf {
        self.world.project.join(".agent")
    }

    fn data(&self) -> PathBuf {
        self.world.home.join(".local/share/rethread")
    }

    /// The folder of AgentUse.
    fn sessions(&self) -> PathBuf {
        self.world.home.join(".local/share/agentuse")
    }

    fn is_ours(&self, path: &Path) -> bool {
        let ours = [self.store(), self.data(), self.sessions()];
        ours.iter().any(|folder| path.starts_with(folder))
    }

    fn everything_outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = tree(&self.world.root);
        all.retain(|(path, _)| !self.is_ours(path));
        all
    }

    /// A thread whose messages name a picture each, with files of that name where it must not be
    /// looked for.
    fn thread(&self, id: &str) -> PathBuf {
        let thread = self.store().join("threads").join(id);
        fs::create_dir_all(thread.join("assets")).unwrap();
        for folder in [&self.store(), &self.store().join("threads"), &thread] {
            fs::write(folder.join(SECRET), b"a secret").unwrap();
        }
        std::os::unix::fs::symlink(
            self.world.root.join(SECRET),
            thread.join("assets/linked.png"),
        )
        .unwrap();
        fs::write(thread.join("assets/real.png"), b"a picture").unwrap();
        fs::write(thread.join("thread.json"), self.manifest(id)).unwrap();
        fs::write(thread.join("messages.jsonl"), b"").unwrap();
        thread
    }

    /// What describes a thread, with this for every name in it.
    fn manifest(&self, name: &str) -> String {
        json!({
            "specVersion": "1.1", "threadId": name, "title": name,
            "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z",
            "agent": { "id": name, "name": name },
            "context": { "workingDir": self.world.project, "relativeDir": name,
                         "gitBranch": name, "worktree": { "path": name, "branch": name } },
            "stats": { "messageCount": 0 }, "parentThreadId": name, "metadata": {},
        })
        .to_string()
    }

    /// All names that can be arguments.
    fn arguments(&self) -> Vec<&str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| !name.contains('\0')).collect()
    }

    /// Runs a command and gives every file that it asked the system for. `{}` in the arguments
    /// stands for each of these in turn, where some are given.
    fn traced(&self, args: &[&str], each: Option<&[&str]>, input: &str) -> Vec<Asked> {
        let trace = tempfile::NamedTempFile::new().unwrap();
        let given = tempfile::NamedTempFile::new().unwrap();
        let list = each.map(|each| each.join("\0") + "\0");
        fs::write(given.path(), list.as_deref().unwrap_or(input)).unwrap();
        let mut wrapper = vec!["strace", "--seccomp-bpf", "-f", "-qq", "-o"];
        wrapper.extend([trace.path().to_str().unwrap(), "-e", "trace=%file"]);
        if each.is_some() {
            wrapper.extend(["xargs", "-0", "-I{}", "-a", given.path().to_str().unwrap()]);
        }
        let mut command = wrapped(&self.world, &wrapper, args);
        if each.is_none() {
            command.stdin(fs::File::open(given.path()).unwrap());
        }
        // With a seed, each fork would first try the ids of all others.
        command.env_remove("RETHREAD_SEED");
        let output = command.stdout(Stdio::null()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!err.contains("panicked"), "{args:?}: {err}");
        let acts = |c: char| c.is_control() && c != '\n';
        assert!(
            args.contains(&"--json") || !err.chars().any(acts),
            "{args:?}: {err:?}"
        );
        let trace = fs::read(trace.path()).unwrap();
        let trace = String::from_utf8(trace).unwrap();
        let asked: Vec<Asked> = trace
            .lines()
            .filter_map(|line| Asked::read(line, &self.world.project))
            .collect();
        assert!(
            asked.iter().any(|a| a.path.starts_with(&self.world.root)),
            "{args:?}"
        );
        asked
    }

    /// What was written is in the store or among our own data, and nothing else changed.
    fn check_written(&self, asked: &[Asked]) {
        for asked in asked.iter().filter(|a| a.writes) {
            let fine = self.is_ours(&asked.path)
                || self.data().starts_with(&asked.path)
                || asked.path.starts_with("/dev/");
            assert!(fine, "{asked:?}");
        }
        assert!(
            self.everything_outside() == self.outside,
            "something outside changed"
        );
    }

    /// No secret was looked at, nor anything that a name could have led to.
    fn check_secrets(&self, asked: &[Asked]) {
        for asked in asked {
            let is_secret = asked.path.file_name().is_some_and(|name| name == SECRET);
            let in_assets = asked.path.parent().is_some_and(|p| p.ends_with("assets"));
            assert!(!is_secret || in_assets, "{asked:?}");
            assert!(asked.path != Path::new("/etc/passwd"), "{asked:?}");
            assert!(
                !asked.path.starts_with(self.world.root.join("outside")),
                "{asked:?}"
            );
        }
    }
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn as_the_id_of_a_new_thread() {
    if !is_there("strace") {
        return;
    }
    let p = Place::new();
    let args = ["new", "--format", "atsf", "--id={}"];
    let asked = p.traced(&args, Some(&p.arguments()), "");
    p.check_written(&asked);
    p.check_secrets(&asked);
    let expected: BTreeSet<String> = p
        .arguments()
        .into_iter()
        .filter(|name| is_name(name))
        .map(str::to_owned)
        .collect();
    assert!(expected.len() > 20, "{}", expected.len());
    assert!(p.arguments().len() - expected.len() > 250);
    let made = names_in(&p.store().join("threads"));
    assert_eq!(made, expected, "names that are names, and no others");
    for name in made {
        let thread = p.store().join("threads").join(name);
        let files: Vec<String> = names_in(&thread).into_iter().collect();
        assert_eq!(files, ["messages.jsonl", "thread.json"]);
    }
}

#[test]
fn as_the_name_of_a_picture_in_a_log() {
    if !is_there("strace") {
        return;
    }
    let p = Place::new();
    let thread = p.thread("pictures");
    let mut named: Vec<&str> = p.names.iter().map(String::as_str).collect();
    named.extend(["real.png", "linked.png"]);
    let log: String = named
        .iter()
        .map(|name| {
            let block = json!({ "type": "image", "assetRef": name, "mimeType": "image/png" });
            let message = json!({ "id": name, "role": "user", "content": [block],
                                  "timestamp": "2026-01-01T00:00:00.000Z" });
            format!("{message}\n")
        })
        .collect();
    fs::write(thread.join("messages.jsonl"), log).unwrap();
    let path = thread.to_str().unwrap();
    for args in [
        &["show", path][..],
        &["show", path, "--json"],
        &["show", path, "--to", "markdown"],
        &["list", "--json"],
        &["fork", path],
        &["append", path, "more"],
    ] {
        let asked = p.traced(args, None, "");
        p.check_written(&asked);
        p.check_secrets(&asked);
        let assets = asked
            .iter()
            .filter(|a| a.path.parent().is_some_and(|p| p.ends_with("assets")));
        for asked in assets {
            let name = asked.path.file_name().unwrap().to_str().unwrap();
            assert!(is_name(name), "{asked:?}");
        }
    }
    let forks = names_in(&p.store().join("threads"));
    let fork = forks.iter().find(|name| name.len() == 36).unwrap();
    let assets = names_in(&p.store().join("threads").join(fork).join("assets"));
    assert_eq!(assets.into_iter().collect::<Vec<_>>(), ["real.png"]);
}

#[test]
fn as_the_name_of_a_picture_in_a_message() {
    if !is_there("strace") {
        return;
    }
    let p = Place::new();
    let thread = p.thread("pictures");
    let mut input: Vec<String> = Vec::new();
    for name in &p.names {
        let block = json!({ "type": "image", "assetRef": name, "mimeType": "image/png" });
        let message = json!({ "id": name, "role": "user", "content": [block] });
        input.push(message.to_string());
    }
    let args = ["append", thread.to_str().unwrap(), "--message-json", "-"];
    let asked = p.traced(&args, None, &input.join("\n"));
    p.check_written(&asked);
    p.check_secrets(&asked);
    let log = fs::read_to_string(thread.join("messages.jsonl")).unwrap();
    for line in log.lines() {
        let message = crate::world::json(line);
        let name = message["content"][0]["assetRef"].as_str().unwrap();
        assert!(is_name(name), "{name:?}");
    }
    assert!(log.lines().count() > 20);
}

#[test]
fn as_the_id_and_the_worktree_in_what_describes_a_thread() {
    if !is_there("strace") {
        return;
    }
    let p = Place::new();
    let threads = p.store().join("threads");
    let mut paths = Vec::new();
    for (i, name) in p.names.iter().enumerate() {
        let folder = threads.join(format!("t{i:03}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("thread.json"), p.manifest(name)).unwrap();
        fs::write(folder.join("messages.jsonl"), b"").unwrap();
        paths.push(folder.to_str().unwrap().to_owned());
    }
    for args in [&["list"][..], &["list", "--json"], &[]] {
        let mut asked = p.traced(args, None, "");
        p.check_written(&asked);
        // Projects that threads name are looked for, but only a folder is one.
        asked.retain(|a| a.opens);
        p.check_secrets(&asked);
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    for (args, first, every) in [
        (&["show", "{}"][..], 0, 4),
        (&["append", "{}", "text"], 2, 4),
        (&["rename", "{}", "renamed"], 0, 2),
        (&["fork", "{}"], 1, 2),
    ] {
        let some: Vec<&str> = paths.iter().copied().skip(first).step_by(every).collect();
        let asked = p.traced(args, Some(&some), "");
        p.check_written(&asked);
        p.check_secrets(&asked);
    }
    let made = names_in(&threads);
    assert_eq!(
        made.len(),
        HOW_MANY * 3 / 2,
        "every second was forked, beside the others"
    );
    assert!(made.iter().all(|name| is_name(name)));
    for path in paths.into_iter().step_by(2) {
        let manifest = fs::read_to_string(Path::new(path).join("thread.json")).unwrap();
        assert_eq!(crate::world::json(&manifest)["title"], "renamed");
    }
}

/// Here the user names a path, which may be looked at. Nothing is there that could be changed.
#[test]
fn as_a_session() {
    if !is_there("strace") {
        return;
    }
    let p = Place::new();
    p.thread("pictures");
    let before = tree(&p.store());
    let all = p.arguments();
    // `latest` and what begins like the thread's id are sessions; so are folders with threads.
    let sessions: Vec<&str> = all
        .into_iter()
        .filter(|name| *name != "latest" && p.world.run(&["show", "--", name]).code != 0)
        .collect();
    assert!(sessions.len() > 400, "{}", sessions.len());
    let commands = [
        &["rm", "--force", "--", "{}"][..],
        &["rename", "--", "{}", "title"],
        &["append", "--", "{}", "text"],
        &["fork", "--", "{}"],
        &["append", "pictures", "--replace={}", "text"],
        &["fork", "pictures", "--at={}"],
        &["rm", "--force", "{}"],
    ];
    for (i, args) in commands.iter().enumerate() {
        let some: Vec<&str> = sessions.iter().copied().skip(i % 4).step_by(4).collect();
        let asked = p.traced(args, Some(&some), "");
        p.check_written(&asked);
    }
    assert!(tree(&p.store()) == before, "the store changed");
}
