//! The calls of tools in all messages of a session, and the answers to them, side by side: most
//! messages have none, and a list of its own for each of the others would take more time than
//! reading them.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;
use rethread_json::Passed;

use super::message::ContentFacts;
use super::nth::Several;

/// All calls and answers.
#[derive(Debug, Default)]
pub(super) struct Tools {
    words: Vec<u8>,
    calls: Vec<FoundCall>,
    /// The calls that were answered.
    answers: Vec<WordPlace>,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FoundCall {
    pub(super) id: WordPlace,
    /// Empty where nobody asks for it.
    pub(super) name: WordPlace,
    /// Whether its result stands beside it.
    pub(super) has_result: bool,
    /// The session of the sub-agent that it started.
    pub(super) agent: Option<WordPlace>,
}

/// Where a word is among all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WordPlace(Several);

impl Tools {
    /// Keeps a word; an empty one for what is none.
    pub(super) fn keep(&mut self, value: Option<Passed<'_>>) -> WordPlace {
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
        WordPlace(Several::new(&(start..self.words.len())))
    }

    pub(super) fn call(&mut self, call: FoundCall) {
        self.calls.push(call);
    }

    pub(super) fn answer(&mut self, answered: WordPlace) {
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
    pub(super) fn bytes(&self, word: WordPlace) -> &[u8] {
        self.words.get(word.0.places()).unwrap_or_default()
    }

    /// A word.
    pub(super) fn text(&self, word: WordPlace) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(word))
    }

    /// The calls at these places.
    pub(super) fn between(&self, places: Range<usize>) -> &[FoundCall] {
        self.calls.get(places).unwrap_or_default()
    }

    /// The tools that the model called in a message.
    pub(super) fn calls(&self, message: &ContentFacts) -> &[FoundCall] {
        self.between(message.calls.places())
    }

    /// The calls that a message of nothing but results answers.
    pub(super) fn answers(&self, message: &ContentFacts) -> &[WordPlace] {
        self.answers
            .get(message.answers.places())
            .unwrap_or_default()
    }
}
