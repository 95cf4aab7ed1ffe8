//! What an entry says, decoded from its records.

use rethread_json::{Passed, Skim};
use rethread_model::{
    Block, Body, Compaction, EntryIx, Event, Json, Kept, Kind, Level, Message, ModelRef, Place,
    RawRef, Role, Session, Text, Usage, Visibility,
};

use super::blocks::{By, Sight, part_blocks};
use super::facts::read_usage;
use super::members::Members;
use super::said::split;
use super::{OpenCode, own};
use crate::few::{MOST, Rest, more_records};
use crate::kit::{CHANGED, unreadable_body};
use crate::passed::{passed_string, passed_text};
use crate::{BodyReader, Native, OwnWords, PartKind};

impl BodyReader for OpenCode {
    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        body_for(native, session, entry, By::Person)
    }

    fn sent(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        body_for(native, session, entry, By::Model)
    }

    /// Whether the client did not yet write that an answer is complete, or that it failed.
    fn is_unfinished(&self, native: &Native, session: &Session, entry: EntryIx) -> bool {
        if session.entry(entry).kind != Kind::Message(Role::Assistant) {
            return false;
        }
        let mut buffer = Vec::new();
        let mut held = Vec::new();
        if let Some(raw) = session.origin(entry).first()
            && hold(native, *raw, &mut buffer, &mut held).is_err()
        {
            return false;
        }
        let is_open = |info: &Members<'_>| {
            let ended = |time: Passed<'_>| time.get("completed").is_some();
            info.get("error").is_none() && !info.get("time").is_none_or(ended)
        };
        held.iter()
            .any(|held| matches!(held, Held::Info(info) if is_open(info)))
    }

    fn own_words(&self) -> Option<OwnWords> {
        Some(own::WORDS)
    }
}

