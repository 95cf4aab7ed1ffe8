//! What must hold after a command was disturbed.

use std::path::{Path, PathBuf};

use super::call::{Call, READING};
use super::cases::{FRAGMENT, Kind, Store};
use super::trial::Trial;
use super::{Said, Tree, agentuse, difference, logs, look, without_temporary};
use crate::world::{World, json};

/// What is said where a message is saved, and what describes its session is of before.
const STALE: &str = "the description is not up to date";

/// The files that describe sessions.
const DESCRIPTIONS: [&str; 2] = ["thread.json", "session.json"];

impl Trial {
    /// Each file is as it was or as it will be, and they fit together.
    pub(super) fn check(&mut self, said: &Said, at: &str) {
        let (found, left) = look(&self.world.root);
        assert!(!said.err.contains("panicked"), "{at}");
        let whole_answer = !self.out.is_empty() && said.out == self.out;
        // What could not be read is missing in a copy, and said.
        let in_part = self.case.kind == Kind::Copies && said.code == Some(3);
        if said.code == Some(0) || (whole_answer && !in_part) {
            // The list of known projects only helps to find them again.
            let forgotten = said.err.contains("the project was not remembered: ");
            // What describes a session is brought up to date by the next command.
            let stale = said.err.contains(STALE);
            let describes = |name: &Path| DESCRIPTIONS.iter().any(|d| name.ends_with(d));
            let done = |tree: &Tree| {
                let counts = |name: &Path| {
                    !(forgotten && name.starts_with("home/.local") || stale && describes(name))
                };
                let all = tree.iter().filter(|(name, _)| counts(name));
                all.map(|(name, file)| (name.clone(), file.clone()))
                    .collect::<Tree>()
            };
            let (found, new) = (done(&found), done(&self.new));
            assert!(found == new, "{at}: {}", difference(&new, &found));
        }
        assert!(in_part || self.out.starts_with(&said.out), "{at}");
        for (name, content) in &found {
            let old_or_new = [self.old.get(name), self.new.get(name)];
            let between = (name.clone(), content.clone().unwrap_or_default());
            let fits =
                in_part || old_or_new.contains(&Some(content)) || self.between.contains(&between);
            assert!(fits, "{at}: {} is half: {content:?}", name.display());
        }
        for name in self.old.keys().filter(|name| self.new.contains_key(*name)) {
            assert!(found.contains_key(name), "{at}: {} is gone", name.display());
        }
        if self.case.store == Store::Trash {
            self.check_kept(&found, at);
        }
        self.check_acknowledged(&found, said, at);
        if self.case.store == Store::AgentUse {
            agentuse::check_sessions(&found, at);
        } else if self.case.kind != Kind::Removes && self.case.kind != Kind::Copies {
            self.check_threads(&found, at);
        }
        if self.seen.insert((found, left)) {
            self.check_next(at);
            self.check_nothing_is_left(said, at);
        }
    }

    /// The next run removes what a killed one left. What it says to being asked for the same once more
    /// is another matter.
    fn check_nothing_is_left(&self, said: &Said, at: &str) {
        if said.signal.is_none() {
            return;
        }
        self.run(&[]);
        if self.case.kind == Kind::Removes {
            // Where it was, there is nothing more to remove.
            self.world.thread("Next");
        }
        assert_eq!(look(&self.world.root).1, 0, "{at}: something is left");
        let scratch = std::fs::read_dir(self.world.scratch.path()).unwrap();
        assert_eq!(scratch.count(), 0, "{at}: something is left in `TMPDIR`");
    }

    /// What goes into the trash is where it was or there, whole, and its description with it.
    fn check_kept(&self, found: &Tree, at: &str) {
        let id = self.id.as_ref().unwrap();
        let trash = Path::new("home/.local/share/Trash");
        let folder = self.world.folder(id);
        let before = folder.strip_prefix(&self.world.root).unwrap();
        let after = trash.join("files").join(id);
        let files = |tree: &Tree, folder: &Path| {
            let below = tree.iter().filter_map(|(name, file)| {
                let name = name.strip_prefix(folder).ok()?;
                Some((name.to_owned(), file.clone()))
            });
            below.collect::<Tree>()
        };
        let (stays, went) = (files(found, before), files(found, &after));
        let whole = files(&self.old, before);
        assert!(
            (stays == whole && went.is_empty()) || (stays.is_empty() && went == whole),
            "{at}: {stays:?} and {went:?}"
        );
        let description = trash.join("info").join(format!("{id}.trashinfo"));
        assert!(went.is_empty() || found.contains_key(&description), "{at}");
    }

