//! A whole conversation, with what was summed up on the way.

use std::ops::Range;

use rethread_json::{Array, Object};
use rethread_model::Moment;

use super::append::append;
use super::writing::change;
use crate::telling::{is_apart, left, sums_up};
use crate::{
    Attachments, Branches, Keeps, MessageInput, Source, Step, Told, Unsaid, WriteError, Writing,
};

/// What was said last can be taken back, and there are messages and parts for summaries.
pub(super) const KEEPS: Keeps = Keeps {
    branches: Branches::Plain,
    compactions: true,
    labels: false,
    agents: true,
    attachments: Attachments::ALL,
};

/// All ways but one that was taken back last, if the conversation is where it parts: a session is one
/// row of messages.
pub(super) fn leaves_out(told: &[Told]) -> Vec<Range<usize>> {
    let end = told.len().saturating_sub(1);
    let is_back = matches!(told.last().map(|one| &one.step), Some(Step::Back));
    let is_out = |way: &Range<usize>| {
        let steps = told.get(way.clone()).unwrap_or_default();
        way.end != end || !is_back || sums_up(steps) || !is_apart(steps)
    };
    left(told).into_iter().filter(is_out).collect()
}

/// Writes a conversation into a session that was just made.
pub(super) fn tell(w: &Writing<'_>, source: &Source, told: &[Told]) -> Result<(), WriteError> {
    let mut teller = Teller {
        w: Writing { strict: true, ..*w },
        source,
        said: Vec::new(),
        ids: Vec::with_capacity(told.len()),
    };
    // Each message is of some model, also where a summary comes before all that was said; later ones
    // are of the model of those before them.
    let model = told.iter().find_map(named);
    for one in told {
        match &one.step {
            Step::Message(message) => {
                teller.said.push(MessageInput::Message(message.clone()));
            }
            Step::Compaction { summary, kept, .. } => {
                teller.save()?;
                let kept = kept.and_then(|kept| teller.ids.get(kept));
                let time = one.time.unwrap_or_else(|| w.env.now());
                let kept = kept.map(String::as_str);
                let is_first = teller.ids.is_empty();
                let model = is_first.then(|| model.clone().unwrap_or_else(unknown));
                teller.said = vec![
                    message(question(kept), time, model.clone()),
                    message(answer(summary), time, model),
                ];
                // The two are one step.
                teller.save()?;
                teller.ids.pop();
            }
            Step::Back => {
                teller.save()?;
                let first = told.iter().position(|other| other.after == one.after);
                if let Some(first) = first.and_then(|first| teller.ids.get(first)) {
                    take_back(w, source, first)?;
                }
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

/// Takes back a message, and all behind it.
fn take_back(w: &Writing<'_>, source: &Source, first: &str) -> Result<(), WriteError> {
    let revert = Object::new().str("messageID", first).finish();
    let revert = String::from_utf8_lossy(&revert);
    change(w, &source.path, |change| {
        let sql = "UPDATE session SET revert = ?1 WHERE id = ?2";
        change.ask(|tx| tx.execute(sql, [revert.as_ref(), &source.id]))?;
        Ok(())
    })
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
        if self.said.is_empty() {
            return Ok(());
        }
        let saved = append(&self.w, self.source, &std::mem::take(&mut self.said))?;
        for id in saved.ids {
            self.ids.push(id?);
        }
        Ok(())
    }
}

/// The model that a message is of, where it does not say so itself.
fn named(told: &Told) -> Option<String> {
    match &told.step {
        Step::Message(message) => message.default_model.clone(),
        _ => None,
    }
}

/// The message that asks for a summary, and its part.
fn question(kept: Option<&str>) -> (Object, Object) {
    let part = Object::new()
        .str("type", "compaction")
        .bool("auto", false)
        .opt_str("tail_start_id", kept);
    (Object::new().str("role", "user"), part)
}

/// The message with the summary, and its part.
fn answer(summary: &str) -> (Object, Object) {
    let part = Object::new().str("type", "text").str("text", summary);
    let info = Object::new()
        .str("role", "assistant")
        .bool("summary", true)
        .str("mode", "compaction")
        .str("agent", "compaction")
        .str("finish", "stop");
    (info, part)
}

/// A message with one part.
fn message((info, part): (Object, Object), time: Moment, model: Option<String>) -> MessageInput {
    let time = Object::new().i64("created", time.millis()).finish();
    let info = info.raw("time", &time).finish();
    let message = Object::new()
        .raw("info", &info)
        .raw("parts", &Array::new().raw(&part.finish()).finish());
    MessageInput::Json {
        bytes: message.finish(),
        line: 0,
        unsaid: Unsaid { role: None, model },
    }
}

/// Somebody summed it up, whoever it was.
fn unknown() -> String {
    "unknown/unknown".to_owned()
}
