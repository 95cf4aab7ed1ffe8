//! What a list shows of a session: one pass over its file, which parses only lines that matter.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rethread_disk::open_sized;
use rethread_json::{SyntaxError, Tree, Value};
use rethread_model::{
    Activity, ConvertedFrom, Counts, Kind, ModelRef, Moment, Role, State, Summary, Usage,
};

use super::base::find_bases;
use super::carrier::OURS;
use super::document::Document;
use super::facts::RolloutFacts;
use super::line_head::{LineHead, read_line_head};
use super::meta::{Base, SessionMeta};
use super::meter::{self, Added, Meter};
use super::prefix::Prefix;
use super::record::{Ev, Item, RolloutRecord, RolloutType};
use super::store::home_of;
use super::{SLUG, document, names, packed, quick};
use crate::carry::converted_from;
use crate::fields::filled_of;
use crate::kit::{
    Flow, LogLine, LogVisitor, SaveScan, SavedScan, salvage_line, saved_struct, scan_log,
    scan_question, scan_resumably,
};
use crate::times::Times;
use crate::unusable::{cannot_be_opened, document_unusable, holds_no_record};
use crate::{Source, Want};

pub(super) fn summarize_with(
    source: &Source,
    want: Want,
    from: Option<&SavedScan>,
    save: SaveScan,
) -> (Summary, Option<SavedScan>) {
    let path = &source.path;
    let mut summary = source.new_summary();
    summary.counts.usage = want.usage.then(Usage::default);
    if document::is_document(path) {
        return (of_document(source, summary), None);
    }
    let (file, len) = match open_sized(path) {
        Ok(opened) => opened,
        Err(e) => {
            cannot_be_opened(&mut summary, &e.into());
            return (summary, None);
        }
    };
    summary.size = len;
    let mut scan = RolloutScan {
        counts: summary.counts,
        ..RolloutScan::default()
    };
    let mut saved = None;
    let scanned = if packed::is_packed(path) {
        packed::open_stream(&file, path).and_then(|content| scan_log(content, &mut scan).map(drop))
    } else {
        let question = scan_question(SLUG, source, want);
        let found = scan_resumably(&file, &question, &mut scan, from, save);
        found.map(|found| saved = found)
    };
    let is_unreadable = scanned.is_err() && !packed::is_packed(path);
    let trouble = scanned.err().map(|e| packed::cut_short(path, &e));
    summary.notes.extend(trouble);
    if scan.ours == 0 && is_unreadable {
        summary.state = State::Unreadable;
        return (summary, None);
    }
    if scan.ours == 0 {
        holds_no_record(&mut summary, "not a session: nothing in it is a record");
        return (summary, None);
    }
    scan.finish(&mut summary);
    (summary, saved)
}

fn of_document(source: &Source, mut summary: Summary) -> Summary {
    let path = &source.path;
    let looked = Document::open(path).and_then(|document| {
        summary.size = document.len();
        summary.head = document::document_head(&document, path)?;
        summary.notes.extend(document.notes(path)?);
        document.each_item(|_, item| {
            let Some(item) = item else { return };
            let Kind::Message(role) = document::item_kind(item).0 else {
                return;
            };
            let calls = item.get("tool_calls").into_iter().flat_map(Value::items);
            let is_call = matches!(
                RolloutRecord::of(item).what,
                RolloutType::Item(Item::Call | Item::HostedCall)
            );
            summary.counts.tool_calls += calls.count() as u64 + u64::from(is_call);
            summary.activity.add_message(document::item_time(item));
            count(&mut summary.counts, role);
        })
    });
    if let Err(e) = looked {
        document_unusable(&mut summary, &e);
    }
    summary
}

fn count(counts: &mut Counts, role: Role) {
    counts.messages += 1;
    match role {
        Role::User => counts.user_messages += 1,
        Role::Assistant => counts.assistant_messages += 1,
        Role::System | Role::Tool => {}
    }
}

