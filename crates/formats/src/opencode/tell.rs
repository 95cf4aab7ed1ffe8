//! A whole conversation, with what was summed up on the way.

use rethread_json::{Array, Object};
use rethread_model::Moment;

use super::append::append;
use crate::{
    Attachments, Branches, Keeps, MessageInput, Source, Step, Told, Unsaid, WriteError, Writing,
};

/// There are messages and parts for summaries.
pub(super) const KEEPS: Keeps = Keeps {
    branches: Branches::None,
    compactions: true,
    labels: false,
    agents: false,
    attachments: Attachments::ALL,
};

/// Writes a conversation into a session that was just made.
pub(super) fn tell(w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
    let mut teller = Teller {
        w: Writing { strict: true, ..*w },
        source,
        said: Vec::new(),
        ids: Vec::with_capacity(told.len()),
    };
    for one in told {
        match &one.step {
            Step::Message(message) => teller.said.push(message.clone()),
            Step::Compaction { summary, kept, .. } => {
                teller.save()?;
                let kept = kept.and_then(|kept| teller.ids.get(kept));
                let time = one.time.unwrap_or_else(|| w.env.now());
                teller.said = vec![
                    question(time, kept.map(String::as_str)),
                    answer(time, summary),
                ];
                // The two are one step.
                teller.save()?;
                teller.ids.pop();
            }
            Step::BranchSummary(_) | Step::Label { .. } => {
                return Err(WriteError::Unsupported {
                    format: super::SLUG,
                    what: "branches or labels",
                });
            }
        }
    }
    teller.save()
}

struct Teller<'a> {
    w: Writing<'a>,
    source: &'a Source,
    /// What is not saved yet.
    said: Vec<MessageInput>,
    /// The ids of the messages of each step so far.
    ids: Vec<String>,
}

impl Teller<'_> {
    fn save(&mut self) -> Result<(), WriteError> {
        let saved = append(&self.w, self.source, &std::mem::take(&mut self.said))?;
        for id in saved.ids {
            self.ids.push(id?);
        }
        Ok(())
    }
}

/// The message that asks for a summary.
fn question(time: Moment, kept: Option<&str>) -> MessageInput {
    let part = Object::new()
        .str("type", "compaction")
        .bool("auto", false)
        .opt_str("tail_start_id", kept);
    let info = Object::new().str("role", "user");
    message(info, time, &part.finish())
}

/// The message with the summary.
fn answer(time: Moment, summary: &str) -> MessageInput {
    let part = Object::new().str("type", "text").str("text", summary);
    let info = Object::new()
        .str("role", "assistant")
        .bool("summary", true)
        .str("mode", "compaction")
        .str("agent", "compaction")
        .str("finish", "stop");
    message(info, time, &part.finish())
}

fn message(info: Object, time: Moment, part: &[u8]) -> MessageInput {
    let time = Object::new().i64("created", time.millis()).finish();
    let info = info.raw("time", &time).finish();
    let message = Object::new()
        .raw("info", &info)
        .raw("parts", &Array::new().raw(part).finish());
    MessageInput::Json {
        bytes: message.finish(),
        line: 0,
        unsaid: Unsaid::default(),
    }
}
