//! Many bytes at once: where in them there are some, as a bit for each, the lowest one for the
//! first.

use wide::u8x16;

/// So many bytes are looked at with one instruction.
pub(crate) const LANE: usize = 16;

/// So many bytes of what is long are looked at together.
pub(crate) const BLOCK: usize = 64;

/// A few bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane(u8x16);

impl Lane {
    /// Those that begin at a place; none near the end of the text.
    #[inline]
    pub(crate) fn load_at(src: &[u8], at: usize) -> Option<Self> {
        let bytes = src.get(at..)?.first_chunk()?;
        Some(Self(u8x16::new(*bytes)))
    }

    /// How many precede the first of those that have a bit; all if none has.
    #[inline]
    pub(crate) fn count_before(bits: u32) -> usize {
        (bits | 1 << LANE).trailing_zeros() as usize
    }

    /// Where there is this byte.
    #[inline]
    pub(crate) fn equal_mask(self, byte: u8) -> u32 {
        byte_mask(self.0, byte).to_bitmask()
    }

    /// Where there is a byte that ends a plain stretch of a string: a quote, a backslash or a
    /// control character.
    #[inline]
    pub(crate) fn string_end_mask(self) -> u32 {
        let is_control = self.0.min(u8x16::splat(0x1F)).simd_eq(self.0);
        (byte_mask(self.0, b'"') | byte_mask(self.0, b'\\') | is_control).to_bitmask()
    }

    /// Where there is this byte, or the one that differs from it only in lacking the bit by which
    /// small letters differ from capital ones, as `[` from `{`.
    #[inline]
    fn equal_in_any_case(self, byte: u8) -> u32 {
        byte_mask(self.0 | u8x16::splat(0x20), byte).to_bitmask()
    }
}

#[inline]
fn byte_mask(bytes: u8x16, byte: u8) -> u8x16 {
    bytes.simd_eq(u8x16::splat(byte))
}

/// The bytes of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block([Lane; BLOCK / LANE]);

impl Block {
    /// The block that begins at a place; none near the end of the text.
    #[inline]
    pub(crate) fn load_at(src: &[u8], at: usize) -> Option<Self> {
        let bytes: &[u8; BLOCK] = src.get(at..)?.first_chunk()?;
        let (lanes, _) = bytes.as_chunks::<LANE>();
        let lanes: &[[u8; LANE]; BLOCK / LANE] = lanes.first_chunk()?;
        Some(Self(lanes.map(|lane| Lane(u8x16::new(lane)))))
    }

    /// The last bytes of a text, fewer than a block, with blanks behind them; none if there are none.
    #[cold]
    pub(crate) fn load_last(rest: &[u8]) -> Option<Self> {
        let mut bytes = [b' '; BLOCK];
        bytes.get_mut(..rest.len())?.copy_from_slice(rest);
        Self::load_at(&bytes, 0).filter(|_| !rest.is_empty())
    }

    /// The same as of a lane.
    #[inline]
    pub(crate) fn string_end_mask(self) -> u64 {
        self.collect_masks(Lane::string_end_mask)
    }

    /// The same as of a lane.
    #[inline]
    pub(crate) fn equal_mask(self, byte: u8) -> u64 {
        self.collect_masks(|lane| lane.equal_mask(byte))
    }

    /// The same as of a lane.
    #[inline]
    pub(crate) fn equal_in_any_case(self, byte: u8) -> u64 {
        self.collect_masks(|lane| lane.equal_in_any_case(byte))
    }

    /// Where another one has the same byte.
    #[inline]
    pub(crate) fn same_mask(self, other: Self) -> u64 {
        let [a, b] = [self.0, other.0];
        let same = |lane: usize| a[lane].0.simd_eq(b[lane].0).to_bitmask();
        join_masks([0, 1, 2, 3].map(same))
    }

    #[inline]
    fn collect_masks(self, of: impl Fn(Lane) -> u32) -> u64 {
        join_masks(self.0.map(of))
    }
}

/// The bits of all lanes.
#[inline]
fn join_masks(lanes: [u32; BLOCK / LANE]) -> u64 {
    let [a, b, c, d] = lanes.map(u64::from);
    a | b << LANE | c << (2 * LANE) | d << (3 * LANE)
}

/// The bits from that byte on.
#[inline]
pub(crate) fn bits_from(byte: usize) -> u64 {
    if byte < BLOCK { u64::MAX << byte } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_has_its_bit(bytes in proptest::collection::vec(any::<u8>(), BLOCK)) {
            let block = Block::load_at(&bytes, 0).unwrap();
            prop_assert!(Block::load_at(&bytes, 1).is_none());
            for (at, byte) in bytes.iter().enumerate() {
                let has = |bits: u64| bits >> at & 1 == 1;
                prop_assert_eq!(has(block.string_end_mask()), matches!(byte, b'"' | b'\\' | ..=0x1F));
                prop_assert_eq!(has(block.equal_mask(b'"')), *byte == b'"');
                prop_assert_eq!(has(block.equal_in_any_case(b'{')), matches!(byte, b'{' | b'['));
                let lane = Lane::load_at(&bytes, at);
                prop_assert_eq!(lane.is_some(), at <= BLOCK - LANE);
                if let Some(lane) = lane {
                    let quote = bytes[at..at + LANE].iter().position(|b| *b == b'"');
                    prop_assert_eq!(Lane::count_before(lane.equal_mask(b'"')), quote.unwrap_or(LANE));
                }
                prop_assert!(has(block.same_mask(block)));
                prop_assert_eq!(has(block.same_mask(Block::load_last(b"  ").unwrap())), *byte == b' ');
                prop_assert_eq!(bits_from(at).trailing_zeros() as usize, at);
            }
        }
    }
}