/// What is in the files that a fork goes on from, as far as it does. One that cannot be read says
/// nothing here; who reads the session is told.
fn scan_bases(path: &Path, base: Option<Base>) -> Vec<RolloutScan> {
    let scan_base = |(base, end): (PathBuf, Base)| {
        let (file, _) = open_sized(&base).ok()?;
        let content = packed::open_stream(&file, &base).ok()?;
        let mut scan = RolloutScan {
            end: Some(end),
            ..RolloutScan::default()
        };
        let _ = scan_log(content, &mut scan);
        Some(scan)
    };
    let found = find_bases(path, base).parts.into_iter();
    found.filter_map(scan_base).collect()
}

/// The moment that a record spells.
fn parse_time(time: &[u8]) -> Option<Moment> {
    str::from_utf8(time).ok()?.parse().ok()
}

/// Whether a line ends as a record does, and no other record begins in it.
fn looks_whole(line: &[u8]) -> bool {
    let rest = line.get(1..).unwrap_or_default();
    line.trim_ascii_end().ends_with(b"}") && BEGINNING.find(rest).is_none()
}

/// How a record begins.
static BEGINNING: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"{\"timestamp\":\""));

/// What a list knows of a session while its file is scanned.
#[derive(Default)]
struct RolloutScan {
    meta: Option<SessionMeta>,
    facts: RolloutFacts,
    counts: Counts,
    meter: Meter,
    prefix: Prefix,
    /// Responses that were counted.
    responses: HashSet<String>,
    /// How many records are this format's.
    ours: u64,
    /// Whether the model's response goes on.
    open: bool,
    /// When messages were written that were not parsed: the first and the last, as spelled.
    glanced: [Vec<u8>; 2],
    /// The session that this one was converted from.
    converted_from: Option<ConvertedFrom>,
    /// The last line with the settings of a turn.
    context: Vec<u8>,
    /// When messages were written, where usage is asked for.
    activity: Activity,
    /// How much of the file is meant, where it is one that a fork goes on from.
    end: Option<Base>,
}

saved_struct!(RolloutScan {
    meta,
    facts,
    counts,
    meter,
    prefix,
    responses,
    ours,
    open,
    glanced,
    converted_from,
    context,
    activity,
    end,
});

impl LogVisitor<'_> for RolloutScan {
    fn take_unparsed(&mut self, line: &LogLine<'_>, tree: &mut Tree) -> Option<Flow> {
        let line = line.bytes;
        if self.meta.is_some()
            && self.may_glance()
            && looks_whole(line)
            && let Some(found) = read_line_head(line)
            && (self.glanced(&found, line) || self.glanced_total(&found, line, tree))
        {
            return Some(Flow::Continue(()));
        }
        None
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        let record = RolloutRecord::of(value);
        if !line.is_salvaged && self.is_beyond(record.ordinal(), line.at) {
            return Flow::Break(());
        }
        self.record(&record, value, line.bytes);
        Flow::Continue(())
    }

    fn damaged(&mut self, line: &LogLine<'_>, error: &SyntaxError) -> Flow {
        if self.is_beyond(None, line.at) {
            return Flow::Break(());
        }
        salvage_line(self, line, error);
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        if self.is_beyond(None, line.at) {
            return Flow::Break(());
        }
        if let Some(found) = read_line_head(line.bytes) {
            self.glanced(&found, line.bytes);
        }
        Flow::Continue(())
    }
}

impl RolloutScan {
    /// Whether a record is behind those that are meant.
    fn is_beyond(&self, ordinal: Option<u64>, offset: u64) -> bool {
        let end = self.end.as_ref();
        end.is_some_and(|end| end.ends_before(ordinal, offset))
    }

    /// Whether lines may be passed over without being parsed. Where copies do not count, it must be
    /// known what is one; and where not all of the file is meant, which record each is.
    fn may_glance(&self) -> bool {
        let tells_copies = self.counts.usage.is_some() || self.is_subagent();
        self.end.is_none() && (!tells_copies || self.prefix.is_settled())
    }