    /// Each line that was printed is true.
    fn check_acknowledged(&self, found: &Tree, said: &Said, at: &str) {
        for line in said.out.split_inclusive('\n') {
            let Some(line) = line.strip_suffix('\n') else {
                continue;
            };
            if self.case.store == Store::AgentUse {
                agentuse::check_acknowledged(found, line, at);
            } else if self.case.store == Store::Logs {
                logs::check_acknowledged(found, line, at);
            } else if self.case.args[0] == "append" {
                let log = found[&self.log_path()].as_ref().unwrap();
                let mut ids = log.split(|b| *b == b'\n').map(id_of);
                assert!(ids.any(|id| id.as_deref() == Some(line)), "{at}: {line}");
            }
        }
    }

    /// A thread is whole or not there; it describes no more than its log has, and its pictures are
    /// there.
    fn check_threads(&self, found: &Tree, at: &str) {
        let is_thread = |name: &Path| name.parent().is_some_and(|p| p.ends_with(".agent/threads"));
        for folder in found.keys().filter(|name| is_thread(name)) {
            let file = |name: &str| {
                let content = found.get(&folder.join(name)).and_then(Option::as_ref);
                content.unwrap_or_else(|| panic!("{at}: {} has no {name}", folder.display()))
            };
            let log = file("messages.jsonl");
            let manifest: serde_json::Value = serde_json::from_slice(file("thread.json")).unwrap();
            let noted = manifest["metadata"]["rethread"]["logBytes"].as_u64();
            let is_rewritten =
                self.new.get(&folder.join("messages.jsonl")) == Some(&Some(log.clone()));
            assert!(
                is_rewritten || noted.is_none_or(|n| n <= log.len() as u64),
                "{at}: {noted:?} of {}",
                log.len()
            );
            for line in log.split(|b| *b == b'\n') {
                let Ok(message) = serde_json::from_slice::<serde_json::Value>(line) else {
                    continue;
                };
                for block in message["content"].as_array().into_iter().flatten() {
                    if let Some(name) = block["assetRef"].as_str() {
                        file(&format!("assets/{name}"));
                    }
                }
            }
        }
        let torn = |tree: &Tree| tree.values().flatten().any(|f| f.ends_with(FRAGMENT));
        assert!(
            !torn(&self.old) || torn(found),
            "{at}: the fragment is gone"
        );
    }

    /// All that comes next works, without a repair.
    fn check_next(&self, at: &str) {
        let w = &self.world;
        let listed = w.run(&["list", "--json"]);
        assert!([0, 1, 3].contains(&listed.code), "{at}: {listed:?}");
        // Without a word: nothing was found.
        assert!(
            listed.code != 1 || listed.err.is_empty(),
            "{at}: {listed:?}"
        );
        match self.case.kind {
            _ if self.case.store == Store::AgentUse => self.check_next_session(&listed, at),
            _ if self.case.store == Store::Logs => self.check_next_log(at),
            Kind::Changes => {
                let id = self.id.as_ref().unwrap();
                assert!(listed.out.contains(id.as_str()), "{at}: {listed:?}");
                let shown = w.run(&["show", id, "--json"]);
                let torn = w.log(id).as_bytes().ends_with(FRAGMENT);
                assert_eq!(shown.code, if torn { 3 } else { 0 }, "{at}: {shown:?}");
                continues(w, id, at);
                if self.case.args[0] == "fork" {
                    self.again(at);
                }
            }
            Kind::Makes => {
                self.again(at);
                if self.case.args[0] == "init" {
                    let (found, _) = look(&w.root);
                    assert!(found == self.new, "{at}: {}", difference(&self.new, &found));
                }
            }
            Kind::Copies => {
                self.again(at);
                let (found, _) = look(&w.root);
                assert!(found == self.new, "{at}: {}", difference(&self.new, &found));
            }
            Kind::Removes => {
                let id = self.id.as_ref().unwrap();
                if w.folder(id).exists() {
                    self.again(at);
                }
                assert!(!w.folder(id).exists(), "{at}");
                let (found, _) = look(&w.root);
                assert!(found == self.new, "{at}: {}", difference(&self.new, &found));
            }
        }
    }

