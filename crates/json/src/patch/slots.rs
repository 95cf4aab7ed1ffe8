//! The children of a container while it is being changed.

use std::ops::Range;

use super::style::{Layout, Style};
use super::{InsertAt, Splice};
use crate::value::Value;
use crate::write::write_str;

#[derive(Clone, Debug)]
enum Slot {
    /// A child that was there before.
    Old {
        /// Its first node: the key of a member, or an item.
        head: u32,
        value: u32,
        /// Where what precedes it begins: the comma, or for the first child
        /// the inside of the container.
        before: usize,
        is_first: bool,
    },
    New {
        key: Option<String>,
        json: Vec<u8>,
    },
}

/// What a name leads to.
pub(super) enum FoundSlot {
    /// A member that was there before, with that value.
    Old(u32),
    /// A new member.
    New,
    Nothing,
}

/// All children of one container, in order.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    list: Vec<Slot>,
    /// From the beginning of the first original child to the end of the last.
    originals: Option<Range<usize>>,
}

impl Slots {
    pub(super) fn new(container: Value<'_>) -> Self {
        let inside = container.span().start + 1;
        let mut originals: Option<Range<usize>> = None;
        let mut list = Vec::new();
        let members = container.members();
        let items = container.items().map(|item| (item, item));
        for (head, value) in members.chain(items) {
            let end = value.span().end;
            list.push(Slot::Old {
                head: head.index(),
                value: value.index(),
                before: originals.as_ref().map_or(inside, |range| range.end),
                is_first: originals.is_none(),
            });
            originals = match originals {
                Some(range) => Some(range.start..end),
                None => Some(head.span().start..end),
            };
        }
        Self { list, originals }
    }

    pub(super) fn insert(&mut self, root: Value<'_>, key: &str, json: &[u8], place: InsertAt<'_>) {
        let at = match place {
            InsertAt::First => Some(0),
            InsertAt::Last => None,
            InsertAt::Before(name) => self.find_slot(root, name),
            InsertAt::After(name) => self.find_slot(root, name).map(|at| at + 1),
        };
        let slot = Slot::New {
            key: Some(key.to_owned()),
            json: json.to_vec(),
        };
        self.list.insert(at.unwrap_or(self.list.len()), slot);
    }

    pub(super) fn push(&mut self, json: &[u8]) {
        self.list.push(Slot::New {
            key: None,
            json: json.to_vec(),
        });
    }

    /// Changes a new member; finds an old one.
    pub(super) fn set(&mut self, root: Value<'_>, key: &str, json: &[u8]) -> FoundSlot {
        let position = self.find_slot(root, key);
        match position.map(|at| &mut self.list[at]) {
            Some(Slot::Old { value, .. }) => FoundSlot::Old(*value),
            Some(Slot::New { json: old, .. }) => {
                *old = json.to_vec();
                FoundSlot::New
            }
            None => FoundSlot::Nothing,
        }
    }

    pub(super) fn remove(&mut self, root: Value<'_>, key: &str) {
        self.list.retain(|slot| !slot.is_named(root, key));
    }

    fn find_slot(&self, root: Value<'_>, key: &str) -> Option<usize> {
        self.list.iter().rposition(|slot| slot.is_named(root, key))
    }

    /// What must change in the text so that the container holds these children.
    pub(super) fn write_splices(
        &self,
        container: Value<'_>,
        style: &Style<'_>,
        splices: &mut Vec<Splice>,
    ) {
        let inside = container.span().start + 1..container.span().end - 1;
        let layout = Layout::of_container(container, style);
        let mut cutter = Cutter {
            done: inside.start,
            text: Vec::new(),
            splices,
        };
        match &self.originals {
            _ if self.list.is_empty() => {}
            Some(originals) => {
                cutter.keep(inside.start..originals.start);
                self.lay_out(container, style, &layout, &mut cutter);
                cutter.keep(originals.end..inside.end);
            }
            None => {
                cutter.text.extend_from_slice(&layout.lead);
                self.lay_out(container, style, &layout, &mut cutter);
                cutter.text.extend_from_slice(&layout.tail);
            }
        }
        cutter.finish(inside.end);
    }

    fn lay_out(
        &self,
        root: Value<'_>,
        style: &Style<'_>,
        layout: &Layout,
        cutter: &mut Cutter<'_>,
    ) {
        for (at, slot) in self.list.iter().enumerate() {
            match slot {
                Slot::Old {
                    head,
                    value,
                    before,
                    is_first,
                } => {
                    let start = root.with_index(*head).span().start;
                    if at > 0 && *is_first {
                        cutter.text.extend_from_slice(&layout.comma);
                    } else if at > 0 {
                        cutter.keep(*before..start);
                    }
                    cutter.keep(start..root.with_index(*value).span().end);
                }
                Slot::New { key, json } => {
                    if at > 0 {
                        cutter.text.extend_from_slice(&layout.comma);
                    }
                    if let Some(key) = key {
                        write_str(&mut cutter.text, key);
                        cutter.text.extend_from_slice(&layout.colon);
                    }
                    let json = style.fit_layout(json, layout.indent.as_deref());
                    cutter.text.extend_from_slice(&json);
                }
            }
        }
    }
}

impl Slot {
    fn is_named(&self, root: Value<'_>, name: &str) -> bool {
        match self {
            Self::Old { head, .. } => root.with_index(*head).is_str(name),
            Self::New { key, .. } => key.as_deref() == Some(name),
        }
    }
}

/// Turns a sequence of kept ranges and new text into splices.
struct Cutter<'s> {
    /// Up to here the text is accounted for.
    done: usize,
    /// New text to put there.
    text: Vec<u8>,
    splices: &'s mut Vec<Splice>,
}

impl Cutter<'_> {
    fn keep(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.cut(range.start);
            self.done = range.end;
        }
    }

    fn cut(&mut self, until: usize) {
        if self.done < until || !self.text.is_empty() {
            self.splices.push(Splice {
                range: self.done..until,
                text: std::mem::take(&mut self.text),
            });
        }
    }

    fn finish(mut self, end: usize) {
        self.cut(end);
    }
}