    /// What a sub-agent was given of its parent counts with the parent.
    fn is_subagent(&self) -> bool {
        let is_given = |meta: &SessionMeta| meta.parent.is_some();
        self.end.is_none() && self.meta.as_ref().is_some_and(is_given)
    }

    /// Takes a line into account by its beginning; whether that was enough.
    fn glanced(&mut self, found: &LineHead<'_>, line: &[u8]) -> bool {
        let before = self.counts.messages;
        let what = match (found.outer, found.inner, found.role) {
            (b"response_item", b"message", b"assistant") => RolloutType::Item(Item::Message),
            (b"response_item", b"message", b"developer" | b"system") => {
                self.open = false;
                self.counts.messages += 1;
                RolloutType::Quiet
            }
            (b"response_item", b"message", b"user") if self.facts.has_prompt() => {
                self.open = false;
                count(&mut self.counts, Role::User);
                RolloutType::Quiet
            }
            (b"response_item", b"reasoning", _) => RolloutType::Item(Item::Reasoning),
            (b"response_item", b"function_call" | b"custom_tool_call", _) => {
                RolloutType::Item(Item::Call)
            }
            (b"response_item", b"function_call_output" | b"custom_tool_call_output", _) => {
                RolloutType::Item(Item::Output)
            }
            (
                b"event_msg",
                b"agent_message" | b"agent_reasoning" | b"task_started" | b"patch_apply_end"
                | b"exec_command_end" | b"mcp_tool_call_end" | b"web_search_end",
                _,
            )
            | (b"world_state", ..) => RolloutType::Quiet,
            (b"event_msg", b"item_completed", _) if self.facts.has_prompt() => RolloutType::Quiet,
            (b"turn_context", ..) => {
                self.context.clear();
                self.context.extend_from_slice(line);
                RolloutType::TurnContext
            }
            (b"event_msg", b"task_complete" | b"turn_complete", _) => {
                RolloutType::Event(Ev::Complete)
            }
            (b"compacted", ..) => RolloutType::Compacted,
            (b"token_usage_record", ..) if self.counts.usage.is_none() => RolloutType::Usage,
            _ => return false,
        };
        self.ours += 1;
        self.shape(what);
        if self.counts.messages > before {
            let [first, last] = &mut self.glanced;
            if first.is_empty() {
                found.time.clone_into(first);
            }
            found.time.clone_into(last);
            if self.counts.usage.is_some() {
                self.activity.add_message(parse_time(found.time));
            }
        }
        true
    }

    /// Takes a line with a total into account; whether it is one.
    fn glanced_total(&mut self, found: &LineHead<'_>, line: &[u8], tree: &mut Tree) -> bool {
        let Some(info) = quick::info(found, line, tree) else {
            return false;
        };
        self.ours += 1;
        let added = self.total(info);
        if let (Some(sum), Some(more)) = (&mut self.counts.usage, added) {
            *sum += &more;
        }
        true
    }

    /// Where responses begin and end, by the same rules as in a reader.
    fn shape(&mut self, what: RolloutType) {
        match what {
            RolloutType::Item(Item::Message | Item::Reasoning | Item::Call | Item::HostedCall) => {
                if !self.open {
                    count(&mut self.counts, Role::Assistant);
                }
                self.open = true;
                let is_call = matches!(what, RolloutType::Item(Item::Call | Item::HostedCall));
                self.counts.tool_calls += u64::from(is_call);
            }
            RolloutType::Item(Item::Output) => {
                self.open = false;
                self.counts.messages += 1;
            }
            RolloutType::Item(Item::AgentMessage) => {
                self.open = false;
                count(&mut self.counts, Role::User);
            }
            RolloutType::Item(Item::Compaction)
            | RolloutType::TurnContext
            | RolloutType::Compacted
            | RolloutType::Usage
            | RolloutType::Event(Ev::Complete | Ev::RolledBack | Ev::Compacted) => {
                self.open = false;
            }
            _ => {}
        }
    }

