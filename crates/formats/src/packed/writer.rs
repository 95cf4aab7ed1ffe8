//! Packing.

use std::io::{self, Write};

use zstd::stream::write::Encoder;

use super::{FREE, RATIO};

/// Packs with zstd, but never more tightly than readers accept: between frames of what is packed
/// more tightly than that stand frames that mean nothing.
pub struct ZstdWriter<W: Write> {
    /// There until [`finish`](Self::finish).
    encoder: Option<Encoder<'static, Counted<W>>>,
    level: i32,
    checksum: bool,
    /// How many bytes were packed.
    len: u64,
    /// At how many the next look is taken.
    look_at: u64,
}

/// How often is looked at how tightly it is packed.
const STEP: u64 = 1024 * 1024;

/// What readers allow for is used up to here: they see a frame's beginning before its end.
const ALLOWED: u64 = FREE / 2;

/// How a frame begins that means nothing; its length follows.
const NOTHING: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

impl<W: Write> ZstdWriter<W> {
    /// Packs at this level, with or without a checksum of the content.
    pub fn new(out: W, level: i32, checksum: bool) -> io::Result<Self> {
        let out = Counted { out, len: 0 };
        Ok(Self {
            encoder: Some(new_frame(out, level, checksum)?),
            level,
            checksum,
            len: 0,
            look_at: STEP,
        })
    }

    /// Where it goes.
    pub fn get_mut(&mut self) -> Option<&mut W> {
        Some(&mut self.encoder.as_mut()?.get_mut().out)
    }

    /// Ends what is packed.
    pub fn finish(mut self) -> io::Result<W> {
        let encoder = self.encoder.take().ok_or_else(finished)?;
        Ok(encoder.finish()?.out)
    }

    /// Ends the frame and adds one that means nothing, if that is needed.
    fn loosen(&mut self) -> io::Result<()> {
        self.look_at = self.len + STEP;
        let needed = self.len.saturating_sub(ALLOWED).div_ceil(RATIO);
        let packed = self.encoder.as_ref().map_or(0, |e| e.get_ref().len);
        if packed >= needed {
            return Ok(());
        }
        let mut out = self.encoder.take().ok_or_else(finished)?.finish()?;
        let lacking = needed.saturating_sub(out.len);
        let lacking = u32::try_from(lacking).map_err(io::Error::other)?;
        if lacking > 0 {
            out.write_all(&NOTHING)?;
            out.write_all(&lacking.to_le_bytes())?;
            io::copy(&mut io::Read::take(io::repeat(0), lacking.into()), &mut out)?;
        }
        self.encoder = Some(new_frame(out, self.level, self.checksum)?);
        Ok(())
    }
}

fn new_frame<W: Write>(
    out: Counted<W>,
    level: i32,
    checksum: bool,
) -> io::Result<Encoder<'static, Counted<W>>> {
    let mut encoder = Encoder::new(out, level)?;
    encoder.include_checksum(checksum)?;
    Ok(encoder)
}

fn finished() -> io::Error {
    io::Error::other("it is finished")
}

impl<W: Write> Write for ZstdWriter<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        // A look is taken in time, however much comes at once.
        let some = buf.len().min(128 * 1024);
        let some = buf.get(..some).unwrap_or_default();
        let n = self.encoder.as_mut().ok_or_else(finished)?.write(some)?;
        self.len += n as u64;
        if self.len >= self.look_at {
            self.loosen()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.as_mut().ok_or_else(finished)?.flush()
    }
}

/// Counts the bytes that go through.
struct Counted<W> {
    out: W,
    len: u64,
}

impl<W: Write> Write for Counted<W> {
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
