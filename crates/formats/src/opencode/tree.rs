//! A session as the files of an old store: one for the session, one for each message, and one for
//! each part.
//!
//! ```text
//! storage/session/<project>/<session>.json      project/<folder>/storage/session/info/<session>.json
//! storage/message/<session>/<message>.json      …/session/message/<session>/<message>.json
//! storage/part/<message>/<part>.json            …/session/part/<session>/<message>/<part>.json
//! ```

use std::path::{Path, PathBuf};

use rethread_disk::{SafeName, join, read_small};
use rethread_json::{Skim, Tree, Value};
use rethread_model::{Note, RawRef};

use super::facts::{SessionFacts, parsed, project_root};
use super::members::Members;
use super::reader::Gathered;
use super::said::{Piece, PlacedMessage, sort_messages, split, split_value};
use super::store::{file_stem, list_names};
use crate::fields::string_of;
use crate::{OpenError, Part, passed};

/// Where the files of a session are.
#[derive(Debug)]
pub(super) struct TreePlace {
    /// The file that describes the session.
    pub(super) info: PathBuf,
    /// The folder that has `message` and `part`.
    pub(super) base: PathBuf,
    /// Whether it is a store of the first generation.
    pub(super) is_first: bool,
}

impl TreePlace {
    /// The id that the file itself says.
    pub(super) fn id(&self) -> Option<String> {
        let bytes = read_small(&self.info).ok()?;
        parsed(&bytes, SessionFacts::of_info)?.id
    }

    /// Whether the file is one that describes a session: it has an id and times.
    pub(super) fn looks_right(&self) -> bool {
        let Ok(bytes) = read_small(&self.info) else {
            return false;
        };
        let Ok(tree) = Tree::parse(&bytes) else {
            return file_stem(&self.info).starts_with("ses_");
        };
        let root = tree.root(&bytes);
        root.get("id").is_some() && root.get("time").is_some_and(Value::is_object)
    }

    /// The folder of the session's messages.
    fn messages(&self, id: &str) -> Option<PathBuf> {
        join_checked(&self.base.join("message"), id)
    }

    /// How many messages there are, by names alone.
    pub(super) fn message_count(&self, id: &str) -> u64 {
        let folder = self.messages(id);
        folder.map_or(0, |f| json_files(&f).len() as u64)
    }

    /// The folders that the parts of a message are in.
    fn parts(&self, session: &str, message: &str) -> Option<PathBuf> {
        let all = self.base.join("part");
        let all = if self.is_first {
            join_checked(&all, session)?
        } else {
            all
        };
        join_checked(&all, message)
    }

    /// The folders of files beside the messages.
    fn beside_folders(&self) -> impl Iterator<Item = PathBuf> {
        ["todo", "session_diff"]
            .map(|folder| self.base.join(folder))
            .into_iter()
    }

    /// Files beside the messages that belong to the session.
    fn beside(&self, id: &str) -> Vec<PathBuf> {
        let name = format!("{id}.json");
        let there = self
            .beside_folders()
            .filter_map(|folder| join_checked(&folder, &name));
        there.filter(|f| f.is_file()).collect()
    }

