//! The heads of entries: small, flat, and without recursion.

use std::num::NonZeroU32;

use crate::Moment;

/// The place of an entry in its session, in the order of the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryIx(NonZeroU32);

impl EntryIx {
    /// The entry at this place, counted from 0. `None` beyond four thousand million entries.
    pub fn new(index: usize) -> Option<Self> {
        let plus_one = u32::try_from(index).ok()?.checked_add(1)?;
        NonZeroU32::new(plus_one).map(Self)
    }

    /// The place, counted from 0.
    pub fn get(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl std::fmt::Debug for EntryIx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.get())
    }
}

/// What an entry is. What it says is in its [`Body`](crate::Body).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something that a user, a model, a tool or the system said.
    Message(Role),
    /// From here on another model answers.
    ModelChange,
    /// From here on the model thinks more, or less.
    ThinkingChange,
    /// What came before was replaced by a summary.
    Compaction,
    /// The summary of a branch that the conversation came back from.
    BranchSummary,
    /// A bookmark on another entry was set or cleared.
    Label,
    /// The conversation was named.
    Title,
    /// What another entry contributes to the model's context was changed.
    ContextEdit,
    /// Tokens or cost that belong to no message.
    Usage,
    /// Something happened that is worth showing (an error, an abort, a review).
    Event,
    /// A record that we keep and do not understand.
    Unknown,
}

impl Kind {
    /// Whether the entry counts as a message.
    pub fn is_message(self) -> bool {
        matches!(self, Kind::Message(_))
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// Neither: instructions and context.
    System,
    /// A tool, where its results are records of their own.
    Tool,
}

impl Role {
    /// The role's name in the unified vocabulary, which knows three: tools answer as the user.
    pub fn unified(self) -> &'static str {
        match self {
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        }
    }
}

/// Who is meant to see an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// Everyone.
    #[default]
    Visible,
    /// The model saw it; the person did not write it (environment, reminders, hooks).
    Injected,
    /// The person saw it; the model did not.
    UiOnly,
    /// Neither was shown it.
    Hidden,
}

/// One raw record of a source: a line, a document, a row, or a piece of one of these where a whole
/// one would be too coarse (a damaged line, an element of a long array).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawRef {
    /// Which part of the source (a file, a table).
    pub part: u32,
    /// Which record of that part, counted from 0.
    pub record: u32,
}

/// The raw records of an entry: usually one, sometimes several.
pub type Origin<'a> = &'a [RawRef];

/// The raw records of an entry: itself if it is one, else a number by which they are found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records(RawRef);

impl Records {
    /// No record.
    pub(crate) const NOTHING: Self = Self::several(u32::MAX);
    /// No part has this number: it marks what is no record.
    const SEVERAL: u32 = u32::MAX;

    /// One record; none if it is in a part that cannot be.
    pub(crate) fn one(raw: RawRef) -> Option<Self> {
        (raw.part != Self::SEVERAL).then_some(Self(raw))
    }

    /// Several records, which are found by this number.
    pub(crate) const fn several(number: u32) -> Self {
        Self(RawRef {
            part: Self::SEVERAL,
            record: number,
        })
    }

    /// The one record, or the number of several.
    pub(crate) fn get(&self) -> Result<&RawRef, u32> {
        match self.0.part {
            Self::SEVERAL => Err(self.0.record),
            _ => Ok(&self.0),
        }
    }
}

/// The head of an entry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where its id ends; it begins where that of the entry before it ends.
    pub(crate) id_end: u32,
    pub(crate) origin: Records,
    /// The entry before it, on the way to the root.
    pub parent: Option<EntryIx>,
    /// The entry that it really continues, where a compaction cut the chain of parents.
    pub logical_parent: Option<EntryIx>,
    /// When it was written.
    pub time: Option<Moment>,
    /// Entries with the same key are one response: its usage counts once. The key is an index that
    /// has meaning only inside the session.
    pub usage_key: Option<NonZeroU32>,
    /// What it is.
    pub kind: Kind,
    /// Who is meant to see it.
    pub visibility: Visibility,
    /// Whether it was copied from the session that this one was forked from.
    pub inherited: bool,
    /// Whether it stands beside the tree (a title, a setting of the whole session): it is no root,
    /// and never the leaf.
    pub beside: bool,
    /// Whether a sub-agent said it, in a source that keeps those in the same file.
    pub side: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_small() {
        assert!(size_of::<Entry>() <= 40, "{}", size_of::<Entry>());
        assert_eq!(size_of::<Option<EntryIx>>(), 4);
        assert_eq!(size_of::<RawRef>(), 8);
    }

    #[test]
    fn indexes_count_from_zero() {
        assert_eq!(EntryIx::new(0).map(EntryIx::get), Some(0));
        assert_eq!(EntryIx::new(usize::MAX), None);
    }
}
