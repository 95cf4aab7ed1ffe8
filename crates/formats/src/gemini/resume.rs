//! How a session is continued in the client, and what the client deletes when it is started.

use std::path::{Path, PathBuf};

use rethread_model::{Moment, Note, Summary};

use super::scan::{Look, scan};
use super::sniff::{What, what};
use crate::{Env, Resume};

/// After how many days without a change the client deletes a session, unless it is told otherwise.
const KEPT_DAYS: i64 = 30;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// The command; none for what the client does not list: checkpoints, prompts and sub-agents.
pub(super) fn resume(summary: &Summary) -> Option<Resume> {
    let (what, _) = what(&summary.path)?;
    let is_chat = matches!(what, What::Log | What::Document);
    (is_chat && !summary.is_subagent()).then(|| Resume {
        program: "gemini",
        args: vec!["--resume".to_owned(), summary.head.id.clone()],
        folder: summary.head.workspace.path.as_ref().map(PathBuf::from),
    })
}

/// Which sessions the client deletes: those of the folder that it is started for, and later this
/// one itself, if nothing more is said in it.
pub(super) fn notes(env: &Env, summary: &Summary) -> Vec<Note> {
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
    let others = others(path).filter(|file| is_old(file, now)).count();
    if others > 0 {
        let (files, them) = match others {
            1 => ("1 other file".to_owned(), "it"),
            n => (format!("{n} other files"), "them"),
        };
        let what = format!(
            "{files} beside this session did not change for {KEPT_DAYS} days: Gemini CLI deletes {them} when it starts, unless `general.sessionRetention` in its settings says otherwise"
        );
        notes.push(Note::remark(what).at(path.parent().unwrap_or(path)));
    }
    notes
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

/// Whether the client would delete it: by what it says of itself, not by what was last said in it.
pub(super) fn is_old(path: &Path, now: Moment) -> bool {
    let updated = scan(path, Look::Quick).ok().and_then(|s| s.meta.updated);
    updated.is_some_and(|t| now.millis().saturating_sub(t.millis()) > KEPT_DAYS * DAY)
}
