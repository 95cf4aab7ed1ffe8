//! Sessions of agents that keep a log each, and conversions into several files.

use std::fs;
use std::path::{Path, PathBuf};

use super::call::Call;
use super::cases::{Case, Kind, Store, nothing_between};
use super::trial::Trial;
use super::{Files, Said, Tree, look};
use crate::world::{World, copy, json};

/// A session of two messages.
fn session(w: &World, format: &str) -> String {
    let made = json(&w.ok(&["new", "--format", format, "--json"]));
    let path = made["path"].as_str().unwrap();
    w.ok(&["append", path, "first"]);
    w.ok(&["append", path, "second"]);
    made["id"].as_str().unwrap().to_owned()
}

pub(super) fn fixture(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(case)
}

const LOG: Case = Case {
    prepare: |w| Some(session(w, "pi")),
    args: &["append", "ID", "third"],
    input: "",
    between: nothing_between,
    kind: Kind::Changes,
    varies: false,
    store: Store::Logs,
};
pub(super) const PI_APPEND: Case = LOG;
pub(super) const PI_BRANCH: Case = Case {
    args: &["branch", "ID", "#1", "--summary", "left"],
    ..LOG
};
pub(super) const PI_LABEL: Case = Case {
    args: &["label", "ID", "#1", "mark"],
    ..LOG
};
pub(super) const PI_RENAME: Case = Case {
    args: &["rename", "ID", "Name"],
    ..LOG
};
pub(super) const PI_FORK: Case = Case {
    args: &["fork", "ID"],
    ..LOG
};
pub(super) const PI_MIGRATE: Case = Case {
    prepare: |w| {
        let store = w.home.join(".pi/agent/sessions/--shop--");
        copy(&fixture("pi/1/linear"), &store);
        Some("5b0c6a1e-3a52-4b8f-9d11-0c7e2f9a4d01".to_owned())
    },
    args: &["migrate", "ID"],
    ..LOG
};
pub(super) const CLAUDE_APPEND: Case = Case {
    prepare: |w| Some(session(w, "claude-code")),
    ..LOG
};
pub(super) const CLAUDE_FORK: Case = Case {
    args: &["fork", "ID"],
    ..CLAUDE_APPEND
};
pub(super) const CODEX_APPEND: Case = Case {
    prepare: |w| Some(session(w, "codex")),
    ..LOG
};
pub(super) const CODEX_RENAME: Case = Case {
    args: &["rename", "ID", "Name"],
    // The index of names is made first and then written to.
    between: |_| {
        let index = PathBuf::from("home/.codex/session_index.jsonl");
        vec![(index, Vec::new())]
    },
    ..CODEX_APPEND
};
pub(super) const CODEX_FORK: Case = Case {
    args: &["fork", "ID"],
    ..CODEX_APPEND
};
pub(super) const GEMINI_APPEND: Case = Case {
    prepare: |w| Some(session(w, "gemini")),
    ..LOG
};
pub(super) const GEMINI_FORK: Case = Case {
    args: &["fork", "ID"],
    ..GEMINI_APPEND
};

/// A session with sub-agents, which becomes several files.
pub(super) const CONVERT_FAMILY: Case = Case {
    prepare: |w| {
        let store = w.home.join(".claude/projects/-shop");
        copy(&fixture("claude-code/2.1/everything"), &store);
        Some("a1b2c3d4-0000-4000-8000-00000000aaaa".to_owned())
    },
    args: &["convert", "ID", "--to", "gemini"],
    between: conversions,
    kind: Kind::Makes,
    ..LOG
};

/// The list of conversions is made first and then written to.
fn conversions(_: &Trial) -> Files {
    let list = "home/.local/share/rethread/conversions.jsonl";
    vec![(PathBuf::from(list), Vec::new())]
}

/// What was printed is in a log, or the name of one.
pub(super) fn check_acknowledged(found: &Tree, line: &str, at: &str) {
    let id = line.split('\t').next().unwrap();
    let is_in = |bytes: &[u8]| bytes.windows(id.len()).any(|part| part == id.as_bytes());
    let mut files = found.iter();
    let is_there = files.any(|(name, file)| {
        is_in(name.to_string_lossy().as_bytes()) || file.as_deref().is_some_and(is_in)
    });
    assert!(is_there, "{at}: {line}");
}

impl Trial {
    /// The session can be listed, shown and written to, and what was asked for can be asked for again.
    pub(super) fn check_next_log(&self, at: &str) {
        let w = &self.world;
        let said = self.with_other_ids();
        assert_eq!(said.code, Some(0), "{at}, and then: {said:?}");
        let id = self.id.as_ref().unwrap();
        for args in [&["show", id, "--json"][..], &["append", id, "next"]] {
            let next = w.run(args);
            assert_eq!(next.code, 0, "{at}, and then: {next:?}");
        }
    }

    /// The same once more. What is new gets other ids, as it would where no seed is set.
    fn with_other_ids(&self) -> Said {
        let mut again = self.command(&[]);
        again.env("RETHREAD_SEED", "2").output().unwrap().into()
    }

    /// Killed before the session was whole, nothing of it is left once something else is converted,
    /// which has other ids.
    pub(super) fn killed_in_a_family(&mut self) {
        let files = |tree: &Tree| {
            let store = Path::new("home/.gemini");
            let files = tree
                .iter()
                .filter(|(name, file)| name.starts_with(store) && file.is_some());
            files.count()
        };
        let whole = files(&self.new);
        let mut in_part = 0;
        for call in self.calls().into_iter().filter(Call::changes) {
            self.restore();
            let said = self.killed_at(&call);
            let at = format!("killed at {call:?}: {said:?}");
            let (found, _) = look(&self.world.root);
            let found = files(&found);
            assert!(found <= whole, "{at}");
            in_part += usize::from((1..whole).contains(&found));
            let said = self.with_other_ids();
            assert_eq!(said.code, Some(0), "{at}, and then: {said:?}");
            let (found, left) = look(&self.world.root);
            assert_eq!((files(&found), left), (whole, 0), "{at}");
            let unfinished = self.world.home.join(".local/share/rethread/unfinished");
            let journals = fs::read_dir(unfinished).into_iter().flatten().count();
            assert_eq!(journals, 0, "{at}");
        }
        assert!(in_part > 0, "it was never killed in between");
    }
}
