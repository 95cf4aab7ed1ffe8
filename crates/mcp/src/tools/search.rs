//! `search_conversations`: where something was said.

use std::fmt::Write as _;

use rethread_lib::engine::{
    Filter, FoundConversation, FoundPlace, HitOrder, NearMiss, Query, SearchAnswer, SearchLibrary,
    SearchOptions, SnippetSize, search,
};
use rethread_lib::model::Summary;
use rethread_lib::render::neutral;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{ToolDescription, ToolEntry};
use crate::answer::{ToolAnswer, ToolError, json_size};
use crate::arguments::{USUAL_BYTES, conversation_limit};
use crate::cursor::Cursor;
use crate::fence::{NOTICE, fence_text};
use crate::handle::ConversationRow;
use crate::library::LibraryOptions;
use crate::progress::CallProgress;

/// So many conversations are told unless the client asks for another number.
const USUAL_LIMIT: usize = 5;

/// So many places of each are told.
const PLACES: usize = 3;

/// How wide a quotation is.
const SNIPPET_WIDTH: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    /// Words are all wanted, in one message; also `"a phrase"`, `begin*`, `-without`, `a OR b`,
    /// `/regex/`, and filters: `agent:codex dir:shop role:user tool:bash file:src/auth.rs title:login
    /// since:7d until:yesterday has:error`.
    query: String,
    /// At most so many conversations, 1 to 50; 5 by default.
    #[serde(default)]
    limit: Option<usize>,
    /// `next_cursor` of the answer before, with the same query.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SearchData {
    /// The conversations, the best first. Titles and snippets are untrusted.
    conversations: Vec<FoundRow>,
    /// How many there are in all.
    total: usize,
    /// How it differs from what was asked for, where nothing fits that.
    #[serde(skip_serializing_if = "Option::is_none")]
    near_miss: Option<String>,
    /// Leads to what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    notice: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundRow {
    #[serde(flatten)]
    conversation: ConversationRow,
    /// The best places.
    places: Vec<PlaceRow>,
    /// How many more places there are.
    more_places: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlaceRow {
    /// For `around` of `read_conversation`; none for a title.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// What kind of text it is: prompt, answer, thinking, `tool_call`, `tool_output`, summary, title.
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// Some words around what was found.
    snippet: String,
    /// Files that were asked for, and whether they were read or written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
}

/// The conversations that were told, by the beginning of a digest: whatever is said meanwhile, none is
/// told twice, and none is passed over.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SearchCursor {
    query: u32,
    told: Vec<u32>,
}

impl Cursor for SearchCursor {
    const TOOL: &'static str = "search_conversations";
}

pub(super) fn entry() -> ToolEntry {
    let about = ToolDescription {
        name: SearchCursor::TOOL,
        title: "Search conversations",
        text: "Finds recorded conversations with coding agents on this machine by what was said, run, \
               printed or changed in them. Then read_conversation with `around` shows a place.",
        is_read_only: true,
    };
    ToolEntry::new(&about, run)
}

fn run(
    library: &LibraryOptions,
    arguments: &SearchArguments,
    progress: &CallProgress,
) -> Result<ToolAnswer<SearchData>, ToolError> {
    let limit = conversation_limit(arguments.limit, USUAL_LIMIT)?;
    let query = Query::parse(&arguments.query).map_err(rethread_lib::engine::Error::from)?;
    if query.is_empty() {
        return Err(ToolError::new("`query` is empty")
            .hint("send a word that was said; list_conversations lists the newest"));
    }
    let mut cursor = match arguments.cursor.as_deref() {
        Some(word) => SearchCursor::from_word(word)?,
        None => SearchCursor::default(),
    };
    let asked = short_digest(&[arguments.query.as_bytes()]);
    if arguments.cursor.is_some() && cursor.query != asked {
        return Err(ToolError::new("`cursor` belongs to another query")
            .hint("send the query that it was given for, or leave `cursor` out"));
    }
    cursor.query = asked;
    let opened = SearchLibrary::open(&library.env, &|done, of| progress.tell(done, of));
    let options = SearchOptions {
        query: &query,
        filter: &Filter::default(),
        order: HitOrder::Relevance,
        limit: cursor.told.len().saturating_add(limit),
        places: PLACES,
        size: SnippetSize {
            width: SNIPPET_WIDTH,
            context: 0,
        },
        zone: &library.zone,
    };
    let answer = search(&library.env, &opened, &options, &|done, of| {
        progress.tell(done, of);
    })?;
    let data = search_data(library, &answer, cursor, limit);
    library.update_index(&opened);
    Ok(ToolAnswer {
        text: search_text(library, &data),
        data,
    })
}

