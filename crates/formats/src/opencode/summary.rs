//! What a list shows of a session: from its row and its messages, without reading parts.

use std::fs::File;
use std::path::Path;

use rethread_disk::read_next;
use rethread_json::{Passed, Skim, Strayed};
use rethread_model::{Activity, Counts, Head, Moment, Note, Summary, Usage};

use super::body::early_text;
use super::connection::Db;
use super::database::{AskError, with_database};
use super::export::{ExportOutline, Long, LongMessage, nobodys, readable, unshown};
use super::facts::{SessionFacts, read_usage};
use super::members::Members;
use super::said::{PlacedMessage, is_summary, said_at};
use super::session_rows;
use super::tree::TreePlace;
use crate::error::unreadable_file;
use crate::outline::WHOLE;
use crate::times::Times;
use crate::{OpenError, Source, Want, buffer};

pub(super) fn of_database(path: &Path, id: &str, want: Want) -> Result<Summary, OpenError> {
    with_database(path, |db| {
        let line = session_rows::session_line(db, path, id)?;
        let facts = session_rows::row_facts(db, &line)?;
        let mut tally = MessageTally::new(&facts, want);
        let is_in = db.is("message", "session_id")?;
        let sql = format!("SELECT id, data FROM message WHERE {is_in} ORDER BY time_created, id");
        let mut query = db.prepare_cached(&sql)?;
        let mut rows = query.query([id])?;
        while let Some(row) = rows.next()? {
            let data = row.get_ref(1)?.as_bytes().unwrap_or_default();
            let mut skim = Skim::checking(data);
            if let (Ok(info), true) = (Members::next(&mut skim), skim.is_done()) {
                tally.add(row.get_ref(0)?.as_str().unwrap_or_default(), &info, None);
            }
        }
        let prompt = match tally.first_prompt.as_ref().filter(|_| facts.is_untitled()) {
            Some(message) => prompt_of(db, message)?,
            None => None,
        };
        Ok(Summary {
            head: tally.dated(facts.head(id, prompt.as_deref())),
            counts: tally.counts,
            activity: tally.activity,
            ..Summary::default()
        })
    })
}

