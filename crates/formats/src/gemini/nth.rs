//! Places in lists of which there may be a great many, in little room.

use std::num::NonZeroU32;
use std::ops::Range;

/// A place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nth(NonZeroU32);

impl Nth {
    /// The place with this number, counted from 0. None beyond four thousand million.
    pub(super) fn new(at: usize) -> Option<Self> {
        let number = u32::try_from(at).ok()?.checked_add(1)?;
        NonZeroU32::new(number).map(Self)
    }

    /// Its number.
    pub(super) fn at(self) -> usize {
        self.number() as usize
    }

    /// Its number, in little room.
    pub(super) fn number(self) -> u32 {
        self.0.get() - 1
    }
}

/// Some that follow each other in a list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Several {
    start: u32,
    count: u32,
}

impl Several {
    /// Those at these places. None beyond four thousand million.
    pub(super) fn new(places: &Range<usize>) -> Self {
        let start = u32::try_from(places.start);
        match (start, u32::try_from(places.len())) {
            (Ok(start), Ok(count)) => Self { start, count },
            _ => Self::default(),
        }
    }

    /// Where they are.
    pub(super) fn places(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.count as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.count == 0
    }
}
