//! Every value of a text, with the way to it.

use rethread_json::{Items, Members, Value};

use super::known::{holds_known_key, shown_text};
use super::law::{same_key, too_deep};
use super::sheet::Sheet;

/// What lies deeper is not looked at; what programs write is not a tenth as deep.
const DEEPEST: usize = 1_000;

/// How many names of a way are shown.
const SHOWN: usize = 8;

/// A container on the way to a value, and which of its values leads there.
pub(crate) struct Frame<'a> {
    rest: FrameRest<'a>,
    pub(crate) at: At<'a>,
}

enum FrameRest<'a> {
    Members(Members<'a>),
    Items(std::iter::Enumerate<Items<'a>>),
}

/// Which value of a container.
#[derive(Clone, Copy)]
pub(crate) enum At<'a> {
    Start,
    Key(Value<'a>),
    Item(usize),
}

impl<'a> Frame<'a> {
    fn of(value: Value<'a>) -> Option<Self> {
        let rest = if value.is_object() {
            FrameRest::Members(value.members())
        } else if value.is_array() {
            FrameRest::Items(value.items().enumerate())
        } else {
            return None;
        };
        Some(Self {
            rest,
            at: At::Start,
        })
    }

    fn next(&mut self) -> Option<Value<'a>> {
        let (at, value) = match &mut self.rest {
            FrameRest::Members(members) => {
                members.next().map(|(key, value)| (At::Key(key), value))?
            }
            FrameRest::Items(items) => items.next().map(|(i, value)| (At::Item(i), value))?,
        };
        self.at = at;
        Some(value)
    }
}

/// Calls `visit` for every value but the outermost, each before what is in it. Without recursion,
/// and in memory of so many frames at most. Keys that an object has twice are told on the way.
pub(crate) fn walk_values<'a>(
    sheet: &mut Sheet<'_>,
    root: Value<'a>,
    visit: &mut dyn FnMut(&mut Sheet<'_>, &[Frame<'a>], Value<'a>),
) {
    let mut told = false;
    same_keys(sheet, root);
    let mut frames: Vec<Frame<'a>> = Frame::of(root).into_iter().collect();
    while let Some(frame) = frames.last_mut() {
        let Some(value) = frame.next() else {
            frames.pop();
            continue;
        };
        visit(sheet, &frames, value);
        let Some(inner) = Frame::of(value) else {
            continue;
        };
        same_keys(sheet, value);
        if frames.len() < DEEPEST {
            frames.push(inner);
        } else if !told {
            told = true;
            let message = format!("nested deeper than {DEEPEST} levels; not checked any deeper");
            sheet.warning(too_deep(sheet.section()), value.span().start, message);
        }
    }
}

fn same_keys(sheet: &mut Sheet<'_>, object: Value<'_>) {
    let mut keys: Vec<_> = object
        .members()
        .filter_map(|(key, _)| Some((key.text().filter(|t| !t.lossy)?.text, key.span().start)))
        .collect();
    keys.sort_unstable();
    for pair in keys.windows(2) {
        let [(first, _), (second, at)] = pair else {
            continue;
        };
        if first == second {
            let message = format!(
                "the key {} is there twice; the last one counts",
                shown_text(second)
            );
            sheet.warning(same_key(sheet.section()), *at, message);
        }
    }
}

/// The way to a value: `agentSettings.codex.args[2]`. A name that is a secret itself is left out.
pub(crate) fn value_path(frames: &[Frame<'_>]) -> String {
    let mut out = String::new();
    let shown = frames.len().saturating_sub(SHOWN);
    if shown > 0 {
        out.push('…');
    }
    for frame in &frames[shown..] {
        match frame.at {
            At::Start => {}
            At::Item(i) => {
                out.push('[');
                out.push_str(&i.to_string());
                out.push(']');
            }
            At::Key(key) => {
                if !out.is_empty() {
                    out.push('.');
                }
                let name = key.str().unwrap_or_default();
                if holds_known_key(&name).is_some() {
                    out.push('…');
                } else {
                    out.extend(name.chars().take(60));
                }
            }
        }
    }
    out
}
