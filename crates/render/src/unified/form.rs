//! For whom a record is written, and what its messages need to know of the rest.

use std::collections::HashMap;
use std::io::{self, Write};

use rethread_model::{Blob, Block, Bodies, Message};

/// For whom a record is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordForm {
    /// For a script that looks at one session: with what a list says of it.
    #[default]
    Shown,
    /// An export: the document's own fields, and in `extensions` all that brings the session back.
    Export,
    /// An export without `extensions`.
    Lean,
}

/// Writes the files that a session came from as one JSON value.
pub type OriginalWriter<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// What the messages of a record need to know of the rest.
#[derive(Default)]
pub(super) struct MessageContext<'a> {
    pub(super) form: RecordForm,
    /// The names of the tools that were called so far, by the ids of the calls.
    tools: HashMap<String, String>,
    bodies: Option<&'a dyn Bodies>,
}

impl<'a> MessageContext<'a> {
    pub(super) fn new(form: RecordForm, bodies: &'a dyn Bodies) -> Self {
        Self {
            form,
            tools: HashMap::new(),
            bodies: Some(bodies),
        }
    }

    /// Notes the calls of a message, so that their results can be told whose they are.
    pub(super) fn note_calls(&mut self, message: &Message) {
        for block in &message.blocks {
            if let Block::ToolCall(call) = block {
                self.tools.insert(call.id.clone(), call.name.clone());
            }
        }
    }

    /// The name of the tool that was called with this id.
    pub(super) fn tool_name(&self, call: &str) -> Option<&str> {
        self.tools.get(call).map(String::as_str)
    }

    /// The base64 text of a picture, for an export.
    pub(super) fn inline_base64(&self, blob: &Blob) -> Option<String> {
        let bodies = self.bodies.filter(|_| self.form == RecordForm::Export)?;
        String::from_utf8(bodies.inline(blob)?).ok()
    }
}
