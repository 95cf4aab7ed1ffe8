//! What travels along in a session that came from another format: the files that it had there, and
//! what each of its messages was when it was written.
//!
//! It is a list of JSON values, each short enough for a line, and every format keeps such values
//! where its client leaves them alone: first one that describes all, then the pieces.

use std::io::{self, Read, Write};

use rethread_disk::DiskError;
use rethread_json::{Array, Object, Tree, Value};

use super::pack::{Seal, pack};
use super::shape::Shape;
use super::unpack::Unpack;
use crate::{Conversation, OpenError, RecordKind};

/// The version of what is written here. In version 1, what clients told their models beside what
/// people said was not told to other formats.
const VERSION: u64 = 2;

/// What counts as said in a session, where that is compared with what was said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What people, models and tools say.
    Visible,
    /// Also what the client told the model beside it, but for what each client tells by itself.
    Told,
    /// Also that.
    All,
}

/// What is packed.
#[derive(Clone, Copy, Debug)]
pub struct Packing<'a> {
    /// The format that it came from.
    pub from: &'a str,
    /// The session's id there.
    pub id: &'a str,
    /// Its main file or folder, by its name among the files.
    pub path: &'a str,
    /// The folder that the work was done in.
    pub cwd: Option<&'a str>,
    /// What each message meant when it was written, in order.
    pub marks: &'a [u64],
    /// How they follow each other.
    pub shape: &'a Shape,
    /// Its sub-agents that were written as such.
    pub agents: &'a [CarriedAgent],
}

/// A sub-agent that was written as one of the format that it travels in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedAgent {
    /// Its id there.
    pub id: String,
    /// Its id where it came from.
    pub of: String,
    /// What each of its messages meant when it was written, in order.
    pub marks: Vec<u64>,
    /// How they follow each other.
    pub shape: Shape,
}

/// What came along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Luggage {
    /// The format that it came from.
    pub from: String,
    /// The session's id there.
    pub id: String,
    /// Its main file or folder, by its name among the files.
    pub path: String,
    /// The folder that the work was done in.
    pub cwd: Option<String>,
    /// What counted as said when it was written.
    pub scope: Scope,
    /// What each message meant when it was written, in order.
    pub marks: Vec<u64>,
    /// How they follow each other.
    pub shape: Shape,
    /// Its sub-agents that were written as such.
    pub agents: Vec<CarriedAgent>,
    files: Vec<File>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    name: String,
    seal: Seal,
    /// Its pieces, one behind the other.
    text: String,
}

/// Why what came along cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("what travelled along is damaged: {0}")]
pub struct LuggageError(String);

