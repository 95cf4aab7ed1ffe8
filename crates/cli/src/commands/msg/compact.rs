//! `compact`: make one's own log shorter.

use clap::Args;
use rethread_model::Note;
use rethread_samp::{Compacted, compact};
use serde_json::json;

use super::who::MessageUser;
use super::{MessageContext, Safely};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Take repeated messages out of your own log, and give records of old their id.
///
/// Nobody else's log is touched. All that stays keeps its bytes, lines that are no records among
/// it. What you send meanwhile is not lost, and neither is anything if it is interrupted: the next
/// `send`, `reply` or `compact` finishes it, and until then the old file is read as well.
#[derive(Args, Debug)]
pub(crate) struct Compact {
    #[command(flatten)]
    safely: Safely,
}

pub(super) fn run(
    context: &Context,
    place: &MessageContext,
    args: &Compact,
) -> Result<Exit, Failure> {
    let me = MessageUser::find(context, place)?;
    let path = me.folder.log_of(&me.alias);
    let done = compact(&me.folder, &me.alias, args.safely.durability)?;
    if context.json {
        print_json(&json!({
            "path": path.to_string_lossy(),
            "before": done.before,
            "after": done.after,
            "filled": done.filled,
            "unreadable": done.unreadable,
            "rewritten": done.is_rewritten,
        }))?;
    } else {
        print(&line(&done))?;
    }
    let mut notes = me.use_here(context);
    if done.unreadable > 0 {
        let several = if done.unreadable == 1 {
            "line is no record and stays"
        } else {
            "lines are no records and stay"
        };
        notes.push(Note::remark(format!("{} {several}", done.unreadable)).at(path));
    }
    Ok(context.notes(&notes))
}

/// The line that scripts know from the reference implementation.
pub(super) fn line(done: &Compacted) -> String {
    let Compacted {
        before,
        after,
        filled,
        ..
    } = done;
    let files = u8::from(done.is_rewritten);
    let filled = match filled {
        0 => String::new(),
        n => format!(", filled id on {n} legacy record(s)"),
    };
    format!("compacted: {before} → {after} records ({files} file(s) rewritten{filled})")
}
