//! Reading values of any size from a stream, in memory that does not grow.

mod event;
mod nesting;
mod source;
mod string;

use std::io::{self, Read};

use crate::error::{Fault, SyntaxErrorKind};
use crate::scan;
pub use event::{Chunk, Event, PullError};
pub(crate) use nesting::Nesting;
use source::PullSource;

/// The longest number that is accepted.
const NUMBER_CAP: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PullState {
    /// Nothing was read.
    Start,
    /// A value must follow.
    Value,
    /// An item or the end of the array.
    ItemOrEnd,
    /// A key or the end of the object.
    KeyOrEnd,
    /// A key.
    Key,
    /// A colon, then a value.
    Colon,
    /// A comma or the end of the container, or of all.
    After,
    /// More of a string.
    InString {
        is_key: bool,
    },
    Done,
    Failed(SyntaxErrorKind),
}

/// Reads one value from a stream, event by event. Nesting costs a bit a level.
///
/// ```
/// use rethread_json::{Event, Pull};
/// let mut pull = Pull::new(&br#"{"a": [1, true]}"#[..]);
/// assert_eq!(pull.next_event()?, Event::BeginObject);
/// assert!(matches!(pull.next_event()?, Event::Key(_)));
/// pull.skip_value()?;
/// assert_eq!(pull.next_event()?, Event::EndObject);
/// assert_eq!(pull.next_event()?, Event::End);
/// # Ok::<(), rethread_json::PullError>(())
/// ```
#[derive(Debug)]
pub struct Pull<R> {
    source: PullSource<R>,
    state: PullState,
    nesting: Nesting,
    scratch: Vec<u8>,
    /// How much of the scratch the last chunk showed.
    shown: usize,
}

impl<R: Read> Pull<R> {
    /// Reads the value that the stream holds, with white space around it and
    /// perhaps a byte order mark before it.
    pub fn new(reader: R) -> Self {
        Self {
            source: PullSource::new(reader),
            state: PullState::Start,
            nesting: Nesting::default(),
            scratch: Vec::new(),
            shown: 0,
        }
    }

    /// How many containers are open.
    pub fn depth(&self) -> usize {
        self.nesting.depth()
    }

