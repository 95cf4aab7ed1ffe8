//! What an export is, but for its messages, and where it breaks off.

use std::path::Path;

use rethread_json::{Skim, Strayed, Tree};
use rethread_model::Note;

use super::super::SLUG;
use super::super::facts::{SessionFacts, parsed};
use super::{INFO, MESSAGES};
use crate::OpenError;
use crate::mended::{Readable, members_of_damaged};

/// What an export is, but for its messages.
#[derive(Debug, Default)]
pub(in crate::opencode) struct ExportOutline {
    pub(super) facts: Option<SessionFacts>,
    /// Where what it says of the session begins.
    info: Option<usize>,
    pub(super) torn: Option<Torn>,
}

/// Where an export is no JSON any more.
#[derive(Debug)]
pub(super) struct Torn {
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) why: String,
}

impl ExportOutline {
    /// Goes through an export. Somebody goes through each of its messages.
    pub(in crate::opencode) fn of<'a>(
        bytes: &'a [u8],
        mut skim: Skim<'a>,
        message: &mut dyn FnMut(&mut Skim<'a>) -> Result<(), Strayed>,
    ) -> Self {
        let mut outline = Self::default();
        // Where the value begins that is gone through, or the last one ended.
        let mut at = skim.offset();
        let torn = if outline.fill(&mut skim, &mut at, message).is_err() {
            Some((at, why(bytes, at)))
        } else if skim.is_done() {
            None
        } else {
            Some((skim.offset(), "there is more behind the end".to_owned()))
        };
        outline.torn = torn.map(|(at, why)| Torn {
            offset: at as u64,
            line: count_newlines(bytes.get(..at).unwrap_or_default()) + 1,
            why,
        });
        outline
    }

    fn fill<'a>(
        &mut self,
        skim: &mut Skim<'a>,
        at: &mut usize,
        message: &mut dyn FnMut(&mut Skim<'a>) -> Result<(), Strayed>,
    ) -> Result<(), Strayed> {
        if !skim.enter_object() {
            return Err(Strayed);
        }
        while let Some(key) = skim.next_key()? {
            *at = skim.offset();
            if *key.bytes() == *MESSAGES.as_bytes() && skim.enter_array() {
                while skim.next_item()? {
                    *at = skim.offset();
                    message(skim)?;
                    *at = skim.position();
                }
            } else {
                if *key.bytes() == *INFO.as_bytes() {
                    self.info = Some(*at);
                }
                let value = skim.pass()?;
                if *key.bytes() == *INFO.as_bytes() {
                    self.facts = parsed(value.raw(), SessionFacts::of_info);
                }
            }
            *at = skim.position();
        }
        Ok(())
    }

    /// Takes what can be read of what an export says of the session, where that is damaged: its messages
    /// are a session, whatever else is lost.
    pub(in crate::opencode) fn mend_facts(&mut self, original: &[u8], readable: &Readable) {
        let Some(at) = self.info.filter(|_| self.facts.is_none()) else {
            return;
        };
        if readable.is_damaged(at) {
            let object = readable.value_at(original, at);
            self.facts = Some(facts_of_damaged(object.unwrap_or_default()));
        }
    }

    /// The facts about the session.
    pub(in crate::opencode) fn facts(&self, path: &Path) -> Result<SessionFacts, OpenError> {
        self.facts.clone().ok_or_else(|| OpenError::NotOurs {
            path: path.to_owned(),
            format: SLUG,
        })
    }

    /// Whether it says what the session is.
    pub(in crate::opencode) fn has_facts(&self) -> bool {
        self.facts.is_some()
    }

    /// Whether it breaks off or is damaged.
    pub(in crate::opencode) fn is_torn(&self) -> bool {
        self.torn.is_some()
    }

    /// Says where it breaks off, if it does.
    pub(in crate::opencode) fn note(&self, path: &Path) -> Option<Note> {
        let Torn { offset, line, why } = self.torn.as_ref()?;
        let message = format!("the file breaks off or is damaged: {why}; read up to there");
        Some(Note::damage(message).at(path).line(*line).offset(*offset))
    }
}

/// What can be read of what an export says of the session, where that is damaged.
pub(super) fn facts_of_damaged(object: &[u8]) -> SessionFacts {
    let members = members_of_damaged(object);
    let facts = members.and_then(|bytes| parsed(&bytes, SessionFacts::of_info));
    facts.unwrap_or_default()
}

/// How many lines end in some bytes.
pub(super) fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Why what follows cannot be gone through.
fn why(bytes: &[u8], at: usize) -> String {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.trim_ascii().is_empty() {
        return "it ends too early".to_owned();
    }
    match Tree::default().parse_prefix(bytes, at) {
        Err(e) => e.kind.to_string(),
        Ok(_) => "a comma is missing".to_owned(),
    }
}
