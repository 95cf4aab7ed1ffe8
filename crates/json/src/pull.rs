//! Reading values of any size from a stream, in memory that does not grow.

mod event;
mod nesting;
mod source;
mod string;

use std::io::{self, Read};

use crate::error::{Fault, SyntaxErrorKind};
use crate::scan;
pub use event::{Chunk, Event, PullError};
use nesting::Nesting;
use source::Source;

/// The longest number that is accepted.
const NUMBER_CAP: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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
    source: Source<R>,
    state: State,
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
            source: Source::new(reader),
            state: State::Start,
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
            if let State::InString { is_key } = self.state {
                return self.chunk(is_key);
            }
            if let State::Failed(kind) = self.state {
                return Err(self.syntax(kind));
            }
            if self.state == State::Start {
                let bom = scan::bom(self.source.ahead(scan::BOM.len())?);
                self.source.consume(bom);
                self.state = State::Value;
            }
            self.space()?;
            let byte = self.source.peek()?;
            match (self.state, byte) {
                (State::Done, None) => return Ok(Event::End),
                (State::Done, Some(_)) => return Err(self.fail(SyntaxErrorKind::TrailingData)),
                (_, None) => return Err(self.fail(SyntaxErrorKind::UnexpectedEnd)),
                (State::ItemOrEnd, Some(b']')) | (State::KeyOrEnd, Some(b'}')) => {
                    return Ok(self.end());
                }
                (State::KeyOrEnd | State::Key, Some(b'"')) => {
                    self.begin_string();
                    return self.chunk(true);
                }
                (State::KeyOrEnd | State::Key, _) => {
                    return Err(self.fail(SyntaxErrorKind::ExpectedKey));
                }
                (State::Colon, Some(b':')) => {
                    self.source.consume(1);
                    self.state = State::Value;
                }
                (State::Colon, _) => return Err(self.fail(SyntaxErrorKind::ExpectedColon)),
                (State::After, Some(byte)) => {
                    if byte != b',' {
                        return self.end_at(byte);
                    }
                    self.source.consume(1);
                    self.state = if self.nesting.in_object() {
                        State::Key
                    } else {
                        State::Value
                    };
                }
                (_, Some(byte)) => return self.value(byte),
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

    fn value(&mut self, byte: u8) -> Result<Event<'_>, PullError> {
        match byte {
            b'{' => {
                self.source.consume(1);
                self.nesting.open(true);
                self.state = State::KeyOrEnd;
                Ok(Event::BeginObject)
            }
            b'[' => {
                self.source.consume(1);
                self.nesting.open(false);
                self.state = State::ItemOrEnd;
                Ok(Event::BeginArray)
            }
            b'"' => {
                self.begin_string();
                self.chunk(false)
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true", Event::Bool(true)),
            b'f' => self.word(b"false", Event::Bool(false)),
            b'n' => self.word(b"null", Event::Null),
            _ => Err(self.fail(SyntaxErrorKind::ExpectedValue)),
        }
    }

    fn end_at(&mut self, byte: u8) -> Result<Event<'_>, PullError> {
        match (self.nesting.in_object(), byte) {
            (true, b'}') | (false, b']') => Ok(self.end()),
            (true, _) => Err(self.fail(SyntaxErrorKind::ExpectedCommaOrBrace)),
            (false, _) => Err(self.fail(SyntaxErrorKind::ExpectedCommaOrBracket)),
        }
    }

    fn end(&mut self) -> Event<'static> {
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
            State::Done
        } else {
            State::After
        };
    }

    fn word(&mut self, word: &[u8], event: Event<'static>) -> Result<Event<'_>, PullError> {
        let ahead = self.source.ahead(word.len())?;
        match scan::word(ahead, 0, word) {
            Ok(len) => {
                self.source.consume(len);
                self.after_value();
                Ok(event)
            }
            Err(fault) => Err(self.fail_at(fault)),
        }
    }

    fn number(&mut self) -> Result<Event<'_>, PullError> {
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
                return Err(self.fail(SyntaxErrorKind::NumberTooLong));
            }
            if is_end {
                break;
            }
        }
        let is_torn = self.source.at_hand().is_empty();
        match scan::number(&self.scratch, 0) {
            Ok(end) if end == self.scratch.len() => {
                self.after_value();
                Ok(Event::Number(&self.scratch))
            }
            Err(Fault { kind, .. }) if kind == SyntaxErrorKind::UnexpectedEnd && is_torn => {
                Err(self.fail(kind))
            }
            _ => Err(self.fail(SyntaxErrorKind::InvalidNumber)),
        }
    }

    fn space(&mut self) -> io::Result<()> {
        while self.source.peek()?.is_some() {
            let at_hand = self.source.at_hand();
            let count = scan::space(at_hand, 0);
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
        self.fail(fault.kind)
    }

    fn fail(&mut self, kind: SyntaxErrorKind) -> PullError {
        self.state = State::Failed(kind);
        self.syntax(kind)
    }

    fn syntax(&self, kind: SyntaxErrorKind) -> PullError {
        PullError::Syntax {
            offset: self.offset(),
            kind,
        }
    }
}