/// The first text of a message that a person typed.
fn prompt_of(db: &Db, message: &str) -> Result<Option<String>, AskError> {
    let is_in = db.is("part", "message_id")?;
    let sql = format!("SELECT data FROM part WHERE {is_in} ORDER BY id");
    let mut query = db.prepare_cached(&sql)?;
    let mut rows = query.query([message])?;
    while let Some(row) = rows.next()? {
        let data = row.get_ref(0)?.as_bytes().unwrap_or_default();
        let mut skim = Skim::checking(data);
        if let (Ok(part), true) = (skim.pass(), skim.is_done())
            && let Some(text) = typed(part)
        {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// The text of a part that a person typed.
fn typed(part: Passed<'_>) -> Option<String> {
    let [type_name, text, synthetic, ignored] = part.pick(["type", "text", "synthetic", "ignored"]);
    let is_true = |value: Option<Passed<'_>>| value.and_then(Passed::bool) == Some(true);
    let is_typed =
        type_name.is_some_and(|t| t.is_str("text")) && !is_true(synthetic) && !is_true(ignored);
    let text = crate::passed::passed_string(text.filter(|_| is_typed))?;
    (!text.trim().is_empty()).then_some(text)
}

/// Of the files of an old store, only those of messages are read.
pub(super) fn of_tree(
    place: &TreePlace,
    source: &Source,
    want: Want,
) -> Result<Summary, OpenError> {
    let mut all: Vec<(PlacedMessage, Vec<u8>)> = Vec::new();
    let facts = place.each_message(&mut |said, info| all.push((said, info.raw().to_vec())))?;
    all.sort_by(|(a, _), (b, _)| (a.time, &a.id).cmp(&(b.time, &b.id)));
    let mut tally = MessageTally::new(&facts, want);
    let mut prompt = None;
    for (said, info) in &all {
        if let Some(info) = Members::parse(info) {
            tally.add(&said.id, &info, None);
            let early = || info.get("summary")?.get("title");
            prompt = prompt.or_else(|| crate::passed::passed_string(early()));
        }
    }
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
    Ok(Summary {
        head: tally.dated(facts.head(&source.id, prompt.as_deref())),
        counts: tally.counts,
        activity: tally.activity,
        size: size(&place.info) + all.iter().map(|(_, info)| info.len() as u64).sum::<u64>(),
        ..Summary::default()
    })
}

/// An export is one file, so all of it is gone through.
pub(super) fn of_export(
    source: &Source,
    file: File,
    len: u64,
    want: Want,
) -> Result<Summary, OpenError> {
    let path = &source.path;
    if len > WHOLE {
        return of_long_export(source, &Long::of(path, file, len)?, want);
    }
    let mut bytes = buffer::take_buffer();
    read_next(&file, len, &mut bytes).map_err(|e| unreadable_file(path, e))?;
    let summary = of_exported(source, &bytes, want);
    buffer::return_buffer(bytes);
    summary
}

fn of_exported(source: &Source, bytes: &[u8], want: Want) -> Result<Summary, OpenError> {
    let mut all = Vec::new();
    let mut outline = ExportOutline::of(bytes, Skim::trusting(bytes), &mut |skim| {
        all.push(Exported::next(skim)?);
        Ok(())
    });
    let is_damaged = outline.is_torn() || !outline.has_facts();
    let readable = is_damaged.then(|| readable(&source.path, bytes));
    let readable = readable.flatten();
    if let Some(readable) = &readable {
        all.clear();
        let mended = readable.bytes();
        outline = ExportOutline::of(mended, Skim::trusting(mended), &mut |skim| {
            if readable.is_damaged(skim.offset()) {
                skim.pass()?;
            } else {
                all.push(Exported::next(skim)?);
            }
            Ok(())
        });
        outline.mend_facts(bytes, readable);
    }
    let mut listing = Listing::new(source, &outline, want)?;
    listing
        .notes
        .extend(readable.iter().flat_map(|r| r.notes().to_vec()));
    all.sort_by_key(|message| message.time);
    for message in &all {
        listing.add(message);
    }
    Ok(listing.finish(bytes.len() as u64))
}

/// The messages of a long one are read twice: to find their order, and in it.
fn of_long_export(source: &Source, long: &Long, want: Want) -> Result<Summary, OpenError> {
    let mut listing = Listing::new(source, &long.outline, want)?;
    let mut all = Vec::new();
    long.each(|place, message| {
        let read = match message {
            LongMessage::Read(bytes) => Exported::next(&mut Skim::trusting(bytes)).ok(),
            LongMessage::TooLong => None,
            LongMessage::Damaged => return,
        };
        match read {
            Some(message) => all.push((message.time, place.clone())),
            None => listing.notes.push(unshown(&source.path, place)),
        }
    })?;
    listing.notes.extend_from_slice(&long.damaged.notes);
    all.sort_by_key(|(time, _)| *time);
    let mut bytes = Vec::new();
    for (_, place) in &all {
        long.read(place, &mut bytes)?;
        if let Ok(message) = Exported::next(&mut Skim::trusting(&bytes)) {
            listing.add(&message);
        }
    }
    Ok(listing.finish(long.len()))
}

/// What is known of an export after some of its messages.
struct Listing<'a> {
    source: &'a Source,
    facts: SessionFacts,
    tally: MessageTally,
    calls: u64,
    prompt: Option<String>,
    notes: Vec<Note>,
}

impl<'a> Listing<'a> {
    fn new(source: &'a Source, outline: &ExportOutline, want: Want) -> Result<Self, OpenError> {
        let facts = outline.facts(&source.path)?;
        Ok(Self {
            source,
            tally: MessageTally::new(&facts, want),
            facts,
            calls: 0,
            prompt: None,
            notes: outline.note(&source.path).into_iter().collect(),
        })
    }

    /// The next message in order.
    fn add(&mut self, message: &Exported<'_>) {
        let id = crate::passed::passed_string(message.info.get("id")).unwrap_or_default();
        if !self.tally.add(&id, &message.info, Some(message)) {
            self.notes.push(nobodys(&self.source.path, &id));
        }
        self.calls += message.parts.calls;
        if self.prompt.is_none() && self.facts.is_untitled() {
            self.prompt = message.prompt();
        }
    }

    fn finish(self, size: u64) -> Summary {
        let prompt = self.prompt.as_deref();
        Summary {
            head: self.tally.dated(self.facts.head(&self.source.id, prompt)),
            counts: Counts {
                tool_calls: self.calls,
                ..self.tally.counts
            },
            activity: self.tally.activity,
            size,
            notes: self.notes,
            ..Summary::default()
        }
    }
}

/// What a list wants of a message in an export.
struct Exported<'a> {
    time: Option<Moment>,
    info: Members<'a>,
    parts: PartCounts<'a>,
}

/// What a list wants of the parts of a message.
#[derive(Default)]
struct PartCounts<'a> {
    list: Option<Passed<'a>>,
    /// How many tools are called.
    calls: u64,
    /// Whether they ask for a compaction.
    ask: bool,
}

impl<'a> PartCounts<'a> {
    /// Goes through the list that is next.
    fn next(skim: &mut Skim<'a>) -> Result<Self, Strayed> {
        let mut parts = Self::default();
        let start = skim.offset();
        skim.enter_array();
        while skim.next_item()? {
            match type_of(skim.pass()?) {
                b"tool" | b"tool-invocation" => parts.calls += 1,
                b"compaction" => parts.ask = true,
                _ => {}
            }
        }
        parts.list = Some(skim.since(start));
        Ok(parts)
    }

    fn items(&self) -> impl Iterator<Item = Passed<'a>> {
        self.list.into_iter().flat_map(Passed::items)
    }
}

