//! Logs in which each record follows the one before it: one pass for lists and for readers. A format
//! says what a record is; entries, counts, times, titles and usage follow.

use std::borrow::Cow;
use std::collections::HashMap;
use std::marker::PhantomData;

use rethread_disk::open_sized;
use rethread_json::Value;
use rethread_model::{
    Activity, Counts, EntryIx, Head, Kind, Moment, NewEntry, Role, SessionBuilder, Summary, Title,
    Usage, Visibility,
};

use super::log::{Flow, LogLine, LogVisitor, read_log};
use super::records::LogRecords;
use super::scan::{SaveScan, scan_question, scan_resumably};
use super::state::SavedState;
use crate::error::unreadable_file;
use crate::first_prompt::FirstPrompt;
use crate::times::Times;
use crate::unusable::{cannot_be_opened, holds_no_record};
use crate::{Conversation, Native, OpenError, Part, RecordKind, SavedScan, Source, Want};

/// An agent whose log is linear.
pub(crate) trait LinearDialect {
    /// What a record of it is called.
    const CALLED: &'static str;

    /// A record.
    type Record<'a>;

    /// The record that an object is; none if it is none.
    fn record(value: Value<'_>) -> Option<Self::Record<'_>>;

    /// The record that begins a line too long to be held.
    fn giant_record(start: &[u8]) -> Option<Self::Record<'static>>;

    /// The entry that a record becomes; none if it says nothing about the conversation.
    fn entry<'a>(record: &'a Self::Record<'_>) -> Option<LinearEntry<'a>>;

    /// Takes what a record says about the whole session.
    fn add_fact(record: &Self::Record<'_>, head: &mut Head);

    /// What the person says in a record.
    fn prompt(record: &Self::Record<'_>) -> Option<String>;

    /// What a session is called.
    fn title(source: &Source, prompt: &FirstPrompt) -> Option<Title>;
}

/// The entry that a record becomes.
pub(crate) struct LinearEntry<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) kind: Kind,
    pub(crate) visibility: Visibility,
    pub(crate) time: Option<Moment>,
    /// The sub-agent that says it.
    pub(crate) agent: Option<&'a str>,
    /// How many calls of tools are in it.
    pub(crate) tool_calls: u64,
    /// What it cost, and what names the response that cost it.
    pub(crate) usage: Option<Usage>,
    pub(crate) usage_key: Option<String>,
}

/// What is known of a log while it is scanned.
struct LinearScan<'p, D> {
    records: u64,
    head: Head,
    prompt: FirstPrompt,
    counts: Counts,
    times: Times,
    activity: Activity,
    used: Usage,
    /// The response that was counted last.
    last_key: Option<String>,
    thread: Option<LinearThread<'p>>,
    dialect: PhantomData<D>,
}

/// The entries, where somebody reads the session as a whole.
struct LinearThread<'p> {
    records: LogRecords<'p>,
    builder: SessionBuilder,
    /// The entry before, and that of each sub-agent.
    last: Option<EntryIx>,
    last_of: HashMap<String, EntryIx>,
}

impl<'p, D: LinearDialect> LinearScan<'p, D> {
    fn new(source: &Source, thread: Option<LinearThread<'p>>) -> Self {
        let head = Head {
            id: source.id.clone(),
            format: source.format.slug(),
            ..Head::default()
        };
        Self {
            records: 0,
            head,
            prompt: FirstPrompt::default(),
            counts: Counts::default(),
            times: Times::default(),
            activity: Activity::default(),
            used: Usage::default(),
            last_key: None,
            thread,
            dialect: PhantomData,
        }
    }

    fn take(&mut self, line: &LogLine<'_>, kind: RecordKind, record: &D::Record<'_>) {
        self.records += 1;
        D::add_fact(record, &mut self.head);
        let entry = D::entry(record);
        if let Some(entry) = &entry {
            self.count(entry, record);
        }
        if let Some(thread) = &mut self.thread {
            thread.add(line.at, kind, entry);
        }
    }

    fn count(&mut self, entry: &LinearEntry<'_>, record: &D::Record<'_>) {
        if let Some(usage) = &entry.usage {
            // The same response may be told twice.
            if entry.usage_key.is_none() || entry.usage_key != self.last_key {
                self.used += usage;
            }
            self.last_key.clone_from(&entry.usage_key);
        }
        let Kind::Message(role) = entry.kind else {
            return;
        };
        self.counts.messages += 1;
        self.counts.tool_calls += entry.tool_calls;
        self.times.add(entry.time);
        self.activity.add_message(entry.time);
        match role {
            Role::User if entry.visibility == Visibility::Visible => {
                self.counts.user_messages += 1;
                if entry.agent.is_none() && !self.prompt.has_words() {
                    self.prompt.add(&D::prompt(record).unwrap_or_default());
                }
            }
            Role::Assistant => self.counts.assistant_messages += 1,
            _ => {}
        }
    }

    /// What is known of the whole.
    fn finish(&mut self, source: &Source) -> Head {
        let mut head = std::mem::take(&mut self.head);
        head.title = D::title(source, &self.prompt);
        self.times.fill(&mut head);
        head
    }

    /// What the session cost: what its client counted, unless more was said since.
    fn total(&self, head: &Head) -> Usage {
        let mut recorded = Usage::default();
        for record in &head.recorded_usage {
            recorded += &record.usage;
        }
        if recorded.total() >= self.used.total() {
            recorded
        } else {
            self.used
        }
    }
}

