//! What a list shows of a session: from its row and its messages, without reading parts.

use std::path::Path;

use rethread_json::{Passed, Skim, Tree};
use rethread_model::{Bodies as _, Body, Counts, Head, Kind, Note, Role, State, Summary, Usage};
use rusqlite::Connection;

use super::database::{AskError, look};
use super::facts::{Facts, usage};
use super::layout::{Kept, kept};
use super::members::Members;
use super::said::{Said, is_summary};
use super::tree::Place;
use super::{SLUG, read, store};
use crate::fields::{is_true, text_of};
use crate::{OpenError, Source, Want};

/// What a list shows of a session.
pub(super) fn summarize(source: &Source, want: Want) -> Summary {
    let path = &source.path;
    let found = kept(path).and_then(|kept| match kept {
        Kept::Database => of_database(path, &source.id, want),
        Kept::Tree(place) => of_tree(&place, source, want),
        Kept::Export => of_export(source, want),
    });
    match found {
        Ok(summary) => Summary {
            path: path.clone(),
            ..summary
        },
        Err(e) => Summary {
            path: path.clone(),
            head: Head {
                id: source.id.clone(),
                format: SLUG,
                ..Head::default()
            },
            state: State::Damaged,
            notes: vec![Note::damage(e.to_string()).at(path)],
            ..Summary::default()
        },
    }
}

fn of_database(path: &Path, id: &str, want: Want) -> Result<Summary, OpenError> {
    look(path, |db| {
        let line = store::session_line(db, path, id)?;
        let facts = store::facts(db, &line)?;
        let mut tally = Tally::new(&facts, want);
        let mut query = db.prepare(
            "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
        )?;
        let mut rows = query.query([id])?;
        while let Some(row) = rows.next()? {
            let data = row.get_ref(1)?.as_bytes().unwrap_or_default();
            let mut skim = Skim::checking(data);
            if let (Ok(info), true) = (Members::next(&mut skim), skim.is_done()) {
                tally.add(row.get_ref(0)?.as_str().unwrap_or_default(), &info);
            }
        }
        let prompt = match tally.first_prompt.as_ref().filter(|_| facts.is_untitled()) {
            Some(message) => prompt_of(db, message)?,
            None => None,
        };
        Ok(Summary {
            head: facts.head(id, prompt.as_deref()),
            counts: tally.counts,
            ..Summary::default()
        })
    })
}

/// The first text of a message that a person typed.
fn prompt_of(db: &Connection, message: &str) -> Result<Option<String>, AskError> {
    let mut query = db.prepare("SELECT data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let mut rows = query.query([message])?;
    let mut tree = Tree::default();
    while let Some(row) = rows.next()? {
        let data = row.get_ref(0)?.as_bytes().unwrap_or_default();
        if tree.parse_into(data).is_err() {
            continue;
        }
        let part = tree.root(data);
        let is_typed = part.get("type").is_some_and(|t| t.is_str("text"))
            && !is_true(part, "synthetic")
            && !is_true(part, "ignored");
        let text = text_of(part, "text").map(|t| t.value);
        if let Some(text) = text.filter(|t| is_typed && !t.trim().is_empty()) {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// Of the files of an old store, only those of messages are read.
fn of_tree(place: &Place, source: &Source, want: Want) -> Result<Summary, OpenError> {
    let mut all: Vec<(Said, Vec<u8>)> = Vec::new();
    let facts = place.each_message(&mut |said, info| all.push((said, info.raw().to_vec())))?;
    all.sort_by(|(a, _), (b, _)| (a.time, &a.id).cmp(&(b.time, &b.id)));
    let mut tally = Tally::new(&facts, want);
    let mut prompt = None;
    for (said, info) in &all {
        if let Some(info) = Members::parse(info) {
            tally.add(&said.id, &info);
            let early = || info.get("summary")?.get("title");
            prompt = prompt.or_else(|| crate::passed::string(early()));
        }
    }
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
    Ok(Summary {
        head: facts.head(&source.id, prompt.as_deref()),
        counts: tally.counts,
        size: size(&place.info) + all.iter().map(|(_, info)| info.len() as u64).sum::<u64>(),
        ..Summary::default()
    })
}

/// An export is one file, so all of it is read.
fn of_export(source: &Source, want: Want) -> Result<Summary, OpenError> {
    let conversation = read::read(source)?;
    let mut counts = Counts::default();
    let mut sum = Usage::default();
    for (ix, entry) in conversation.session.indexed() {
        if let Kind::Message(role) = entry.kind {
            counts.messages += 1;
            counts.user_messages += u64::from(role == Role::User);
            counts.assistant_messages += u64::from(role == Role::Assistant);
        }
        let used = match conversation.body(ix) {
            Body::Message(message) => {
                let is_call =
                    |b: &&rethread_model::Block| matches!(b, rethread_model::Block::ToolCall(_));
                counts.tool_calls += message.blocks.iter().filter(is_call).count() as u64;
                message.usage
            }
            Body::Compaction(compaction) => compaction.usage,
            _ => None,
        };
        if let Some(used) = used.filter(|_| !entry.inherited) {
            sum += &used;
        }
    }
    counts.usage = want.usage.then_some(sum);
    let notes = conversation.notes;
    Ok(Summary {
        head: conversation.session.head,
        counts,
        size: conversation.native.parts.iter().map(crate::Part::len).sum(),
        notes,
        ..Summary::default()
    })
}

/// Counts messages in order.
struct Tally {
    counts: Counts,
    first_prompt: Option<String>,
    /// How many of the next messages were copied from another session.
    copied: u64,
    was_user: bool,
}

impl Tally {
    fn new(facts: &Facts, want: Want) -> Self {
        Self {
            counts: Counts {
                usage: want.usage.then(Usage::default),
                ..Counts::default()
            },
            first_prompt: None,
            copied: facts.fork.as_ref().map_or(0, |f| f.messages),
            was_user: false,
        }
    }

    fn add(&mut self, id: &str, info: &Members<'_>) {
        let is_copied = self.copied > 0;
        self.copied = self.copied.saturating_sub(1);
        if let Some(sum) = &mut self.counts.usage
            && !is_copied
        {
            let first = info.get("metadata").and_then(|m| m.get("assistant"));
            let first = first.map(Members::of);
            if let Some(used) = usage(first.as_ref().unwrap_or(info)) {
                *sum += &used;
            }
        }
        let was_user = std::mem::take(&mut self.was_user);
        match info.get("role").and_then(Passed::str).as_deref() {
            // A summary and what asked for it are one compaction, and no messages.
            Some("assistant") if is_summary(info) && was_user => {
                self.counts.messages -= 1;
                self.counts.user_messages -= 1;
            }
            Some("assistant") => {
                self.counts.messages += 1;
                self.counts.assistant_messages += 1;
            }
            Some("user") => {
                self.counts.messages += 1;
                self.counts.user_messages += 1;
                self.first_prompt.get_or_insert_with(|| id.to_owned());
                self.was_user = true;
            }
            Some(_) => self.counts.messages += 1,
            None => {}
        }
    }
}