    /// All files of the session, the one that describes it first.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        match gather_files(self) {
            Ok(gathered) => gathered.parts.into_iter().map(|p| p.path).collect(),
            Err(_) => vec![self.info.clone()],
        }
    }

    /// The files and folders that a list looks at.
    pub(super) fn watched(&self) -> Vec<PathBuf> {
        let mut watched = vec![self.info.clone()];
        let bytes = read_small(&self.info).unwrap_or_default();
        let facts = parsed(&bytes, SessionFacts::of_info).unwrap_or_default();
        let id = facts.id.clone().unwrap_or_else(|| file_stem(&self.info));
        if let Some(folder) = self.messages(&id) {
            watched.extend(json_files(&folder));
            watched.push(folder);
        }
        let project = facts.project.filter(|_| !self.is_first);
        watched.extend(project.and_then(|project| self.project_file(&project)));
        watched
    }

    /// The file that describes a project.
    fn project_file(&self, project: &str) -> Option<PathBuf> {
        join_checked(&self.base.join("project"), &format!("{project}.json"))
    }

    /// The folders and files that go with the session, the one that describes it last.
    pub(super) fn removed(&self) -> Vec<PathBuf> {
        let mut gone: Vec<PathBuf> = Vec::new();
        for file in self.files().into_iter().skip(1) {
            // Folders that are the session's own go whole; a part without one goes alone.
            let folder = file.parent().filter(|f| f.parent() != Some(&self.base));
            let is_beside = self
                .beside_folders()
                .any(|f| Some(f.as_path()) == file.parent());
            let one = match folder {
                Some(folder) if !is_beside => folder.to_owned(),
                _ => file,
            };
            if !gone.contains(&one) {
                gone.push(one);
            }
        }
        gone.push(self.info.clone());
        gone
    }

    /// Calls `each` with every message, without its parts. Gives the facts about the session.
    pub(super) fn each_message(
        &self,
        each: &mut dyn FnMut(PlacedMessage, Value<'_>),
    ) -> Result<SessionFacts, OpenError> {
        let bytes = read_small(&self.info)?;
        let facts = self.facts(&bytes)?;
        let id = facts.id.clone().unwrap_or_else(|| file_stem(&self.info));
        for path in self.messages(&id).map_or_else(Vec::new, |f| json_files(&f)) {
            let Ok(bytes) = read_small(&path) else {
                continue;
            };
            let Ok(tree) = Tree::parse(&bytes) else {
                continue;
            };
            let root = tree.root(&bytes);
            let raw = RawRef { part: 0, record: 0 };
            let inside = root.get("info").filter(|i| i.is_object());
            let id = string_of(root, "id").unwrap_or_else(|| file_stem(&path));
            let split = split(&mut Skim::trusting(&bytes), false).ok();
            let info = split.and_then(|split| split.info);
            each(
                PlacedMessage::of(raw, &id, info.as_ref()),
                inside.unwrap_or(root),
            );
        }
        Ok(facts)
    }

    fn facts(&self, bytes: &[u8]) -> Result<SessionFacts, OpenError> {
        let mut facts = parsed(bytes, SessionFacts::of_info).ok_or_else(|| OpenError::Damaged {
            path: self.info.clone(),
            line: None,
            why: "it is no JSON object".to_owned(),
        })?;
        if self.is_first {
            // `project/<folder>/storage/session`
            let folder = self.base.ancestors().nth(2).and_then(Path::file_name);
            facts.encoded = folder.map(|f| f.to_string_lossy().into_owned());
        } else if let Some(project) = &facts.project {
            let file = self.project_file(project);
            let bytes = file.and_then(|f| read_small(&f).ok()).unwrap_or_default();
            let tree = Tree::parse(&bytes).ok();
            facts.root = tree.and_then(|tree| project_root(tree.root(&bytes)));
        }
        Ok(facts)
    }
}

/// A name from a file as part of a path, if it can be one.
fn join_checked(folder: &Path, name: &str) -> Option<PathBuf> {
    SafeName::new(name).ok().map(|name| join(folder, &name))
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = list_names(folder, &mut |_| {});
    files.retain(|f| f.extension().is_some_and(|e| e == "json") && f.is_file());
    files
}

