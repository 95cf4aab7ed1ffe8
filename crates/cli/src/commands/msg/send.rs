//! `send` and `reply`.

use clap::Args;
use rethread_model::Note;
use rethread_render::one_line;
use rethread_samp::{Draft, Reply as Answer, Sent};
use serde_json::json;

use super::body::body;
use super::show::{clock, seconds};
use super::who::{MessageUser, alias_of};
use super::{MessageContext, Safely};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Send a message: append one line to your own log.
///
/// A text that begins with `[thread:NAME]` belongs to that thread; another starts one of its own,
/// named after the day, you, and its first line. The message folder is made if it is not there.
/// Equal messages of one second are one message, so an equal one waits for the next second.
#[derive(Args, Debug)]
pub(crate) struct SendMessage {
    /// Whom it is for.
    to: String,
    /// The text; standard input by default.
    text: Option<String>,
    #[command(flatten)]
    safely: Safely,
}

/// Reply to the newest message to you, in its thread.
#[derive(Args, Debug)]
pub(crate) struct Reply {
    /// The text, as it is; standard input by default.
    text: Option<String>,
    /// Reply to the message with this id, or the beginning of it (4 characters or more).
    #[arg(long, value_name = "ID")]
    to_id: Option<String>,
    #[command(flatten)]
    safely: Safely,
}

pub(super) fn send(
    context: &Context,
    place: &MessageContext,
    args: SendMessage,
) -> Result<Exit, Failure> {
    let me = MessageUser::find(context, place)?;
    let to = alias_of("the recipient", &args.to)?;
    let draft = Draft {
        from: &me.alias,
        to: &to,
        text: &body(args.text)?,
    };
    let now = || seconds(context);
    let sent = draft.send(&me.folder, clock(context, &now), args.safely.durability)?;
    say_sent(context, "sent", &sent)?;
    let mut notes = me.use_here(context);
    notes.extend(repeated(&sent));
    Ok(context.notes(&notes))
}

pub(super) fn reply(
    context: &Context,
    place: &MessageContext,
    args: Reply,
) -> Result<Exit, Failure> {
    let me = MessageUser::find(context, place)?;
    let answer = Answer {
        me: &me.alias,
        text: &body(args.text)?,
        to_id: args.to_id.as_deref(),
    };
    let now = || seconds(context);
    let sent = answer.send(&me.folder, clock(context, &now), args.safely.durability)?;
    say_sent(context, "reply", &sent)?;
    let mut notes = me.use_here(context);
    notes.extend(repeated(&sent));
    Ok(context.notes(&notes))
}

fn say_sent(context: &Context, word: &str, sent: &Sent) -> Result<(), Failure> {
    if !context.json {
        return print(&sent_line(word, sent));
    }
    print_json(&json!({
        "id": sent.id.to_string(),
        "ts": sent.ts,
        "from": sent.from.as_str(),
        "to": sent.to.as_str(),
        "thread": sent.thread,
        "body": sent.body,
        "path": sent.path.to_string_lossy(),
        "repeated": sent.is_repeated,
    }))
}

/// What is to be said of a message that readers take for another one.
pub(super) fn repeated(sent: &Sent) -> Option<Note> {
    sent.is_repeated.then(|| {
        let message = "an equal message of the same second was sent before; readers show it once";
        let mut note = Note::remark(message).at(&sent.path);
        note.hint = Some("send it again a second later, or say it in other words".to_owned());
        note
    })
}

/// The line that scripts know from the reference implementation.
pub(super) fn sent_line(word: &str, sent: &Sent) -> String {
    let Sent {
        id,
        from,
        to,
        thread,
        ..
    } = sent;
    format!("{word} {from}→{to} thread={} id={id}", one_line(thread))
}