impl<'a> Exported<'a> {
    /// Goes through the message that is next.
    fn next(skim: &mut Skim<'a>) -> Result<Self, Strayed> {
        let mut info = None;
        let mut parts = PartCounts::default();
        let value = Members::each(skim, |skim, name| {
            match name {
                b"info" if skim.peek() == Some(b'{') => info = Some(Members::next(skim)?),
                b"parts" if skim.peek() == Some(b'[') => parts = PartCounts::next(skim)?,
                _ => drop(skim.pass()?),
            }
            Ok(())
        })?;
        // The first ones have all of it in one.
        let info = info.unwrap_or(value);
        Ok(Self {
            time: said_at(&info),
            info,
            parts,
        })
    }

    /// The first text that a person typed.
    fn prompt(&self) -> Option<String> {
        if !self.info.is_str("role", "user") {
            return None;
        }
        let mut parts = self.parts.items().peekable();
        if parts.peek().is_none() {
            return early_text(&self.info).map(|text| text.value);
        }
        parts
            .filter(|part| type_of(*part) == b"text")
            .find_map(typed)
    }

    /// The tokens of its steps.
    fn usage(&self) -> Option<Usage> {
        let parts = self.parts.items();
        let steps = parts.filter(|part| type_of(*part) == b"step-finish");
        let steps = steps.filter_map(|step| read_usage(&Members::of(step)));
        steps.reduce(|mut sum, step| {
            sum += &step;
            sum
        })
    }
}

/// The word for what a part is, as it is spelled. The first members tell, and the rest is not gone
/// through.
fn type_of(part: Passed<'_>) -> &[u8] {
    let mut members = part.members();
    let found = members.find(|(key, _)| *key.bytes() == *b"type");
    found
        .and_then(|(_, word)| word.content())
        .unwrap_or_default()
}

/// Counts messages in order.
struct MessageTally {
    counts: Counts,
    first_prompt: Option<String>,
    /// How many of the next messages were copied from another session.
    copied: u64,
    /// Whether the last message asked for a compaction.
    asked: Asked,
    /// When messages were written: all of them, and all but the last.
    times: Times,
    before: Times,
    activity: Activity,
    /// When the last message was written.
    last: Option<Moment>,
}

/// Whether a message asked for a compaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    No,
    /// Its parts would tell.
    Perhaps,
    Yes,
}

impl MessageTally {
    fn new(facts: &SessionFacts, want: Want) -> Self {
        Self {
            counts: Counts {
                usage: want.usage.then(Usage::default),
                ..Counts::default()
            },
            first_prompt: None,
            copied: facts.fork.as_ref().map_or(0, |f| f.messages),
            asked: Asked::No,
            times: Times::default(),
            before: Times::default(),
            activity: Activity::default(),
            last: None,
        }
    }

    /// The head of a session that was held when these messages were written.
    fn dated(&self, mut head: Head) -> Head {
        self.times.fill(&mut head);
        head
    }

    /// Adds a message, with all of it where it is at hand. Whether it is one.
    fn add(&mut self, id: &str, info: &Members<'_>, whole: Option<&Exported<'_>>) -> bool {
        let is_copied = self.copied > 0;
        self.copied = self.copied.saturating_sub(1);
        if let Some(sum) = &mut self.counts.usage
            && !is_copied
        {
            let first = info.get("metadata").and_then(|m| m.get("assistant"));
            let first = first.map(Members::of);
            let used = read_usage(first.as_ref().unwrap_or(info));
            if let Some(used) = used.or_else(|| whole.and_then(Exported::usage)) {
                *sum += &used;
            }
        }
        let asked = std::mem::replace(&mut self.asked, Asked::No);
        let counts = &mut self.counts;
        let counted = counts.messages;
        match info.get("role").and_then(Passed::str).as_deref() {
            // A summary and what asked for it are one compaction, and no messages.
            Some("assistant") if is_summary(info) && asked == Asked::Yes => {}
            Some("assistant") if is_summary(info) && asked == Asked::Perhaps => {
                counts.messages -= 1;
                counts.user_messages -= 1;
                self.times = self.before;
                self.activity.remove_message(self.last);
            }
            Some("assistant") => {
                counts.messages += 1;
                counts.assistant_messages += 1;
            }
            Some("user") if whole.is_some_and(|whole| whole.parts.ask) => self.asked = Asked::Yes,
            Some("user") => {
                counts.messages += 1;
                counts.user_messages += 1;
                self.first_prompt.get_or_insert_with(|| id.to_owned());
                if whole.is_none() {
                    self.asked = Asked::Perhaps;
                }
            }
            Some("system") => counts.messages += 1,
            Some(_) | None => return false,
        }
        if counts.messages > counted {
            self.before = self.times;
            self.last = said_at(info);
            self.times.add(self.last);
            self.activity.add_message(self.last);
        }
        true
    }
}
