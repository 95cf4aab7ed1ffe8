//! Looking whether what travels along is still what was packed.

use std::io;

use rethread_model::Note;

use super::carried_original::CarriedOriginal;
use crate::{Conversation, OpenError};

/// What is wrong with the originals that travel along in a session, in an export or packed into it:
/// each is unpacked and compared with its digest, and a note names each that differs.
pub fn damaged_originals(conversation: &Conversation) -> Result<Vec<Note>, OpenError> {
    let path = &conversation.source.path;
    let mut notes = Vec::new();
    let mut note = |name: &str, e: &io::Error| {
        let what = format!("the original `{name}` that travels along is damaged: {e}");
        notes.push(Note::damage(what).at(path));
    };
    for file in conversation.carried()? {
        let read = file.content_reader();
        if let Err(e) = read.and_then(|mut from| io::copy(&mut from, &mut io::sink())) {
            note(&file.path, &e);
        }
    }
    match CarriedOriginal::of_conversation(conversation)? {
        Ok(None) => {}
        Ok(Some(luggage)) => {
            for (at, name) in luggage.file_names().iter().enumerate() {
                if let Err(e) = luggage.unpack_file(at, &mut io::sink()) {
                    note(name, &e);
                }
            }
        }
        Err(e) => notes.push(Note::damage(e.to_string()).at(path)),
    }
    Ok(notes)
}
