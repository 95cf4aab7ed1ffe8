//! What an entry says, decoded from its records.

use rethread_json::{Document, Passed, Skim, Value};
use rethread_model::{
    Block, Body, Compaction, EntryIx, Event, Json, Kept, Kind, Level, Message, ModelRef, Place,
    RawRef, Role, Session, Text, Usage, Visibility,
};

use super::blocks::{By, Sight, blocks};
use super::facts::usage;
use super::said::split;
use crate::fields::{is_true, others, string, text_of};
use crate::passed::text;
use crate::{Native, PartKind};

/// What an entry says.
pub(super) fn body(native: &Native, session: &Session, entry: EntryIx, by: By) -> Body {
    let origin = session.origin(entry);
    // Those that are not in memory.
    let mut buffers = vec![Vec::new(); origin.len()];
    let mut held = Vec::new();
    for (raw, buffer) in origin.iter().zip(&mut buffers) {
        if let Err(why) = hold(native, *raw, buffer, &mut held) {
            return unreadable(&why);
        }
    }
    match session.entry(entry).kind {
        Kind::Message(role) => {
            let is_aside = session.entry(entry).visibility == Visibility::Visible;
            Body::Message(message(&held, role, Sight { by, is_aside }))
        }
        Kind::Compaction => Body::Compaction(compaction(&held)),
        Kind::Event => Body::Event(event(&held, nth_event(session, entry))),
        _ => Body::Unknown(None),
    }
}

/// Adds what a record holds.
fn hold<'a>(
    native: &'a Native,
    raw: RawRef,
    buffer: &'a mut Vec<u8>,
    held: &mut Vec<Held<'a>>,
) -> Result<(), String> {
    let part = native.parts.get(raw.part as usize);
    let is_row = matches!(part.map(|p| p.kind), Some(PartKind::Rows { .. }));
    // What is in memory is as it was when the session was read, and checked.
    let is_checked = part.is_some_and(|p| p.held().is_some());
    let bytes = native.view(raw, buffer).map_err(|e| e.to_string())?;
    let mut skim = if is_checked {
        Skim::trusting(bytes)
    } else {
        Skim::checking(bytes)
    };
    let changed = |_| "the file was changed while it was read".to_owned();
    let inside = split(skim.pass().map_err(changed)?, is_row);
    held.extend(inside.info.and_then(document).map(Held::Info));
    let parts = inside.parts.into_iter();
    held.extend(parts.map(|part| Held::Part(part, raw)));
    Ok(())
}

/// A value that is looked at closely.
fn document(value: Passed<'_>) -> Option<Document> {
    Document::parse(value.raw().to_vec()).ok()
}

fn unreadable(why: &str) -> Body {
    Body::Event(Event {
        name: "unreadable".to_owned(),
        text: Some(why.into()),
        level: Level::Error,
        details: None,
    })
}

/// What the records of an entry hold, in order.
enum Held<'a> {
    Info(Document),
    Part(Passed<'a>, RawRef),
}

fn is_type(part: Passed<'_>, name: &str) -> bool {
    part.get("type").is_some_and(|t| t.is_str(name))
}

