//! Which containers are open: one bit each, on the heap.

#[derive(Debug, Default)]
pub(crate) struct Nesting {
    /// A bit is set for an object.
    bits: Vec<u64>,
    depth: usize,
}

impl Nesting {
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    pub(crate) fn open(&mut self, is_object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if word == self.bits.len() {
            self.bits.push(0);
        }
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.depth += 1;
    }

    pub(crate) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether the innermost open container is an object.
    pub(crate) fn in_object(&self) -> bool {
        self.depth
            .checked_sub(1)
            .is_some_and(|top| self.bits[top / 64] >> (top % 64) & 1 == 1)
    }
}
