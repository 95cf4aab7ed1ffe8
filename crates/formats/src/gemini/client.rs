//! How a session is continued in the client, and what the client deletes when it is started.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rethread_disk::open_read;
use rethread_model::{Kind, Moment, Note, Role, Severity, Summary, Visibility};

use super::Gemini;
use super::scan::{MARK, Scanned, scan_file};
use super::sniff::ClientFile;
use crate::kit::ScanDepth;
use crate::{Client, Env, Resume};

/// After how many days without a change the client deletes a session, unless it is told otherwise.
const KEPT_DAYS: i64 = 30;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// How many characters of an id stand in the name of its file.
const SHORT: usize = 8;

impl Client for Gemini {
    fn program(&self) -> &'static str {
        "gemini"
    }

    fn finds_by_folder(&self) -> bool {
        true
    }

    /// The command; none for what the client does not list: checkpoints, prompts, sub-agents, and
    /// sessions that it cannot read.
    fn resume(&self, summary: &Summary) -> Option<Resume> {
        let seen = ClientView::of(&summary.path);
        (seen.is_known && !summary.is_subagent()).then(|| Resume {
            program: "gemini",
            args: vec!["--resume".to_owned(), summary.head.id.clone()],
            folder: summary.head.workspace.path.as_ref().map(PathBuf::from),
        })
    }

    /// Why a file of the client's is not continued, and what to do about it.
    fn refusal(&self, summary: &Summary) -> Option<(String, String)> {
        let seen = ClientView::of(&summary.path);
        let (why, hint) = match seen.what? {
            ClientFile::Checkpoint => {
                let tag = summary.head.id.strip_prefix("checkpoint-");
                // Its file spells other signs as an address does.
                let tag = tag.filter(|tag| !tag.contains('%'));
                let hint = format!("say `/chat resume {}` there", tag.unwrap_or("NAME"));
                ("a checkpoint is resumed from inside of Gemini CLI", hint)
            }
            ClientFile::Prompts => (
                "prompts of many sessions are no conversation to go on with",
                "each prompt names its session".to_owned(),
            ),
            ClientFile::Log | ClientFile::Document if seen.is_known || summary.is_subagent() => {
                return None;
            }
            ClientFile::Log | ClientFile::Document if seen.says_something => (
                "Gemini CLI cannot read this session, and deletes it when it starts",
                "`fork` makes a copy that it reads".to_owned(),
            ),
            ClientFile::Log | ClientFile::Document => (
                "nothing is said in this session: Gemini CLI does not list it, and deletes it when it starts",
                "`append` a message first".to_owned(),
            ),
        };
        Some((why.to_owned(), hint))
    }

    /// Which sessions the client deletes: those of the folder that it is started for, and later this
    /// one itself.
    fn warnings(&self, env: &Env, summary: &Summary) -> Vec<Note> {
        let now = env.now();
        let path = &summary.path;
        let mut notes = Vec::new();
        if is_old(path, now) {
            let what = format!(
                "nothing changed in this session for {KEPT_DAYS} days: Gemini CLI deletes it the next time it is started for anything else"
            );
            notes.push(
                Note::remark(what)
                    .at(path)
                    .hint("go on with it, or `rename` it, which counts as a change"),
            );
        }
        if short_id(path) == Some(short(&summary.head.id)) {
            let what = "whenever Gemini CLI resumes a session, it begins another file with the same ending of its name, and the next time it is started for anything else it may delete all such files: this session, too";
            notes.push(
                Note::remark(what)
                    .at(path)
                    .hint("`fork` makes a copy with a name that stays; resume that"),
            );
        }
        let (old, others) = doomed(path, &summary.head.id, now);
        let folder = path.parent().unwrap_or(path);
        let counted = |count: usize| match count {
            1 => ("1 other file".to_owned(), "it"),
            n => (format!("{n} other files"), "them"),
        };
        let unless = "unless `general.sessionRetention` in its settings says otherwise";
        if old > 0 {
            let (files, them) = counted(old);
            let what = format!(
                "{files} beside this session did not change for {KEPT_DAYS} days: Gemini CLI deletes {them} when it starts, {unless}"
            );
            notes.push(Note::remark(what).at(folder));
        }
        if others > 0 {
            let (files, them) = counted(others);
            let what = format!(
                "Gemini CLI cannot read {files} beside this session, or one with the same ending of its name: it deletes {them} when it starts, {unless}"
            );
            notes.push(
                Note::remark(what)
                    .at(folder)
                    .hint("`fork` makes a copy that it reads and keeps"),
            );
        }
        notes
    }
}

