//! `list_conversations`: which conversations there are, the newest first.

use rethread_lib::engine::{Filter, Listed, Query, Sort, asked_span, list};
use rethread_lib::model::Summary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ToolDescription, ToolEntry};
use crate::answer::{ToolAnswer, ToolError, json_size};
use crate::arguments::{USUAL_BYTES, conversation_limit};
use crate::cursor::Cursor;
use crate::fence::NOTICE;
use crate::handle::ConversationRow;
use crate::library::LibraryOptions;
use crate::progress::CallProgress;

/// So many conversations are told unless the client asks for another number.
const USUAL_LIMIT: usize = 20;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {
    /// Which ones: `agent:codex dir:shop title:login model:opus file:src/auth.rs since:7d
    /// until:yesterday has:error is:subagent`, any of them; a minus before one leaves out. All by
    /// default.
    #[serde(default)]
    filters: Option<String>,
    /// At most so many, 1 to 50; 20 by default.
    #[serde(default)]
    limit: Option<usize>,
    /// `next_cursor` of the answer before.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListData {
    /// The conversations, the newest first. Titles are untrusted.
    conversations: Vec<ConversationRow>,
    /// How many there are in all.
    total: usize,
    /// Leads to what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    notice: &'static str,
}

/// The last conversation that was told. Those that something was said in since then are newer, and
/// are told to whoever begins anew.
#[derive(Debug, Serialize, Deserialize)]
struct ListCursor {
    updated: Option<i64>,
    id: String,
}

impl Cursor for ListCursor {
    const TOOL: &'static str = "list_conversations";
}

pub(super) fn entry() -> ToolEntry {
    let about = ToolDescription {
        name: ListCursor::TOOL,
        title: "List conversations",
        text: "Lists recorded conversations with coding agents on this machine, newest first. \
               To find one by what was said, use search_conversations.",
        is_read_only: true,
    };
    ToolEntry::new(&about, run)
}

fn run(
    library: &LibraryOptions,
    arguments: &ListArguments,
    progress: &CallProgress,
) -> Result<ToolAnswer<ListData>, ToolError> {
    let limit = conversation_limit(arguments.limit, USUAL_LIMIT)?;
    let cursor = arguments.cursor.as_deref().map(ListCursor::from_word);
    let after = cursor.transpose()?;
    let filter = list_filter(library, arguments.filters.as_deref())?;
    let listed = list(&library.env, &filter, Sort::Updated, &|done, of| {
        progress.tell(done, of);
    })?;
    let total = listed.sessions.len();
    let rest = listed.sessions.iter().filter(|session| {
        let after = after.as_ref();
        after.is_none_or(|after| list_key(session) > (std::cmp::Reverse(after.updated), &after.id))
    });
    let rest: Vec<&Summary> = rest.collect();
    let mut conversations = Vec::new();
    let mut size = 0;
    for session in rest.iter().take(limit) {
        let mut row = ConversationRow::of_summary(&listed.names, session);
        row.title = row.title.map(|title| library.told(&title).into_owned());
        size += json_size(&row);
        if size > USUAL_BYTES && !conversations.is_empty() {
            break;
        }
        conversations.push(row);
    }
    let is_all = conversations.len() == rest.len();
    let last = rest.get(conversations.len().saturating_sub(1));
    let next_cursor = last.filter(|_| !is_all).map(|last| {
        let cursor = ListCursor {
            updated: last.head.updated.map(rethread_lib::model::Moment::millis),
            id: last.head.id.clone(),
        };
        cursor.to_word()
    });
    let data = ListData {
        conversations,
        total,
        next_cursor,
        notice: NOTICE,
    };
    Ok(ToolAnswer {
        text: list_text(&data),
        data,
    })
}

/// The newest first; what is equal, by id.
fn list_key(session: &Summary) -> (std::cmp::Reverse<Option<i64>>, &String) {
    let updated = session
        .head
        .updated
        .map(rethread_lib::model::Moment::millis);
    (std::cmp::Reverse(updated), &session.head.id)
}

/// The newest conversations, as many as are asked for.
pub(crate) fn newest_conversations(
    library: &LibraryOptions,
    count: usize,
) -> Result<Vec<ConversationRow>, ToolError> {
    let filter = list_filter(library, None)?;
    let Listed {
        sessions, names, ..
    } = list(&library.env, &filter, Sort::Updated, &|_, _| {})?;
    let newest = sessions.iter().take(count);
    Ok(newest
        .map(|session| ConversationRow::of_summary(&names, session))
        .collect())
}

/// Which conversations filters mean.
pub(super) fn list_filter(
    library: &LibraryOptions,
    filters: Option<&str>,
) -> Result<Filter, ToolError> {
    let query =
        Query::parse(filters.unwrap_or_default()).map_err(rethread_lib::engine::Error::from)?;
    if query.wanted_terms().next().is_some() {
        return Err(
            ToolError::new("`filters` has words that are no filter").hint(
                "write title:WORD or dir:WORD; words that were said are for search_conversations",
            ),
        );
    }
    let zone = &library.zone;
    let span = asked_span(&query.filters, &Filter::default(), library.env.now(), zone)?;
    Ok(Filter {
        clauses: query.filters,
        since: span.since,
        until: span.until,
        ..Filter::default()
    })
}

fn list_text(data: &ListData) -> String {
    let mut lines = vec![format!(
        "{} of {} conversations, the newest first. {NOTICE}",
        data.conversations.len(),
        data.total
    )];
    let row = |row: &ConversationRow| format!("{}  {}", row.id, row.line());
    lines.extend(data.conversations.iter().map(row));
    if let Some(cursor) = &data.next_cursor {
        lines.push(format!("More: list_conversations with cursor {cursor}"));
    }
    lines.join("\n")
}
