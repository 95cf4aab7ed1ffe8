//! Unpacking.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use memchr::memchr_iter;
use zstd::stream::read::Decoder as ZstdDecoder;

use super::{FREE, FREE_LINES, MOST, Packing, RATIO, WINDOW_LOG};

/// The content of something packed. Reading ends with an error of the kind
/// [`FileTooLarge`](io::ErrorKind::FileTooLarge) where it is more than anybody would have packed.
pub(crate) struct Unpacked<R: BufRead> {
    decoder: Decoder<R>,
    len: u64,
    /// How many lines ended so far, where that is counted.
    lines: Option<u64>,
    /// Why nothing more is given.
    over: Option<String>,
}

enum Decoder<R: BufRead> {
    Gzip(MultiGzDecoder<CountingReader<R>>),
    Zstd(ZstdDecoder<'static, CountingReader<R>>),
}

impl<R: BufRead> Unpacked<R> {
    /// Unpacks content of any kind.
    pub(crate) fn new(packed: R, packing: Packing) -> io::Result<Self> {
        let packed = CountingReader { packed, used: 0 };
        let decoder = match packing {
            Packing::Gzip => Decoder::Gzip(MultiGzDecoder::new(packed)),
            Packing::Zstd => {
                let mut decoder = ZstdDecoder::with_buffer(packed)?;
                decoder.window_log_max(WINDOW_LOG)?;
                Decoder::Zstd(decoder)
            }
        };
        Ok(Self {
            decoder,
            len: 0,
            lines: None,
            over: None,
        })
    }

    /// Unpacks a log, of which also the lines are counted.
    pub(crate) fn lines(packed: R, packing: Packing) -> io::Result<Self> {
        Ok(Self {
            lines: Some(0),
            ..Self::new(packed, packing)?
        })
    }

    /// How many packed bytes were used.
    fn used(&self) -> u64 {
        match &self.decoder {
            Decoder::Gzip(decoder) => decoder.get_ref().used,
            Decoder::Zstd(decoder) => decoder.get_ref().used,
        }
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(why) = &self.over {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why.clone()));
        }
        let n = match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.read(buf)?,
            Decoder::Zstd(decoder) => decoder.read(buf)?,
        };
        let given = self.within(buf.get(..n).unwrap_or_default());
        self.len += given as u64;
        if given == 0 && self.over.is_some() {
            return self.read(buf);
        }
        Ok(given)
    }
}

impl<R: BufRead> Unpacked<R> {
    /// How much of what was unpacked is within the limits. What is beyond them ends it.
    fn within(&mut self, bytes: &[u8]) -> usize {
        let used = self.used();
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let mut given = bytes.len();
        let most = used.saturating_mul(RATIO).saturating_add(FREE).min(MOST);
        let left = number(most.saturating_sub(self.len));
        if given > left {
            let why = format!("it unpacks to more than {most} bytes, of {used} packed ones");
            self.over = Some(why);
            given = left;
        }
        if let Some(lines) = &mut self.lines {
            let most = used.saturating_add(FREE_LINES);
            let left = number(most.saturating_sub(*lines));
            let mut ends = memchr_iter(b'\n', bytes.get(..given).unwrap_or_default());
            let ended = ends.by_ref().take(left).count();
            *lines += ended as u64;
            if let Some(end) = ends.next().filter(|_| ended == left) {
                let why = format!("it unpacks to more than {most} lines, of {used} packed bytes");
                self.over = Some(why);
                given = end;
            }
        }
        given
    }
}

/// Counts the bytes that were used.
struct CountingReader<R> {
    packed: R,
    used: u64,
}

