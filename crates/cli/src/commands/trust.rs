//! `trust`: which hooks may be carried out.

use std::path::PathBuf;

use clap::Args;
use rethread_engine::{Error, TrustedHooks, revoke_trust, trusted_hooks};
use rethread_formats::{Hooks, PROJECT_FORMAT};
use rethread_project::Repository;
use rethread_render::one_line;
use serde_json::{Value, json};

use crate::consent;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// Show what `worktreeHooks` would do here, and trust exactly that.
///
/// Any change of the hooks, of the file that has them or of the repository ends the trust, and so
/// does another repository at the same path. It asks first; without a terminal the answer is no,
/// unless `--yes` is given.
///
/// With `--json`, one object: what is trusted or is not (`trusted`), and all that the hooks would do;
/// with `--list`, one object a line for each that is trusted.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread trust             the hooks of this project
  rethread trust --yes       without a question, for scripts
  rethread trust --json      what the hooks would do, for scripts
  rethread trust --list      everything that is trusted
  rethread trust --revoke    take it back")]
pub(crate) struct Trust {
    /// The project; the current one by default.
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Take back the trust in this project's hooks.
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List what is trusted.
    #[arg(long, conflicts_with = "path")]
    list: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(context: &Context, args: &Trust) -> Result<Exit, Failure> {
    if args.list {
        return list(context);
    }
    let folder = context.folder(args.path.as_deref());
    let repository = Repository::find(&folder)
        .ok_or_else(|| Failure::usage(format!("`{}` is in no git repository", folder.display())))?;
    let project = repository
        .main_root()
        .unwrap_or_else(|| repository.root().to_owned());
    if args.revoke {
        let config = project.join(".agent").join("config.json");
        let count = revoke_trust(&context.env, &config)?;
        if context.json {
            print_json(&json!({ "path": config.to_string_lossy(), "revoked": count }))?;
        } else {
            print(if count == 0 {
                "nothing was trusted"
            } else {
                "revoked"
            })?;
        }
        return Ok(Exit::Done);
    }
    let (hooks, notes) = PROJECT_FORMAT.in_projects()?.hooks(&project)?;
    let exit = context.notes(&notes);
    let Some(hooks) = hooks else {
        context.say("there are no hooks here");
        return Ok(Exit::Failed);
    };
    context.tell_notes();
    give(context, &hooks, &repository, args.yes)
        .map(|done| if done == Exit::Done { exit } else { done })
}

fn give(
    context: &Context,
    hooks: &Hooks,
    repository: &Repository,
    yes: bool,
) -> Result<Exit, Failure> {
    let trust = TrustedHooks::of_hooks(hooks, repository);
    let is_asked = !yes && consent::is_possible();
    if !context.json || is_asked {
        consent::show(context, hooks);
    }
    if !yes {
        let question = consent::question("Trust exactly this", hooks, "?");
        if !is_asked {
            if context.json {
                print_json(&shown_json(&trust, hooks, false))?;
            }
            return Err(Failure::from(Error::Refused {
                message: format!("nobody is there to answer: {question}"),
                hint: "`--yes` trusts what was shown".to_owned(),
            }));
        }
        if !consent::agree(&question)? {
            if context.json {
                print_json(&shown_json(&trust, hooks, false))?;
            }
            context.say("nothing was trusted");
            return Ok(Exit::Failed);
        }
    }
    trust.grant_trust(&context.env)?;
    let path = trust.path.to_string_lossy();
    if context.json {
        print_json(&shown_json(&trust, hooks, true))?;
    } else {
        print(&format!("trusted {}", one_line(&path)))?;
    }
    Ok(Exit::Done)
}

fn as_json(trust: &TrustedHooks) -> Value {
    json!({
        "hash": trust.hash,
        "path": trust.path.to_string_lossy(),
        "repository": trust.repository.to_string_lossy(),
        "identity": trust.identity,
    })
}

/// What is trusted or is not, with all that the hooks would do.
fn shown_json(trust: &TrustedHooks, hooks: &Hooks, is_trusted: bool) -> Value {
    let mut invalid = Vec::new();
    let mut sound = |hook: Result<Value, &String>| match hook {
        Ok(hook) => Some(hook),
        Err(why) => {
            invalid.push(json!(why));
            None
        }
    };
    let links = hooks.symlinks.iter().filter_map(|hook| {
        let hook = hook.as_ref();
        sound(hook.map(|link| json!({ "source": link.source, "target": link.target })))
    });
    let links: Vec<Value> = links.collect();
    let commands = hooks.commands.iter().filter_map(|hook| {
        let hook = hook.as_ref();
        sound(hook.map(|hook| {
            json!({ "command": hook.command, "label": hook.label, "platforms": hook.platforms })
        }))
    });
    let commands: Vec<Value> = commands.collect();
    let prompt = hooks.initial_prompt.as_ref();
    let prompt = prompt.and_then(|prompt| sound(prompt.as_ref().map(|text| json!(text))));
    let mut object = as_json(trust);
    object["trusted"] = json!(is_trusted);
    object["hooks"] = json!({
        "symlinks": links,
        "commands": commands,
        "initial_prompt": prompt,
        "invalid": invalid,
    });
    object
}

fn list(context: &Context) -> Result<Exit, Failure> {
    for trust in trusted_hooks(&context.env)? {
        let path = trust.path.to_string_lossy();
        if context.json {
            print_json(&as_json(&trust))?;
        } else {
            print(&format!(
                "{}  {}",
                trust.hash.get(..12).unwrap_or_default(),
                one_line(&path)
            ))?;
        }
    }
    Ok(Exit::Done)
}
