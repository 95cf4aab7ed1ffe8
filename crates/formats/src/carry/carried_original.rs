//! What travels along in a session that came from another format: the files that it had there, and
//! what each of its messages was when it was written.
//!
//! It is a list of JSON values, each short enough for a line, and every format keeps such values
//! where its client leaves them alone: first one that describes all, then the pieces.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use rethread_disk::DiskError;
use rethread_json::{Array, Object, Tree, Value};

use super::own::NamedFile;
use super::pack::{Seal, pack_content};
use super::shape::MessageTree;
use super::unpack::Unpack;
use crate::error::read_failed;
use crate::{Conversation, OpenError, Part, RecordKind, Spool};

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
pub struct PackedOriginal<'a> {
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
    pub shape: &'a MessageTree,
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
    pub shape: MessageTree,
}

/// What came along.
#[derive(Debug)]
pub struct CarriedOriginal {
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
    pub shape: MessageTree,
    /// Its sub-agents that were written as such.
    pub agents: Vec<CarriedAgent>,
    files: Vec<File>,
    /// The texts of all pieces.
    texts: Part,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    name: String,
    seal: Seal,
    /// How many pieces it has.
    count: u64,
    /// Its pieces, by their places among all.
    pieces: Vec<u32>,
}

/// Why what came along cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("what travelled along is damaged: {0}")]
pub struct CarriedOriginalError(String);

/// Files that were packed to travel along, the main one first. Their pieces are in a file without a
/// name, unless they are few.
#[derive(Debug)]
pub struct PackedFiles {
    files: Vec<PackedFile>,
    /// The values that hold the pieces.
    pieces: Part,
}

#[derive(Debug)]
struct PackedFile {
    name: String,
    seal: Seal,
    pieces: u64,
}

impl PackedFiles {
    /// Packs files while they are read, the main one first.
    pub fn pack_files(files: Vec<NamedFile<'_>>) -> io::Result<Self> {
        let mut list = Vec::with_capacity(files.len());
        let mut spool = Spool::default();
        for (at, (name, mut reader)) in files.into_iter().enumerate() {
            let mut pieces = 0;
            let packed = pack_content(&mut reader, &mut |piece| {
                let value = Object::new()
                    .u64("file", at as u64)
                    .u64("piece", pieces)
                    .str("zstd_base64", piece);
                pieces += 1;
                add_record(&mut spool, &value.finish())
            })?;
            if let Some(torn) = packed.torn {
                return Err(torn);
            }
            list.push(PackedFile {
                name,
                seal: packed.seal,
                pieces,
            });
        }
        Ok(Self {
            files: list,
            pieces: finish_records(spool)?,
        })
    }

    /// What must come out of the files when they are unpacked.
    pub fn file_seals(&self) -> impl Iterator<Item = &Seal> {
        self.files.iter().map(|file| &file.seal)
    }

    /// The values that travel along: first one that describes all, then the pieces.
    pub fn embedded_values(
        &self,
        packing: &PackedOriginal<'_>,
    ) -> impl Iterator<Item = io::Result<Vec<u8>>> {
        let count = u32::try_from(self.pieces.record_count()).unwrap_or(u32::MAX);
        let pieces = (0..count).map(|piece| self.pieces.read(piece));
        std::iter::once(Ok(self.description_value(packing))).chain(pieces)
    }

    fn description_value(&self, packing: &PackedOriginal<'_>) -> Vec<u8> {
        let list = self.files.iter().fold(Array::new(), |list, file| {
            let file = Object::new()
                .str("name", &file.name)
                .u64("size", file.seal.size)
                .str("sha256", &file.seal.sha256)
                .u64("pieces", file.pieces);
            list.raw(&file.finish())
        });
        let agents = packing.agents.iter().fold(Array::new(), |list, agent| {
            let agent = Object::new()
                .str("id", &agent.id)
                .str("of", &agent.of)
                .str("marks", &digests_in_hex(&agent.marks))
                .opt_raw("shape", agent.shape.to_json().as_deref());
            list.raw(&agent.finish())
        });
        let agents = (!packing.agents.is_empty()).then(|| agents.finish());
        Object::new()
            .u64("version", VERSION)
            .str("from", packing.from)
            .str("id", packing.id)
            .str("path", packing.path)
            .opt_str("cwd", packing.cwd)
            .str("marks", &digests_in_hex(packing.marks))
            .opt_raw("shape", packing.shape.to_json().as_deref())
            .opt_raw("agents", agents.as_deref())
            .raw("files", &list.finish())
            .finish()
    }
}

