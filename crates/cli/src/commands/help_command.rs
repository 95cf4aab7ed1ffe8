//! `help`: what commands there are, for people and for programs.

use clap::{Arg, Args, Command, CommandFactory as _};
use serde_json::{Map, Value, json};

use crate::args::Cli;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::help;
use crate::json_reference::SECTIONS;
use crate::json_reference::kind::{JsonAnswer, Object, definition, with_inner};
use crate::output::print_json;

/// Print the help of a command.
///
/// With `--json`, one object describes all commands or the one that is named: arguments, options, and
/// what it prints with `--json`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread help search         as `rethread search --help`
  rethread help --json         all commands, options and answers, for a program
  rethread help list --json    one of them")]
pub(crate) struct HelpCommand {
    /// The command; all by default.
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &HelpCommand) -> Result<Exit, Failure> {
    if !context.json {
        let told = Cli::help_of(&args.command);
        help::print(&told)?;
        return Ok(if told.use_stderr() {
            Exit::Usage
        } else {
            Exit::Done
        });
    }
    let mut program = Cli::command();
    // Options that every command takes are known to the commands only then.
    program.build();
    let mut described = &program;
    let mut path = vec!["rethread".to_owned()];
    for word in &args.command {
        let Some(sub) = described.find_subcommand(word) else {
            return Err(Failure::Usage {
                message: format!("there is no command `{word}`"),
                hint: Some("`rethread help` lists all commands".to_owned()),
            });
        };
        path.push(sub.get_name().to_owned());
        described = sub;
    }
    let mut objects = Vec::new();
    let mut object = describe_command(described, &path, &mut objects);
    if args.command.is_empty() {
        object.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        object.insert("exit_codes".to_owned(), exit_codes());
    }
    let objects = with_inner(&objects).into_iter();
    let definitions: Map<String, Value> = objects
        .map(|object| (object.name.to_owned(), definition(object)))
        .collect();
    object.insert("$defs".to_owned(), Value::Object(definitions));
    print_json(&Value::Object(object))?;
    Ok(Exit::Done)
}

fn exit_codes() -> Value {
    json!({
        "0": "done",
        "1": "failed, or nothing found",
        "2": "wrong usage",
        "3": "done in part: some input was damaged or skipped, and stderr says which",
    })
}

/// A command with all below it. What its answers are made of is added to `objects`.
fn describe_command(
    command: &Command,
    path: &[String],
    objects: &mut Vec<&'static Object>,
) -> Map<String, Value> {
    let text = |text: Option<&clap::builder::StyledStr>| text.map(ToString::to_string);
    let call = path.join(" ");
    let aliases: Vec<&str> = command.get_visible_aliases().collect();
    let shown = || command.get_arguments().filter(|arg| !arg.is_hide_set());
    let arguments = shown().filter(|arg| arg.is_positional());
    let options = shown().filter(|arg| !arg.is_positional());
    // Those that every command takes are told once.
    let options = options.filter(|arg| path.len() == 1 || !arg.is_global_set());
    let answers = SECTIONS.iter().flat_map(|section| {
        let answers = section.answers.iter();
        answers.map(|answer| (section.heading, answer))
    });
    let answers: Vec<Value> = answers
        .filter(|(_, answer)| is_answer_of(answer, command, path))
        .map(|(section, answer)| {
            objects.extend(answer.objects);
            let names = answer.objects.iter().map(|object| object.name);
            json!({ "name": answer.name, "section": section, "call": answer.call, "means": answer.means,
                "objects": names.collect::<Vec<_>>() })
        })
        .collect();
    let subcommands = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let subcommands = subcommands.filter(|sub| sub.get_name() != "help" || path.len() == 1);
    let mut below = Vec::new();
    for sub in subcommands {
        let path = [path, &[sub.get_name().to_owned()]].concat();
        below.push(Value::Object(describe_command(sub, &path, objects)));
    }
    let mut object = Map::new();
    for (name, value) in [
        ("command", json!(call)),
        ("aliases", json!(aliases)),
        ("about", json!(text(command.get_about()))),
        ("details", json!(text(command.get_long_about()))),
        ("examples", json!(text(command.get_after_help()))),
        ("arguments", arguments.map(describe_argument).collect()),
        ("options", options.map(describe_argument).collect()),
        ("answers", json!(answers)),
        ("commands", json!(below)),
    ] {
        object.insert(name.to_owned(), value);
    }
    object
}

/// Whether an answer is that of a command: the words of its call, before what is in capitals or a flag.
fn is_answer_of(answer: &JsonAnswer, command: &Command, path: &[String]) -> bool {
    let words = answer.call.split(' ');
    let is_word = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let words: Vec<&str> = words
        .take_while(|word| !word.starts_with('-') && is_word(word))
        .collect();
    // A word that is no command is an argument.
    let is_longer = |words: &[&str]| {
        let next = words.get(path.len());
        next.is_some_and(|next| command.find_subcommand(next).is_some())
    };
    let is_begun = path.iter().zip(&words).all(|(a, b)| a == b);
    words.len() >= path.len() && is_begun && !is_longer(&words)
}

fn describe_argument(arg: &Arg) -> Value {
    let action = arg.get_action();
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<&str> = values.iter().map(clap::builder::Str::as_str).collect();
    let choices = arg.get_possible_values();
    let choices: Vec<&str> = choices
        .iter()
        .map(clap::builder::PossibleValue::get_name)
        .collect();
    let takes_values = action.takes_values();
    let defaults = arg.get_default_values().iter().filter(|_| takes_values);
    let default = defaults.map(|value| value.to_string_lossy().into_owned());
    let is_repeatable = matches!(action, clap::ArgAction::Append | clap::ArgAction::Count);
    json!({
        "name": arg.get_id().as_str(),
        "long": arg.get_long().map(|long| format!("--{long}")),
        "short": arg.get_short().map(|short| format!("-{short}")),
        "value": if takes_values { values.first() } else { None },
        "choices": if takes_values { choices } else { Vec::new() },
        "default": default.collect::<Vec<_>>().first(),
        "required": arg.is_required_set(),
        "repeatable": is_repeatable,
        "about": arg.get_long_help().or(arg.get_help()).map(ToString::to_string),
    })
}
