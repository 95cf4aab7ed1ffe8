//! What comes over a connection, waited for no longer than somebody has patience.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// So much is taken at once.
const CHUNK: usize = 64 * 1024;
/// So many of these may wait to be read.
const WAITING: usize = 4;

/// A stream that says [`io::ErrorKind::TimedOut`] when nothing came for too long.
///
/// Another thread waits for what comes. It ends with the stream, and nobody waits for it: a program
/// that was ended may have left others behind that hold the stream open.
pub(super) struct Coming {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// How much of the chunk was read.
    read: usize,
    patience: Duration,
}

impl Coming {
    pub(super) fn new(mut from: impl Read + Send + 'static, patience: Duration) -> Self {
        let (sender, chunks) = sync_channel(WAITING);
        std::thread::spawn(move || {
            loop {
                let mut chunk = vec![0; CHUNK];
                let came = match from.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(n) => {
                        chunk.truncate(n);
                        Ok(chunk)
                    }
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    Err(e) => Err(e),
                };
                let is_last = came.is_err();
                if sender.send(came).is_err() || is_last {
                    return;
                }
            }
        });
        Self {
            chunks,
            chunk: Vec::new(),
            read: 0,
            patience,
        }
    }
}

impl BufRead for Coming {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read >= self.chunk.len() {
            self.read = 0;
            self.chunk = match self.chunks.recv_timeout(self.patience) {
                Ok(came) => came?,
                Err(RecvTimeoutError::Disconnected) => Vec::new(),
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::TimedOut.into()),
            };
        }
        Ok(self.chunk.get(self.read..).unwrap_or_default())
    }

    fn consume(&mut self, n: usize) {
        self.read += n;
    }
}

impl Read for Coming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(buffer)?;
        self.consume(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Never says anything.
    struct Silent(Receiver<()>);

    impl Read for Silent {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(0)
        }
    }

    #[test]
    fn all_that_comes_is_read() {
        let bytes: Vec<u8> = (0..=255).cycle().take(CHUNK * 6 + 1).collect();
        let mut coming = Coming::new(io::Cursor::new(bytes.clone()), Duration::from_mins(1));
        let mut read = Vec::new();
        coming.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
    }

    #[test]
    fn silence_is_an_error() {
        let (_open, silence) = std::sync::mpsc::channel();
        let from = io::Cursor::new(b"hello\n".to_vec()).chain(Silent(silence));
        let mut coming = Coming::new(from, Duration::from_millis(20));
        let mut line = Vec::new();
        // What came before may be late, too, but is never lost.
        while line.is_empty() {
            let _ = coming.read_until(b'\n', &mut line);
        }
        assert_eq!(line, b"hello\n");
        let e = coming.read_until(b'\n', &mut line).unwrap_err();
        assert_eq!(e.kind(), io::ErrorKind::TimedOut);
    }
}
