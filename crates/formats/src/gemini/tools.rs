//! The calls of tools in all messages of a session, and the answers to them, side by side: most
//! messages have none, and a list of its own for each of the others would take more time than
//! reading them.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;
use rethread_json::Passed;

use super::message::Said;
use super::nth::Several;

/// All calls and answers.
#[derive(Debug, Default)]
pub(super) struct Tools {
    words: Vec<u8>,
    calls: Vec<Call>,
    /// The calls that were answered.
    answers: Vec<Word>,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Call {
    pub(super) id: Word,
    /// Empty where nobody asks for it.
    pub(super) name: Word,
    /// Whether its result stands beside it.
    pub(super) has_result: bool,
    /// The session of the sub-agent that it started.
    pub(super) agent: Option<Word>,
}

/// Where a word is among all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word(Several);

impl Tools {
    /// Keeps a word; an empty one for what is none.
    pub(super) fn keep(&mut self, value: Option<Passed<'_>>) -> Word {
        let start = self.words.len();
        if let Some(value) = value {
            match value.content() {
                Some(content) if memchr(b'\\', content).is_none() => {
                    self.words.extend_from_slice(content);
                }
                _ => {
                    let text = value.str().unwrap_or_default();
                    self.words.extend_from_slice(text.as_bytes());
                }
            }
        }
        Word(Several::new(&(start..self.words.len())))
    }

    pub(super) fn call(&mut self, call: Call) {
        self.calls.push(call);
    }

    pub(super) fn answer(&mut self, answered: Word) {
        self.answers.push(answered);
    }

    /// Where the next call will be.
    pub(super) fn next_call(&self) -> usize {
        self.calls.len()
    }

    /// Where the next answer will be.
    pub(super) fn next_answer(&self) -> usize {
        self.answers.len()
    }

    /// A word as it was spelled, to compare it with others.
    pub(super) fn bytes(&self, word: Word) -> &[u8] {
        self.words.get(word.0.places()).unwrap_or_default()
    }

    /// A word.
    pub(super) fn text(&self, word: Word) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(word))
    }

    /// The calls at these places.
    pub(super) fn between(&self, places: Range<usize>) -> &[Call] {
        self.calls.get(places).unwrap_or_default()
    }

    /// The tools that the model called in a message.
    pub(super) fn calls(&self, message: &Said) -> &[Call] {
        self.between(message.calls.places())
    }

    /// The calls that a message of nothing but results answers.
    pub(super) fn answers(&self, message: &Said) -> &[Word] {
        self.answers
            .get(message.answers.places())
            .unwrap_or_default()
    }
}
