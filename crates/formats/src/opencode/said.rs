//! Messages and their parts, with what decides where they go, whichever way they are stored.

use memchr::memmem;
use rethread_json::{Passed, Skim, Strayed};
use rethread_model::{Moment, RawRef, Role, Visibility};

use super::kinds::{Audience, PartRole, part_kind};
use super::members::Members;
use crate::few::{Rest, few_items, few_next};
use crate::fields::moment_at;

/// A message, with what decides where it goes.
#[derive(Clone, Debug)]
pub(super) struct PlacedMessage {
    pub(super) record: RawRef,
    pub(super) id: Box<str>,
    pub(super) time: Option<Moment>,
    pub(super) role: Option<Role>,
    /// Whether it is the summary that a compaction asked for, and whole.
    pub(super) is_summary: bool,
    /// How it failed, if it did.
    failed: Option<Failed>,
    pub(super) has_usage: bool,
    pub(super) parts: Vec<Piece>,
}

/// How a message failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failed {
    /// Somebody stopped it.
    Stopped,
    /// In another way.
    Otherwise,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) record: RawRef,
    /// Its id, where somebody may ask for it; there are too many to keep all.
    pub(super) id: Box<str>,
    /// The quarter of all times that its id is of.
    quarter: Option<u8>,
    pub(super) kind: PartRole,
    /// Whether it is more than the beginning of a step and what the model thought.
    is_outcome: bool,
    /// The call that started a sub-agent, and the session of that.
    pub(super) child: Option<Box<(String, String)>>,
}

/// What a stored value says: a message with the parts inside of it, or a part alone.
pub(super) struct Split<'a> {
    pub(super) info: Option<Members<'a>>,
    pub(super) parts: Vec<Members<'a>>,
    /// What stands behind the parts that are told apart.
    pub(super) rest: Option<Rest<'a>>,
}

/// Takes the record apart that is next: a row holds the value in its column `data`.
pub(super) fn split<'a>(skim: &mut Skim<'a>, is_row: bool) -> Result<Split<'a>, Strayed> {
    if is_row {
        return Ok(split_value(Members::data(skim)?));
    }
    let mut parts = Vec::new();
    let mut rest = None;
    let mut info = None;
    let value = Members::each(skim, |skim, name| {
        match name {
            b"info" if skim.peek() == Some(b'{') => info = Some(Members::next(skim)?),
            b"parts" if skim.peek() == Some(b'[') => {
                parts.clear();
                skim.enter_array();
                rest = few_next(skim, |skim| {
                    parts.push(Members::next(skim)?);
                    Ok(1)
                })?;
            }
            _ => drop(skim.pass()?),
        }
        Ok(())
    })?;
    Ok(apart(value, info, parts, rest))
}

/// Takes a value apart: an export puts message and parts side by side, and the first stores kept
/// parts inside of the message.
pub(super) fn split_value(value: Members<'_>) -> Split<'_> {
    let [info, parts] = value.pick(["info", "parts"]);
    let info = info.filter(|i| i.is_object()).map(Members::of);
    let (parts, rest) = parts.map(few_items).unzip();
    let parts = parts.into_iter().flatten().map(Members::of).collect();
    apart(value, info, parts, rest.flatten())
}

/// What a value is that holds these. One that is no message is a part.
fn apart<'a>(
    value: Members<'a>,
    info: Option<Members<'a>>,
    parts: Vec<Members<'a>>,
    rest: Option<Rest<'a>>,
) -> Split<'a> {
    let [role, type_name] = value.pick(["role", "type"]);
    if info.is_none() && !(role.is_some() && type_name.is_none()) {
        return Split {
            info: None,
            parts: vec![value],
            rest: None,
        };
    }
    Split {
        info: Some(info.unwrap_or(value)),
        parts,
        rest,
    }
}

impl PlacedMessage {
    /// A message; what is not an object that names a role is none that we understand.
    pub(super) fn of(record: RawRef, id: &str, info: Option<&Members<'_>>) -> Self {
        let role = info.and_then(|info| info.get("role"));
        let error = info.and_then(|info| info.get("error"));
        let tokens = info.and_then(|info| info.get("tokens"));
        Self {
            record,
            id: id.into(),
            time: info.and_then(said_at),
            role: match role.and_then(Passed::str).as_deref() {
                Some("user") => Some(Role::User),
                Some("assistant") => Some(Role::Assistant),
                Some("system") => Some(Role::System),
                _ => None,
            },
            is_summary: info.is_some_and(is_summary),
            failed: error.filter(|e| !e.is_null()).map(|error| {
                let name = error.get("name");
                if name.is_some_and(|n| n.is_str("MessageAbortedError")) {
                    Failed::Stopped
                } else {
                    Failed::Otherwise
                }
            }),
            has_usage: tokens.is_some_and(Passed::is_object),
            parts: Vec::new(),
        }
    }

    /// Adds a part. Most have few, for which a list would make room for many.
    pub(super) fn add(&mut self, part: Piece) {
        if self.parts.len() == self.parts.capacity() {
            self.parts.reserve_exact(self.parts.len() / 2 + 1);
        }
        self.parts.push(part);
    }

    /// Whether it is understood.
    pub(super) fn is_message(&self) -> bool {
        self.role.is_some()
    }

    pub(super) fn asks_for_compaction(&self) -> bool {
        self.role == Some(Role::User) && self.parts.iter().any(|p| p.kind == PartRole::Compaction)
    }

