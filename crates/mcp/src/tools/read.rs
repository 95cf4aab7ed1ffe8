//! `read_conversation`: what was said, a window at a time.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use rethread_lib::engine::{ConversationWithFiles, Part, Shown, show};
use rethread_lib::render::{Options, TextPart, walk_text_parts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ToolDescription, ToolEntry};
use crate::answer::{ToolAnswer, ToolError};
use crate::arguments::byte_limit;
use crate::cursor::Cursor;
use crate::fence::{NOTICE, fence_text};
use crate::handle::{ConversationRow, checked_name};
use crate::library::{LibraryOptions, model_style};
use crate::progress::CallProgress;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadArguments {
    /// The conversation: an id that another tool gave, or `latest`.
    id: String,
    /// Begin with the message before this entry, such as #12 that a search gave.
    #[serde(default)]
    around: Option<String>,
    /// Begin with this entry.
    #[serde(default)]
    from: Option<String>,
    /// Only the last turns, so many.
    #[serde(default)]
    last: Option<usize>,
    /// Outputs and changes of tools whole, not folded.
    #[serde(default)]
    full: bool,
    /// The most bytes of transcript, 500 to 200000; 20000 by default.
    #[serde(default)]
    max_bytes: Option<usize>,
    /// `next_cursor` of the answer before, instead of `around`, `from` or `last`.
    #[serde(default)]
    cursor: Option<String>,
}

impl ReadArguments {
    /// A conversation from its beginning.
    pub(crate) fn from_beginning(id: String) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReadData {
    conversation: ConversationRow,
    /// What was said, with the numbers of entries, between two marked lines. Untrusted.
    transcript: String,
    /// Leads to what follows; none at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    notice: &'static str,
}

/// Where a window begins: a part of a turn, and how many bytes of it were told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ReadCursor {
    id: String,
    turn: u64,
    item: u64,
    offset: usize,
    full: bool,
}

impl Cursor for ReadCursor {
    const TOOL: &'static str = "read_conversation";
}

pub(super) fn entry() -> ToolEntry {
    let about = ToolDescription {
        name: ReadCursor::TOOL,
        title: "Read a conversation",
        text: "Reads a recorded conversation: what was said, and what tools did, a window at a time.",
        is_read_only: true,
    };
    ToolEntry::new(&about, |library, arguments, _: &CallProgress| {
        read_window(library, arguments)
    })
}

/// A window of a conversation.
pub(crate) fn read_window(
    library: &LibraryOptions,
    arguments: &ReadArguments,
) -> Result<ToolAnswer<ReadData>, ToolError> {
    let limit = byte_limit(arguments.max_bytes)?;
    let id = checked_name(&library.env, &arguments.id)?;
    let places = [
        arguments.around.is_some(),
        arguments.from.is_some(),
        arguments.last.is_some(),
        arguments.cursor.is_some(),
    ];
    if places.iter().filter(|is_given| **is_given).count() > 1 {
        return Err(ToolError::new(
            "only one of `around`, `from`, `last` and `cursor` can say where to begin",
        ));
    }
    let cursor = arguments.cursor.as_deref().map(ReadCursor::from_word);
    let cursor = cursor.transpose()?;
    if cursor
        .as_ref()
        .is_some_and(|cursor| cursor.id != arguments.id)
    {
        return Err(ToolError::new("`cursor` belongs to another conversation")
            .hint("send the id that it was given for"));
    }
    let options = Options {
        full: arguments.full || cursor.as_ref().is_some_and(|cursor| cursor.full),
        ..READER
    };
    let mut shown = show(&library.env, id, Part::Active)?;
    if let Some(entry) = &arguments.around {
        shown.start_before(entry)?;
    } else if let Some(entry) = &arguments.from {
        shown.start_at(entry)?;
    } else if let Some(count) = arguments.last {
        shown.keep_last_turns(count, options);
    } else if let Some(cursor) = &cursor {
        shown.start_at(&format!("#{}", cursor.turn))?;
    }
    let start = cursor.unwrap_or_else(|| ReadCursor {
        id: arguments.id.clone(),
        full: options.full,
        ..ReadCursor::default()
    });
    let window = Window::read(library, &shown, options, &start, limit)?;
    let head = &shown.conversation.session.head;
    let mut conversation = ConversationRow::of_head(head, head.id.clone());
    conversation.id.clone_from(&arguments.id);
    conversation.title = conversation
        .title
        .map(|title| library.told(&title).into_owned());
    let data = ReadData {
        transcript: fence_text(&library.env, &window.text),
        conversation,
        next_cursor: window.next.map(|next| next.to_word()),
        notice: NOTICE,
    };
    Ok(ToolAnswer {
        text: read_text(&data),
        data,
    })
}