/// Packs files, the main one first.
pub fn luggage(
    packing: &Packing<'_>,
    files: &mut [(String, Box<dyn Read + '_>)],
) -> io::Result<Vec<Vec<u8>>> {
    let mut list = Array::new();
    let mut pieces = Vec::new();
    for (at, (name, reader)) in files.iter_mut().enumerate() {
        let first = pieces.len();
        let packed = pack(reader, &mut |piece| {
            let piece = Object::new()
                .u64("file", at as u64)
                .u64("piece", (pieces.len() - first) as u64)
                .str("zstd_base64", piece);
            pieces.push(piece.finish());
            Ok(())
        })?;
        if let Some(torn) = packed.torn {
            return Err(torn);
        }
        let file = Object::new()
            .str("name", name)
            .u64("size", packed.seal.size)
            .str("sha256", &packed.seal.sha256)
            .u64("pieces", (pieces.len() - first) as u64);
        list = list.raw(&file.finish());
    }
    let agents = packing.agents.iter().fold(Array::new(), |list, agent| {
        let agent = Object::new()
            .str("id", &agent.id)
            .str("of", &agent.of)
            .str("marks", &spelled(&agent.marks))
            .opt_raw("shape", agent.shape.json().as_deref());
        list.raw(&agent.finish())
    });
    let agents = (!packing.agents.is_empty()).then(|| agents.finish());
    let head = Object::new()
        .u64("version", VERSION)
        .str("from", packing.from)
        .str("id", packing.id)
        .str("path", packing.path)
        .opt_str("cwd", packing.cwd)
        .str("marks", &spelled(packing.marks))
        .opt_raw("shape", packing.shape.json().as_deref())
        .opt_raw("agents", agents.as_deref())
        .raw("files", &list.finish());
    let mut items = vec![head.finish()];
    items.extend(pieces);
    Ok(items)
}

impl Luggage {
    /// Reads what came along; none where nothing did.
    pub fn read(items: &[Vec<u8>]) -> Result<Option<Self>, LuggageError> {
        let bad = |why: &str| LuggageError(why.to_owned());
        let mut found: Option<Self> = None;
        let mut wanted: Vec<(u64, u64)> = Vec::new();
        for item in items {
            let tree = Tree::parse(item).map_err(|e| bad(&e.to_string()))?;
            let value = tree.root(item);
            if value.get("version").is_some() {
                // What is described anew holds from there on.
                let (luggage, pieces) = head(value).ok_or_else(|| bad("its description"))?;
                found = Some(luggage);
                wanted = pieces.into_iter().map(|pieces| (0, pieces)).collect();
                continue;
            }
            let place = |key| value.get(key).and_then(Value::u64);
            let (Some(at), Some(piece)) = (place("file"), place("piece")) else {
                return Err(bad("a piece has no place"));
            };
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let file = found.as_mut().and_then(|l| l.files.get_mut(at));
            let (Some(file), Some(next)) = (file, wanted.get_mut(at)) else {
                return Err(bad("a piece belongs to no file"));
            };
            if piece != next.0 {
                return Err(bad("its pieces are not in order"));
            }
            next.0 += 1;
            let text = value.get("zstd_base64").and_then(Value::str);
            file.text
                .push_str(&text.ok_or_else(|| bad("a piece is empty"))?);
        }
        if wanted.iter().any(|(there, wanted)| there != wanted) {
            return Err(bad("a piece is missing"));
        }
        Ok(found)
    }

    /// The names of its files, the main one first, with `/` between folders. They come from a file,
    /// so they are checked before they are used.
    pub fn names(&self) -> Vec<String> {
        self.files.iter().map(|file| file.name.clone()).collect()
    }

    /// What must come out of its files, in the same order.
    pub fn seals(&self) -> impl Iterator<Item = &Seal> {
        self.files.iter().map(|file| &file.seal)
    }

    /// Unpacks a file, by its place. It fails at the end if that is not what was packed.
    pub fn unpack(&self, at: usize, out: &mut dyn Write) -> io::Result<u64> {
        let file = self.files.get(at).ok_or(io::ErrorKind::NotFound)?;
        io::copy(
            &mut Unpack::new(file.text.as_bytes(), file.seal.clone())?,
            out,
        )
    }
}

/// What the description says, and how many pieces each file has.
fn head(value: Value<'_>) -> Option<(Luggage, Vec<u64>)> {
    let text = |value: Value<'_>, key: &str| Some(value.get(key)?.str()?.into_owned());
    let listed = value.get("agents").into_iter().flat_map(Value::items);
    let agents = listed.map(|agent| {
        Some(CarriedAgent {
            id: text(agent, "id")?,
            of: text(agent, "of")?,
            marks: marks(agent)?,
            shape: shape(agent),
        })
    });
    let mut files = Vec::new();
    let mut pieces = Vec::new();
    for file in value.get("files")?.items() {
        files.push(File {
            name: text(file, "name")?,
            seal: Seal {
                size: file.get("size")?.u64()?,
                sha256: text(file, "sha256")?,
            },
            text: String::new(),
        });
        pieces.push(file.get("pieces")?.u64()?);
    }
    let luggage = Luggage {
        from: text(value, "from")?,
        id: text(value, "id")?,
        path: text(value, "path")?,
        cwd: text(value, "cwd"),
        scope: match value.get("version")?.u64()? {
            1 => Scope::Visible,
            VERSION => Scope::Told,
            _ => return None,
        },
        marks: marks(value)?,
        shape: shape(value),
        agents: agents.collect::<Option<_>>()?,
        files,
    };
    Some((luggage, pieces))
}

/// Marks in digits.
fn spelled(marks: &[u64]) -> String {
    let digits: Vec<String> = marks.iter().map(|mark| format!("{mark:016x}")).collect();
    digits.concat()
}

fn shape(value: Value<'_>) -> Shape {
    value.get("shape").and_then(Shape::of).unwrap_or_default()
}

fn marks(value: Value<'_>) -> Option<Vec<u64>> {
    let digits = value.get("marks")?.str()?;
    let marks = digits.as_bytes().chunks(16);
    marks
        .map(|hex| u64::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok())
        .collect()
}

/// What travels in the lines of a session's main file: `find` knows where in a line it stands.
pub(crate) fn in_lines(
    conversation: &Conversation,
    find: fn(Value<'_>) -> Option<Value<'_>>,
) -> Result<Vec<Vec<u8>>, OpenError> {
    let mut items = Vec::new();
    let Some(part) = conversation.native.parts.first() else {
        return Ok(items);
    };
    let mut tree = Tree::default();
    let count = u32::try_from(part.record_count()).unwrap_or(u32::MAX);
    for record in 0..count {
        if part.record_kind(record) != Some(RecordKind::Value) {
            continue;
        }
        let line = part.read(record).map_err(|cause| DiskError::Read {
            path: part.path.clone(),
            cause,
        })?;
        let is_ours = memchr::memmem::find(&line, b"rethread").is_some();
        if is_ours && tree.parse_into(&line).is_ok() {
            items.extend(find(tree.root(&line)).map(|item| item.raw().to_vec()));
        }
    }
    Ok(items)
}