/// Adds a record to those that are kept.
fn add_record(spool: &mut Spool, record: &[u8]) -> io::Result<()> {
    let added = spool.add(RecordKind::Value, |out| {
        out.extend_from_slice(record);
        Ok::<(), DiskError>(())
    });
    match added {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(io::ErrorKind::FileTooLarge.into()),
        Err(e) => Err(io::Error::other(e)),
    }
}

/// The records that were kept.
fn finish_records(spool: Spool) -> io::Result<Part> {
    let spooled = spool.finish().map_err(io::Error::other)?;
    Ok(Part::rows(PathBuf::new(), "pieces", spooled))
}

/// What came along, while it is read value by value.
#[derive(Default)]
struct CarriedOriginalReader {
    found: Option<CarriedDescription>,
    /// How many pieces there are of all files.
    count: u32,
    texts: Spool,
    failed: Option<CarriedOriginalError>,
}

impl CarriedOriginalReader {
    fn add_value(&mut self, item: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.try_add_value(item).err();
        }
    }

    fn try_add_value(&mut self, item: &[u8]) -> Result<(), CarriedOriginalError> {
        let tree = Tree::parse(item).map_err(|e| damaged_error(&e.to_string()))?;
        let value = tree.root(item);
        if value.get("version").is_some() {
            // What is described anew holds from there on.
            let described = CarriedDescription::parse_description(value)
                .ok_or_else(|| damaged_error("its description"))?;
            self.found = Some(described);
            return Ok(());
        }
        let place = |key| value.get(key).and_then(Value::u64);
        let (Some(at), Some(piece)) = (place("file"), place("piece")) else {
            return Err(damaged_error("a piece has no place"));
        };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let file = self.found.as_mut().and_then(|l| l.files.get_mut(at));
        let file = file.ok_or_else(|| damaged_error("a piece belongs to no file"))?;
        if piece != file.pieces.len() as u64 {
            return Err(damaged_error("its pieces are not in order"));
        }
        let text = value.get("zstd_base64").and_then(Value::str);
        let text = text.ok_or_else(|| damaged_error("a piece is empty"))?;
        add_record(&mut self.texts, text.as_bytes()).map_err(|e| damaged_error(&e.to_string()))?;
        file.pieces.push(self.count);
        self.count += 1;
        Ok(())
    }

    fn finish_reading(self) -> Result<Option<CarriedOriginal>, CarriedOriginalError> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let Some(found) = self.found else {
            return Ok(None);
        };
        let is_missing = |file: &File| file.pieces.len() as u64 != file.count;
        if found.files.iter().any(is_missing) {
            return Err(damaged_error("a piece is missing"));
        }
        let texts = finish_records(self.texts).map_err(|e| damaged_error(&e.to_string()))?;
        Ok(Some(found.with_pieces(texts)))
    }
}

fn damaged_error(why: &str) -> CarriedOriginalError {
    CarriedOriginalError(why.to_owned())
}

impl CarriedOriginal {
    /// Reads what came along in values; none where nothing did.
    pub fn read_values(items: &[Vec<u8>]) -> Result<Option<Self>, CarriedOriginalError> {
        let mut arriving = CarriedOriginalReader::default();
        for item in items {
            arriving.add_value(item);
        }
        arriving.finish_reading()
    }

    /// Reads what came along in a session; none where nothing did.
    pub fn of_conversation(
        conversation: &Conversation,
    ) -> Result<Result<Option<Self>, CarriedOriginalError>, OpenError> {
        let mut arriving = CarriedOriginalReader::default();
        if let Some(carrier) = conversation.source.format.carrier() {
            carrier.visit_values(conversation, &mut |value| arriving.add_value(value))?;
        }
        Ok(arriving.finish_reading())
    }

    /// The names of its files, the main one first, with `/` between folders. They come from a file,
    /// so they are checked before they are used.
    pub fn file_names(&self) -> Vec<String> {
        self.files.iter().map(|file| file.name.clone()).collect()
    }

    /// What must come out of its files, in the same order.
    pub fn file_seals(&self) -> impl Iterator<Item = &Seal> {
        self.files.iter().map(|file| &file.seal)
    }

    /// Unpacks a file, by its place. It fails at the end if that is not what was packed.
    pub fn unpack_file(&self, at: usize, out: &mut dyn Write) -> io::Result<u64> {
        let file = self.files.get(at).ok_or(io::ErrorKind::NotFound)?;
        let text = FileText {
            all: &self.texts,
            next: file.pieces.iter(),
            piece: io::Cursor::default(),
        };
        io::copy(&mut Unpack::new(text, file.seal.clone())?, out)
    }
}

/// The text of a file, piece by piece.
struct FileText<'a> {
    all: &'a Part,
    next: std::slice::Iter<'a, u32>,
    piece: io::Cursor<Vec<u8>>,
}