    fn record(&mut self, record: &RolloutRecord<'_>, value: Value<'_>, line: &[u8]) {
        let payload = record.payload;
        if self.converted_from.is_none() && value.get("type").is_some_and(|t| t.is_str(OURS)) {
            self.converted_from = converted_from(payload);
        }
        self.ours += u64::from(record.is_ours());
        let is_copy = self.prefix.is_copy(record);
        let before = self.counts;
        match record.what {
            RolloutType::Meta => {
                let is_bare = record.name() == "bare/header";
                self.meta
                    .get_or_insert_with(|| SessionMeta::of(payload, is_bare));
            }
            RolloutType::Item(Item::Message) => match filled_of(payload, "role").as_deref() {
                Some("assistant") => self.shape(record.what),
                role => {
                    self.open = false;
                    let role = match role {
                        Some("user") => Role::User,
                        _ => Role::System,
                    };
                    if role == Role::User {
                        self.facts.user(payload);
                    }
                    count(&mut self.counts, role);
                }
            },
            RolloutType::Event(Ev::User) => match filled_of(payload, "message") {
                Some(text) => self.facts.shown(&text),
                None => self.facts.user(payload),
            },
            RolloutType::Event(Ev::Title) => self.facts.title(payload),
            RolloutType::TurnContext => {
                self.context = line.to_vec();
                self.shape(record.what);
            }
            _ => self.shape(record.what),
        }
        let is_given = is_copy && self.is_subagent();
        if self.counts.messages > before.messages {
            let time = record.time();
            self.facts.times.add(time);
            self.activity.add_message(time.filter(|_| !is_given));
        }
        if is_given {
            self.counts = before;
        }
        self.tokens(record, is_copy);
    }

    fn tokens(&mut self, record: &RolloutRecord<'_>, is_copy: bool) {
        let added = match record.what {
            RolloutType::Usage => {
                self.meter.recorded();
                let is_new = filled_of(record.payload, "response_id")
                    .is_none_or(|id| self.responses.insert(id));
                let usage = record.payload.get("usage").and_then(meter::read_usage);
                usage.filter(|_| is_new)
            }
            RolloutType::Event(Ev::Tokens) => {
                record.payload.get("info").and_then(|i| self.total(i))
            }
            _ => None,
        };
        if let (Some(sum), Some(more)) = (&mut self.counts.usage, added)
            && !is_copy
        {
            *sum += &more;
        }
    }

    /// What a total adds, by the `info` that holds it.
    fn total(&mut self, info: Value<'_>) -> Option<Usage> {
        match self.meter.count(info, None) {
            Added::Some { usage, .. } => {
                self.open = false;
                Some(usage)
            }
            Added::Nothing => None,
        }
    }

    /// When the messages so far were written.
    fn times(&self) -> Times {
        let mut times = self.facts.times;
        for time in &self.glanced {
            times.add(parse_time(time));
        }
        times
    }

    fn finish(mut self, summary: &mut Summary) {
        let path = &summary.path;
        let mut meta = self.meta.take().unwrap_or_default();
        if meta.id.is_empty() {
            meta.id = SessionMeta::unsaid(path).id;
        }
        let mut times = self.times();
        for base in scan_bases(path, meta.base.clone()) {
            let before = base.times();
            times.add(before.first);
            times.add(before.last);
            if meta.parent.is_none() {
                self.counts += &base.counts;
                self.activity += &base.activity;
            }
        }
        self.facts.times = times;
        let mut head = meta.head(path);
        head.converted_from = self.converted_from.take();
        self.facts.fill(&mut head, path, || {
            names::name_of(&home_of(path)?, &meta.id)
        });
        let tree = Tree::parse(&self.context).ok();
        let model = tree.and_then(|t| {
            let root = t.root(&self.context);
            filled_of(root.get("payload")?, "model")
        });
        head.model = model.map(|id| ModelRef {
            provider: meta.provider.clone(),
            id,
        });
        summary.head = head;
        summary.counts = self.counts;
        summary.activity = self.activity;
    }
}
