//! One session as one line.

use std::cell::RefCell;
use std::io::{self, Write};

use rethread_formats::{Conversation, UnifiedRecord};
use rethread_json::{Patch, Tree};
use rethread_model::{Note, RawRef};
use rethread_render::{Export, View, export_record};

use super::choose::Choice;
use super::original;

/// Writes the line of a session.
pub(super) fn write(
    out: &mut dyn Write,
    choice: &Choice,
    conversation: &Conversation,
    lean: bool,
    notes: &RefCell<Vec<Note>>,
) -> io::Result<()> {
    if let Some(record) = conversation.format.unified_record(conversation) {
        return as_it_is(out, conversation, record, lean);
    }
    let files = if lean {
        Vec::new()
    } else {
        original::files(conversation).unwrap_or_else(|e| {
            let note = Note::damage(format!("its files do not come along: {e}"));
            notes.borrow_mut().push(note.at(&conversation.source.path));
            Vec::new()
        })
    };
    let carry = |out: &mut dyn Write| original::write(out, &files, notes);
    let entries = conversation.session.indexed().map(|(ix, _)| ix).collect();
    let view = View {
        session: &conversation.session,
        bodies: conversation,
        entries,
        path: &conversation.source.path,
        source: choice.source_info(),
    };
    let export = Export {
        lean,
        file_time: choice.file_time,
        original: (!files.is_empty()).then_some(&carry),
    };
    export_record(out, &view, &export)
}

/// Copies a line that is in the unified vocabulary already: nothing in it is computed anew.
fn as_it_is(
    out: &mut dyn Write,
    conversation: &Conversation,
    record: UnifiedRecord,
    lean: bool,
) -> io::Result<()> {
    for at in record.first..=record.last {
        let raw = RawRef {
            part: record.part,
            record: at,
        };
        let mut bytes = conversation.native.read(raw)?;
        if at == record.last {
            bytes.truncate(bytes.trim_ascii_end().len());
        }
        if lean {
            bytes = without_extensions(bytes);
        }
        match std::str::from_utf8(&bytes) {
            Ok(_) => out.write_all(&bytes)?,
            // What is not UTF-8 cannot be in an export.
            Err(_) => out.write_all(String::from_utf8_lossy(&bytes).as_bytes())?,
        }
    }
    out.write_all(b"\n")
}

/// A piece of a line without what `extensions` hold: of a message, or of the session object.
fn without_extensions(bytes: Vec<u8>) -> Vec<u8> {
    let start = bytes.iter().position(|b| *b == b'{').unwrap_or(0);
    let (around, object) = bytes.split_at(start);
    let mut tree = Tree::default();
    if tree.parse_into(object).is_ok() {
        let message = tree.root(object);
        let Some(metadata) = message.get("metadata") else {
            return bytes;
        };
        if metadata.get("extensions").is_none() {
            return bytes;
        }
        let mut patch = Patch::new(message);
        if metadata.members().count() == 1 {
            patch.remove(message, "metadata");
        } else {
            patch.remove(metadata, "extensions");
        }
        return [around, &patch.finish()].concat();
    }
    let Some(at) = memchr::memmem::find(&bytes, b"\"session\":{") else {
        return bytes;
    };
    let at = at + b"\"session\":".len();
    let Ok(end) = tree.parse_prefix(&bytes, at) else {
        return bytes;
    };
    let session = tree.root(&bytes);
    if session.get("extensions").is_none() {
        return bytes;
    }
    let mut tree = Tree::default();
    let object = bytes.get(at..end).unwrap_or_default();
    if tree.parse_into(object).is_err() {
        return bytes;
    }
    let mut patch = Patch::new(tree.root(object));
    patch.remove(tree.root(object), "extensions");
    let tail = bytes.get(end..).unwrap_or_default();
    [&bytes[..at], &patch.finish(), tail].concat()
}