/// Reads all files of a session.
pub(super) fn gather_files(place: &TreePlace) -> Result<Gathered, OpenError> {
    let bytes = read_small(&place.info)?;
    let mut gathered = Gathered {
        facts: place.facts(&bytes)?,
        ..Gathered::default()
    };
    let id = gathered
        .facts
        .id
        .clone()
        .unwrap_or_else(|| file_stem(&place.info));
    let raw = gathered.keep(&place.info, bytes);
    gathered.unclaimed.push(raw);
    let mut said = Vec::new();
    for path in place
        .messages(&id)
        .map_or_else(Vec::new, |f| json_files(&f))
    {
        said.extend(message(&mut gathered, &path).map(|one| (one, path)));
    }
    for (one, path) in &mut said {
        let named = place.parts(&id, &one.id).filter(|f| f.is_dir());
        let folder = named.or_else(|| place.parts(&id, &file_stem(path)));
        for path in folder.map_or_else(Vec::new, |f| json_files(&f)) {
            one.parts.extend(part(&mut gathered, &path));
        }
    }
    gathered.said = said.into_iter().map(|(one, _)| one).collect();
    loose_parts(place, &mut gathered);
    sort_messages(&mut gathered.said, true);
    for path in place.beside(&id) {
        match read_small(&path) {
            Ok(bytes) => {
                let raw = gathered.keep(&path, bytes);
                gathered.unclaimed.push(raw);
            }
            Err(e) => gathered.notes.push(Note::damage(e.to_string())),
        }
    }
    Ok(gathered)
}

/// Parts that lie in no folder name their message themselves.
fn loose_parts(place: &TreePlace, gathered: &mut Gathered) {
    for path in json_files(&place.base.join("part")) {
        let Ok(bytes) = read_small(&path) else {
            continue;
        };
        let tree = Tree::parse(&bytes).ok();
        let message = tree.and_then(|tree| string_of(tree.root(&bytes), "messageID"));
        let owner = gathered
            .said
            .iter()
            .position(|s| Some(&*s.id) == message.as_deref());
        if let Some(owner) = owner
            && let Some(piece) = part(gathered, &path)
        {
            gathered.said[owner].parts.push(piece);
        }
    }
}

impl Gathered {
    /// Keeps a document as a part of its own.
    fn keep(&mut self, path: &Path, bytes: Vec<u8>) -> RawRef {
        let part = u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        self.parts.push(Part::document(path.to_owned(), bytes));
        RawRef { part, record: 0 }
    }
}

/// Reads a file, and keeps it. What is no JSON object is named and not read.
fn document<T>(
    gathered: &mut Gathered,
    path: &Path,
    of: impl FnOnce(RawRef, Members<'_>) -> T,
) -> Option<T> {
    let bytes = match read_small(path) {
        Ok(bytes) => bytes,
        Err(e) => {
            gathered.notes.push(Note::damage(e.to_string()));
            return None;
        }
    };
    let raw = gathered.keep(path, bytes.clone());
    let why = match Tree::parse(&bytes) {
        Ok(tree) if tree.root(&bytes).is_object() => {
            return Some(of(raw, Members::parse(&bytes)?));
        }
        Ok(_) => "not a JSON object; skipped".to_owned(),
        Err(_) if bytes.is_empty() => "an empty file; skipped".to_owned(),
        Err(e) => format!("not JSON: {}, at column {}; skipped", e.kind, e.column),
    };
    gathered.notes.push(Note::damage(why).at(path));
    gathered.unclaimed.push(raw);
    None
}

fn message(gathered: &mut Gathered, path: &Path) -> Option<PlacedMessage> {
    let said = document(gathered, path, |raw, root| {
        let id = passed::passed_string(root.get("id")).unwrap_or_else(|| file_stem(path));
        let inside = split_value(root);
        let mut said = PlacedMessage::of(raw, &id, inside.info.as_ref());
        let pieces = inside.parts.iter().filter(|_| inside.info.is_some());
        let pieces = pieces.map(|p| Piece::of(raw, "", Some(p), false));
        said.parts.extend(pieces);
        said
    })?;
    if !said.is_message() {
        let note = "the message names no role; kept unread";
        gathered.notes.push(Note::damage(note).at(path));
    }
    Some(said)
}

fn part(gathered: &mut Gathered, path: &Path) -> Option<Piece> {
    document(gathered, path, |raw, root| {
        let id = passed::passed_string(root.get("id")).unwrap_or_else(|| file_stem(path));
        Piece::of(raw, &id, Some(&root), true)
    })
}
