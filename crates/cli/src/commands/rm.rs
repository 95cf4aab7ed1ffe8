//! `rm`: into the trash, or for good.

use clap::Args;
use rethread_engine::{
    Filter, Removable, Removed, removable_by_filter, removable_by_name, remove_session,
};
use rethread_render::{fit, one_line};
use serde_json::{Value, json};

use crate::consent;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filters::FilterFlags;
use crate::homes::HomeFlags;
use crate::names::name_parser;
use crate::output::{print, print_json, say, session_json};
use crate::progress::Progress;
use crate::table;

/// Move sessions to the trash.
///
/// With `--agent`, `--since`, `--until` or `--model`, all sessions that `list` has with the same flags,
/// as far as all that was said in them is in that time: what began before `--since` or went on after
/// `--until` stays. Names are workspaces then.
///
/// Shows what would go, and asks, on a terminal; elsewhere `--yes` is needed. Where something stays, it
/// is named, and what makes a session goes last, so that it can be tried again.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread rm 7f3a
  rethread rm 7f3a 81c0 --yes
  rethread rm --until 90d --dry-run      what was not touched for 90 days
  rethread rm shop --agent pi            what pi did in the workspace `shop`
  rethread rm 7f3a --force               delete for good")]
pub(crate) struct Rm {
    /// The sessions; with flags that choose among them, workspaces.
    #[arg(value_name = "SESSION|WORKSPACE", required_unless_present_any = FilterFlags::NAMES, value_parser = name_parser())]
    names: Vec<String>,
    #[command(flatten)]
    filters: FilterFlags,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
    /// Delete for good instead: sessions that are named without asking, others as without this.
    #[arg(long)]
    force: bool,
    /// Only show what would go.
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(context: &Context, args: &Rm) -> Result<Exit, Failure> {
    let (chosen, found) = chosen(context, args)?;
    if chosen.is_empty() {
        context.say("no sessions were found");
        return Ok(Exit::Failed);
    }
    if args.dry_run {
        if context.json {
            for one in &chosen {
                print_json(&object(one, Value::Null))?;
            }
        } else {
            for row in rows(context, &chosen.iter().collect::<Vec<_>>()) {
                print(&row)?;
            }
        }
        context.say(&format!(
            "{} would go; nothing was removed",
            counted(&chosen)
        ));
        return Ok(found);
    }
    // One that is named is meant; what a filter gives may be a surprise.
    let is_meant = args.force && args.filters.is_empty();
    if !args.yes && !is_meant && !agreed(context, args, &chosen)? {
        context.say("nothing was removed");
        return Ok(Exit::Failed);
    }
    Ok(remove_all(context, args, &chosen)?.or(found))
}

/// Whether sessions are deleted instead of moved to the trash. What is removed of the sample goes
/// into nobody's trash.
fn is_for_good(context: &Context, args: &Rm) -> bool {
    args.force || context.sample.is_some()
}

/// What is meant, looked up before anything goes.
fn chosen(context: &Context, args: &Rm) -> Result<(Vec<Removable>, Exit), Failure> {
    if args.filters.is_empty() {
        let chosen = removable_by_name(&context.env, &args.names)?;
        return Ok((chosen, Exit::Done));
    }
    let filter = Filter {
        workspaces: args.names.clone(),
        ..args.filters.filter(context, &HomeFlags::default())?
    };
    let progress = Progress::new("looking");
    let (chosen, notes) =
        removable_by_filter(&context.env, &filter, &|done, of| progress.at(done, of))?;
    drop(progress);
    Ok((chosen, context.notes(&notes)))
}

/// Asks on a terminal; where there is nobody to ask, the answer must have been given.
fn agreed(context: &Context, args: &Rm, chosen: &[Removable]) -> Result<bool, Failure> {
    if !consent::is_possible() {
        return Err(Failure::Usage {
            message: "there is no terminal to ask on, so nothing was removed".to_owned(),
            hint: Some(
                "`--yes` removes without asking, `--dry-run` shows what would go".to_owned(),
            ),
        });
    }
    for row in rows(context, &chosen.iter().collect::<Vec<_>>()) {
        say(&row);
    }
    let what = counted(chosen);
    let question = if is_for_good(context, args) {
        format!("Delete {what} for good?")
    } else {
        format!("Move {what} to the trash?")
    };
    Ok(consent::agree(&question)?)
}

fn counted(chosen: &[Removable]) -> String {
    match chosen {
        [_] => "this session".to_owned(),
        all => format!("these {} sessions", all.len()),
    }
}

/// Sessions as somebody who is asked knows them: name, agent, date, messages, title.
fn rows(context: &Context, chosen: &[&Removable]) -> Vec<String> {
    let cells = chosen.iter().map(|one| {
        let head = &one.summary.head;
        let messages = match one.summary.counts.messages {
            1 => "1 message".to_owned(),
            n => format!("{} messages", table::count(n)),
        };
        [
            one_line(&one.name).into_owned(),
            one_line(head.held_by()).into_owned(),
            table::time(head.updated.or(head.created), context.zone()),
            messages,
        ]
    });
    let cells: Vec<[String; 4]> = cells.collect();
    let width = |at: usize| cells.iter().map(|row| row[at].chars().count()).max();
    let widths = [0, 1, 2, 3].map(|at| width(at).unwrap_or(0));
    let line = |(one, [name, agent, time, messages]): (&&Removable, &[String; 4])| {
        let [a, b, c, d] = widths;
        let title = table::title(&one.summary);
        let line = format!("{name:<a$}  {agent:<b$}  {time:<c$}  {messages:>d$}  {title}");
        context
            .columns
            .map_or(line.clone(), |width| fit(&line, width))
    };
    chosen.iter().zip(&cells).map(line).collect()
}

/// Removes all; each that stays is named, and the others go.
fn remove_all(context: &Context, args: &Rm, chosen: &[Removable]) -> Result<Exit, Failure> {
    let mut stayed = Vec::new();
    for one in chosen {
        match remove_session(&one.source, is_for_good(context, args)) {
            Ok(removed) => print_removed(context, one, &removed)?,
            Err(e) if chosen.len() == 1 => return Err(e.into()),
            Err(e) => {
                if context.json {
                    let mut object = object(one, Value::Null);
                    object["error"] = json!(e.to_string());
                    print_json(&object)?;
                }
                context.failed(&e.into());
                stayed.push(one);
            }
        }
    }
    if stayed.is_empty() {
        return Ok(Exit::Done);
    }
    let gone = chosen.len() - stayed.len();
    // Scripts have an object for each.
    if !context.json {
        say(&format!(
            "{gone} of {} sessions went; not removed:",
            chosen.len()
        ));
        for row in rows(context, &stayed) {
            say(&format!("  {row}"));
        }
    }
    Ok(if gone == 0 {
        Exit::Failed
    } else {
        Exit::Partly
    })
}

fn print_removed(context: &Context, one: &Removable, removed: &Removed) -> Result<(), Failure> {
    let (path, word) = match removed {
        Removed::Trashed { path, .. } => (path, "trashed"),
        Removed::Deleted { path } => (path, "deleted"),
    };
    if context.json {
        return print_json(&object(one, json!(word)));
    }
    print(&format!("{word} {}", one_line(&path.to_string_lossy())))
}

/// The session as scripts know it, and what became of it.
fn object(one: &Removable, removed: Value) -> Value {
    let mut object = session_json(&one.summary);
    object["path"] = json!(one.source.path.to_string_lossy());
    object["removed"] = removed;
    object
}
