//! Packing.

use std::io::{self, Write};

use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, compress_bound};

use super::{FREE, RATIO};

/// Packs with zstd, but never more tightly than readers accept: between frames of what is packed
/// more tightly than that stand frames that mean nothing.
///
/// Each frame holds the same number of bytes, which are packed at once: that takes less time than one
/// that goes on, and nothing in a frame refers to what is that far before it.
pub struct ZstdWriter<W: Write> {
    out: CountingWriter<W>,
    compressor: Compressor<'static>,
    /// What is not packed yet.
    waiting: Vec<u8>,
    /// A frame that was packed.
    frame: Vec<u8>,
    /// How many bytes were packed.
    len: u64,
    has_frame: bool,
}

/// How many bytes a frame holds.
const FRAME: usize = 4 * 1024 * 1024;

/// What readers allow for is used up to here: they see a frame's beginning before its end.
const ALLOWED: u64 = FREE / 2;

/// How a frame begins that means nothing; its length follows.
const NOTHING: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

impl<W: Write> ZstdWriter<W> {
    /// Packs at this level, with or without a checksum of the content.
    pub fn new(out: W, level: i32, checksum: bool) -> io::Result<Self> {
        let mut compressor = Compressor::new(level)?;
        compressor.set_parameter(CParameter::ChecksumFlag(checksum))?;
        Ok(Self {
            out: CountingWriter { out, len: 0 },
            compressor,
            waiting: Vec::new(),
            frame: Vec::new(),
            len: 0,
            has_frame: false,
        })
    }

    /// Where it goes.
    pub fn get_mut(&mut self) -> Option<&mut W> {
        Some(&mut self.out.out)
    }

    /// Ends what is packed.
    pub fn finish(mut self) -> io::Result<W> {
        // Nothing is a frame, too.
        if !self.waiting.is_empty() || !self.has_frame {
            self.pack()?;
        }
        Ok(self.out.out)
    }

    /// Packs what waits into a frame, and adds one that means nothing, if that is needed.
    fn pack(&mut self) -> io::Result<()> {
        self.frame.clear();
        self.frame.reserve(compress_bound(self.waiting.len()));
        self.compressor
            .compress_to_buffer(&self.waiting, &mut self.frame)?;
        self.out.write_all(&self.frame)?;
        self.len += self.waiting.len() as u64;
        self.waiting.clear();
        self.has_frame = true;
        let needed = self.len.saturating_sub(ALLOWED).div_ceil(RATIO);
        let lacking = needed.saturating_sub(self.out.len);
        if lacking > 0 {
            let lacking = u32::try_from(lacking).map_err(io::Error::other)?;
            self.out.write_all(&NOTHING)?;
            self.out.write_all(&lacking.to_le_bytes())?;
            let mut zeros = io::Read::take(io::repeat(0), lacking.into());
            io::copy(&mut zeros, &mut self.out)?;
        }
        Ok(())
    }
}

impl<W: Write> Write for ZstdWriter<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let room = FRAME.saturating_sub(self.waiting.len());
        let some = buf.get(..room.min(buf.len())).unwrap_or_default();
        self.waiting.extend_from_slice(some);
        if self.waiting.len() >= FRAME {
            self.pack()?;
        }
        Ok(some.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            self.pack()?;
        }
        self.out.flush()
    }
}

/// Counts the bytes that go through.
struct CountingWriter<W> {
    out: W,
    len: u64,
}

impl<W: Write> Write for CountingWriter<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let n = self.out.write(buf)?;
        self.len += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::{Packing, Unpacked};
    use super::*;

    #[test]
    fn readers_accept_whatever_we_pack() {
        let parts: [(&[u8], u64); 3] = [
            (b"a", 5 * FREE),
            (b"{\"type\":\"event\"}\n", FREE / 8),
            (b"\n", 2 * FREE),
        ];
        let mut writer = ZstdWriter::new(Vec::new(), 1, true).unwrap();
        let mut len = 0;
        for (part, times) in parts {
            let chunk = part.repeat(1 << 16);
            for _ in 0..times >> 16 {
                writer.write_all(&chunk).unwrap();
                len += chunk.len() as u64;
            }
        }
        let packed = writer.finish().unwrap();
        // That is what a reader must be able to count on, and no more.
        let least = (len - FREE) / RATIO;
        assert!(packed.len() as u64 > least, "{} of {len}", packed.len());
        assert!(
            (packed.len() as u64) < 2 * least,
            "{} of {len}",
            packed.len()
        );
        let mut unpacked = Unpacked::new(&packed[..], Packing::Zstd).unwrap();
        let read = io::copy(&mut unpacked, &mut io::sink()).unwrap();
        assert_eq!(read, len);
    }

    #[test]
    fn what_is_short_is_one_frame() {
        let mut writer = ZstdWriter::new(Vec::new(), 1, false).unwrap();
        writer.write_all(&b"a".repeat(1 << 20)).unwrap();
        let packed = writer.finish().unwrap();
        assert!(packed.len() < 1000, "{}", packed.len());
        let mut out = Vec::new();
        Unpacked::new(&packed[..], Packing::Zstd)
            .unwrap()
            .read_to_end(&mut out)
            .unwrap();
        assert_eq!(out, b"a".repeat(1 << 20));
    }
}