    /// The same command once more: it works, and what it made can be written to.
    fn again(&self, at: &str) {
        let said = self.run(&[]);
        assert_eq!(said.code, Some(0), "{at}, and then: {said:?}");
        if ["new", "fork"].contains(&self.case.args[0]) {
            let id = said.out.split('\t').next().unwrap();
            continues(&self.world, id, at);
        }
    }

    pub(super) fn check_failure(&self, said: &Said, call: &Call, at: &str) {
        match said.code {
            Some(0) => {}
            // Something on the way could not be looked into: said, and the rest was done.
            Some(3) => assert!(said.err.contains("warning: "), "{at}"),
            Some(1) => self.check_error(said, Some(call), at),
            _ => panic!("{at}"),
        }
        // What could be removed only in part stays without its name.
        let in_part = self.case.kind == Kind::Removes && said.code != Some(0);
        if !call.name.starts_with("unlink") && call.name != "rmdir" && !in_part {
            assert_eq!(
                look(&self.world.root).1,
                0,
                "{at}: something is left behind"
            );
        }
    }

    /// One error, in one line, and it names the file.
    pub(super) fn check_error(&self, said: &Said, call: Option<&Call>, at: &str) {
        let is_stale = |l: &str| l.starts_with("warning: ") && l.contains(STALE);
        // Where no session is left to be written, what is said of the last is why.
        let is_left_out = |l: &str| {
            self.case.kind == Kind::Copies
                && l.starts_with("warning: ")
                && l.ends_with("; left out")
        };
        let errors: Vec<&str> = said
            .err
            .lines()
            .filter(|l| l.starts_with("error: ") || is_stale(l) || is_left_out(l))
            .collect();
        let [error] = errors.as_slice() else {
            panic!("{at}: {} errors", errors.len());
        };
        let named = error.split('`').skip(1).step_by(2);
        let named = named.map(|p| without_temporary(&self.world.project.join(p)));
        // Some things are written in a folder of our own before they go to their place.
        let folders = [&self.world.root, &std::env::temp_dir()];
        let named = named.filter(|p| folders.iter().any(|folder| p.starts_with(folder)));
        let named: Vec<PathBuf> = named.collect();
        match call {
            Some(call) if call.is_answer || call.is_input => {}
            // Where one file is copied into another, either may be named.
            Some(call) if !self.case.varies && !READING.contains(&call.name.as_str()) => assert!(
                named
                    .iter()
                    .any(|p| p.starts_with(&call.path) || call.path.starts_with(p)),
                "{at}: the error does not name {}",
                call.path.display()
            ),
            _ => assert!(!named.is_empty(), "{at}"),
        }
    }
}

fn id_of(line: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    Some(value["id"].as_str()?.to_owned())
}

/// The thread can be continued, and what describes it is then true.
fn continues(w: &World, id: &str, at: &str) {
    let before: Vec<String> = w.log(id).lines().map(str::to_owned).collect();
    let next = w.run(&["append", id, "next"]);
    assert_eq!(next.code, 0, "{at}, and then: {next:?}");
    let log = w.log(id);
    let lines: Vec<serde_json::Value> = log.lines().map(json).collect();
    let kept = before
        .iter()
        .filter(|line| !line.as_bytes().ends_with(FRAGMENT));
    assert!(kept.eq(log.lines().take(lines.len() - 1)), "{at}");
    assert_eq!(lines.last().unwrap()["id"], next.out.trim(), "{at}");
    let count = |role: &str| lines.iter().filter(|m| m["role"] == role).count();
    let calls = lines
        .iter()
        .filter_map(|m| Some(m["toolCalls"].as_array()?.len()));
    let stats = &w.manifest(id)["stats"];
    assert_eq!(stats["messageCount"], lines.len(), "{at}");
    assert_eq!(stats["userMessageCount"], count("user"), "{at}");
    assert_eq!(stats["agentMessageCount"], count("agent"), "{at}");
    assert_eq!(stats["toolCallCount"], calls.sum::<usize>(), "{at}");
    let shown = w.run(&["show", id, "--json"]);
    assert_eq!(shown.code, 0, "{at}, and then: {shown:?}");
}
