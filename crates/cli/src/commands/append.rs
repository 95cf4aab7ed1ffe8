//! `append`: add messages to a session.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use clap::{Args, ValueEnum};
use rethread_engine::{
    Appended, Durability, MessageDefaults, MessageInput, Source, TextMessage, Writing,
    append_messages, branch_session, find, replace_message,
};
use rethread_json::Lines;
use rethread_model::Role;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::names::name_parser;
use crate::output::{print, print_json};

/// Add a message to a session.
///
/// Prints its id. With `--message-json`, whole messages are read, one a line, in the format's own vocabulary or in
/// the unified one; each id is printed as soon as its message is saved, so that a program can keep
/// the command running and write to it. Sessions of pi and Atomic also take entries that are no
/// messages, by their `type`: `model_change`, `thinking_level_change`, `compaction`, `custom` and others.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread append 7f3a \"Please add a test\"
  git diff | rethread append 7f3a --role system
  rethread append 7f3a \"What is wrong here?\" --image screen.png
  echo '{\"role\":\"agent\",\"content\":[{\"type\":\"text\",\"text\":\"Done\"}]}' | \\
      rethread append 7f3a --message-json -
  echo '{\"type\":\"model_change\",\"provider\":\"openai\",\"modelId\":\"gpt-5\"}' | \\
      rethread append pi:7f3a --message-json -
  rethread append 7f3a --at a1b2c3d4 \"Try it without a cache\"
  rethread append 7f3a --replace msg-2 --message-json new.json")]
pub(crate) struct Append {
    /// The session.
    #[arg(value_parser = name_parser())]
    session: String,
    /// The text; standard input by default.
    text: Option<String>,
    /// Who says it, `user` by default; with `--message-json`, for messages that do not say.
    #[arg(long)]
    role: Option<RoleName>,
    /// The model that answered; the project's default for agent messages.
    #[arg(long)]
    model: Option<String>,
    /// A picture to go with the text. Can be repeated.
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Read whole messages (of pi and Atomic, also other entries) from FILE, one a line; `-` is
    /// standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "image"])]
    message_json: Option<PathBuf>,
    /// Continue from ENTRY instead of from the last one, where sessions are trees: its id, the
    /// beginning of it, or `#12`.
    #[arg(long, value_name = "ENTRY", conflicts_with = "replace")]
    at: Option<String>,
    /// Write ENTRY anew instead of adding a message: its id, the beginning of it, or `#12`.
    #[arg(long, value_name = "ENTRY")]
    replace: Option<String>,
    #[command(flatten)]
    write: WriteFlags,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleName {
    User,
    #[value(alias = "assistant")]
    Agent,
    System,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::User => Self::User,
            RoleName::Agent => Self::Assistant,
            RoleName::System => Self::System,
        }
    }
}

/// How many messages are saved together, if so many are waiting.
const BATCH: usize = 1000;

/// How many bytes of messages are saved together.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

pub(crate) fn run(context: &Context, args: Append) -> Result<Exit, Failure> {
    let source = find(&context.env, &args.session)?;
    let w = context.writing(args.write);
    if let Some(file) = &args.message_json {
        let input = open(file)?;
        let unsaid = MessageDefaults {
            role: args.role.map(Role::from),
            model: args.model,
        };
        return match &args.replace {
            Some(entry) => replace_with_json(context, &w, &source, entry, (input, unsaid)),
            None => stream(
                context,
                &mut AppendTarget::new(&w, &source, args.at),
                input,
                &unsaid,
            ),
        };
    }
    let message = MessageInput::Text(TextMessage {
        role: args.role.unwrap_or(RoleName::User).into(),
        text: text(args.text, &args.image)?,
        images: args.image,
        model: args.model,
    });
    let appended = match &args.replace {
        Some(entry) => replace_message(&w, &source, entry, &message)?,
        None => AppendTarget::new(&w, &source, args.at).add(std::slice::from_ref(&message))?,
    };
    Answer::default().take(context, appended)?.end(context)
}

/// Where messages are added.
struct AppendTarget<'a> {
    w: &'a Writing<'a>,
    source: &'a Source,
    /// The entry to continue from; the last one where none is named.
    at: Option<String>,
}

impl<'a> AppendTarget<'a> {
    fn new(w: &'a Writing<'a>, source: &'a Source, at: Option<String>) -> Self {
        Self { w, source, at }
    }

    /// Adds messages, and goes on behind them.
    fn add(&mut self, messages: &[MessageInput]) -> Result<Appended, Failure> {
        let Some(at) = &self.at else {
            return Ok(append_messages(self.w, self.source, messages)?);
        };
        let appended = branch_session(self.w, self.source, at, None, messages)?;
        if let Some(last) = appended.ids.iter().rev().find_map(|id| id.as_ref().ok()) {
            self.at = Some(last.clone());
        }
        Ok(appended)
    }
}

