//! Inputs made of seeds: bytes that nearly are what a reader expects. The same number gives the same
//! inputs, so what a short run finds is found again.

/// Words that mean something in one of the formats.
const WORDS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\n",
    b"\r\n",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"true",
    b"-0",
    b"1e999",
    b"99999999999999999999",
    b"-1",
    b"\"id\":",
    b"\"parentUuid\":null",
    b"\"parentId\":",
    b"\"type\":",
    b"\"timestamp\":",
    b"\"message\":",
    b"\"content\":[",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\0",
    b"<script>",
    b"</pre>",
    b"&lt;",
    b"```",
    b"\x1b]52;c;x\x07",
    b"\xe2\x80\xae",
    b"2026-11-15T12:00:00.000Z",
    b"\"$set\":{",
    b"\"role\":\"tool\"",
];

/// The longest input.
const LONGEST: usize = 256 * 1024;

/// An endless row of inputs.
pub struct Mutations {
    seeds: Vec<Vec<u8>>,
    state: u64,
    next: usize,
}

impl Mutations {
    /// Inputs made of these seeds: first themselves, then mutations of each in turn.
    pub fn new(seeds: Vec<Vec<u8>>, number: u64) -> Self {
        let state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self {
            seeds,
            state,
            next: 0,
        }
    }

    /// A number below a limit (xorshift64*).
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let number = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        usize::try_from(number).unwrap_or_default() % limit.max(1)
    }

    /// A range within so many bytes, mostly a short one.
    fn range(&mut self, len: usize) -> std::ops::Range<usize> {
        let start = self.below(len + 1);
        let most = if self.below(4) == 0 {
            len - start
        } else {
            (len - start).min(16)
        };
        let end = start + self.below(most + 1);
        start..end
    }

    fn mutate(&mut self, input: &mut Vec<u8>) {
        let range = self.range(input.len());
        match self.below(7) {
            0 => {
                if let Some(byte) = input.get_mut(range.start) {
                    *byte ^= 1 << self.below(8);
                }
            }
            1 => drop(input.drain(range)),
            2 => {
                let copy = input[range].to_vec();
                let at = self.below(input.len() + 1);
                input.splice(at..at, copy);
            }
            3 => {
                let word = WORDS[self.below(WORDS.len())];
                input.splice(range, word.iter().copied());
            }
            4 => {
                let word = WORDS[self.below(WORDS.len())];
                input.splice(range.start..range.start, word.iter().copied());
            }
            5 => input.truncate(range.start),
            _ => {
                let other = self.below(self.seeds.len());
                let other = self.seeds[other].clone();
                let piece = self.range(other.len());
                input.splice(range, other[piece].iter().copied());
            }
        }
        input.truncate(LONGEST);
    }
}

impl Iterator for Mutations {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let number = self.next;
        self.next += 1;
        let mut input = self.seeds.get(number % self.seeds.len().max(1))?.clone();
        if number >= self.seeds.len() {
            for _ in 0..=self.below(4) {
                self.mutate(&mut input);
            }
        }
        Some(input)
    }
}
