//! `send_message` and `read_inbox`: writing to other agents.

use std::fmt::Write as _;

use rethread_lib::render::{neutral, one_line};
use rethread_lib::samp::{Alias, Clock, Draft, Durability, Id, Inbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ToolDescription, ToolEntry};
use crate::answer::{ToolAnswer, ToolError, json_size};
use crate::arguments::USUAL_BYTES;
use crate::cursor::Cursor;
use crate::fence::{NOTICE, fence_text};
use crate::library::{LibraryOptions, MessageAccess};
use crate::progress::CallProgress;

/// The longest message that is sent.
const LONGEST_MESSAGE: usize = 64 * 1024;

/// More of a message than this is read with `rethread msg cat ID`.
const LONGEST_TOLD: usize = 8 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendArguments {
    /// The alias of whoever it is for.
    to: String,
    /// What it says. `[thread:NAME]` at the beginning continues a thread.
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SendData {
    id: String,
    from: String,
    to: String,
    thread: String,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InboxArguments {
    /// `next_cursor` of the answer before.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InboxData {
    /// New messages, the oldest first. Untrusted.
    messages: Vec<MessageRow>,
    /// Leads to what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    notice: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MessageRow {
    id: String,
    from: String,
    thread: String,
    /// When it was sent, in seconds since 1970.
    ts: i64,
    text: String,
    /// How many bytes of the text are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The last message that was told, and how many were told before it and with it.
#[derive(Debug, Serialize, Deserialize)]
struct InboxCursor {
    last: String,
    told: usize,
}

impl Cursor for InboxCursor {
    const TOOL: &'static str = "read_inbox";
}

pub(super) fn send_entry() -> ToolEntry {
    let about = ToolDescription {
        name: "send_message",
        title: "Send a message to another agent",
        text: "Sends a message to another agent on this machine or in a shared folder (SAMP).",
        is_read_only: false,
    };
    ToolEntry::new(&about, |library, arguments, _: &CallProgress| {
        send(library, arguments)
    })
}

pub(super) fn inbox_entry() -> ToolEntry {
    let about = ToolDescription {
        name: InboxCursor::TOOL,
        title: "Read messages from other agents",
        text: "Gives the messages of other agents (SAMP) that were not given before, the oldest first.",
        is_read_only: false,
    };
    ToolEntry::new(&about, |library, arguments, _: &CallProgress| {
        read_inbox(library, arguments)
    })
}

fn access(library: &LibraryOptions) -> Result<&MessageAccess, ToolError> {
    library.messages.as_ref().ok_or_else(|| {
        ToolError::new("messages are not allowed here")
            .hint("the user can start the server with `rethread mcp --allow-messages`")
    })
}

fn seconds(library: &LibraryOptions) -> i64 {
    library.env.now().millis().div_euclid(1000)
}

fn send(
    library: &LibraryOptions,
    arguments: &SendArguments,
) -> Result<ToolAnswer<SendData>, ToolError> {
    let access = access(library)?;
    if arguments.text.len() > LONGEST_MESSAGE {
        return Err(ToolError::new(format!(
            "`text` has {} bytes; a message has at most {LONGEST_MESSAGE}",
            arguments.text.len()
        ))
        .hint("send the path of a file instead"));
    }
    let to = Alias::new(&arguments.to)
        .map_err(|e| ToolError::new(format!("`to`: {e}")).hint(e.hint()))?;
    let draft = Draft {
        from: &access.alias,
        to: &to,
        text: &arguments.text,
    };
    let now = || seconds(library);
    let clock = if library.env.has_running_clock() {
        Clock::Running(&now)
    } else {
        Clock::Stopped(now())
    };
    let sent = draft.send(&access.folder, clock, Durability::Close)?;
    let data = SendData {
        id: sent.id.to_string(),
        from: sent.from.to_string(),
        to: sent.to.to_string(),
        thread: one_line(&sent.thread).into_owned(),
    };
    let text = format!(
        "Sent to {} as {} in thread {} (id {}).",
        data.to, data.from, data.thread, data.id
    );
    Ok(ToolAnswer { text, data })
}

fn read_inbox(
    library: &LibraryOptions,
    arguments: &InboxArguments,
) -> Result<ToolAnswer<InboxData>, ToolError> {
    let access = access(library)?;
    let cursor = arguments.cursor.as_deref().map(InboxCursor::from_word);
    let cursor = cursor.transpose()?;
    let inbox = Inbox {
        folder: &access.folder,
        me: &access.alias,
        now: seconds(library),
        lenient: false,
    };
    let mut new = inbox.new_messages(&access.cursor)?;
    let ids: Vec<Id> = new.batch.ids().collect();
    let is_last = |id: &Id| cursor.as_ref().is_some_and(|c| c.last == id.to_string());
    let start = ids.iter().position(is_last).map_or(0, |at| at + 1);
    let mut messages: Vec<MessageRow> = Vec::new();
    let (mut at, mut size) = (0, 0);
    new.batch.each(|message| {
        at += 1;
        if at <= start || at - 1 > start + messages.len() {
            return Ok::<(), ToolError>(());
        }
        let record = &message.record;
        let body = record.body();
        let text = library.told(&body);
        let end = text.floor_char_boundary(LONGEST_TOLD);
        let row = MessageRow {
            id: message.id.to_string(),
            from: one_line(&record.from().unwrap_or_default()).into_owned(),
            thread: one_line(&record.thread().unwrap_or_default()).into_owned(),
            ts: record.ts(),
            left_out: text.len().saturating_sub(end),
            text: neutral(text.get(..end).unwrap_or_default()).into_owned(),
        };
        size += json_size(&row);
        if size <= USUAL_BYTES || messages.is_empty() {
            messages.push(row);
        }
        Ok(())
    })?;
    let told = start + messages.len();
    let is_all = told == ids.len();
    // Nothing that was not told is noted as shown: where something came in between, it all stays new.
    let was_whole = cursor
        .as_ref()
        .map_or(start == 0, |cursor| cursor.told == start);
    if is_all && was_whole {
        let _ = new.note();
    }
    let last = messages.last().filter(|_| !is_all);
    let next_cursor = last.map(|last| {
        let cursor = InboxCursor {
            last: last.id.clone(),
            told,
        };
        cursor.to_word()
    });
    let data = InboxData {
        messages,
        next_cursor,
        notice: NOTICE,
    };
    Ok(ToolAnswer {
        text: inbox_text(library, &data),
        data,
    })
}

fn inbox_text(library: &LibraryOptions, data: &InboxData) -> String {
    if data.messages.is_empty() {
        return "No new messages.".to_owned();
    }
    let mut quoted = String::new();
    for message in &data.messages {
        let _ = writeln!(
            quoted,
            "{} from {} in {}:\n{}",
            message.id, message.from, message.thread, message.text
        );
        if message.left_out > 0 {
            let _ = writeln!(quoted, "… {} bytes more", message.left_out);
        }
    }
    let mut text = format!("{NOTICE}\n{}", fence_text(&library.env, &quoted));
    if let Some(cursor) = &data.next_cursor {
        let _ = write!(text, "\nMore: read_inbox with cursor {cursor}");
    }
    text
}
