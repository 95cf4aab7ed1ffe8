//! The bytes of a document, a window at a time: of one that is held, and of one that is read in
//! blocks.

use std::io;

/// Gives the bytes of a document in pieces.
pub(super) trait ByteWindows {
    /// Some bytes from here on; none at the end.
    fn bytes_from(&mut self, at: u64) -> &[u8];

    /// Some bytes up to here; none at the beginning.
    fn bytes_before(&mut self, at: u64) -> &[u8];

    /// How long the document is.
    fn len(&self) -> u64;
}

/// A document in memory: one window.
pub(super) struct HeldBytes<'a>(pub(super) &'a [u8]);

impl ByteWindows for HeldBytes<'_> {
    fn bytes_from(&mut self, at: u64) -> &[u8] {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.0.get(at..).unwrap_or_default()
    }

    fn bytes_before(&mut self, at: u64) -> &[u8] {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.0.get(..at).unwrap_or(self.0)
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

/// So many blocks are kept, so that who goes back and forth over the end of one reads neither again.
const KEPT_BLOCKS: usize = 3;

/// A document that is read in blocks.
pub(super) struct ReadBlocks<F> {
    read_at: F,
    len: u64,
    block: usize,
    /// Those that were read last, the latest first.
    kept: Vec<ReadBlock>,
    /// Why reading failed; what is behind counts as not there then.
    failure: Option<io::Error>,
}

struct ReadBlock {
    start: u64,
    bytes: Vec<u8>,
}

impl<F: FnMut(u64, &mut [u8]) -> io::Result<usize>> ReadBlocks<F> {
    /// A document of this length, read in blocks of this many bytes.
    pub(super) fn new(read_at: F, len: u64, block: usize) -> Self {
        Self {
            read_at,
            len,
            block: block.max(1),
            kept: Vec::new(),
            failure: None,
        }
    }

    /// Why not all could be read, if that is so.
    pub(super) fn into_failure(self) -> Option<io::Error> {
        self.failure
    }

    /// The block that holds this byte comes first.
    fn keep_block_of(&mut self, at: u64) {
        let holds = |kept: &ReadBlock| {
            at.checked_sub(kept.start)
                .is_some_and(|n| n < self.block as u64)
        };
        match self.kept.iter().position(holds) {
            Some(0) => {}
            Some(known) => self.kept.swap(0, known),
            None => {
                let mut block = if self.kept.len() < KEPT_BLOCKS {
                    ReadBlock {
                        start: 0,
                        bytes: Vec::new(),
                    }
                } else {
                    self.kept.remove(KEPT_BLOCKS - 1)
                };
                block.start = at - at % self.block as u64;
                self.read_block(&mut block);
                self.kept.insert(0, block);
            }
        }
    }

    fn read_block(&mut self, block: &mut ReadBlock) {
        let left = self.len.saturating_sub(block.start);
        let want = usize::try_from(left).map_or(self.block, |left| left.min(self.block));
        block.bytes.resize(want, 0);
        let mut filled = 0;
        while self.failure.is_none() && filled < want {
            let rest = block.bytes.get_mut(filled..).unwrap_or_default();
            match (self.read_at)(block.start + filled as u64, rest) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => self.failure = Some(e),
            }
        }
        block.bytes.truncate(filled);
    }

    /// Where a byte stands in the block that comes first.
    fn offset_in_block(&self, at: u64) -> (usize, &[u8]) {
        let Some(block) = self.kept.first() else {
            return (0, &[]);
        };
        let offset = usize::try_from(at.saturating_sub(block.start)).unwrap_or(usize::MAX);
        (offset, &block.bytes)
    }
}

impl<F: FnMut(u64, &mut [u8]) -> io::Result<usize>> ByteWindows for ReadBlocks<F> {
    fn bytes_from(&mut self, at: u64) -> &[u8] {
        if at >= self.len {
            return &[];
        }
        self.keep_block_of(at);
        let (offset, bytes) = self.offset_in_block(at);
        bytes.get(offset..).unwrap_or_default()
    }

    fn bytes_before(&mut self, at: u64) -> &[u8] {
        let Some(last) = at.min(self.len).checked_sub(1) else {
            return &[];
        };
        self.keep_block_of(last);
        let (offset, bytes) = self.offset_in_block(last);
        bytes.get(..=offset).unwrap_or(bytes)
    }

    fn len(&self) -> u64 {
        self.len
    }
}
