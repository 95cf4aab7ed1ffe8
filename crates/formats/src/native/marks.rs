//! Where the records of a part begin, and what they are.

/// What a record of a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// One JSON value, with its line break where it has one.
    Value = 0,
    /// Nothing but white space.
    Blank = 1,
    /// Bytes that are no JSON value.
    Junk = 2,
    /// A last line that somebody did not finish.
    Torn = 3,
    /// A line too long to be held in memory.
    Giant = 4,
    /// What stands around the items of a list that are records of their own.
    Frame = 5,
    /// A part of a record that is read only when somebody asks for it: an original that came along.
    Carried = 6,
}

impl RecordKind {
    fn from_bits(bits: u64) -> Self {
        match bits {
            0 => Self::Value,
            1 => Self::Blank,
            2 => Self::Junk,
            3 => Self::Torn,
            4 => Self::Giant,
            5 => Self::Frame,
            _ => Self::Carried,
        }
    }
}

/// Where records begin and what they are, in eight bytes each.
#[derive(Debug, Default)]
pub struct RecordTable(Vec<u64>);

impl RecordTable {
    /// Notes that a record begins at this byte, and gives its number. Records come in order, the
    /// first at byte 0. `None` if it begins none: blank lines behind each other are one record,
    /// and there are at most four thousand million.
    pub fn add(&mut self, start: u64, kind: RecordKind) -> Option<u32> {
        if kind == RecordKind::Blank && self.goes_on_blank(start) {
            return None;
        }
        let record = u32::try_from(self.0.len()).ok()?;
        self.0.push((start << KIND_BITS) | kind as u64);
        Some(record)
    }

    /// Whether the last record is a blank one that reaches up to here, and may be longer.
    fn goes_on_blank(&self, end: u64) -> bool {
        let Some(last) = self.0.len().checked_sub(1) else {
            return false;
        };
        let begun = self.record_start(last).unwrap_or(end);
        self.record_kind(last) == Some(RecordKind::Blank)
            && end.saturating_sub(begun) < LONGEST_BLANK
    }

    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Where a record begins.
    pub(super) fn record_start(&self, at: usize) -> Option<u64> {
        self.0.get(at).map(|mark| mark >> KIND_BITS)
    }

    /// What a record is.
    pub(super) fn record_kind(&self, at: usize) -> Option<RecordKind> {
        let mark = self.0.get(at)?;
        Some(RecordKind::from_bits(mark & ((1 << KIND_BITS) - 1)))
    }
}

/// A blank record is not much longer: as a line, it is held in memory as a whole.
const LONGEST_BLANK: u64 = 1024 * 1024;

/// So many bits of a mark say what the record is.
const KIND_BITS: u32 = 3;
