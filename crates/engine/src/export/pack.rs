//! Packing what is written, as the name of its file says.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rethread_formats::ZstdWriter;

/// Writes through what a file's name asks for: nothing, gzip or zstd.
pub(super) enum Packer<'a> {
    Plain(&'a mut dyn Write),
    Gzip(GzEncoder<&'a mut dyn Write>),
    Zstd(ZstdWriter<&'a mut dyn Write>),
}

impl<'a> Packer<'a> {
    pub(super) fn new(path: &Path, out: &'a mut dyn Write) -> io::Result<Self> {
        let ends = |suffix| {
            path.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case(suffix))
        };
        Ok(if ends("gz") {
            Self::Gzip(GzEncoder::new(out, Compression::default()))
        } else if ends("zst") {
            Self::Zstd(ZstdWriter::new(out, 3, true)?)
        } else {
            Self::Plain(out)
        })
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(encoder) => encoder.finish().map(drop),
            Self::Zstd(encoder) => encoder.finish().map(drop),
        }
    }
}

impl Write for Packer<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(buf),
            Self::Gzip(encoder) => encoder.write(buf),
            Self::Zstd(encoder) => encoder.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
        }
    }
}