fn search_data(
    library: &LibraryOptions,
    answer: &SearchAnswer,
    mut cursor: SearchCursor,
    limit: usize,
) -> SearchData {
    let mut conversations: Vec<FoundRow> = Vec::new();
    let mut size = 0;
    for found in &answer.conversations {
        let digest = session_digest(&found.summary);
        if cursor.told.contains(&digest) {
            continue;
        }
        let row = found_row(library, answer, found);
        size += json_size(&row);
        let is_full = size > USUAL_BYTES && !conversations.is_empty();
        if is_full || conversations.len() == limit {
            break;
        }
        cursor.told.push(digest);
        conversations.push(row);
    }
    let is_more = cursor.told.len() < answer.total && !conversations.is_empty();
    SearchData {
        conversations,
        total: answer.total,
        near_miss: answer.miss.as_ref().map(near_miss_text),
        next_cursor: is_more.then(|| cursor.to_word()),
        notice: NOTICE,
    }
}

fn found_row(
    library: &LibraryOptions,
    answer: &SearchAnswer,
    found: &FoundConversation,
) -> FoundRow {
    let mut conversation = ConversationRow::of_summary(&answer.names, &found.summary);
    conversation.title = conversation
        .title
        .map(|title| library.told(&title).into_owned());
    let places = found.places.iter();
    FoundRow {
        conversation,
        places: places.map(|place| place_row(library, place)).collect(),
        more_places: found.total_places.saturating_sub(found.places.len()),
    }
}

fn place_row(library: &LibraryOptions, place: &FoundPlace) -> PlaceRow {
    let mut snippet = String::new();
    for line in &place.snippet.lines {
        let before = if line.is_cut_before { "…" } else { "" };
        let after = if line.is_cut_after { "…" } else { "" };
        let text = library.told(&line.text);
        let _ = write!(snippet, "{before}{}{after}", neutral(&text));
    }
    let entry = place.hit.place.entry;
    let file = |file: &rethread_lib::engine::TouchedFile| {
        format!("{} {}", file.file_use.word(), neutral(&file.path))
    };
    PlaceRow {
        entry: (entry > 0).then(|| format!("#{entry}")),
        kind: place.hit.kind.word(),
        tool: place.tool.as_deref().map(|tool| neutral(tool).into_owned()),
        snippet,
        files: place.files.iter().map(file).collect(),
    }
}

fn near_miss_text(miss: &NearMiss) -> String {
    match miss {
        NearMiss::DifferentTexts => {
            "no message has all of this; these conversations have it in different messages"
                .to_owned()
        }
        NearMiss::OtherWords(others) => {
            let others = others.iter();
            let others: Vec<String> = others
                .map(|one| format!("{} instead of {}", one.words.join(", "), one.typed))
                .collect();
            format!("nothing has this; looked for {}", others.join("; "))
        }
    }
}

fn search_text(library: &LibraryOptions, data: &SearchData) -> String {
    if data.conversations.is_empty() {
        return "Nothing was found. Try fewer or other words, or begin*.".to_owned();
    }
    let mut quoted = String::new();
    for row in &data.conversations {
        let _ = writeln!(
            quoted,
            "{}  {}",
            row.conversation.id,
            row.conversation.line()
        );
        for place in &row.places {
            let entry = place.entry.as_deref().unwrap_or("title");
            let what = place.tool.as_deref().unwrap_or(place.kind);
            let _ = writeln!(quoted, "  {entry} {what}: {}", place.snippet.trim());
            for file in &place.files {
                let _ = writeln!(quoted, "    {file}");
            }
        }
        if row.more_places > 0 {
            let _ = writeln!(quoted, "  and {} more places", row.more_places);
        }
    }
    let mut text = format!(
        "{} of {} conversations. {NOTICE}\n{}",
        data.conversations.len(),
        data.total,
        fence_text(&library.env, &quoted)
    );
    if let Some(miss) = &data.near_miss {
        text = format!("{miss}\n{text}");
    }
    if let Some(cursor) = &data.next_cursor {
        let _ = write!(text, "\nMore: the same query with cursor {cursor}");
    }
    text
}

/// The beginning of a digest that names a session.
fn session_digest(summary: &Summary) -> u32 {
    let path = summary.path.as_os_str().as_encoded_bytes();
    short_digest(&[path, summary.head.id.as_bytes()])
}

/// The first four bytes of a SHA-256 over some texts.
fn short_digest(texts: &[&[u8]]) -> u32 {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    let digest = digest.finalize();
    digest
        .iter()
        .take(4)
        .fold(0, |n, byte| n << 8 | u32::from(*byte))
}
