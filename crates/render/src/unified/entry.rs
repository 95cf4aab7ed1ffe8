//! Entries that are no messages, as objects in `extensions`.

use std::borrow::Cow;
use std::io;

use rethread_model::{
    Block, Body, Compaction, Entry, Kept, Level, ModelRef, Text, TitleSource, Usage, UsageScope,
};

use super::extensions::visibility_word;
use crate::json::JsonWriter;
use crate::tool::flat_blocks;

/// Writes one entry: its `type`, `uuid` and `timestamp`, whether it is `side`, then what it says. In
/// an export also who is meant to see it, and where it hangs in the tree.
pub(super) fn entry_object(
    w: &mut JsonWriter<'_>,
    (id, entry): (&str, &Entry),
    body: &Body,
    place: Option<EntryPlace<'_>>,
) -> io::Result<()> {
    let Some(word) = type_word(body) else {
        return Ok(());
    };
    w.begin_element()?;
    w.open("{")?;
    w.write_member("type", word)?;
    w.member_if("uuid", Some(id).filter(|id| !id.is_empty()))?;
    w.moment_if("timestamp", entry.time)?;
    w.flag_if("side", entry.side)?;
    if let Some(place) = place {
        w.member_if("visibility", visibility_word(entry.visibility))?;
        w.flag_if("inherited", entry.inherited)?;
        w.flag_if("beside", entry.beside)?;
        w.number_if("parent_entry", place.parent_entry)?;
        w.member_if("usage_key", place.usage_key)?;
    }
    write_fields(w, body)?;
    w.close("}")
}

/// Where an entry hangs in the tree, and which response its usage belongs to.
#[derive(Clone, Copy)]
pub(super) struct EntryPlace<'a> {
    pub(super) parent_entry: Option<u64>,
    pub(super) usage_key: Option<&'a str>,
}

pub(crate) fn type_word(body: &Body) -> Option<&'static str> {
    Some(match body {
        Body::Message(_) => return None,
        Body::ModelChange(_) => "model_change",
        Body::ThinkingChange(_) => "thinking_change",
        Body::Compaction(_) => "compaction",
        Body::BranchSummary(_) => "branch_summary",
        Body::Label(_) => "label",
        Body::Title(_) => "title",
        Body::ContextEdit(_) => "context_edit",
        Body::Usage(_) => "usage",
        Body::Event(_) => "event",
        Body::Unknown(_) => "unknown",
    })
}

pub(crate) fn write_fields(w: &mut JsonWriter<'_>, body: &Body) -> io::Result<()> {
    match body {
        Body::Message(_) => Ok(()),
        Body::ModelChange(m) => write_model(w, m),
        Body::ThinkingChange(level) => w.write_member("level", level),
        Body::Compaction(c) => write_compaction(w, c),
        Body::BranchSummary(b) => {
            w.member_if("from", b.from.as_deref())?;
            w.member_text("summary", &b.summary)?;
            w.flag_if("from_hook", b.from_hook)?;
            write_usage(w, b.usage.as_ref())?;
            w.raw_if("details", b.details.as_ref())
        }
        Body::Label(l) => {
            w.write_member("target", &l.target)?;
            w.member_or_null("label", l.label.as_deref())
        }
        Body::Title(title) => {
            w.member_or_null("title", title.text.as_deref())?;
            w.write_member("source", title_word(title.source))
        }
        Body::ContextEdit(edit) => {
            w.write_member("target", &edit.target)?;
            w.member_if("tool_id", edit.tool_call.as_deref())?;
            let text = edit.replacement.as_deref().map(joined_text);
            w.member_text_or_null("replacement", text.as_deref())
        }
        Body::Usage(record) => {
            if let Some(m) = &record.model {
                write_model(w, m)?;
            }
            w.member_if("purpose", record.purpose.as_deref())?;
            write_usage(w, Some(&record.usage))
        }
        Body::Event(e) => {
            w.write_member("name", &e.name)?;
            w.member_text_if("text", e.text.as_ref())?;
            let level = match e.level {
                Level::Info => "info",
                Level::Warning => "warning",
                Level::Error => "error",
            };
            w.write_member("level", level)?;
            w.raw_if("details", e.details.as_ref())
        }
        Body::Unknown(name) => w.member_if("name", name.as_deref()),
    }
}

