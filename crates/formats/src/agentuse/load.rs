//! One exchange as it is on disk: its message and its parts, in the order in which they count.

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, OpenFolder, read_small};
use rethread_json::{Tree, Value};
use rethread_model::{Moment, Note, Role, Usage};

use super::fields::{counts_nothing, millis_between, moment_at_path, read_usage};
use super::files::{ExchangeFiles, FileHere, json_stem};
use super::store::MESSAGE_JSON;
use super::ulid;
use crate::fields::string_of;

/// A file that holds one object, and whether it does.
#[derive(Debug)]
pub(super) struct LoadedObject {
    pub(super) path: PathBuf,
    pub(super) len: u64,
    /// None where the file could not be read.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) is_sound: bool,
}

/// Reads a file that must be one JSON object, from its folder where that is open; `look` is shown
/// the object. What is wrong is noted.
pub(super) fn load(
    file: &FileHere,
    folder: Option<&OpenFolder>,
    tree: &mut Tree,
    notes: &mut Vec<Note>,
    look: &mut dyn FnMut(Value<'_>),
) -> LoadedObject {
    let mut loaded = LoadedObject {
        path: file.path.clone(),
        len: 0,
        bytes: None,
        is_sound: false,
    };
    let read = match (folder, file.path.file_name()) {
        (Some(folder), Some(name)) => folder.read_small(name),
        _ => read_small(&file.path),
    };
    match read {
        Ok(bytes) => {
            loaded.len = bytes.len() as u64;
            match parse_object(&bytes, tree) {
                Ok(root) => {
                    loaded.is_sound = true;
                    look(root);
                }
                Err(note) => notes.push(note.at(&file.path)),
            }
            loaded.bytes = Some(bytes);
        }
        Err(e) => {
            loaded.len = file.len();
            notes.push(unreadable_note(&file.path, &e));
        }
    }
    loaded
}

/// The object that a file must be, or what is wrong with it.
pub(super) fn parse_object<'a>(bytes: &'a [u8], tree: &'a mut Tree) -> Result<Value<'a>, Note> {
    if bytes.trim_ascii().is_empty() {
        return Err(Note::damage("an empty file; skipped"));
    }
    if let Err(e) = tree.parse_into(bytes) {
        let message = format!("not JSON: {}, at column {}; skipped", e.kind, e.column);
        let note = Note::damage(message).line(e.line as u64);
        return Err(note.offset(e.offset as u64));
    }
    let root = tree.root(bytes);
    if root.is_object() {
        Ok(root)
    } else {
        Err(Note::damage("not a JSON object; skipped"))
    }
}

/// What is said of a file that cannot be read.
pub(super) fn unreadable_note(path: &Path, e: &DiskError) -> Note {
    let message = match e {
        DiskError::TooLarge { limit, .. } => format!("larger than {limit} bytes; skipped"),
        DiskError::Read { cause, .. } => format!("cannot be read: {cause}; skipped"),
        other => format!("{other}; skipped"),
    };
    Note::damage(message).at(path)
}

/// What a message tells about its exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageFacts {
    pub(super) id: Option<String>,
    pub(super) created: Option<Moment>,
    pub(super) completed: Option<Moment>,
    /// How many system prompts there are.
    pub(super) system: usize,
    pub(super) has_error: bool,
    pub(super) usage: Usage,
}

impl MessageFacts {
    pub(super) fn of(message: Value<'_>) -> Self {
        let assistant = message.get("assistant");
        let system = assistant.and_then(|a| a.get("system"));
        let error = assistant.and_then(|a| a.get("error"));
        Self {
            id: string_of(message, "id"),
            created: moment_at_path(message, &["time", "created"]),
            completed: moment_at_path(message, &["time", "completed"]),
            system: system.map_or(0, |s| s.items().count()),
            has_error: error.is_some_and(|e| !e.is_null()),
            usage: assistant.map(read_usage).unwrap_or_default(),
        }
    }

    /// Whether the model answered, as far as the message itself tells.
    pub(super) fn is_answered(&self) -> bool {
        self.completed.is_some() || !counts_nothing(&self.usage)
    }