/// How many files in which something is said the client deletes when it resumes this session: those
/// that are old, and others.
fn doomed(path: &Path, id: &str, now: Moment) -> (usize, usize) {
    let own = short(id);
    let files: Vec<(PathBuf, ClientView)> = others(path)
        .map(|f| (f.clone(), ClientView::of(&f)))
        .collect();
    let is_old = |file: &Path, seen: &ClientView| {
        let is_current = file_name(file).contains(own);
        seen.is_known && !is_current && seen.updated.is_some_and(|t| has_passed(t, now))
    };
    // What it deletes takes all along whose names end alike.
    let taken: BTreeSet<&str> = files
        .iter()
        .filter(|(file, seen)| !seen.is_known || is_old(file, seen))
        .filter_map(|(file, _)| short_id(file))
        .collect();
    let (mut old, mut more) = (0, 0);
    for (file, seen) in files.iter().filter(|(_, seen)| seen.says_something) {
        let short = short_id(file);
        if is_old(file, seen) {
            old += 1;
        } else if seen.id.as_deref() != Some(id)
            && (!seen.is_known && short.is_none() || short.is_some_and(|s| taken.contains(s)))
        {
            more += 1;
        }
    }
    (old, more)
}

/// What the client makes of a file.
#[derive(Default)]
struct ClientView {
    id: Option<String>,
    updated: Option<Moment>,
    what: Option<ClientFile>,
    /// Whether it lists and resumes it.
    is_known: bool,
    /// Whether a person or a model said something in it.
    says_something: bool,
}

impl ClientView {
    fn of(path: &Path) -> Self {
        let Ok(found) = scan_file(path, ScanDepth::Quick) else {
            return Self::default();
        };
        let says_something = says_something(&found);
        let meta = &found.meta;
        let is_whole = match found.what {
            ClientFile::Log => meta.project_hash.is_some(),
            ClientFile::Document => {
                let is_damage = |note: &Note| note.severity == Severity::Damage;
                !found.notes.iter().any(is_damage)
            }
            ClientFile::Checkpoint | ClientFile::Prompts => false,
        };
        Self {
            id: meta.id.clone(),
            updated: meta.updated,
            what: Some(found.what),
            is_known: is_whole
                && meta.id.is_some()
                && !meta.is_sub_agent()
                && !has_mark(path)
                && says_something,
            says_something,
        }
    }
}

fn says_something(found: &Scanned) -> bool {
    let replay = &found.replay;
    let mut live = replay.live.iter().filter_map(|at| replay.drafts.get(*at));
    live.any(|draft| {
        let head = &draft.head;
        let is_said = matches!(head.kind, Kind::Message(Role::User | Role::Assistant));
        is_said && head.visibility == Visibility::Visible
    })
}

/// Whether a file begins with a byte order mark.
fn has_mark(path: &Path) -> bool {
    let mut start = [0; 3];
    open_read(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *MARK
}

/// The other sessions in the same folder.
fn others(path: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = path.parent().map(std::fs::read_dir);
    let entries = folder.into_iter().flatten().flatten().flatten();
    let is_session = |name: &str| {
        let ends = [".json", ".jsonl"].iter().any(|end| name.ends_with(end));
        name.starts_with("session-") && ends
    };
    entries
        .filter(move |e| is_session(&e.file_name().to_string_lossy()))
        .map(|e| e.path())
        .filter(move |file| file != path)
}

fn file_name(path: &Path) -> &str {
    path.file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default()
}

/// What the client takes for the beginning of the id in a file's name: eight letters and digits at
/// its end.
fn short_id(path: &Path) -> Option<&str> {
    let name = file_name(path);
    let stem = name.strip_suffix(".jsonl").or(name.strip_suffix(".json"))?;
    let (_, short) = stem.rsplit_once('-')?;
    let fits = short.len() == SHORT && short.bytes().all(|b| b.is_ascii_alphanumeric());
    fits.then_some(short)
}

/// The beginning of an id.
fn short(id: &str) -> &str {
    let end = id.char_indices().nth(SHORT).map_or(id.len(), |(at, _)| at);
    id.get(..end).unwrap_or(id)
}

/// Whether the client would delete it: by what it says of itself, not by what was last said in it.
pub(super) fn is_old(path: &Path, now: Moment) -> bool {
    let updated = scan_file(path, ScanDepth::Quick)
        .ok()
        .and_then(|s| s.meta.updated);
    updated.is_some_and(|t| has_passed(t, now))
}

fn has_passed(updated: Moment, now: Moment) -> bool {
    now.millis().saturating_sub(updated.millis()) > KEPT_DAYS * DAY
}