impl<R: BufRead> Read for CountingReader<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.packed.read(buf)?;
        self.used += n as u64;
        Ok(n)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.packed.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.used += n as u64;
        self.packed.consume(n);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// So many times this byte.
    fn bomb(byte: u8, len: u64, packing: Packing) -> Vec<u8> {
        let mut content = io::repeat(byte).take(len);
        match packing {
            Packing::Gzip => {
                let mut out = GzEncoder::new(Vec::new(), Compression::best());
                io::copy(&mut content, &mut out).unwrap();
                out.finish().unwrap()
            }
            Packing::Zstd => zstd::encode_all(content, 1).unwrap(),
        }
    }

    fn read_all(mut unpacked: impl Read) -> (u64, Option<io::Error>) {
        let mut buffer = vec![0; 1 << 20];
        let mut len = 0;
        loop {
            match unpacked.read(&mut buffer) {
                Ok(0) => return (len, None),
                Ok(n) => len += n as u64,
                Err(e) => return (len, Some(e)),
            }
        }
    }

    #[test]
    fn what_is_free_is_read_whole() {
        let packed = bomb(b'a', FREE, Packing::Zstd);
        let (len, error) = read_all(Unpacked::lines(&packed[..], Packing::Zstd).unwrap());
        assert!(error.is_none(), "{error:?}");
        assert_eq!(len, FREE);
    }

    #[test]
    fn more_than_anybody_packs_is_refused() {
        let packed = bomb(b'a', 4 * FREE, Packing::Zstd);
        let (len, error) = read_all(Unpacked::new(&packed[..], Packing::Zstd).unwrap());
        let most = FREE + RATIO * packed.len() as u64;
        assert!(most < 4 * FREE, "the bomb is none: {}", packed.len());
        assert!(len <= most, "{len}");
        assert_eq!(error.unwrap().kind(), io::ErrorKind::FileTooLarge);
        // Nothing that gzip can pack is refused.
        let len = FREE + FREE / 4;
        let packed = bomb(b'a', len, Packing::Gzip);
        let (read, error) = read_all(Unpacked::new(&packed[..], Packing::Gzip).unwrap());
        assert!(error.is_none(), "{error:?}");
        assert_eq!(read, len);
    }

    #[test]
    fn lines_are_counted_in_logs() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let lines = 2 * FREE_LINES;
            let packed = bomb(b'\n', lines, packing);
            let (len, error) = read_all(Unpacked::lines(&packed[..], packing).unwrap());
            assert!(len <= FREE_LINES + packed.len() as u64, "{len}");
            assert_eq!(error.unwrap().kind(), io::ErrorKind::FileTooLarge);
            let (len, error) = read_all(Unpacked::new(&packed[..], packing).unwrap());
            assert!(error.is_none(), "{error:?}");
            assert_eq!(len, lines);
        }
    }

    #[test]
    fn a_window_that_takes_too_much_memory_is_refused() {
        for (log, fits) in [(WINDOW_LOG, true), (WINDOW_LOG + 1, false)] {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(log).unwrap();
            encoder.write_all(b"{}\n").unwrap();
            encoder.flush().unwrap();
            let packed = encoder.finish().unwrap();
            let (len, error) = read_all(Unpacked::new(&packed[..], Packing::Zstd).unwrap());
            assert_eq!(error.is_none(), fits, "{log}: {error:?}");
            assert_eq!(len == 3, fits);
        }
    }

    #[test]
    fn several_frames_and_what_stands_between_them() -> io::Result<()> {
        let frame = |text: &[u8]| zstd::encode_all(text, 1);
        let mut packed = frame(b"one\n")?;
        packed.extend(*b"\x50\x2A\x4D\x18\x03\0\0\0abc");
        packed.extend(frame(b"two\n")?);
        let mut text = String::new();
        Unpacked::new(&packed[..], Packing::Zstd)?.read_to_string(&mut text)?;
        assert_eq!(text, "one\ntwo\n");
        packed.truncate(packed.len() - 3);
        let (_, error) = read_all(Unpacked::new(&packed[..], Packing::Zstd)?);
        assert!(error.is_some());
        Ok(())
    }
}
