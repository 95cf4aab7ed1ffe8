//! `open`: a conversation as a page in the browser.

use clap::Args;
use rethread_engine::{open_in_browser, show, write_cached_page};
use rethread_render::{Options, PageContext, one_line};
use serde_json::json;

use super::show::PartFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::homes::HomeFlags;
use crate::output::{print, print_json, say};

/// Show a conversation as a page in the browser.
///
/// The page is that of `show --to html`: it needs no network and runs no scripts, and what is folded
/// opens with a click. It is written into Rethread's cache folder, in the place of an earlier one of the
/// same session; pages that nobody opened for a week are removed. Prints its path.
///
/// The browser is the one that `$BROWSER` names, else the system's own.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread open latest              the newest conversation
  rethread open 7f3a --last 5       the end of one
  rethread open 7f3a --print        only write the page, and say where it is")]
pub(crate) struct Open {
    /// The session; `-` for what comes down a pipe.
    session: String,
    #[command(flatten)]
    part: PartFlags,
    /// Only the last N turns.
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Leave out calls of tools and their results.
    #[arg(long)]
    no_tools: bool,
    /// Leave out what the model thought.
    #[arg(long)]
    no_thinking: bool,
    /// Only write the page and print its path.
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    homes: HomeFlags,
}

pub(crate) fn run(context: &Context, args: &Open) -> Result<Exit, Failure> {
    let (env, reached) = args.homes.open_and_tell(context)?;
    let name = context.named(&args.session)?;
    let options = Options {
        tools: !args.no_tools,
        thinking: !args.no_thinking,
        ..Options::DOCUMENT
    };
    let mut shown = show(&env, &name, args.part.part())?;
    if let Some(entry) = &args.part.at {
        shown.start_at(entry)?;
    }
    if let Some(count) = args.last {
        shown.keep_last_turns(count, options);
    }
    let conversation = &shown.conversation;
    let exit = context.notes(&conversation.notes);
    if exit == Exit::Failed {
        return Ok(exit);
    }
    let around = PageContext {
        branches: args.part.is_whole() && args.last.is_none(),
        ..PageContext::NOTHING
    };
    let head = &conversation.session.head;
    let given = context.given_path(&conversation.source.path);
    let (page, notes) = write_cached_page(&context.env, &shown, &given, &options, &around)?;
    let browser = if args.print {
        None
    } else {
        open_in_browser(&context.env, &page)
    };
    let path = page.to_string_lossy();
    if context.json {
        print_json(&json!({ "id": head.id, "path": path, "browser": browser }))?;
    } else {
        print(&one_line(&path))?;
        if browser.is_none() && !args.print {
            say("no browser could be started: open the page in one, or name one in `$BROWSER`");
        }
    }
    Ok(exit.or(context.notes(&notes)).or(reached))
}
