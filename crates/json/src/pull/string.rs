//! Strings from a stream, chunk by chunk.

use std::borrow::Cow;
use std::io::Read;

use super::{Chunk, Event, Pull, PullError, PullState};
use crate::error::SyntaxErrorKind;
use crate::scan;
use crate::text::{decode_escape, push_char};

/// A chunk is not much larger than this.
const CHUNK: usize = 64 * 1024;

/// The longest that one character can be when escaped: a surrogate pair.
const LONGEST_ESCAPE: usize = 12;

impl<R: Read> Pull<R> {
    /// Passes over the opening quote.
    pub(super) fn begin_string(&mut self) {
        self.source.consume(1);
        self.scratch.clear();
        self.shown = 0;
    }

    /// The next part of a string.
    pub(super) fn next_chunk(&mut self, is_key: bool) -> Result<Event<'_>, PullError> {
        self.state = PullState::InString { is_key };
        self.scratch.drain(..self.shown);
        self.shown = 0;
        let last = self.gather_chunk()?;
        if last && is_key {
            self.state = PullState::Colon;
        } else if last {
            self.after_value();
        }
        self.shown = self.scratch.len();
        if !last {
            self.shown -= unfinished_len(&self.scratch);
        }
        let bytes = match String::from_utf8_lossy(&self.scratch[..self.shown]) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        let chunk = Chunk { bytes, last };
        Ok(if is_key {
            Event::Key(chunk)
        } else {
            Event::String(chunk)
        })
    }

    /// Decodes into the scratch until the string ends or the chunk is full;
    /// says whether it ended.
    fn gather_chunk(&mut self) -> Result<bool, PullError> {
        while self.scratch.len() < CHUNK {
            let Some(byte) = self.source.peek()? else {
                return Err(self.fail_with(SyntaxErrorKind::UnexpectedEnd));
            };
            match byte {
                b'"' => {
                    self.source.consume(1);
                    return Ok(true);
                }
                b'\\' => self.decode_escape()?,
                0..0x20 => return Err(self.fail_with(SyntaxErrorKind::ControlCharacter)),
                _ => {
                    let at_hand = self.source.at_hand();
                    let count = scan::plain_end(at_hand, 0).min(CHUNK);
                    self.scratch.extend_from_slice(&at_hand[..count]);
                    self.source.consume(count);
                }
            }
        }
        Ok(false)
    }

    fn decode_escape(&mut self) -> Result<(), PullError> {
        let ahead = self.source.look_ahead(LONGEST_ESCAPE)?;
        if let Err(fault) = scan::escape_len(ahead, 0) {
            return Err(self.fail_at(fault));
        }
        let escape = decode_escape(ahead);
        push_char(&mut self.scratch, escape.char);
        self.source.consume(escape.len);
        Ok(())
    }
}

/// Length of the character at the end that may go on in the next chunk.
fn unfinished_len(bytes: &[u8]) -> usize {
    for len in 1..=bytes.len().min(3) {
        let tail = &bytes[bytes.len() - len..];
        if tail[0] & 0xC0 != 0x80 {
            let error = std::str::from_utf8(tail).err();
            let goes_on = error.is_some_and(|error| error.error_len().is_none());
            return if goes_on { len } else { 0 };
        }
    }
    0
}
