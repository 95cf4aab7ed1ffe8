//! A home folder of our own, a clock that stands, and messages to say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rethread_formats::Env;
use rethread_formats::pi::{
    ContentBlock, Host, Leaf, NewPiMessage, SessionContext, SessionManager,
};

pub(crate) struct World {
    pub(crate) home: tempfile::TempDir,
    pub(crate) host: Host,
}

pub(crate) fn world() -> World {
    let home = tempfile::tempdir().unwrap();
    let variables = BTreeMap::from([
        ("RETHREAD_SEED".to_owned(), "7".into()),
        ("RETHREAD_NOW".to_owned(), "2026-11-15T17:50:28.602Z".into()),
    ]);
    let env = Env::from_variables(variables, Some(home.path().into()), home.path().into());
    World {
        host: Host::pi(env.unwrap()),
        home,
    }
}

impl World {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Puts a file in place.
    pub(crate) fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn open(&self, path: &Path) -> SessionManager {
        SessionManager::open(&self.host, path, None).unwrap()
    }

    pub(crate) fn memory(&self) -> SessionManager {
        SessionManager::in_memory(&self.host, "/p")
    }

    pub(crate) fn create(&self) -> SessionManager {
        SessionManager::create(&self.host, "/p", None).unwrap()
    }
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

pub(crate) fn user(session: &mut SessionManager, text: &str) -> String {
    session
        .append_message(NewPiMessage::user(text).at(1))
        .unwrap()
}

pub(crate) fn assistant(session: &mut SessionManager, text: &str) -> String {
    let message = NewPiMessage::assistant([ContentBlock::text(text)])
        .model("anthropic-messages", "anthropic", "claude-test")
        .at(2);
    session.append_message(message).unwrap()
}

/// What the messages of the context say, each with its role.
pub(crate) fn said(session: &SessionManager) -> Vec<String> {
    say_all(&session.build_session_context())
}

/// What the messages of the context at another leaf say.
pub(crate) fn said_at(session: &SessionManager, leaf: Leaf<'_>) -> Vec<String> {
    say_all(&session.build_session_context_at(leaf))
}

fn say_all(context: &SessionContext) -> Vec<String> {
    context.messages.iter().map(|json| say(json)).collect()
}

fn say(json: &[u8]) -> String {
    let message = rethread_formats::pi::Message::parse(json).unwrap();
    let text = message.content().map(rethread_formats::pi::Content::text);
    let summary = || {
        let json = message.field("summary").unwrap();
        String::from_utf8(json).unwrap().replace('"', "")
    };
    format!("{}: {}", message.role(), text.unwrap_or_else(summary))
}

pub(crate) const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/p"}"#;

/// A session of entries `id < parent`, each a message of the user that says its id.
pub(crate) fn messages(links: &[(&str, &str)]) -> String {
    let mut text = format!("{HEADER}\n");
    for (id, parent) in links {
        let parent = match *parent {
            "" => "null".to_owned(),
            parent => format!("\"{parent}\""),
        };
        let line = format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2025-01-01T00:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\",\"timestamp\":1}}}}\n"
        );
        text += &line;
    }
    text
}

/// A session of the header and these lines.
pub(crate) fn session(lines: &[&str]) -> String {
    let mut text = format!("{HEADER}\n");
    for line in lines {
        text += line;
        text += "\n";
    }
    text
}