impl LinearThread<'_> {
    fn add(&mut self, at: u64, kind: RecordKind, entry: Option<LinearEntry<'_>>) {
        let Some(raw) = self.records.add(at, kind) else {
            return;
        };
        let added = entry.and_then(|entry| {
            let before = entry
                .agent
                .and_then(|agent| self.last_of.get(agent))
                .copied();
            let new = NewEntry {
                id: &entry.id,
                parent: before.or(self.last),
                kind: entry.kind,
                time: entry.time,
                visibility: entry.visibility,
                origin: &[raw],
            };
            let ix = if entry.kind == Kind::Usage {
                self.builder.add_beside(&new)?
            } else {
                let ix = self.builder.add(&new)?;
                match entry.agent {
                    Some(agent) => _ = self.last_of.insert(agent.to_owned(), ix),
                    None => self.last = Some(ix),
                }
                ix
            };
            self.builder.entry(ix).side = entry.agent.is_some();
            if let (Some(_), Some(key)) = (&entry.usage, &entry.usage_key) {
                self.builder.set_usage_key(ix, key);
            }
            Some(ix)
        });
        if added.is_none() {
            self.records.unclaimed.push(raw);
        }
    }
}

impl<'p, D: LinearDialect> LogVisitor<'p> for LinearScan<'p, D> {
    fn records(&mut self) -> Option<&mut LogRecords<'p>> {
        self.thread.as_mut().map(|thread| &mut thread.records)
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if let Some(record) = D::record(value) {
            self.take(line, RecordKind::Value, &record);
        } else if let Some(records) = self.records() {
            let message = format!("no {}; skipped", D::CALLED);
            records.note_damage(line.value_pos(), message);
            records.add_unclaimed(line.at, RecordKind::Value);
        }
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        if let Some(records) = self.records() {
            let (called, len) = (D::CALLED, line.span.len);
            let message = format!("{called}: {len} bytes, too long to be shown");
            records.note_damage(line.span, message);
        }
        if let Some(record) = D::giant_record(line.bytes) {
            self.take(line, RecordKind::Giant, &record);
        } else if let Some(records) = self.records() {
            records.add_unclaimed(line.at, RecordKind::Giant);
        }
        Flow::Continue(())
    }
}

/// What a list knows; entries are built in one go.
impl<D> SavedState for LinearScan<'_, D> {
    fn save(&self, out: &mut Vec<u8>) {
        self.records.save(out);
        self.head.save(out);
        self.prompt.save(out);
        self.counts.save(out);
        self.times.save(out);
        self.activity.save(out);
        self.used.save(out);
        self.last_key.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self {
            records: SavedState::load(bytes)?,
            head: SavedState::load(bytes)?,
            prompt: SavedState::load(bytes)?,
            counts: SavedState::load(bytes)?,
            times: SavedState::load(bytes)?,
            activity: SavedState::load(bytes)?,
            used: SavedState::load(bytes)?,
            last_key: SavedState::load(bytes)?,
            thread: None,
            dialect: PhantomData,
        })
    }
}

/// Reads a session that is one linear log.
pub(crate) fn read_linear<D: LinearDialect>(source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let (file, len) = open_sized(path)?;
    let part = Part::lines(path.clone(), file, len);
    let thread = LinearThread {
        records: LogRecords::new(path, 0),
        builder: SessionBuilder::new(Head::default()),
        last: None,
        last_of: HashMap::new(),
    };
    let mut scan = LinearScan::<D>::new(source, Some(thread));
    read_log(&part, &mut scan)?;
    let head = scan.finish(source);
    let Some(mut thread) = scan.thread.filter(|_| scan.records > 0) else {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: source.format.slug(),
        });
    };
    for raw in thread.records.unclaimed {
        thread.builder.unclaimed(raw);
    }
    thread.builder.set_leaf(thread.last);
    *thread.builder.head() = head;
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![part.with_records(thread.records.marks)],
        },
        session: thread.builder.finish(),
        notes: thread.records.notes,
    })
}

/// What a list shows of a session that is one linear log, going on from where an earlier scan of it
/// ended; and where the next one can go on.
pub(crate) fn summarize_linear<D: LinearDialect>(
    source: &Source,
    want: Want,
    from: Option<&SavedScan>,
    save: SaveScan,
) -> (Summary, Option<SavedScan>) {
    let path = &source.path;
    let mut scan = LinearScan::<D>::new(source, None);
    let mut summary = Summary {
        path: path.clone(),
        head: scan.head.clone(),
        ..Summary::default()
    };
    let file = open_sized(path).map_err(OpenError::from);
    let saved = file.and_then(|(file, len)| {
        summary.size = len;
        let question = scan_question(source.format.slug(), source, want);
        let saved = scan_resumably(&file, &question, &mut scan, from, save);
        saved.map_err(|e| unreadable_file(path, e))
    });
    match saved {
        Ok(saved) if scan.records > 0 => {
            summary.head = scan.finish(source);
            summary.counts = scan.counts;
            summary.counts.usage = want.usage.then(|| scan.total(&summary.head));
            summary.activity = scan.activity;
            return (summary, saved);
        }
        Ok(_) => {
            let why = format!("not a session: there is no {} in it", D::CALLED);
            holds_no_record(&mut summary, &why);
        }
        Err(e) => cannot_be_opened(&mut summary, &e),
    }
    (summary, None)
}
