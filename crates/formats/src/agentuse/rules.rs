//! Measuring a store, a session or one of its files against the format's document.

mod law;
mod objects;
mod tables;

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, read_small};
use rethread_json::Value;

use super::files::{ExchangeFiles, FileHere, FilesHere, json_stem};
use super::info::{agent_id, folder_id};
use super::store::{
    CONTEXT_JSON, PathRole, SESSION_JSON, SUBAGENT, TOOLS_JSON, list_folder, list_sessions,
    parent_of, path_role, project_key, split_name,
};
use super::{AgentUse, key, store};
use crate::check::known::shown_text;
use crate::check::law as general;
use crate::check::sheet::{Headings, Sheet, unreadable, whole};
use crate::fields::string_of;
use crate::{OpenError, Rules, Source, Violation, Weight};

pub(super) use self::objects::{ObjectIds, SessionPlace};

/// The first error in an object that is to be written; what is only unusual is allowed.
pub(super) fn first_error(
    bytes: &[u8],
    judge: impl FnOnce(&mut Sheet<'_>, Value<'_>),
) -> Option<String> {
    let mut sheet = Sheet::new(
        Path::new(""),
        bytes,
        1,
        Headings {
            section: law::SESSION,
            general: law::STRUCTURE,
        },
    );
    if let Some(tree) = sheet.object() {
        judge(&mut sheet, tree.root(bytes));
    }
    let mut first = None;
    sheet.report_all(&mut |violation| {
        if violation.weight == Weight::Error && first.is_none() {
            first = Some(violation.message);
        }
    });
    first
}

pub(super) use self::objects::{check_message_object, check_part_object, check_session_object};

impl Rules for AgentUse {
    /// Measures what is at a path; gives how many files there were, and nothing if it is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let Some(what) = path_role(&path) else {
            return Ok(None);
        };
        let mut run = SessionCheck {
            out,
            files: 0,
            only: path.is_file().then(|| path.clone()),
        };
        let mut found = Vec::new();
        match what {
            PathRole::Session(folder) => {
                let nested = folder.join(SUBAGENT);
                found.push(Ok(store::source_at(folder)));
                if run.only.is_none() {
                    list_sessions(&nested, &mut |s| found.push(s));
                }
            }
            PathRole::Sessions(folder) => list_sessions(&folder, &mut |s| found.push(s)),
            PathRole::Data(folder) => list_folder(&folder, &mut |s| found.push(s)),
        }
        for source in found {
            match source {
                Ok(source) => run.session(&source),
                Err(note) => {
                    let path = note.path.as_deref().unwrap_or(&path);
                    let law = general::unreadable(law::STRUCTURE);
                    (run.out)(whole(path, Weight::Error, law, note.message));
                }
            }
        }
        Ok(Some(run.files))
    }
}

struct SessionCheck<'o> {
    out: &'o mut dyn FnMut(Violation),
    files: u64,
    /// The one file that is asked for.
    only: Option<PathBuf>,
}

impl SessionCheck<'_> {
    fn session(&mut self, source: &Source) {
        let folder = &source.path;
        let files = match FilesHere::scan(folder) {
            Ok(files) => files,
            Err(e) => {
                let law = general::unreadable(law::STRUCTURE);
                return (self.out)(whole(folder, Weight::Error, law, e.to_string()));
            }
        };
        for exchange in &files.exchanges {
            self.exchange(&source.id, exchange);
        }
        match &files.description {
            Some(file) => self.description(folder, file, &source.id),
            None if self.only.is_none() => {
                let message = "a session without its description";
                let path = folder.join(SESSION_JSON);
                (self.out)(whole(&path, Weight::Error, law::NO_DESCRIPTION, message));
            }
            None => {}
        }
        for file in &files.others {
            self.other(file);
        }
        if self.only.is_none() {
            for note in files.notes {
                let path = note.path.as_deref().unwrap_or(folder);
                (self.out)(whole(path, Weight::Error, law::LINK, note.message));
            }
        }
    }

    /// Reads a file that must be one object, if it is asked for, and has it judged.
    fn object(
        &mut self,
        file: &FileHere,
        section: &'static str,
        judge: impl FnOnce(&mut Sheet<'_>, Value<'_>),
    ) {
        if self.only.as_ref().is_some_and(|only| *only != file.path) {
            return;
        }
        self.files += 1;
        let bytes = match read_small(&file.path) {
            Ok(bytes) => bytes,
            Err(DiskError::NotFound { .. }) => return,
            Err(e) => return (self.out)(unreadable(&file.path, &e, law::STRUCTURE)),
        };
        let mut sheet = Sheet::new(
            &file.path,
            &bytes,
            1,
            Headings {
                section,
                general: law::STRUCTURE,
            },
        );
        if let Some(tree) = sheet.object() {
            judge(&mut sheet, tree.root(&bytes));
        }
        sheet.report_all(self.out);
    }

    fn description(&mut self, folder: &Path, file: &FileHere, id: &str) {
        let place = SessionPlace {
            id: id.to_owned(),
            parent: parent_of(folder).and_then(folder_id),
        };
        self.object(file, law::SESSION, |sheet, root| {
            objects::check_session_object(sheet, root, &place);
            agent_name(sheet, root, folder);
            fitting_key(sheet, root, folder);
        });
    }

    fn exchange(&mut self, session: &str, exchange: &ExchangeFiles) {
        match &exchange.message {
            Some(file) => self.object(file, law::MESSAGE, |sheet, root| {
                objects::check_message_object(
                    sheet,
                    root,
                    &ObjectIds::in_exchange(session, exchange, &exchange.id),
                );
            }),
            None if self.only.is_none() => {
                let message = "a folder of parts without their message";
                let path = exchange.folder.join(store::MESSAGE_JSON);
                (self.out)(whole(&path, Weight::Error, law::NO_MESSAGE, message));
            }
            None => {}
        }
        for file in &exchange.parts {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            let id = json_stem(&name).unwrap_or(&name);
            self.object(file, law::PARTS, |sheet, root| {
                objects::check_part_object(
                    sheet,
                    root,
                    &ObjectIds::in_exchange(session, exchange, id),
                );
                artifact(sheet, root, exchange);
            });
        }
        for file in &exchange.artifacts {
            if file.path.extension().is_some_and(|e| e == "json") {
                self.object(file, law::TOOL, |_, _| {});
            }
        }
    }

    fn other(&mut self, file: &FileHere) {
        let name = file.path.file_name().unwrap_or_default();
        if name == TOOLS_JSON || name == CONTEXT_JSON {
            self.object(file, law::STRUCTURE, |_, _| {});
        } else if self.only.is_none() {
            let message = "a file that the format does not know; it is kept";
            (self.out)(whole(&file.path, Weight::Warning, law::STRANGER, message));
        }
    }
}