    pub(super) fn duration_ms(&self) -> Option<u64> {
        millis_between(self.created, self.completed)
    }
}

/// What a part is to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// Something inside the model's answer.
    Answer,
    /// A text of the user.
    User,
    Compaction,
    Event,
}

/// What a part tells about itself.
#[derive(Clone, Debug)]
pub(super) struct PartFacts {
    pub(super) id: Option<String>,
    pub(super) says: Says,
    pub(super) start: Option<Moment>,
    pub(super) is_tool: bool,
    /// What the step cost that ends here.
    pub(super) step: Option<Usage>,
    /// The session that a call started, and the call.
    pub(super) child: Option<(String, String)>,
    /// The name of the file that holds a call's whole answer, and how long it must be.
    pub(super) artifact: Option<(String, Option<u64>)>,
}

impl PartFacts {
    pub(super) fn of(part: Value<'_>) -> Self {
        let kind = string_of(part, "type").unwrap_or_default();
        let is_user = part.get("role").is_some_and(|r| r.is_str("user"));
        let says = match kind.as_str() {
            "text" if is_user => Says::User,
            "compaction" => Says::Compaction,
            "learning" | "error" | "log" => Says::Event,
            _ => Says::Answer,
        };
        let is_tool = kind == "tool";
        let start = if is_tool {
            let suspended = || moment_at_path(part, &["state", "suspendedAt"]);
            moment_at_path(part, &["state", "time", "start"]).or_else(suspended)
        } else {
            moment_at_path(part, &["time", "start"])
        };
        Self {
            id: string_of(part, "id"),
            says,
            start,
            is_tool,
            step: (kind == "step-finish").then(|| read_usage(part)),
            child: child(part).filter(|_| is_tool),
            artifact: artifact(part).filter(|_| is_tool),
        }
    }
}

/// The session that a call started, where the part names it, with the call.
fn child(part: Value<'_>) -> Option<(String, String)> {
    let child = child_session(part.get("state")?)?;
    Some((child, string_of(part, "callID").unwrap_or_default()))
}

/// The session that a call started, where its state names it.
pub(super) fn child_session(state: Value<'_>) -> Option<String> {
    let paths: [&[&str]; 2] = [
        &["resumePayload", "childSessionID"],
        &["metadata", "sessionID"],
    ];
    let named = paths.into_iter().find_map(|path| state.at(path)?.str());
    named.map(std::borrow::Cow::into_owned)
}

/// The file with a call's whole answer: the last component of the path that the part names.
fn artifact(part: Value<'_>) -> Option<(String, Option<u64>)> {
    let artifact = part.at(&["state", "output", "artifact"])?;
    let path = string_of(artifact, "path").or_else(|| string_of(artifact, "absolutePath"))?;
    let name = path.rsplit(['/', '\\']).next()?.to_owned();
    Some((name, artifact.get("bytes").and_then(Value::u64)))
}

/// A part of an exchange.
#[derive(Debug)]
pub(super) struct LoadedPart {
    pub(super) file: LoadedObject,
    /// None where the file is damaged.
    pub(super) facts: Option<PartFacts>,
}

impl LoadedPart {
    /// The id in its name.
    pub(super) fn stem(&self) -> String {
        let name = self.file.path.file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        json_stem(&name).unwrap_or(&name).to_owned()
    }

    /// Its own id, else the one in its name.
    pub(super) fn id(&self) -> String {
        let own = self.facts.as_ref().and_then(|f| f.id.clone());
        own.unwrap_or_else(|| self.stem())
    }
}

/// A message of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExchangeMessage {
    pub(super) role: Role,
    pub(super) time: Option<Moment>,
}

/// So many system prompts of one exchange are messages of their own; the last holds all others.
pub(super) const MOST_PROMPTS: usize = 64;

/// An exchange that was read.
#[derive(Debug)]
pub(super) struct LoadedExchange {
    /// The name of its folder.
    pub(super) id: String,
    /// None where the message is damaged or missing.
    pub(super) facts: Option<MessageFacts>,
    pub(super) message: Option<LoadedObject>,
    /// By when they start, then by id; those that do not say when come last.
    pub(super) parts: Vec<LoadedPart>,
    pub(super) artifacts: Vec<FileHere>,
}

