//! A home with sessions of Claude Code, as a test lays them out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use rethread_catalog::{Catalogue, Listing, list_with};
use rethread_formats::{Env, Want};
use rethread_model::State;
use rethread_search::SearchedSession;
use tempfile::TempDir;

/// A home of its own, with nothing else in it.
pub(crate) struct Store {
    _folder: TempDir,
    pub(crate) env: Env,
    project: PathBuf,
}

/// How the letters of a text are spelled in JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spelling {
    Raw,
    /// All that is not ASCII as escapes.
    Escaped,
    /// All letters as escapes, in capitals.
    AllEscaped,
}

/// A message, as a test writes it.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) is_user: bool,
    pub(crate) text: String,
    pub(crate) spelling: Spelling,
    /// Its number in the whole store: its time in seconds.
    pub(crate) number: i64,
}

impl Store {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        let project = home.join(".claude/projects/-work");
        fs::create_dir_all(&project).unwrap();
        let variables = BTreeMap::from([
            (
                "XDG_CACHE_HOME".to_owned(),
                home.join("cache").into_os_string(),
            ),
            ("RETHREAD_NOW".to_owned(), "2026-11-15T12:00:00Z".into()),
        ]);
        let mut env = Env::from_variables(variables, Some(home.clone()), home.clone()).unwrap();
        env.within = Some(home);
        Self {
            _folder: folder,
            env,
            project,
        }
    }

    pub(crate) fn path(&self, id: &str) -> PathBuf {
        self.project.join(format!("{id}.jsonl"))
    }

    /// Writes a session anew, or adds to it.
    pub(crate) fn write(&self, id: &str, said: &[Said], is_added: bool) {
        let mut lines = String::new();
        for one in said {
            lines.push_str(&line(id, one));
        }
        let mut options = fs::OpenOptions::new();
        options
            .create(true)
            .append(is_added)
            .write(true)
            .truncate(!is_added);
        let mut file = options.open(self.path(id)).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
    }

    pub(crate) fn remove(&self, id: &str) {
        fs::remove_file(self.path(id)).unwrap();
    }

    pub(crate) fn list(&self, catalogue: &Catalogue) -> Listing {
        list_with(&self.env, catalogue, Want::default(), &[], &|_, _| {})
    }
}

/// The sessions of a list that can be searched.
pub(crate) fn searched(listing: &Listing) -> Vec<SearchedSession<'_>> {
    let all = listing.cataloged_sessions().into_iter();
    let ready = all.filter(|(summary, _)| summary.state == State::Ready);
    ready
        .map(|(summary, cataloged)| SearchedSession { summary, cataloged })
        .collect()
}

/// The time of a message, in milliseconds.
pub(crate) fn time_of(number: i64) -> i64 {
    1_770_000_000_000 + number * 1000
}

fn line(id: &str, said: &Said) -> String {
    let number = said.number;
    let time = rethread_model::Moment::from_millis(time_of(number)).unwrap();
    let text = quoted(&said.text, said.spelling);
    let message = if said.is_user {
        format!(r#""type":"user","message":{{"role":"user","content":{text}}}"#)
    } else {
        format!(
            r#""type":"assistant","message":{{"model":"m","id":"msg_{number}","type":"message","role":"assistant","content":[{{"type":"text","text":{text}}}],"stop_reason":"end_turn"}}"#
        )
    };
    format!(
        "{{\"parentUuid\":null,\"isSidechain\":false,\"cwd\":\"/work\",\"sessionId\":\"{id}\",\"version\":\"2.1.0\",{message},\"uuid\":\"{id}-{number}\",\"timestamp\":\"{time}\"}}\n"
    )
}

fn quoted(text: &str, spelling: Spelling) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let is_escaped = match spelling {
            Spelling::Raw => false,
            Spelling::Escaped => !c.is_ascii(),
            Spelling::AllEscaped => c.is_alphanumeric() || !c.is_ascii(),
        };
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_escaped => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    match spelling {
                        Spelling::AllEscaped => write!(out, "\\u{unit:04X}").unwrap(),
                        _ => write!(out, "\\u{unit:04x}").unwrap(),
                    }
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
