//! A whole conversation, with what was summed up on the way.

use rethread_json::{Array, Object};
use rethread_model::Moment;

use super::OpenCode;
use super::writing::change_database;
use crate::{
    Attachments, Branches, Keeps, MessageDefaults, MessageInput, Source, StepKind, TranscriptStep,
    WriteError, Writer, Writing,
};

/// What was said last can be taken back, and there are messages and parts for summaries.
pub(super) const KEEPS: Keeps = Keeps {
    branches: Branches::Plain,
    compactions: true,
    labels: false,
    attachments: Attachments::ALL,
};

/// Takes back a message, and all behind it.
pub(super) fn take_back(w: &Writing<'_>, source: &Source, first: &str) -> Result<(), WriteError> {
    let revert = Object::new().str("messageID", first).finish();
    let revert = String::from_utf8_lossy(&revert);
    change_database(w, &source.path, |change| {
        let sql = "UPDATE session SET revert = ?1 WHERE id = ?2";
        change.ask(|tx| tx.execute(sql, [revert.as_ref(), &source.id]))?;
        Ok(())
    })
}

pub(super) struct RowTranscript<'a> {
    pub(super) w: Writing<'a>,
    pub(super) source: &'a Source,
    /// What is not saved yet.
    pub(super) said: Vec<MessageInput>,
    /// The ids of the messages of each step so far.
    pub(super) ids: Vec<String>,
}

impl RowTranscript<'_> {
    pub(super) fn save(&mut self) -> Result<(), WriteError> {
        if self.said.is_empty() {
            return Ok(());
        }
        let saved = OpenCode.append(&self.w, self.source, &std::mem::take(&mut self.said))?;
        for id in saved.ids {
            self.ids.push(id?);
        }
        Ok(())
    }
}

/// The model that a message is of, where it does not say so itself.
pub(super) fn named_model(told: &TranscriptStep) -> Option<String> {
    match &told.step {
        StepKind::Message(message) => message.default_model.clone(),
        _ => None,
    }
}

/// A message with one part, in the client's words.
pub(super) struct OnePartMessage {
    info: Object,
    part: Object,
}

/// The message that asks for a summary, and its part.
pub(super) fn summary_request(kept: Option<&str>) -> OnePartMessage {
    let part = Object::new()
        .str("type", "compaction")
        .bool("auto", false)
        .opt_str("tail_start_id", kept);
    let info = Object::new().str("role", "user");
    OnePartMessage { info, part }
}

/// The message with the summary, and its part.
pub(super) fn summary_message(summary: &str) -> OnePartMessage {
    let part = Object::new().str("type", "text").str("text", summary);
    let info = Object::new()
        .str("role", "assistant")
        .bool("summary", true)
        .str("mode", "compaction")
        .str("agent", "compaction")
        .str("finish", "stop");
    OnePartMessage { info, part }
}

/// A message with one part.
pub(super) fn one_part_message(
    new: OnePartMessage,
    time: Moment,
    model: Option<String>,
) -> MessageInput {
    let time = Object::new().i64("created", time.millis()).finish();
    let info = new.info.raw("time", &time).finish();
    let message = Object::new()
        .raw("info", &info)
        .raw("parts", &Array::new().raw(&new.part.finish()).finish());
    MessageInput::Json {
        bytes: message.finish(),
        line: 0,
        unsaid: MessageDefaults { role: None, model },
    }
}

/// Somebody summed it up, whoever it was.
pub(super) fn unknown() -> String {
    "unknown/unknown".to_owned()
}
