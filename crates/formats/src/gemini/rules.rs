//! Measuring sessions against what the client needs to list and resume them.

use std::path::Path;

use rethread_model::{Kind, Note, Severity};

use super::Gemini;
use super::project::{project_hash, root_in};
use super::scan::{Scanned, scan_file};
use super::sniff::ClientFile;
use crate::check::law::{Law, law};
use crate::kit::ScanDepth;
use crate::{OpenError, Rules, Source, Store, Violation, Weight};

const READ: &str = "What is read";
const DAMAGE: &str = "Damage";
const LIVES: &str = "Where it lives";

impl Rules for Gemini {
    /// Measures the sessions at a path; gives how many there are, and nothing if the path is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        let sources = self.at_path(path);
        for source in &sources {
            check_file(source, out)?;
        }
        Ok((!sources.is_empty()).then_some(sources.len() as u64))
    }
}

fn check_file(source: &Source, out: &mut dyn FnMut(Violation)) -> Result<(), OpenError> {
    let path = source.path.as_path();
    let mut found = match scan_file(path, ScanDepth::Whole) {
        Ok(found) => found,
        Err(OpenError::NotOurs { .. }) => {
            let message = "nothing in it is a message".to_owned();
            out(violation(
                path,
                Weight::Error,
                law("no-session", DAMAGE),
                message,
            ));
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    found.notes.sort_by_key(|note| note.line);
    for note in &found.notes {
        out(of_note(path, note));
    }
    if matches!(found.what, ClientFile::Log | ClientFile::Document) {
        check_chat(path, &found, out);
    }
    Ok(())
}

/// What was noticed while reading is wrong; what is only worth knowing is a warning.
fn of_note(path: &Path, note: &Note) -> Violation {
    let weight = match note.severity {
        Severity::Damage => Weight::Error,
        Severity::Remark | Severity::Quiet | Severity::Detail => Weight::Warning,
    };
    Violation {
        line: note.line,
        ..violation(path, weight, law("damage", DAMAGE), note.message.clone())
    }
}

fn violation(path: &Path, weight: Weight, law: Law, message: String) -> Violation {
    Violation {
        weight,
        path: path.to_owned(),
        line: None,
        rule: law.rule,
        section: law.section,
        message,
    }
}

fn check_chat(path: &Path, found: &Scanned, out: &mut dyn FnMut(Violation)) {
    let mut tell = |weight, law, message| out(violation(path, weight, law, message));
    let meta = &found.meta;
    for (key, is_there) in [
        ("startTime", meta.started.is_some()),
        ("lastUpdated", meta.updated.is_some()),
    ] {
        if !is_there {
            let message = format!("`{key}` is missing or no time; the client takes now for it");
            tell(Weight::Warning, law("required-field", READ), message);
        }
    }
    let root = super::project::folder_of(path).and_then(root_in);
    if let (Some(root), Some(hash)) = (root, &meta.project_hash)
        && project_hash(&root) != *hash
    {
        let message = format!("`projectHash` is not the hash of `{root}`");
        tell(Weight::Warning, law("project-hash", LIVES), message);
    }
    let replay = &found.replay;
    for (draft, id) in replay.drafts.iter().zip(replay.ids.iter()) {
        if draft.beside {
            let message = "a record that is no message; the client passes over it".to_owned();
            tell(Weight::Warning, law("unknown-record", READ), message);
        } else if draft.head.kind == Kind::Unknown {
            let message = format!("the message `{id}` has a type that the client does not know");
            tell(Weight::Warning, law("unknown-type", READ), message);
        }
    }
    let live = replay.live.iter();
    for (at, draft) in live.filter_map(|at| Some((*at, replay.drafts.get(*at)?))) {
        let tools = &replay.tools;
        let calls = tools.calls(&draft.head.said).iter();
        for call in calls.filter(|call| !call.has_result) {
            let (call, message) = (tools.text(call.id), replay.id(at));
            let message = format!("the call `{call}` of `{message}` has no result");
            tell(Weight::Warning, law("unanswered-call", READ), message);
        }
    }
}
