//! A whole conversation, with ways that it left again, and with what was summed up on the way.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rethread_json::{Array, Object, Tree, Value};
use rethread_model::{Moment, ToolResult};

use super::message::{Defaults, Given, from_new};
use super::results::{ended, filled, orphan};
use super::{Changes, Open};
use crate::fields::string;
use crate::gemini::SLUG;
use crate::gemini::head::THANKS;
use crate::telling::{answered, is_apart, left, sums_up, way};
use crate::{Attachments, Branches, Keeps, Source, Step, Told, WriteError, Writing};

/// The client goes back before any message, and puts a list with a summary in the place of all
/// messages.
pub(in crate::gemini) const KEEPS: Keeps = Keeps {
    branches: Branches::Plain,
    compactions: true,
    labels: false,
    agents: true,
    attachments: Attachments::ALL,
};

/// Ways that hold results of calls which others make too, because results stand beside their calls; and
/// those on which something was summed up: the client cannot go back before that.
pub(in crate::gemini) fn leaves_out(told: &[Told]) -> Vec<Range<usize>> {
    let is_out = |way: &Range<usize>| {
        let steps = told.get(way.clone()).unwrap_or_default();
        sums_up(steps) || !is_apart(steps)
    };
    left(told).into_iter().filter(is_out).collect()
}

/// Writes a conversation into a session that was just made.
pub(in crate::gemini) fn tell(
    w: &Writing<'_>,
    source: &Source,
    told: &[Told],
) -> Result<(), WriteError> {
    let mut session = Open::lock(w, source)?;
    let mut teller = Teller {
        w,
        salt: session.log.len()?,
        told,
        lines: Vec::new(),
        current: 0,
        messages: Vec::with_capacity(told.len()),
        calls: HashMap::new(),
        answered: answered(told),
    };
    for (at, one) in told.iter().enumerate() {
        teller.go_to(one.after);
        let message = match &one.step {
            Step::Message(message) => {
                let defaults = Defaults {
                    env: w.env,
                    salt: teller.salt + at as u64,
                    replaces: None,
                };
                teller.message(from_new(message, &defaults)?, one.time)
            }
            Step::Compaction { summary, kept, .. } => {
                teller.compaction(at, summary, *kept);
                None
            }
            Step::Back => None,
            Step::BranchSummary(_) | Step::Label { .. } => {
                return Err(WriteError::Unsupported {
                    format: SLUG,
                    what: "summaries of branches, or labels",
                });
            }
        };
        teller.messages.push(message);
    }
    session.save(&Changes {
        added: teller.lines,
        ..Changes::default()
    })?;
    Ok(())
}

/// A conversation while it is written.
struct Teller<'a> {
    w: &'a Writing<'a>,
    /// What makes ids of the same seed differ.
    salt: u64,
    told: &'a [Told],
    lines: Vec<Vec<u8>>,
    /// The first line that can still be changed: those before it are in lists that follow them.
    current: usize,
    /// The line of the message of each step so far, where it has one.
    messages: Vec<Option<usize>>,
    /// The lines of calls, by their ids.
    calls: HashMap<String, usize>,
    /// The calls that get a result, by their ids.
    answered: HashSet<String>,
}

impl Teller<'_> {
    /// Goes back to a step, if the last one is another.
    fn go_to(&mut self, after: Option<usize>) {
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
        string(tree.root(json), "id")
    }

    /// Writes a message; gives its line, if it is one of its own.
    fn message(&mut self, message: Given, time: Option<Moment>) -> Option<usize> {
        for result in &message.results {
            self.result(result, time);
        }
        let json = message.json?;
        let ended = ended(&json, &self.answered);
        Some(self.line(ended.unwrap_or(json)))
    }

    fn line(&mut self, json: Vec<u8>) -> usize {
        let line = self.lines.len();
        if memchr::memmem::find(&json, b"toolCalls").is_some()
            && let Ok(tree) = Tree::parse(&json)
        {
            let calls = tree.root(&json).get("toolCalls");
            let calls = calls.into_iter().flat_map(Value::items);
            let ids = calls.filter_map(|call| string(call, "id"));
            self.calls.extend(ids.map(|id| (id, line)));
        }
        self.lines.push(json);
        line
    }

    /// Puts a result beside its call. What is in a list already is written once more.
    fn result(&mut self, result: &ToolResult, time: Option<Moment>) {
        let holder = self.calls.get(&result.call_id).copied();
        let with_result = holder.and_then(|line| {
            let (json, _) = filled(self.lines.get(line)?, result)?;
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
                self.lines.push(orphan(result, &id, &time.to_string()));
            }
        }
    }

    fn fresh(&self, salt: &str) -> String {
        let salt = format!("{salt} {} {}", self.salt, self.lines.len());
        self.w.env.uuid(salt.as_bytes()).to_string()
    }

    /// Puts a list in the place of all messages: a summary, what the client lets the model answer to
    /// it, and what is kept.
    fn compaction(&mut self, at: usize, summary: &str, kept: Option<usize>) {
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
        let steps = way(self.told, kept, told.and_then(|told| told.after));
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
