//! `--follow`: what is said as it is said.

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use clap::Args;
use rethread_engine::{Followed, FollowedMessages, WatchMethod, agent_name};
use rethread_model::{Block, Bodies as _, Body, EntryIx, Role, Visibility};
use rethread_render::{cell, fit, message_lines};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::json_out;

/// How changes are waited for.
#[derive(Args, Debug)]
pub(crate) struct FollowFlags {
    /// Do not wait for the system to tell what changes, but look every so many seconds: for folders that
    /// another machine writes to.
    #[arg(long, value_name = "SECONDS", requires = "follow", value_parser = seconds_of)]
    poll: Option<Duration>,
    /// End after so many messages.
    #[arg(long, value_name = "N", requires = "follow")]
    count: Option<usize>,
}

impl FollowFlags {
    pub(crate) fn method(&self) -> WatchMethod {
        self.poll
            .map_or(WatchMethod::SystemEvents, WatchMethod::Polling)
    }
}

/// The shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(10);

fn seconds_of(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "not a number of seconds".to_owned())?;
    let wait = Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())?;
    Ok(wait.max(SHORTEST))
}

/// Tells what happens for as long as somebody listens.
pub(crate) fn tell_followed(
    context: &Context,
    flags: &FollowFlags,
    mut events: impl Iterator<Item = Followed>,
    mut write: impl FnMut(&mut dyn Write, &FollowedMessages) -> io::Result<()>,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    let mut left = flags.count;
    while left != Some(0)
        && let Some(event) = events.next()
    {
        match event {
            Followed::Said(mut messages) => {
                if let Some(left) = &mut left {
                    messages.keep_first_messages(*left);
                    *left = left.saturating_sub(messages.message_count());
                }
                let mut out = BufWriter::new(io::stdout().lock());
                if context.json {
                    json_out(out, |out| message_lines(out, &messages.view()))?;
                } else {
                    write(&mut out, &messages)?;
                    out.flush()?;
                }
            }
            Followed::Noted(note) => {
                exit = exit.or(context.notes(&[note]));
                context.tell_notes();
            }
        }
    }
    Ok(exit)
}

/// Writes a line for each message: the agent, the session, who speaks, and how what is said begins.
pub(crate) fn write_lines(
    out: &mut dyn Write,
    messages: &FollowedMessages,
    columns: usize,
) -> io::Result<()> {
    let head = &messages.conversation.session.head;
    for ix in &messages.entries {
        let Some((who, text)) = said_by(messages, *ix) else {
            continue;
        };
        let who = match who {
            Role::User => "You",
            Role::Assistant => agent_name(head).unwrap_or_else(|| head.held_by()),
            Role::Tool => "Tool",
            Role::System => "System",
        };
        let place = format!(
            "{}  {}  {}",
            cell(head.held_by()),
            cell(&head.id),
            cell(who)
        );
        let left = columns.saturating_sub(place.chars().count() + 2).max(20);
        writeln!(out, "{place}  {}", fit(&text, left))?;
    }
    Ok(())
}

/// Who says something in an entry, and how it begins; none where nobody speaks to a person.
fn said_by(messages: &FollowedMessages, ix: EntryIx) -> Option<(Role, String)> {
    let entry = messages.conversation.session.entry(ix);
    if entry.visibility != Visibility::Visible {
        return None;
    }
    let Body::Message(message) = messages.body(ix) else {
        return None;
    };
    let words = message.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.value.trim().to_owned()),
        Block::ToolCall(call) => Some(format!("[{}]", call.name)),
        Block::ToolResult(_) => Some("[result]".to_owned()),
        Block::Image(_) => Some("[image]".to_owned()),
        Block::File(_) => Some("[file]".to_owned()),
        Block::Aside { .. } | Block::Thinking(_) | Block::Unknown { .. } => None,
    });
    let words: Vec<String> = words.filter(|word| !word.is_empty()).take(8).collect();
    (!words.is_empty()).then(|| (message.role, words.join(" ")))
}