impl Read for FileText<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.piece.read(buf)?;
            if n > 0 || buf.is_empty() {
                return Ok(n);
            }
            match self.next.next() {
                Some(piece) => self.piece = io::Cursor::new(self.all.read(*piece)?),
                None => return Ok(0),
            }
        }
    }
}

/// What a description says.
struct CarriedDescription {
    from: String,
    id: String,
    path: String,
    cwd: Option<String>,
    scope: Scope,
    marks: Vec<u64>,
    shape: MessageTree,
    agents: Vec<CarriedAgent>,
    files: Vec<File>,
}

impl CarriedDescription {
    fn parse_description(value: Value<'_>) -> Option<Self> {
        let text = |value: Value<'_>, key: &str| Some(value.get(key)?.str()?.into_owned());
        let listed = value.get("agents").into_iter().flat_map(Value::items);
        let agents = listed.map(|agent| {
            Some(CarriedAgent {
                id: text(agent, "id")?,
                of: text(agent, "of")?,
                marks: parse_digests(agent)?,
                shape: parse_shape(agent),
            })
        });
        let files = value.get("files")?.items().map(|file| {
            Some(File {
                name: text(file, "name")?,
                seal: Seal {
                    size: file.get("size")?.u64()?,
                    sha256: text(file, "sha256")?,
                },
                count: file.get("pieces")?.u64()?,
                pieces: Vec::new(),
            })
        });
        Some(Self {
            from: text(value, "from")?,
            id: text(value, "id")?,
            path: text(value, "path")?,
            cwd: text(value, "cwd"),
            scope: match value.get("version")?.u64()? {
                1 => Scope::Visible,
                VERSION => Scope::Told,
                _ => return None,
            },
            marks: parse_digests(value)?,
            shape: parse_shape(value),
            agents: agents.collect::<Option<_>>()?,
            files: files.collect::<Option<_>>()?,
        })
    }

    fn with_pieces(self, texts: Part) -> CarriedOriginal {
        CarriedOriginal {
            from: self.from,
            id: self.id,
            path: self.path,
            cwd: self.cwd,
            scope: self.scope,
            marks: self.marks,
            shape: self.shape,
            agents: self.agents,
            files: self.files,
            texts,
        }
    }
}

/// Marks in digits.
fn digests_in_hex(marks: &[u64]) -> String {
    let mut digits = String::with_capacity(marks.len() * 16);
    for mark in marks {
        // A string takes all that is written to it.
        let _ = write!(digits, "{mark:016x}");
    }
    digits
}

fn parse_shape(value: Value<'_>) -> MessageTree {
    value
        .get("shape")
        .and_then(MessageTree::from_json)
        .unwrap_or_default()
}

fn parse_digests(value: Value<'_>) -> Option<Vec<u64>> {
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
    visit_lines(conversation, find, &mut |item| items.push(item.to_vec()))?;
    Ok(items)
}

/// Shows what travels in the lines of a session's main file to somebody, one value after the other.
pub(crate) fn visit_lines(
    conversation: &Conversation,
    find: fn(Value<'_>) -> Option<Value<'_>>,
    visit: &mut dyn FnMut(&[u8]),
) -> Result<(), OpenError> {
    let Some(part) = conversation.native.parts.first() else {
        return Ok(());
    };
    let ours = memchr::memmem::Finder::new(b"rethread");
    let (mut tree, mut buffer) = (Tree::default(), Vec::new());
    let count = u32::try_from(part.record_count()).unwrap_or(u32::MAX);
    let is_message = said_in(conversation, count);
    for record in 0..count {
        let is_said = is_message.get(record as usize) == Some(&true);
        if is_said || part.record_kind(record) != Some(RecordKind::Value) {
            continue;
        }
        let line = part.view(record, &mut buffer);
        let line = line.map_err(read_failed(&part.path))?;
        if ours.find(line).is_some()
            && tree.parse_into(line).is_ok()
            && let Some(item) = find(tree.root(line))
        {
            visit(item.raw());
        }
    }
    Ok(())
}

/// Which records of a session's main file are messages: those carry nothing, and are long.
fn said_in(conversation: &Conversation, count: u32) -> Vec<bool> {
    let mut is_message = vec![false; count as usize];
    let session = &conversation.session;
    for (ix, _) in session.indexed().filter(|(_, e)| e.kind.is_message()) {
        for raw in session.origin(ix).iter().filter(|raw| raw.part == 0) {
            if let Some(is_message) = is_message.get_mut(raw.record as usize) {
                *is_message = true;
            }
        }
    }
    is_message
}
