//! Flat files of version 2, as the upstream program writes them: a header, then a line for each
//! message of one session.

use rethread_json::{SyntaxError, Value};
use rethread_model::{
    Block, EntryIx, Head, Json, Moment, NewEntry, Note, Provenance, SessionBuilder, Title,
    TitleSource, ToolCall, ToolInput, ToolStatus, Usage,
};

use super::SLUG;
use super::message::{message_head, prompt_text};
use super::packed::OpenedExport;
use super::reader::FILE;
use super::store::file_stem;
use crate::few::{Rest, few_items};
use crate::fields::{count_of, string_of};
use crate::first_prompt::FirstPrompt;
use crate::kit::{Flow, LogLine, LogRecords, LogVisitor, read_log};
use crate::{Conversation, Native, OpenError, RecordKind, Source};

/// Reads a flat file as one session.
pub(super) fn read_flat(
    source: &Source,
    opened: OpenedExport,
    version: String,
) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let damage = opened.damage.clone();
    let part = opened.into_part(path);
    let mut reader = FlatReader {
        records: LogRecords::new(path, FILE),
        head: Head {
            id: file_stem(path),
            format: SLUG,
            dialect: Some(version),
            ..Head::default()
        },
        builder: SessionBuilder::default(),
        last: None,
        times: None,
        is_headed: false,
        prompt: FirstPrompt::default(),
    };
    if let Some(damage) = damage {
        let note = Note::damage(damage).at(path);
        reader.records.notes.push(note);
    }
    read_log(&part, &mut reader)?;
    let FlatReader {
        records,
        mut head,
        mut builder,
        times,
        ..
    } = reader;
    head.created = times.map(|t| t.0);
    head.updated = times.map(|t| t.1);
    *builder.head() = head;
    for raw in records.unclaimed {
        builder.unclaimed(raw);
    }
    Ok(Conversation {
        source: source.clone(),
        native: Native {
            parts: vec![part.with_records(records.marks)],
        },
        session: builder.finish(),
        notes: records.notes,
    })
}

struct FlatReader<'a> {
    records: LogRecords<'a>,
    head: Head,
    builder: SessionBuilder,
    last: Option<EntryIx>,
    /// The earliest and the latest moment.
    times: Option<(Moment, Moment)>,
    is_headed: bool,
    /// What the person said first, for want of a title.
    prompt: FirstPrompt,
}

impl<'a> LogVisitor<'a> for FlatReader<'a> {
    fn records(&mut self) -> Option<&mut LogRecords<'a>> {
        Some(&mut self.records)
    }

    fn object(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if self.is_headed && value.get("role").is_some() {
            self.read_message(line, value);
            return Flow::Continue(());
        }
        self.other_value(line, value)
    }

    fn other_value(&mut self, line: &LogLine<'_>, value: Value<'_>) -> Flow {
        if !self.is_headed {
            self.is_headed = true;
            self.read_header(value);
        }
        self.records.add_unclaimed(line.at, RecordKind::Value);
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        self.skip_line(line, RecordKind::Giant, "too long to be shown; skipped")
    }

    fn damaged(&mut self, line: &LogLine<'_>, _error: &SyntaxError) -> Flow {
        self.skip_line(line, RecordKind::Junk, "not JSON; skipped")
    }
}

impl FlatReader<'_> {
    fn skip_line(&mut self, line: &LogLine<'_>, kind: RecordKind, why: &str) -> Flow {
        self.records.note_damage(line.span, why);
        self.records.add_unclaimed(line.at, kind);
        Flow::Continue(())
    }

    fn read_header(&mut self, header: Value<'_>) {
        let first = |key: &str| {
            let list = header.get(key)?;
            Some(list.items().next()?.str()?.into_owned())
        };
        if let Some(id) = string_of(header, "session_id") {
            self.head.id = id;
        }
        let workspace = string_of(header, "workspace").or_else(|| first("workspaces"));
        self.head.workspace.path = workspace.filter(|w| w != "unknown" && !w.is_empty());
        let agent = first("agent_types").or_else(|| string_of(header, "agent"));
        let home = first("homes").unwrap_or_default();
        let (kind, host) = match home.split_once([':', '_']) {
            Some((kind, host)) => (kind.to_owned(), Some(host.to_owned())),
            None if home.is_empty() => ("local".to_owned(), None),
            None => (home, None),
        };
        self.head.provenance = Some(Provenance {
            kind,
            host,
            path: string_of(header, "session_file"),
            agent: match agent.unwrap_or_default().as_str() {
                "claude" => "claude-code".to_owned(),
                other => other.to_owned(),
            },
            file_time: None,
        });
    }

    fn read_message(&mut self, line: &LogLine<'_>, value: Value<'_>) {
        let Some(raw) = self.records.add(line.at, RecordKind::Value) else {
            return;
        };
        let head = message_head(value);
        let new = NewEntry {
            id: &head.id,
            parent: self.last,
            kind: head.kind,
            time: head.time,
            visibility: head.visibility,
            origin: &[raw],
        };
        match self.builder.add(&new) {
            Some(ix) => self.last = Some(ix),
            None => self.records.unclaimed.push(raw),
        }
        if let Some(time) = head.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        let is_made = |title: &Title| title.source == TitleSource::FirstPrompt;
        if !self.prompt.has_words()
            && self.head.title.as_ref().is_none_or(is_made)
            && let Some(text) = prompt_text(value)
        {
            self.prompt.add(&text);
            self.head.title = self.prompt.title();
        }
    }
}

/// The tokens that a flat message names. Some agents count what a cache answered as input, too.
pub(super) fn flat_usage(message: Value<'_>) -> Option<Usage> {
    let tokens = message.get("tokens").filter(|t| t.is_object())?;
    let of = |key| count_of(tokens, key).unwrap_or(0);
    let (input, cached) = (of("input"), of("cached"));
    Some(Usage {
        input: input.checked_sub(cached).unwrap_or(input),
        cache_read: cached,
        output: of("output"),
        ..Usage::default()
    })
}

/// The calls that a flat message names.
pub(super) fn flat_calls(message: Value<'_>) -> Vec<Block> {
    let (calls, rest) = message.get("tool_calls").map(few_items).unzip();
    let call = |value: Value<'_>| {
        Block::ToolCall(ToolCall {
            input: value
                .get("args")
                .map(|args| ToolInput::Json(Json::new(args.raw()))),
            status: match string_of(value, "status").as_deref() {
                Some("success") | None => ToolStatus::Completed,
                Some("error") => ToolStatus::Failed,
                Some("cancelled") => ToolStatus::Cancelled,
                Some(other) => ToolStatus::Other(other.to_owned()),
            },
            ..ToolCall::new(
                string_of(value, "id").unwrap_or_default(),
                string_of(value, "name").unwrap_or_default(),
            )
        })
    };
    let calls = calls.into_iter().flatten().map(call);
    calls.chain(rest.flatten().map(Rest::block)).collect()
}
