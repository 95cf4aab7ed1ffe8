//! Changing a text where it is named, and nowhere else.

mod slots;
mod style;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::value::Value;
use slots::Slots;
use style::Style;

/// Where a new member goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertAt<'k> {
    /// Before all others.
    First,
    /// After all others.
    Last,
    /// Before the member of that name; after all others if there is none.
    Before(&'k str),
    /// After the member of that name; after all others if there is none.
    After(&'k str),
}

/// Edits of one text, collected and then made in one pass. Every byte that no
/// edit names stays as it is.
///
/// Edits of one container are made one after the other. Where one edit changes
/// a value and another replaces or removes what it is in, the outer one wins.
/// What is new follows the layout around it: in a container that is spread over
/// lines, it gets lines of its own, and objects and arrays that are given on
/// one line are spread as well; else the spacing of the first member is
/// imitated. The JSON that is given is not checked.
///
/// Values must come from the tree of the value that the patch was made with;
/// others are ignored, as are edits of members in what is no object and of
/// items in what is no array.
///
/// ```
/// use rethread_json::{Document, Patch};
/// let document = Document::parse(b"{\"a\": 1e0, \"b\": 2}\n".to_vec())?;
/// let mut patch = Patch::new(document.root());
/// patch.set(document.root(), "b", b"[]");
/// patch.set(document.root(), "c", b"true");
/// assert_eq!(patch.finish(), b"{\"a\": 1e0, \"b\": [], \"c\": true}\n");
/// # Ok::<(), rethread_json::SyntaxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Patch<'a> {
    root: Value<'a>,
    /// New spellings of values.
    replaced: BTreeMap<u32, Vec<u8>>,
    /// Containers that gain or lose children.
    changed: BTreeMap<u32, Slots>,
}

impl<'a> Patch<'a> {
    /// No edits yet. The text is all that `root` was parsed from, with what
    /// surrounds the value.
    pub fn new(root: Value<'a>) -> Self {
        Self {
            root,
            replaced: BTreeMap::new(),
            changed: BTreeMap::new(),
        }
    }

    /// Puts JSON in place of a value.
    pub fn replace(&mut self, value: Value<'a>, json: &[u8]) {
        if value.is_of(self.root) {
            self.replaced.insert(value.index(), json.to_vec());
        }
    }

    /// Adds a member to an object, whether or not there is one of that name.
    pub fn insert(&mut self, object: Value<'a>, key: &str, json: &[u8], place: InsertAt<'_>) {
        let root = self.root;
        if !object.is_object() {
            return;
        }
        if let Some(slots) = self.slots_of(object) {
            slots.insert(root, key, json, place);
        }
    }

    /// Replaces the member of that name, the last one if there are several;
    /// adds it after all others if there is none.
    pub fn set(&mut self, object: Value<'a>, key: &str, json: &[u8]) {
        if !object.is_object() || !object.is_of(self.root) {
            return;
        }
        let value = match self.changed.get_mut(&object.index()) {
            Some(slots) => match slots.set(self.root, key, json) {
                slots::FoundSlot::New => return,
                slots::FoundSlot::Old(value) => Some(self.root.with_index(value)),
                slots::FoundSlot::Nothing => None,
            },
            None => object.get(key),
        };
        match value {
            Some(value) => self.replace(value, json),
            None => self.insert(object, key, json, InsertAt::Last),
        }
    }

    /// Removes all members of that name.
    pub fn remove(&mut self, object: Value<'a>, key: &str) {
        let root = self.root;
        if !object.is_object() {
            return;
        }
        if let Some(slots) = self.slots_of(object) {
            slots.remove(root, key);
        }
    }

    /// Adds an item at the end of an array.
    pub fn push(&mut self, array: Value<'a>, json: &[u8]) {
        if !array.is_array() {
            return;
        }
        if let Some(slots) = self.slots_of(array) {
            slots.push(json);
        }
    }

    fn slots_of(&mut self, container: Value<'a>) -> Option<&mut Slots> {
        if !container.is_of(self.root) {
            return None;
        }
        let slots = self.changed.entry(container.index());
        Some(slots.or_insert_with(|| Slots::new(container)))
    }

    /// The text with all edits made.
    pub fn finish(self) -> Vec<u8> {
        let style = Style::new(self.root);
        let mut splices = Vec::new();
        for (index, json) in self.replaced {
            let value = self.root.with_index(index);
            splices.push(Splice {
                range: value.span(),
                text: style.format_replacement(value, json),
            });
        }
        for (index, slots) in &self.changed {
            slots.write_splices(self.root.with_index(*index), &style, &mut splices);
        }
        apply_splices(self.root.source_bytes(), splices)
    }
}

/// Bytes that go, and the bytes that come in their place.
#[derive(Debug)]
struct Splice {
    range: Range<usize>,
    text: Vec<u8>,
}

/// Makes the changes; those inside of another one are dropped.
fn apply_splices(src: &[u8], mut splices: Vec<Splice>) -> Vec<u8> {
    // What is put before a value comes before what happens to the value, and
    // the larger change before those inside it.
    splices
        .sort_by_key(|Splice { range, .. }| (range.start, !range.is_empty(), Reverse(range.end)));
    let new: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut out = Vec::with_capacity(src.len() + new);
    let mut done = 0;
    for Splice { range, text } in splices {
        if range.start < done {
            continue;
        }
        out.extend_from_slice(&src[done..range.start]);
        out.extend_from_slice(&text);
        done = range.end;
    }
    out.extend_from_slice(&src[done..]);
    out
}
