//! A whole conversation, with ways that it left again, and with what was summed up on the way.

use std::collections::{HashMap, HashSet};

use rethread_json::{Array, Object, Tree, Value};
use rethread_model::{Moment, ToolResult};

use super::message::PreparedMessage;
use super::results::{end_calls, orphan_message, with_result};
use crate::fields::string_of;
use crate::gemini::head::THANKS;
use crate::transcript::steps_between;
use crate::{Attachments, Branches, Keeps, TranscriptStep, Writing};

/// The client goes back before any message, and puts a list with a summary in the place of all
/// messages.
pub(in crate::gemini) const KEEPS: Keeps = Keeps {
    branches: Branches::Plain,
    compactions: true,
    labels: false,
    attachments: Attachments::ALL,
};

/// A conversation while it is written.
pub(in crate::gemini) struct LogTranscript<'a> {
    pub(in crate::gemini) w: &'a Writing<'a>,
    /// What makes ids of the same seed differ.
    pub(in crate::gemini) salt: u64,
    pub(in crate::gemini) told: &'a [TranscriptStep],
    pub(in crate::gemini) lines: Vec<Vec<u8>>,
    /// The first line that can still be changed: those before it are in lists that follow them.
    pub(in crate::gemini) current: usize,
    /// The line of the message of each step so far, where it has one.
    pub(in crate::gemini) messages: Vec<Option<usize>>,
    /// The lines of calls, by their ids.
    pub(in crate::gemini) calls: HashMap<String, usize>,
    /// The calls that get a result, by their ids.
    pub(in crate::gemini) answered: HashSet<String>,
}

impl LogTranscript<'_> {
    /// Goes back to a step, if the last one is another.
    pub(in crate::gemini) fn go_to(&mut self, after: Option<usize>) {
        let mut at = self.messages.len().checked_sub(1);
        let mut first = None;
        while let Some(step) = at.filter(|step| Some(*step) > after) {
            first = self.messages.get(step).copied().flatten().or(first);
            at = self.told.get(step).and_then(|told| told.after);
        }
        if let Some(id) = first.and_then(|line| self.id(line)) {
            let back = Object::new().str("$rewindTo", &id).finish();
            self.lines.push(back);
        }
    }

    /// The id of a message that was written.
    fn id(&self, line: usize) -> Option<String> {
        let json = self.lines.get(line)?;
        let tree = Tree::parse(json).ok()?;
        string_of(tree.root(json), "id")
    }

    /// Writes a message; gives its line, if it is one of its own.
    pub(in crate::gemini) fn message(
        &mut self,
        message: PreparedMessage,
        time: Option<Moment>,
    ) -> Option<usize> {
        for result in &message.results {
            self.result(result, time);
        }
        let json = message.json?;
        let ended = end_calls(&json, &self.answered);
        Some(self.line(ended.unwrap_or(json)))
    }

    fn line(&mut self, json: Vec<u8>) -> usize {
        let line = self.lines.len();
        if memchr::memmem::find(&json, b"toolCalls").is_some()
            && let Ok(tree) = Tree::parse(&json)
        {
            let calls = tree.root(&json).get("toolCalls");
            let calls = calls.into_iter().flat_map(Value::items);
            let ids = calls.filter_map(|call| string_of(call, "id"));
            self.calls.extend(ids.map(|id| (id, line)));
        }
        self.lines.push(json);
        line
    }

    /// Puts a result beside its call. What is in a list already is written once more.
    fn result(&mut self, result: &ToolResult, time: Option<Moment>) {
        let holder = self.calls.get(&result.call_id).copied();
        let with_result = holder.and_then(|line| {
            let (json, _) = with_result(self.lines.get(line)?, result)?;
            Some((line, json))
        });
        match with_result {
            Some((line, json)) if line < self.current => {
                self.line(json);
            }
            Some((line, json)) => {
                if let Some(there) = self.lines.get_mut(line) {
                    *there = json;
                }
            }
            None => {
                let id = self.fresh(&result.call_id);
                let time = time.unwrap_or_else(|| self.w.env.now());
                self.lines
                    .push(orphan_message(result, &id, &time.to_string()));
            }
        }
    }

    fn fresh(&self, salt: &str) -> String {
        let salt = format!("{salt} {} {}", self.salt, self.lines.len());
        self.w.env.uuid(salt.as_bytes()).to_string()
    }

    /// Puts a list in the place of all messages: a summary, what the client lets the model answer to
    /// it, and what is kept.
    pub(in crate::gemini) fn compaction(&mut self, at: usize, summary: &str, kept: Option<usize>) {
        let told = self.told.get(at);
        let time = told.and_then(|told| told.time);
        let time = time.unwrap_or_else(|| self.w.env.now()).to_string();
        let said = |word: &str, id: &str, text: &str| {
            let text = Object::new().str("text", text).finish();
            Object::new()
                .str("id", id)
                .str("timestamp", &time)
                .str("type", word)
                .raw("content", &Array::new().raw(&text).finish())
                .finish()
        };
        let mut list = Array::new()
            .raw(&said("user", &self.fresh("summary"), summary))
            .raw(&said("gemini", &self.fresh("thanks"), THANKS));
        let after = |step: usize| self.told.get(step).and_then(|told| told.after);
        let steps = steps_between(after, kept, told.and_then(|told| told.after));
        for step in steps {
            let line = self.messages.get(step).copied().flatten();
            if let Some(json) = line.and_then(|line| self.lines.get(line)) {
                list = list.raw(json);
            }
        }
        let set = Object::new().raw("messages", &list.finish()).finish();
        self.lines.push(Object::new().raw("$set", &set).finish());
        self.current = self.lines.len();
    }
}