    /// Whether the client passes over it when it goes on: an answer that failed, unless it was stopped
    /// when it had said or done something.
    fn is_passed_over(&self) -> bool {
        let is_over = match self.failed {
            None => false,
            Some(Failed::Stopped) => !self.parts.iter().any(|p| p.is_outcome),
            Some(Failed::Otherwise) => true,
        };
        is_over && self.role == Some(Role::Assistant)
    }

    /// Who is meant to see it: text that nobody typed, or that is not sent, decides where there is
    /// nothing else.
    pub(super) fn visibility(&self) -> Visibility {
        if self.is_passed_over() {
            return Visibility::UiOnly;
        }
        let mut seen = self
            .parts
            .iter()
            .filter(|p| p.kind != PartRole::Step)
            .peekable();
        if seen.peek().is_none() {
            return Visibility::Visible;
        }
        let all = |audience| {
            let mut parts = self.parts.iter().filter(|p| p.kind != PartRole::Step);
            parts.all(|p| p.kind == PartRole::Text(audience))
        };
        if all(Audience::Model) {
            Visibility::Injected
        } else if all(Audience::Person) {
            Visibility::UiOnly
        } else {
            Visibility::Visible
        }
    }

    /// The message without the parts from this one on, and these; none where they are not records of
    /// their own.
    pub(super) fn parted(&self, part: &str) -> Option<(Self, Self)> {
        let at = self.parts.iter().position(|p| *p.id == *part)?;
        let (stay, go) = self.parts.split_at(at);
        let first = go.first().filter(|p| p.record != self.record)?;
        let rest = Self {
            record: first.record,
            id: part.into(),
            has_usage: false,
            parts: go.to_vec(),
            ..self.clone()
        };
        let stay = Self {
            parts: stay.to_vec(),
            ..self.clone()
        };
        Some((stay, rest))
    }

    /// Puts parts that came in the order of their ids into that of time: the ids began anew in the
    /// midst of them where the times in them are half of all times apart.
    pub(super) fn unwrap_order(&mut self) {
        let quarter = |part: Option<&Piece>| part.and_then(|part| part.quarter);
        let wraps = quarter(self.parts.first()) == Some(0) && quarter(self.parts.last()) == Some(3);
        if wraps {
            let early = |part: &Piece| part.quarter.is_some_and(|quarter| quarter < 2);
            let at = self.parts.partition_point(early);
            self.parts.rotate_left(at);
        }
    }

    /// The records that it came from, each once, without those of tries that failed.
    pub(super) fn origin(&self) -> Vec<RawRef> {
        let mut origin = vec![self.record];
        for part in self.parts.iter().filter(|p| p.kind != PartRole::Retry) {
            if !origin.ends_with(&[part.record]) {
                origin.push(part.record);
            }
        }
        origin
    }
}

/// The quarter of all times that an id is of: it has twelve hexadecimal digits behind its first word,
/// the first of which tells.
fn quarter(id: &str) -> Option<u8> {
    let digits = id.split_once('_')?.1.get(..12)?;
    let time = u64::from_str_radix(digits, 16).ok()?;
    u8::try_from(time >> 46).ok()
}

/// Whether a message is a summary that came to its end.
pub(super) fn is_summary(info: &Members<'_>) -> bool {
    info.is_true("summary") && info.has("finish") && !info.has("error")
}

/// When a message was made.
pub(super) fn said_at(info: &Members<'_>) -> Option<Moment> {
    let created = info.get("time").and_then(|time| time.get("created"));
    // In the first versions.
    let first = || info.get("metadata")?.at(&["time", "created"]);
    let time = created.or_else(first)?;
    moment_at(time.i64(), time.f64())
}

impl Piece {
    /// A part; what is none is a block that nobody knows. Its id is kept if somebody wants that, and
    /// that of a try that failed.
    pub(super) fn of(
        record: RawRef,
        id: &str,
        part: Option<&Members<'_>>,
        is_wanted: bool,
    ) -> Self {
        let names = ["type", "callID", "state"];
        let [type_name, call, state] = part.map_or([None; 3], |part| part.pick(names));
        let is_true = |name| part.is_some_and(|part| part.is_true(name));
        let audience = if is_true("ignored") {
            Audience::Person
        } else if is_true("synthetic") {
            Audience::Model
        } else {
            Audience::All
        };
        let type_name = type_name.and_then(Passed::str).unwrap_or_default();
        // Few have one, and that few do is told much sooner.
        let may_start = |state: &Passed<'_>| {
            type_name == "tool" && memmem::find(state.raw(), b"sessionId").is_some()
        };
        let started = state.filter(may_start).and_then(|state| {
            let session = state.at(&["metadata", "sessionId"])?.str()?;
            let call = call.and_then(Passed::str).unwrap_or_default();
            Some(Box::new((call.into_owned(), session.into_owned())))
        });
        let kind = part_kind(&type_name, audience);
        let is_wanted = is_wanted || kind == PartRole::Retry;
        Self {
            record,
            id: Some(id).filter(|_| is_wanted).unwrap_or_default().into(),
            quarter: quarter(id),
            kind,
            is_outcome: !matches!(&*type_name, "step-start" | "reasoning"),
            child: started,
        }
    }
}

/// Orders messages by time; those of the same moment by id, or as they stand where `by_id` is not
/// set.
pub(super) fn sort_messages(said: &mut [PlacedMessage], by_id: bool) {
    said.sort_by(|a, b| {
        let order = a.time.cmp(&b.time);
        if by_id {
            order.then_with(|| a.id.cmp(&b.id))
        } else {
            order
        }
    });
}