fn message(held: &[Held<'_>], role: Role, sight: Sight) -> Message {
    let mut message = Message::new(role, Vec::new());
    let mut of_steps: Option<Usage> = None;
    for one in held {
        match one {
            Held::Info(info) => fill(&mut message, info.root()),
            Held::Part(part, raw) => {
                message.blocks.extend(blocks(*part, *raw, sight));
                if let Some(step) = step_usage(*part) {
                    *of_steps.get_or_insert_default() += &step;
                }
            }
        }
    }
    // Steps repeat what the message says; they count only where it says nothing.
    message.usage = message.usage.or(of_steps);
    if message.blocks.is_empty() && role == Role::User {
        message.blocks.extend(early_text(held));
    }
    message
}

fn step_usage(part: Passed<'_>) -> Option<Usage> {
    let is_step = is_type(part, "step-finish");
    let step = is_step.then(|| document(part)).flatten()?;
    usage(step.root())
}

/// What the user said in early stores, which kept it with the summary of the message.
fn early_text(held: &[Held<'_>]) -> Option<Block> {
    let mut infos = held.iter().filter_map(|one| match one {
        Held::Info(info) => info.root().get("summary"),
        Held::Part(..) => None,
    });
    let summary = infos.next()?;
    let text = ["body", "title"]
        .into_iter()
        .filter_map(|key| text_of(summary, key));
    let mut text = text.filter(|t| !t.value.is_empty());
    text.next().map(Block::Text)
}

fn fill(message: &mut Message, info: Value<'_>) {
    let time = |key| info.at(&["time", key]).and_then(Value::f64);
    // The first versions kept these elsewhere.
    let first = info.at(&["metadata", "assistant"]);
    let said = first.unwrap_or(info);
    message.model = model(said).or_else(|| model(info.get("model")?));
    message.stop_reason = string(info, "finish");
    message.usage = usage(said);
    message.error = info.get("error").and_then(error);
    message.duration_ms = time("completed")
        .zip(time("created"))
        .map(|(end, start)| end - start);
    let cwd = said.at(&["path", "cwd"]).and_then(Value::str);
    message.place = cwd.map(|cwd| {
        Box::new(Place {
            cwd: Some(cwd.into_owned()),
            ..Place::default()
        })
    });
    let known = [
        "id",
        "sessionID",
        "parentID",
        "role",
        "time",
        "modelID",
        "providerID",
        "model",
        "finish",
        "tokens",
        "cost",
        "error",
        "parts",
    ];
    message.details = others(info, &known);
}

fn model(value: Value<'_>) -> Option<ModelRef> {
    Some(ModelRef {
        provider: string(value, "providerID"),
        id: string(value, "modelID")?,
    })
}

/// What went wrong: the name of the error, and what it says.
fn error(value: Value<'_>) -> Option<String> {
    let name = string(value, "name");
    let said = value.at(&["data", "message"]).and_then(Value::str);
    match (name, said) {
        (Some(name), Some(said)) => Some(format!("{name}: {said}")),
        (Some(name), None) => Some(name),
        (None, Some(said)) => Some(said.into_owned()),
        (None, None) => value.str().map(std::borrow::Cow::into_owned),
    }
}

/// What the client puts before a summary, which it sends as an answer.
const QUESTION: &str = "What did we do so far?";

fn compaction(held: &[Held<'_>]) -> Compaction {
    let mut compaction = Compaction {
        question: Some(Text::new(QUESTION)),
        ..Compaction::default()
    };
    let mut infos = 0;
    let mut said = Vec::new();
    for one in held {
        match one {
            Held::Info(info) => {
                infos += 1;
                if infos > 1 {
                    let info = info.root();
                    compaction.usage = usage(info);
                    let time = |key| info.at(&["time", key]).and_then(Value::f64);
                    let times = time("completed").zip(time("created"));
                    compaction.duration_ms = times.map(|(end, start)| end - start);
                }
            }
            Held::Part(part, _) if is_type(*part, "compaction") => {
                if let Some(asked) = document(*part) {
                    asked_for(&mut compaction, asked.root());
                }
            }
            Held::Part(part, _) if infos > 1 => {
                if is_type(*part, "text") {
                    said.extend(part.get("text").and_then(text));
                }
            }
            Held::Part(..) => {}
        }
    }
    compaction.summary = joined(&said);
    compaction
}

/// How a compaction was asked for.
fn asked_for(compaction: &mut Compaction, part: Value<'_>) {
    let word = if is_true(part, "auto") {
        "auto"
    } else {
        "manual"
    };
    compaction.trigger = Some(word.to_owned());
    compaction.kept = string(part, "tail_start_id").map_or(Kept::Nothing, Kept::From);
    let known = [
        "id",
        "sessionID",
        "messageID",
        "type",
        "auto",
        "tail_start_id",
    ];
    compaction.details = others(part, &known);
}

fn joined(texts: &[Text]) -> Option<Text> {
    (!texts.is_empty()).then(|| Text::joined(texts, "\n\n"))
}

/// An export keeps all tries of a message in one record: which of them an entry is, follows from
/// the entries before it.
fn nth_event(session: &Session, entry: EntryIx) -> usize {
    let origin = session.origin(entry);
    let before = (0..entry.get()).rev().filter_map(EntryIx::new);
    before
        .take_while(|ix| session.entry(*ix).kind == Kind::Event && session.origin(*ix) == origin)
        .count()
}

/// A try that failed, or a compaction that did not come to its end.
fn event(held: &[Held<'_>], nth: usize) -> Event {
    let named = |name: &'static str| {
        held.iter().filter_map(move |one| match one {
            Held::Part(part, _) if is_type(*part, name) => Some(*part),
            _ => None,
        })
    };
    if let Some(retry) = named("retry").nth(nth) {
        let said = document(retry).and_then(|retry| retry.root().get("error").and_then(error));
        return Event {
            name: "retry".to_owned(),
            text: said.map(Text::new),
            level: Level::Warning,
            details: Some(Json::new(retry.raw())),
        };
    }
    Event {
        name: "compaction".to_owned(),
        text: Some(Text::new("asked for, and not done")),
        level: Level::Info,
        details: named("compaction").next().map(|p| Json::new(p.raw())),
    }
}

/// The first thing that the person said.
pub(super) fn first_prompt(native: &Native, session: &Session) -> Option<String> {
    let is_prompt = |kind, seen| kind == Kind::Message(Role::User) && seen == Visibility::Visible;
    let mut prompts = session
        .indexed()
        .filter(|(_, e)| is_prompt(e.kind, e.visibility));
    prompts.find_map(|(ix, _)| match body(native, session, ix, By::Person) {
        Body::Message(message) => message.blocks.into_iter().find_map(|block| match block {
            Block::Text(text) if !text.value.trim().is_empty() => Some(text.value),
            _ => None,
        }),
        _ => None,
    })
}