fn write_model(w: &mut JsonWriter<'_>, model: &ModelRef) -> io::Result<()> {
    w.member_if("provider", model.provider.as_deref())?;
    w.write_member("model", &model.id)
}

pub(super) fn title_word(source: TitleSource) -> &'static str {
    match source {
        TitleSource::FirstPrompt => "first_prompt",
        TitleSource::LastPrompt => "last_prompt",
        TitleSource::Summary => "summary",
        TitleSource::Model => "model",
        TitleSource::Stored => "stored",
        TitleSource::User => "user",
    }
}

fn write_compaction(w: &mut JsonWriter<'_>, c: &Compaction) -> io::Result<()> {
    w.member_text_if("question", c.question.as_ref())?;
    w.member_text_if("summary", c.summary.as_ref())?;
    match &c.kept {
        Kept::Nothing => {}
        Kept::From(id) => w.write_member("kept_from", id)?,
        Kept::Range { first, last } => {
            w.write_member("kept_from", first)?;
            w.write_member("kept_to", last)?;
        }
        Kept::UserMessages => w.flag_if("kept_user_messages", true)?,
        Kept::Entries(ids) => {
            w.begin_member("kept")?;
            w.open("[")?;
            for id in ids {
                w.begin_element()?;
                w.write_string(id)?;
            }
            w.close("]")?;
        }
        Kept::Replacement(messages) => {
            w.number_if("replacement_messages", Some(messages.len() as u64))?;
        }
    }
    w.member_text_if("system", c.system.as_ref())?;
    w.member_if("trigger", c.trigger.as_deref())?;
    w.number_if("tokens_before", c.tokens_before)?;
    w.number_if("tokens_after", c.tokens_after)?;
    w.float_if("duration_ms", c.duration_ms)?;
    w.flag_if("from_hook", c.from_hook)?;
    write_usage(w, c.usage.as_ref())?;
    w.raw_if("details", c.details.as_ref())
}

fn write_usage(w: &mut JsonWriter<'_>, u: Option<&Usage>) -> io::Result<()> {
    let Some(u) = u else {
        return Ok(());
    };
    token_usage(w, u)?;
    more_usage(w, u)
}

/// Writes the member `token_usage`, as the document has it.
pub(super) fn token_usage(w: &mut JsonWriter<'_>, u: &Usage) -> io::Result<()> {
    w.begin_member("token_usage")?;
    w.open("{")?;
    for (key, count) in [
        ("input_tokens", u.input),
        ("output_tokens", u.output),
        (
            "cache_creation_tokens",
            u.cache_write.saturating_add(u.cache_write_1h),
        ),
        ("cache_read_tokens", u.cache_read),
    ] {
        w.number_if(key, Some(count))?;
    }
    w.close("}")
}

/// Writes the member `write_usage` with what `token_usage` cannot say, if there is something.
pub(super) fn more_usage(w: &mut JsonWriter<'_>, u: &Usage) -> io::Result<()> {
    w.open_if_used("usage", "{");
    w.number_if(
        "cache_creation_1h_tokens",
        Some(u.cache_write_1h).filter(|n| *n > 0),
    )?;
    w.number_if("reasoning_tokens", Some(u.reasoning).filter(|n| *n > 0))?;
    w.number_if("recorded_total", u.recorded_total)?;
    w.float_if("cost_usd", u.cost.map(|c| c.usd))?;
    let scope = match u.scope {
        UsageScope::Response => None,
        UsageScope::Turn => Some("turn"),
        UsageScope::Cumulative => Some("cumulative"),
        UsageScope::WithSubAgents => Some("with_subagents"),
    };
    w.member_if("scope", scope)?;
    w.close_if_used("}")
}

/// The text of some blocks, joined with line breaks.
pub(super) fn joined_text(blocks: &[Block]) -> Cow<'_, Text> {
    if let [Block::Text(only)] = blocks {
        return Cow::Borrowed(only);
    }
    let texts = flat_blocks(blocks).filter_map(|b| match b {
        Block::Text(text) => Some(text),
        _ => None,
    });
    Cow::Owned(Text::joined(texts, "\n"))
}