impl<'a> ObjectIds<'a> {
    fn in_exchange(session: &'a str, exchange: &'a ExchangeFiles, id: &'a str) -> Self {
        Self {
            session,
            message: &exchange.id,
            id,
        }
    }
}

/// The name of a session's folder ends in the agent's name or, as later programs have it, in its id.
fn agent_name(sheet: &mut Sheet<'_>, root: Value<'_>, folder: &Path) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let Some((_, in_name)) = split_name(&name) else {
        let message = format!(
            "the folder is named {}, not `ULID-agent`",
            shown_text(&name)
        );
        return sheet.error(law::FOLDER, root.span().start, message);
    };
    let Some(agent) = root.get("agent") else {
        return;
    };
    let said = string_of(agent, "name").unwrap_or_default();
    let by_name = key::sanitized_name(&said);
    let by_id = agent_id(root).map(|id| key::sanitized_name(&id));
    if in_name != by_name && by_id.as_deref() != Some(in_name) {
        let message = format!(
            "the folder's name ends in {}, but the agent is {}",
            shown_text(in_name),
            shown_text(&said)
        );
        let at = agent.get("name").unwrap_or(agent).span().start;
        sheet.error(law::AGENT_NAME, at, message);
    }
}

/// The key of the project must fit its root.
fn fitting_key(sheet: &mut Sheet<'_>, root: Value<'_>, folder: &Path) {
    let (Some(key), Some(value)) = (project_key(folder), root.at(&["project", "root"])) else {
        return;
    };
    let Some(project) = value.str() else { return };
    let path = Path::new(project.as_ref());
    let is_here = path.is_absolute() && path.is_dir();
    let repository = Some(path).filter(|_| is_here).and_then(key::of_repository);
    let fits = match &repository {
        Some(expected) => key == *expected,
        // Elsewhere any folder above may have been the repository.
        None if !is_here => {
            let mut above = path.ancestors().map(key::spelled_path);
            key == key::GLOBAL || above.any(|p| key::of_path(&p) == key)
        }
        None => key == key::GLOBAL || key == key::of_path(&project),
    };
    if fits {
        return;
    }
    let message = format!(
        "the project's folder is named {}, which does not fit `project.root` {}",
        shown_text(&key),
        shown_text(&project)
    );
    let at = value.span().start;
    if is_here {
        sheet.error(law::PROJECT_KEY, at, message);
    } else {
        sheet.warning(law::PROJECT_KEY, at, message);
    }
}

/// A file that a call names must be there.
fn artifact(sheet: &mut Sheet<'_>, root: Value<'_>, exchange: &ExchangeFiles) {
    let Some(artifact) = root.at(&["state", "output", "artifact"]) else {
        return;
    };
    let Some(path) = string_of(artifact, "path") else {
        return;
    };
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_it = |f: &&FileHere| f.path.file_name().is_some_and(|n| n == name);
    let at = artifact.span().start;
    match exchange.artifacts.iter().find(is_it) {
        None => {
            let message = format!("the file {} is not there", shown_text(name));
            sheet.error(law::ARTIFACT, at, message);
        }
        Some(file) => {
            let said = artifact.get("bytes").and_then(Value::u64);
            let len = file.len();
            if let Some(said) = said.filter(|n| *n != len) {
                let message = format!("{} has {len} bytes, not {said}", shown_text(name));
                sheet.error(law::ARTIFACT, at, message);
            }
        }
    }
}
