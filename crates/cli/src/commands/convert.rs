//! `convert`: sessions as another agent would have written them.

use std::path::PathBuf;

use clap::Args;
use rethread_engine::{ConvertAsk, Converted, Fate, Way, by_name, convert, find};
use rethread_model::Severity;
use rethread_render::one_line;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json, say};

/// Write sessions in another format: into that agent's own store, or under a folder.
///
/// What the target has no place for travels along in it, packed, where its client leaves it alone:
/// converting back gives the original files again, byte for byte, with what was said meanwhile behind
/// them. Prints the id and the path of each session.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread convert latest --to codex             so that Codex can go on with it
  rethread convert claude:7f3a --to pi -o ./out  under ./out, as if it were pi's folder
  rethread convert 7f3a --to gemini --dry-run    only what would become of it
  rethread convert 7f3a --to codex --lean        without what Codex has no place for")]
pub(crate) struct Convert {
    /// The sessions.
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<String>,
    /// The format to write.
    #[arg(long, value_name = "FORMAT")]
    to: String,
    /// Write under DIR, as if it were the agent's own folder.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Leave out what the target has no place for. There is no way back then.
    #[arg(long)]
    lean: bool,
    /// Only say what would become of everything.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    write: WriteFlags,
}

pub(crate) fn run(context: &Context, args: &Convert) -> Result<Exit, Failure> {
    let to = by_name(&args.to).ok_or_else(|| Failure::Usage {
        message: format!("`{}` is no format", args.to),
        hint: Some("`rethread agents` lists them".to_owned()),
    })?;
    let root = args.output.as_ref().map(|dir| context.env.cwd.join(dir));
    let w = context.writing(args.write);
    let mut exit = Exit::Done;
    for name in &args.sessions {
        let ask = ConvertAsk {
            to,
            root: root.as_deref(),
            lean: args.lean,
            dry_run: args.dry_run,
        };
        let done = find(&context.env, name)
            .map_err(rethread_engine::Error::from)
            .and_then(|source| {
                refuse_losses(context, &w, &source, &ask)?;
                convert(&w, &source, &ask)
            });
        match done {
            Ok(done) => {
                exit = worse(exit, context.notes(&done.notes));
                show(context, args, &done)?;
            }
            Err(e) if args.sessions.len() == 1 => return Err(e.into()),
            Err(e) => {
                context.failed(&e.into());
                exit = Exit::Partly;
            }
        }
    }
    Ok(exit)
}

/// What is said of all, when one more ended so.
fn worse(all: Exit, one: Exit) -> Exit {
    if one == Exit::Done { all } else { one }
}

/// With `--strict`, nothing is written where something is damaged or would be lost.
fn refuse_losses(
    context: &Context,
    w: &rethread_engine::Writing<'_>,
    source: &rethread_engine::Source,
    ask: &ConvertAsk<'_>,
) -> Result<(), rethread_engine::Error> {
    if !context.strict {
        return Ok(());
    }
    let looked = convert(
        w,
        source,
        &ConvertAsk {
            dry_run: true,
            ..*ask
        },
    )?;
    let mut notes = looked.notes.iter();
    if let Some(damage) = notes.find(|note| note.severity == Severity::Damage) {
        return Err(rethread_engine::Error::Refused {
            message: damage.to_string(),
            hint: "without `--strict` what can be read is converted".to_owned(),
        });
    }
    let lost: Vec<&str> = lost(&looked).map(|fate| fate.what).collect();
    if lost.is_empty() || !ask.lean || looked.way != Way::Written {
        return Ok(());
    }
    Err(rethread_engine::Error::Refused {
        message: format!("{} has no place for: {}", looked.to, lost.join(", ")),
        hint: "without `--lean` it travels along".to_owned(),
    })
}

/// What the target's own reader does not find as it was.
fn lost(done: &Converted) -> impl Iterator<Item = &Fate> {
    done.fates.iter().filter(|fate| !fate.is_native())
}

fn show(context: &Context, args: &Convert, done: &Converted) -> Result<(), Failure> {
    let carries = done.way == Way::Written && !args.lean;
    if context.json {
        let fates = |wanted: bool| -> Vec<serde_json::Value> {
            let all = lost(done).filter(|_| wanted);
            all.map(|f| json!({ "what": f.what, "count": f.count, "native": f.native }))
                .collect()
        };
        return print_json(&json!({
            "source": done.source.path,
            "from": done.source.format,
            "to": done.to,
            "id": done.id,
            "path": (!args.dry_run).then_some(&done.path),
            "way": way(done),
            "carried": fates(carries),
            "dropped": fates(done.way == Way::Written && args.lean),
        }));
    }
    if args.dry_run {
        return table(args, done);
    }
    match done.way {
        Way::There => say("the original is there as it was; nothing was written"),
        Way::Back { added, changed } => say(&format!(
            "the original is back{}",
            match (added, changed) {
                (0, 0) => " as it was".to_owned(),
                (added, 0) => format!(", with {added} messages more"),
                (0, changed) => format!(", with {changed} changed"),
                (added, changed) => format!(", with {changed} changed and {added} messages more"),
            }
        )),
        Way::Written => {
            let rest: Vec<&str> = lost(done).map(|fate| fate.what).collect();
            if !rest.is_empty() {
                let word = if args.lean {
                    "left out"
                } else {
                    "travels along"
                };
                say(&format!("{word}: {}", rest.join(", ")));
            }
        }
    }
    let path = done.path.to_string_lossy();
    print(&format!("{}\t{}", one_line(&done.id), one_line(&path)))
}

fn way(done: &Converted) -> &'static str {
    match done.way {
        Way::Written => "written",
        Way::Back {
            added: 0,
            changed: 0,
        } => "restored",
        Way::Back { added: 0, .. } => "changed",
        Way::Back { .. } => "continued",
        Way::There => "unchanged",
    }
}

/// What became of everything, for people.
fn table(args: &Convert, done: &Converted) -> Result<(), Failure> {
    if let Way::Back { .. } | Way::There = done.way {
        return print(&format!(
            "{} came from {}: its original comes back",
            one_line(&done.source.id),
            done.to
        ));
    }
    for fate in &done.fates {
        let Fate {
            what,
            count,
            native,
        } = fate;
        let rest = count - native;
        let word = if args.lean {
            "left out"
        } else {
            "travel along"
        };
        let line = match (native, rest) {
            (_, 0) => format!("{what:<14} {count:>6}  native"),
            (0, _) => format!("{what:<14} {count:>6}  {word}"),
            _ => format!("{what:<14} {count:>6}  {native} native, {rest} {word}"),
        };
        print(&line)?;
    }
    Ok(())
}