fn text(given: Option<String>, images: &[PathBuf]) -> Result<String, Failure> {
    match given {
        Some(text) => Ok(text),
        None if !images.is_empty() => Ok(String::new()),
        None if io::stdin().is_terminal() => Err(no_text()),
        None => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            if bytes.is_empty() {
                return Err(no_text());
            }
            String::from_utf8(bytes)
                .map_err(|e| Failure::usage(format!("standard input is not UTF-8: {e}")))
        }
    }
}

fn no_text() -> Failure {
    Failure::Usage {
        message: "there is no text".to_owned(),
        hint: Some("give it as an argument or on standard input".to_owned()),
    }
}

fn open(file: &Path) -> Result<Box<dyn Read + Send>, Failure> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(rethread_disk::open_read(file)?))
}

fn replace_with_json(
    context: &Context,
    w: &Writing<'_>,
    source: &Source,
    entry: &str,
    (mut input, unsaid): (impl Read, MessageDefaults),
) -> Result<Exit, Failure> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let message = MessageInput::Json {
        bytes,
        line: 1,
        unsaid,
    };
    let appended = replace_message(w, source, entry, &message)?;
    Answer::default().take(context, appended)?.end(context)
}

/// Saves messages as they arrive. What is waiting is saved together and synced once; an id is
/// printed only then.
fn stream(
    context: &Context,
    place: &mut AppendTarget<'_>,
    input: Box<dyn Read + Send>,
    unsaid: &MessageDefaults,
) -> Result<Exit, Failure> {
    if place.w.strict {
        // Nothing is written unless all of it can be: so all of it must be known first.
        let all = each_line(input, unsaid)?;
        let appended = place.add(&all)?;
        return Answer::default().take(context, appended)?.end(context);
    }
    let arriving = read_ahead(input, unsaid.clone());
    let most = if place.w.durability == Durability::Each {
        1
    } else {
        BATCH
    };
    let mut answer = Answer::default();
    while let Ok(first) = arriving.recv() {
        let mut batch = vec![first?];
        let mut bytes = size(&batch[0]);
        while batch.len() < most && bytes < BATCH_BYTES {
            let Ok(next) = arriving.try_recv() else { break };
            let next = next?;
            bytes += size(&next);
            batch.push(next);
        }
        answer = answer.take(context, place.add(&batch)?)?;
    }
    answer.end(context)
}

fn size(message: &MessageInput) -> usize {
    match message {
        MessageInput::Json { bytes, .. } => bytes.len(),
        MessageInput::Text(text) => text.text.len(),
        // Nobody types such messages.
        MessageInput::Message(_) => 0,
    }
}

/// Reads messages in a thread of its own, so that those that wait can be told from those to come.
fn read_ahead(
    input: Box<dyn Read + Send>,
    unsaid: MessageDefaults,
) -> Receiver<Result<MessageInput, io::Error>> {
    let (sender, receiver) = sync_channel(BATCH);
    std::thread::spawn(move || {
        let mut lines = Lines::new(input);
        loop {
            let message = match next_message(&mut lines, &unsaid) {
                Ok(Some(message)) => Ok(message),
                Ok(None) => return,
                Err(e) => Err(e),
            };
            let failed = message.is_err();
            if sender.send(message).is_err() || failed {
                return;
            }
        }
    });
    receiver
}

fn each_line(
    input: Box<dyn Read + Send>,
    unsaid: &MessageDefaults,
) -> Result<Vec<MessageInput>, Failure> {
    let mut lines = Lines::new(input);
    let mut all = Vec::new();
    while let Some(message) = next_message(&mut lines, unsaid)? {
        all.push(message);
    }
    Ok(all)
}

/// The next line that is not blank. One too long to be a message is cut, and so refused as JSON.
fn next_message(
    lines: &mut Lines<Box<dyn Read + Send>>,
    unsaid: &MessageDefaults,
) -> io::Result<Option<MessageInput>> {
    while let Some(line) = lines.next_line()? {
        if !line.head().trim_ascii().is_empty() {
            return Ok(Some(MessageInput::Json {
                bytes: line.head().to_vec(),
                line: line.span.number,
                unsaid: unsaid.clone(),
            }));
        }
    }
    Ok(None)
}

/// What came of the messages so far.
#[derive(Default)]
pub(crate) struct Answer {
    saved: usize,
    refused: usize,
    notes: Vec<rethread_model::Note>,
}

impl Answer {
    pub(crate) fn take(mut self, context: &Context, appended: Appended) -> Result<Self, Failure> {
        for id in appended.ids {
            match id {
                Ok(id) if context.json => print_json(&json!({ "id": id }))?,
                Ok(id) => print(&rethread_render::one_line(&id))?,
                Err(e) => {
                    self.refused += 1;
                    context.failed(&e.into());
                    continue;
                }
            }
            self.saved += 1;
        }
        self.notes.extend(appended.notes);
        Ok(self)
    }

    pub(crate) fn end(self, context: &Context) -> Result<Exit, Failure> {
        let exit = context.notes(&self.notes);
        match (self.saved, self.refused) {
            (0, 0) => Err(Failure::usage("no message was given")),
            (0, _) => Ok(Exit::Failed),
            (_, 0) => Ok(exit),
            _ => Ok(Exit::Partly),
        }
    }
}