/// What a model reads unless it asks for more.
const READER: Options = Options {
    tools: true,
    thinking: false,
    injected: false,
    events: false,
    full: false,
};

/// Parts of a conversation that fit into a limit.
struct Window {
    text: String,
    next: Option<ReadCursor>,
    /// Where the last part begins, if it is the heading of a turn.
    heading: Option<(usize, ReadCursor)>,
}

impl Window {
    fn read(
        library: &LibraryOptions,
        shown: &Shown,
        options: Options,
        start: &ReadCursor,
        limit: usize,
    ) -> Result<Self, ToolError> {
        let mut window = Self {
            text: String::new(),
            next: None,
            heading: None,
        };
        let pictures = ConversationWithFiles::of_conversation(&shown.conversation);
        let view = shown.view(&pictures);
        let walked = walk_text_parts(&view, options, &model_style(), &mut |part| {
            let is_before = part.turn == start.turn && part.item < start.item;
            if is_before {
                return ControlFlow::Continue(());
            }
            let told = library.told(&part.text);
            let is_first = part.turn == start.turn && part.item == start.item;
            let skipped = if is_first { start.offset } else { 0 };
            let rest = told.get(skipped..).unwrap_or_default();
            window.add(&part, rest, skipped, limit, start)
        });
        walked.map_err(|e| ToolError::new(e.to_string()))?;
        Ok(window)
    }

    /// Adds a part if there is room for it, or as much as there is room for if it is the first.
    fn add(
        &mut self,
        part: &TextPart,
        text: &str,
        skipped: usize,
        limit: usize,
        start: &ReadCursor,
    ) -> ControlFlow<()> {
        let text = if self.text.is_empty() {
            text.trim_start_matches('\n')
        } else {
            text
        };
        let here = |offset| ReadCursor {
            turn: part.turn,
            item: part.item,
            offset,
            ..start.clone()
        };
        let room = limit.saturating_sub(self.text.len());
        if text.len() <= room {
            self.heading = (part.item == 0).then(|| (self.text.len(), here(0)));
            self.text.push_str(text);
            return ControlFlow::Continue(());
        }
        // A part that is longer than a window is told in pieces; a shorter one begins the next.
        let is_alone = self.text.is_empty() || matches!(self.heading, Some((0, _)));
        if is_alone {
            let cut = text.floor_char_boundary(room);
            self.text.push_str(text.get(..cut).unwrap_or_default());
            let trimmed = part
                .text
                .len()
                .saturating_sub(part.text.trim_start_matches('\n').len());
            let trimmed = if skipped == 0 && cut > 0 {
                trimmed.min(1)
            } else {
                0
            };
            self.next = Some(here(skipped + trimmed + cut));
        } else if let Some((at, heading)) = self.heading.take() {
            self.text.truncate(at);
            self.next = Some(heading);
        } else {
            self.next = Some(here(0));
        }
        ControlFlow::Break(())
    }
}

fn read_text(data: &ReadData) -> String {
    let mut text = format!(
        "{}\n{NOTICE}\n{}",
        data.conversation.line(),
        data.transcript
    );
    match &data.next_cursor {
        Some(cursor) => {
            let _ = write!(text, "\nMore: read_conversation with cursor {cursor}");
        }
        None => text.push_str("\nThis is the end of the conversation."),
    }
    text
}
