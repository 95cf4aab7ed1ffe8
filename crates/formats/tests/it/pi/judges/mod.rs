//! The real pi as judge: it opens what we write, and we open what it writes.
//!
//! Everything is compared as JSON text, letter by letter: header, entries, leaf, name, tree,
//! branches, children, and the context at several entries. `departures.rs` lists where we differ
//! on purpose.

mod calls;
mod corpus;
mod departures;
mod grammar;
mod later;
mod listing;
mod old;
mod ours;
mod random;
mod script;
mod theirs;
mod view;

use std::path::Path;

use rethread_formats::pi::{SessionEntry, SessionManager};
use rethread_json::{Array, Document, Object, Value};
use rethread_judges::PiVersion;

use super::world::{World, read, world};
use view::view;

/// The clock of [`world`].
const NOW: &str = "2026-11-15T17:50:28.602Z";

/// What a judge answered.
struct Answer {
    document: Document,
}

impl Answer {
    fn get(&self, key: &str) -> Value<'_> {
        let found = self.document.root().get(key);
        found.unwrap_or_else(|| panic!("no `{key}` in {}", shown(self.document.bytes())))
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key).str().map(std::borrow::Cow::into_owned)
    }

    fn error(&self) -> Option<String> {
        let error = self.document.root().get("error")?;
        error.str().map(std::borrow::Cow::into_owned)
    }
}

/// Asks a judge; none if it is not installed.
fn ask(pi: PiVersion, question: Object) -> Option<Answer> {
    let question = question.str("now", NOW).finish();
    let answer = pi.running_process()?.send_request(&question);
    let document = Document::parse(answer).unwrap();
    Some(Answer { document })
}

/// Which entries are looked at closely: all of a few; of many, some of those that nothing follows
/// and some of all.
fn places(session: &SessionManager) -> Vec<usize> {
    const FEW: usize = 40;
    const SOME: usize = 6;
    let all = 0..session.entries().len();
    if all.len() <= FEW {
        return all.collect();
    }
    let nodes = session.tree();
    let tips = nodes.nodes().iter().filter(|node| node.children.is_empty());
    let tips = tips.map(|node| node.entry).take(SOME);
    let step = all.len().div_ceil(SOME);
    tips.chain(all.step_by(step)).collect()
}

fn numbers(places: &[usize]) -> Vec<u8> {
    let add = |array: Array, place: &usize| array.u64(u64::try_from(*place).unwrap());
    places.iter().fold(Array::new(), add).finish()
}

fn strings<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    texts.into_iter().fold(Array::new(), Array::str).finish()
}

/// Lets a judge open a file, and compares what it says with what we say. Gives the file as the
/// judge left it.
#[track_caller]
fn agree(pi: PiVersion, w: &World, path: &Path) -> Option<String> {
    agree_on(pi, path, &w.open(path))
}

#[track_caller]
fn agree_on(pi: PiVersion, path: &Path, session: &SessionManager) -> Option<String> {
    let at = places(session);
    let ids = session.entries().iter().map(SessionEntry::id);
    let question = Object::new()
        .str("file", path.to_str().unwrap())
        .raw("look", &numbers(&at))
        .raw("ids", &strings(ids))
        .raw("ours", &view(session, &at));
    let answer = ask(pi, question)?;
    if let Some(error) = answer.error() {
        panic!("{pi:?} on {}: {error}", path.display());
    }
    same(
        &format!("{pi:?} on {}", path.display()),
        answer.get("told"),
        answer.get("ours"),
    );
    answer.text("rewritten")
}

/// Every member of ours is the same in theirs.
#[track_caller]
fn same(what: &str, theirs: Value<'_>, ours: Value<'_>) {
    for (key, ours) in ours.members() {
        let key = key.str().unwrap();
        let theirs = theirs.get(&key).unwrap_or_else(|| panic!("no `{key}`"));
        same_text(
            &format!("{what}: {key}"),
            &String::from_utf8_lossy(theirs.raw()),
            &String::from_utf8_lossy(ours.raw()),
        );
    }
}

/// Two texts are the same; if not, the place where they part is shown.
#[track_caller]
fn same_text(what: &str, theirs: &str, ours: &str) {
    if theirs == ours {
        return;
    }
    let pairs = theirs.bytes().zip(ours.bytes());
    let parted = pairs.take_while(|(a, b)| a == b).count();
    let near = |text: &str| {
        let bytes = text.as_bytes();
        let (from, to) = (
            parted.saturating_sub(150),
            bytes.len().min(parted.saturating_add(250)),
        );
        String::from_utf8_lossy(&bytes[from.min(to)..to]).into_owned()
    };
    panic!(
        "{what}: different from byte {parted} on\ntheirs: {}\nours:   {}",
        near(theirs),
        near(ours)
    );
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).into_owned()
}