impl LoadedExchange {
    /// Reads the message and the parts of an exchange.
    pub(super) fn load(files: ExchangeFiles, tree: &mut Tree, notes: &mut Vec<Note>) -> Self {
        let mut facts = None;
        let message = files.message.as_ref().map(|file| {
            load(file, None, tree, notes, &mut |root| {
                facts = Some(MessageFacts::of(root));
            })
        });
        if message.is_none() {
            notes.push(Note::damage(format!("no `{MESSAGE_JSON}`")).at(&files.folder));
        }
        let mut parts: Vec<LoadedPart> = Vec::with_capacity(files.parts.len());
        let folder = files.parts.first().and_then(|file| file.path.parent());
        // There may be many, and they are next to each other.
        let folder = folder.and_then(|folder| OpenFolder::open(folder).ok());
        for file in &files.parts {
            let mut facts = None;
            let file = load(file, folder.as_ref(), tree, notes, &mut |root| {
                facts = Some(PartFacts::of(root));
            });
            parts.push(LoadedPart { file, facts });
        }
        parts.sort_by_cached_key(|part| {
            let start = part.facts.as_ref().and_then(|f| f.start);
            (start.is_none(), start, part.id())
        });
        Self {
            id: files.id,
            facts,
            message,
            parts,
            artifacts: files.artifacts,
        }
    }

    /// The messages of the exchange, by the rules by which a reader makes entries of them.
    pub(super) fn messages(&self) -> Vec<ExchangeMessage> {
        let facts = self.facts.as_ref();
        let created = facts.and_then(|f| f.created);
        let of = |role, time| ExchangeMessage { role, time };
        let mut found = Vec::new();
        if let Some(facts) = facts {
            let prompts = facts.system.min(MOST_PROMPTS);
            found.extend((0..prompts).map(|_| of(Role::System, created)));
            found.push(of(Role::User, created));
        }
        let mut is_answered = false;
        // When the answer that goes on was begun, as far as its parts say.
        let mut open: Option<Option<Moment>> = None;
        for part in self.parts.iter().filter_map(|p| p.facts.as_ref()) {
            match part.says {
                Says::Answer => {
                    is_answered = true;
                    let started = open.get_or_insert_default();
                    *started = started.or(part.start);
                    continue;
                }
                Says::Event => continue,
                Says::User | Says::Compaction => {}
            }
            let ended = open.take();
            found.extend(ended.map(|time| of(Role::Assistant, time.or(created))));
            if part.says == Says::User {
                found.push(of(Role::User, part.start));
            }
        }
        if !is_answered && facts.is_some_and(MessageFacts::is_answered) {
            open = Some(None);
        }
        found.extend(open.map(|time| of(Role::Assistant, time.or(created))));
        found
    }

    /// What exchanges are sorted by: their time, then their id.
    pub(super) fn place(&self) -> (Option<Moment>, String) {
        let created = self.facts.as_ref().and_then(|f| f.created);
        (created.or_else(|| ulid::made_at(&self.id)), self.id.clone())
    }

    /// What the exchange cost: as its message says, else the sum of its steps, never both.
    pub(super) fn usage(&self) -> Usage {
        let own = self.facts.as_ref().map(|f| f.usage).unwrap_or_default();
        let steps = self.parts.iter().filter_map(|p| p.facts.as_ref()?.step);
        one_of(own, steps)
    }
}

/// The usage of a message unless it counts nothing, else the sum of its steps, which are looked at
/// only then.
pub(super) fn one_of(own: Usage, steps: impl Iterator<Item = Usage>) -> Usage {
    if !counts_nothing(&own) {
        return own;
    }
    let mut sum: Option<Usage> = None;
    for step in steps {
        match &mut sum {
            Some(sum) => *sum += &step,
            None => sum = Some(step),
        }
    }
    sum.filter(|sum| !counts_nothing(sum)).unwrap_or(own)
}
