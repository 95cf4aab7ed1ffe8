//! The end of an array or object that is known to be JSON, many bytes at once: all that matters in
//! it are brackets, but for those in strings.

use crate::block::{BLOCK, Block};
use crate::skim::closing_quote;

/// The end of the container that begins at `pos`: where as many brackets were closed as opened.
pub(crate) fn container_end(src: &[u8], mut pos: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quotes = StringTracker::default();
    loop {
        let block = Block::load_at(src, pos).or_else(|| Block::load_last(src.get(pos..)?))?;
        let outside = !quotes.string_mask(block);
        if outside == 0 {
            // In the midst of a long string.
            pos = closing_quote(src, pos + BLOCK + quotes.escaped_bytes())?;
            quotes = StringTracker::default();
            continue;
        }
        let opened = block.equal_in_any_case(b'{') & outside;
        let mut brackets = opened | block.equal_in_any_case(b'}') & outside;
        while brackets != 0 {
            let next = brackets & brackets.wrapping_neg();
            if opened & next == 0 {
                depth = depth.checked_sub(1)?;
            } else {
                depth += 1;
            }
            if depth == 0 {
                return Some(pos + next.trailing_zeros() as usize + 1);
            }
            brackets ^= next;
        }
        pos += BLOCK;
    }
}

/// Which bytes are in strings, from block to block.
#[derive(Default)]
struct StringTracker {
    /// All bits if the last block ended in a string.
    is_inside: u64,
    /// The lowest bit if it ended with a backslash that escapes what follows.
    escapes: u64,
}

impl StringTracker {
    /// How many bytes behind the last block are escaped.
    fn escaped_bytes(&self) -> usize {
        usize::from(self.escapes != 0)
    }

    /// The bytes of the next block that are in strings, with the quotes before them.
    #[inline]
    fn string_mask(&mut self, block: Block) -> u64 {
        let escaped = self.escaped_mask(block.equal_mask(b'\\'));
        let mut inside = block.equal_mask(b'"') & !escaped;
        // Every bit becomes whether the quotes up to it are odd in number.
        for distance in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << distance;
        }
        inside ^= self.is_inside;
        self.is_inside = 0_u64.wrapping_sub(inside >> (BLOCK - 1));
        inside
    }

    /// The bytes that are escaped: every second one of a run that begins with a backslash, and what
    /// follows the run if that is its turn.
    #[inline]
    fn escaped_mask(&mut self, backslashes: u64) -> u64 {
        if backslashes == 0 {
            return std::mem::take(&mut self.escapes);
        }
        let escaping = backslashes & !self.escapes;
        let follows = escaping << 1 | self.escapes;
        // Adding the first one of a run carries to the bit behind the run. That is done for runs
        // that begin at an odd bit, so that all others begin at an even one.
        let begin_odd = escaping & ODD & !follows;
        let (behind, carries) = escaping.overflowing_add(begin_odd);
        self.escapes = u64::from(carries);
        (EVEN ^ behind << 1) & follows
    }
}

const EVEN: u64 = 0x5555_5555_5555_5555;
const ODD: u64 = !EVEN;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the blocks say, byte by byte.
    fn slowly(src: &[u8]) -> Option<usize> {
        let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
        for (at, byte) in src.iter().enumerate() {
            let was_escaped = std::mem::take(&mut is_escaped);
            match byte {
                b'\\' => is_escaped = !was_escaped,
                b'"' if !was_escaped => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    proptest! {
        #[test]
        fn long_strings(parts in proptest::collection::vec(("[^\"\\\\]{0,150}", "[\"\\\\\\]]{0,3}"), 0..9)) {
            let text = parts.iter().fold("[".to_owned(), |text, (a, b)| text + a + b);
            prop_assert_eq!(container_end(text.as_bytes(), 0), slowly(text.as_bytes()), "{}", text);
        }

        #[test]
        fn blocks_find_the_same_end(text in "[\\[{][\\]}\\[{\"\\\\a]{0,300}", rest in " {0,200}") {
            let text = format!("{text}{rest}\"]}}");
            prop_assert_eq!(container_end(text.as_bytes(), 0), slowly(text.as_bytes()), "{}", text);
        }

        #[test]
        fn long_runs_of_backslashes(
            before in 0_usize..70,
            runs in proptest::collection::vec((0_usize..140, 0_usize..3), 0..4),
        ) {
            let mut text = format!("[{}\"", " ".repeat(before));
            for (backslashes, quotes) in runs {
                text.push_str(&"\\".repeat(backslashes));
                text.push_str(&"\"".repeat(quotes));
                text.push(']');
            }
            prop_assert_eq!(container_end(text.as_bytes(), 0), slowly(text.as_bytes()), "{}", text);
        }
    }
}