/// What an entry says.
pub(super) fn body_for(native: &Native, session: &Session, entry: EntryIx, by: By) -> Body {
    let origin = session.origin(entry);
    // Those that are not in memory.
    let mut buffers = vec![Vec::new(); origin.len()];
    let mut held = Vec::new();
    for (raw, buffer) in origin.iter().zip(&mut buffers) {
        if let Err(why) = hold(native, *raw, buffer, &mut held) {
            return unreadable_body(&why);
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
    let changed = |_| CHANGED.to_owned();
    let inside = split(&mut skim, is_row).map_err(changed)?;
    held.extend(inside.info.map(Held::Info));
    let parts = inside.parts.into_iter();
    held.extend(parts.map(|part| Held::Part(part, raw)));
    held.extend(inside.rest.map(Held::Rest));
    Ok(())
}

/// What the records of an entry hold, in order.
enum Held<'a> {
    Info(Members<'a>),
    Part(Members<'a>, RawRef),
    Rest(Rest<'a>),
}

fn message(held: &[Held<'_>], role: Role, sight: Sight) -> Message {
    let mut message = Message::new(role, Vec::new());
    let mut of_steps: Option<Usage> = None;
    for (at, one) in held.iter().enumerate() {
        if message.blocks.len() > 2 * MOST {
            message.blocks.push(more_records(held.len() - at));
            break;
        }
        match one {
            Held::Info(info) => fill(&mut message, info),
            Held::Rest(rest) => message.blocks.push(rest.block()),
            Held::Part(part, raw) => {
                part_blocks(part, *raw, sight, &mut message.blocks);
                let step = Some(part).filter(|part| part.is_str("type", "step-finish"));
                if let Some(step) = step.and_then(read_usage) {
                    *of_steps.get_or_insert_default() += &step;
                }
            }
        }
    }
    // Steps repeat what the message says; they count only where it says nothing.
    message.usage = message.usage.or(of_steps);
    if message.blocks.is_empty() && role == Role::User {
        let mut infos = held.iter().filter_map(|one| match one {
            Held::Info(info) => Some(info),
            Held::Part(..) | Held::Rest(_) => None,
        });
        let said = infos.next().and_then(early_text);
        message.blocks.extend(said.map(Block::Text));
    }
    message
}

/// What the user said in early stores, which kept it with the summary of the message.
pub(super) fn early_text(info: &Members<'_>) -> Option<Text> {
    let said = info.get("summary")?.pick(["body", "title"]);
    let mut said = said.into_iter().filter_map(|value| passed_text(value?));
    said.find(|t| !t.value.is_empty())
}

fn fill(message: &mut Message, info: &Members<'_>) {
    // The first versions kept these elsewhere.
    let first = info.get("metadata").and_then(|m| m.get("assistant"));
    let first = first.map(Members::of);
    let said = first.as_ref().unwrap_or(info);
    let [provider, model] = said.pick(["providerID", "modelID"]);
    let named = || {
        let [provider, model] = info.get("model")?.pick(["providerID", "modelID"]);
        self::model(provider, model)
    };
    message.model = self::model(provider, model).or_else(named);
    message.stop_reason = passed_string(info.get("finish"));
    message.usage = read_usage(said);
    message.error = info.get("error").and_then(error);
    message.duration_ms = duration(info);
    let cwd = said
        .get("path")
        .and_then(|path| passed_string(path.get("cwd")));
    message.place = cwd.map(|cwd| {
        Box::new(Place {
            cwd: Some(cwd),
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
    message.details = info.others(&known);
}

/// How long a message took.
fn duration(info: &Members<'_>) -> Option<f64> {
    let [start, end] = info.get("time")?.pick(["created", "completed"]);
    Some(end?.f64()? - start?.f64()?)
}

fn model(provider: Option<Passed<'_>>, model: Option<Passed<'_>>) -> Option<ModelRef> {
    Some(ModelRef {
        provider: passed_string(provider),
        id: passed_string(model)?,
    })
}

/// What went wrong: the name of the error, and what it says.
fn error(value: Passed<'_>) -> Option<String> {
    let [name, data] = value.pick(["name", "data"]);
    let name = passed_string(name);
    let said = data.and_then(|data| data.get("message")?.str());
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
                    compaction.usage = read_usage(info);
                    compaction.duration_ms = duration(info);
                }
            }
            Held::Part(part, _) if part.is_str("type", "compaction") => {
                asked_for(&mut compaction, part);
            }
            Held::Part(part, _) if infos > 1 => {
                if part.is_str("type", "text") {
                    said.extend(part.get("text").and_then(passed_text));
                }
            }
            Held::Part(..) | Held::Rest(_) => {}
        }
    }
    compaction.summary = joined(&said);
    compaction
}

/// How a compaction was asked for.
fn asked_for(compaction: &mut Compaction, part: &Members<'_>) {
    let word = if part.is_true("auto") {
        "auto"
    } else {
        "manual"
    };
    compaction.trigger = Some(word.to_owned());
    let kept = passed_string(part.get("tail_start_id"));
    compaction.kept = kept.map_or(Kept::Nothing, Kept::From);
    let known = [
        "id",
        "sessionID",
        "messageID",
        "type",
        "auto",
        "tail_start_id",
    ];
    compaction.details = part.others(&known);
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
            Held::Part(part, _) if part.is_str("type", name) => Some(part),
            _ => None,
        })
    };
    if let Some(retry) = named("retry").nth(nth) {
        let said = retry.get("error").and_then(error);
        return Event {
            name: "retry".to_owned(),
            text: said.map(Text::new),
            level: Level::Warning,
            details: Some(Json::new(retry.value().raw())),
        };
    }
    Event {
        name: "compaction".to_owned(),
        text: Some(Text::new("asked for, and not done")),
        level: Level::Info,
        details: named("compaction")
            .next()
            .map(|p| Json::new(p.value().raw())),
    }
}

/// The first thing that the person said.
pub(super) fn first_prompt(native: &Native, session: &Session) -> Option<String> {
    let is_prompt = |kind, seen| kind == Kind::Message(Role::User) && seen == Visibility::Visible;
    let mut prompts = session
        .indexed()
        .filter(|(_, e)| is_prompt(e.kind, e.visibility));
    prompts.find_map(|(ix, _)| match body_for(native, session, ix, By::Person) {
        Body::Message(message) => message.blocks.into_iter().find_map(|block| match block {
            Block::Text(text) if !text.value.trim().is_empty() => Some(text.value),
            _ => None,
        }),
        _ => None,
    })
}
