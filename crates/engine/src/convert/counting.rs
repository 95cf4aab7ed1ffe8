//! Counting what a session holds while its entries are read for something else: each is decoded once.

use std::cell::{Ref, RefCell};

use rethread_formats::Conversation;
use rethread_model::{Blob, Bodies, Body, EntryIx, Piece};

use super::report::Inventory;

/// The entries of a session, which are counted when they are read.
pub(super) struct CountingBodies<'a> {
    conversation: &'a Conversation,
    counted: RefCell<CountedEntries<'a>>,
}

struct CountedEntries<'a> {
    inventory: Inventory<'a>,
    is_counted: Vec<bool>,
}

impl<'a> CountingBodies<'a> {
    pub(super) fn of_conversation(conversation: &'a Conversation) -> Self {
        Self {
            conversation,
            counted: RefCell::new(CountedEntries {
                inventory: Inventory::new(conversation),
                is_counted: vec![false; conversation.session.entries().len()],
            }),
        }
    }

    /// All that the session holds, also in entries that nobody read.
    pub(super) fn full_inventory(&self) -> Ref<'_, Inventory<'a>> {
        for (ix, entry) in self.conversation.session.indexed() {
            let is_counted = self.counted.borrow().is_counted.get(ix.get()) == Some(&true);
            if !is_counted && !entry.beside && !entry.side {
                self.body(ix);
            }
        }
        Ref::map(self.counted.borrow(), |counted| &counted.inventory)
    }

    pub(super) fn into_all(self) -> Inventory<'a> {
        drop(self.full_inventory());
        self.counted.into_inner().inventory
    }
}

impl Bodies for CountingBodies<'_> {
    fn body(&self, ix: EntryIx) -> Body {
        let body = self.conversation.body(ix);
        let mut counted = self.counted.borrow_mut();
        let CountedEntries {
            inventory,
            is_counted,
        } = &mut *counted;
        if let Some(is_counted) = is_counted.get_mut(ix.get())
            && !std::mem::replace(is_counted, true)
        {
            inventory.count_entry(ix, &body);
        }
        body
    }

    fn pieces(&self, ix: EntryIx) -> Vec<Piece> {
        self.conversation.pieces(ix)
    }

    fn inline(&self, blob: &Blob) -> Option<Vec<u8>> {
        self.conversation.inline(blob)
    }

    fn file(&self, blob: &Blob) -> Option<Vec<u8>> {
        self.conversation.file(blob)
    }
}