    /// How many bytes of the stream were used up.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// The next event; [`Event::End`] again and again at the end. A syntax
    /// error comes again too.
    pub fn next_event(&mut self) -> Result<Event<'_>, PullError> {
        loop {
            if let PullState::InString { is_key } = self.state {
                return self.next_chunk(is_key);
            }
            if let PullState::Failed(kind) = self.state {
                return Err(self.syntax_error(kind));
            }
            if self.state == PullState::Start {
                let bom = scan::bom_len(self.source.look_ahead(scan::BOM.len())?);
                self.source.consume(bom);
                self.state = PullState::Value;
            }
            self.skip_space()?;
            let byte = self.source.peek()?;
            match (self.state, byte) {
                (PullState::Done, None) => return Ok(Event::End),
                (PullState::Done, Some(_)) => {
                    return Err(self.fail_with(SyntaxErrorKind::TrailingData));
                }
                (_, None) => return Err(self.fail_with(SyntaxErrorKind::UnexpectedEnd)),
                (PullState::ItemOrEnd, Some(b']')) | (PullState::KeyOrEnd, Some(b'}')) => {
                    return Ok(self.end_container());
                }
                (PullState::KeyOrEnd | PullState::Key, Some(b'"')) => {
                    self.begin_string();
                    return self.next_chunk(true);
                }
                (PullState::KeyOrEnd | PullState::Key, _) => {
                    return Err(self.fail_with(SyntaxErrorKind::ExpectedKey));
                }
                (PullState::Colon, Some(b':')) => {
                    self.source.consume(1);
                    self.state = PullState::Value;
                }
                (PullState::Colon, _) => return Err(self.fail_with(SyntaxErrorKind::ExpectedColon)),
                (PullState::After, Some(byte)) => {
                    if byte != b',' {
                        return self.end_at(byte);
                    }
                    self.source.consume(1);
                    self.state = if self.nesting.in_object() {
                        PullState::Key
                    } else {
                        PullState::Value
                    };
                }
                (_, Some(byte)) => return self.read_value(byte),
            }
        }
    }

    /// Passes over the next value, or over the key and the value if a key comes
    /// next, or over the rest of a string that has come in part. At the end of
    /// a container, that end is passed over.
    pub fn skip_value(&mut self) -> Result<(), PullError> {
        let depth = self.depth();
        loop {
            let is_whole = match self.next_event()? {
                Event::Key(_) => false,
                Event::String(chunk) => chunk.last,
                _ => true,
            };
            if is_whole && self.depth() <= depth {
                return Ok(());
            }
        }
    }

    /// Passes over the rest of the innermost open container, with its end.
    pub fn skip_container(&mut self) -> Result<(), PullError> {
        let depth = self.depth();
        while depth > 0 && self.depth() >= depth {
            self.next_event()?;
        }
        Ok(())
    }

    fn read_value(&mut self, byte: u8) -> Result<Event<'_>, PullError> {
        match byte {
            b'{' => {
                self.source.consume(1);
                self.nesting.open(true);
                self.state = PullState::KeyOrEnd;
                Ok(Event::BeginObject)
            }
            b'[' => {
                self.source.consume(1);
                self.nesting.open(false);
                self.state = PullState::ItemOrEnd;
                Ok(Event::BeginArray)
            }
            b'"' => {
                self.begin_string();
                self.next_chunk(false)
            }
            b'-' | b'0'..=b'9' => self.read_number(),
            b't' => self.read_literal(b"true", Event::Bool(true)),
            b'f' => self.read_literal(b"false", Event::Bool(false)),
            b'n' => self.read_literal(b"null", Event::Null),
            _ => Err(self.fail_with(SyntaxErrorKind::ExpectedValue)),
        }
    }

    fn end_at(&mut self, byte: u8) -> Result<Event<'_>, PullError> {
        match (self.nesting.in_object(), byte) {
            (true, b'}') | (false, b']') => Ok(self.end_container()),
            (true, _) => Err(self.fail_with(SyntaxErrorKind::ExpectedCommaOrBrace)),
            (false, _) => Err(self.fail_with(SyntaxErrorKind::ExpectedCommaOrBracket)),
        }
    }

    fn end_container(&mut self) -> Event<'static> {
        self.source.consume(1);
        let event = if self.nesting.in_object() {
            Event::EndObject
        } else {
            Event::EndArray
        };
        self.nesting.close();
        self.after_value();
        event
    }

    fn after_value(&mut self) {
        self.state = if self.nesting.depth() == 0 {
            PullState::Done
        } else {
            PullState::After
        };
    }

    fn read_literal(&mut self, word: &[u8], event: Event<'static>) -> Result<Event<'_>, PullError> {
        let ahead = self.source.look_ahead(word.len())?;
        match scan::literal_end(ahead, 0, word) {
            Ok(len) => {
                self.source.consume(len);
                self.after_value();
                Ok(event)
            }
            Err(fault) => Err(self.fail_at(fault)),
        }
    }

    fn read_number(&mut self) -> Result<Event<'_>, PullError> {
        self.scratch.clear();
        self.shown = 0;
        while self.source.peek()?.is_some() {
            let at_hand = self.source.at_hand();
            let is_part =
                |byte: &&u8| matches!(**byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
            let count = at_hand.iter().take_while(is_part).count();
            let is_end = count < at_hand.len();
            self.scratch.extend_from_slice(&at_hand[..count]);
            self.source.consume(count);
            if self.scratch.len() > NUMBER_CAP {
                return Err(self.fail_with(SyntaxErrorKind::NumberTooLong));
            }
            if is_end {
                break;
            }
        }
        let is_torn = self.source.at_hand().is_empty();
        match scan::number_end(&self.scratch, 0) {
            Ok(end) if end == self.scratch.len() => {
                self.after_value();
                Ok(Event::Number(&self.scratch))
            }
            Err(Fault { kind, .. }) if kind == SyntaxErrorKind::UnexpectedEnd && is_torn => {
                Err(self.fail_with(kind))
            }
            _ => Err(self.fail_with(SyntaxErrorKind::InvalidNumber)),
        }
    }

    fn skip_space(&mut self) -> io::Result<()> {
        while self.source.peek()?.is_some() {
            let at_hand = self.source.at_hand();
            let count = scan::skip_space(at_hand, 0);
            let is_end = count < at_hand.len();
            self.source.consume(count);
            if is_end {
                break;
            }
        }
        Ok(())
    }

    /// A fault in the bytes at hand; what precedes it is used up.
    fn fail_at(&mut self, fault: Fault) -> PullError {
        self.source.consume(fault.offset);
        self.fail_with(fault.kind)
    }

    fn fail_with(&mut self, kind: SyntaxErrorKind) -> PullError {
        self.state = PullState::Failed(kind);
        self.syntax_error(kind)
    }

    fn syntax_error(&self, kind: SyntaxErrorKind) -> PullError {
        PullError::Syntax {
            offset: self.offset(),
            kind,
        }
    }
}
