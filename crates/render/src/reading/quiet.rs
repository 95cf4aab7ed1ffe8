//! What was left out, in one line.

use super::InjectedText;
use crate::byte_count;

/// So many kinds of injected text are told apart.
const KINDS: usize = 12;

/// What was left out of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OmittedItems {
    /// The bytes of reasoning that can be read.
    pub(crate) thinking: u64,
    /// Injected texts: what they are, and how long.
    pub(crate) injected: Vec<(String, u64)>,
    /// Hooks that ran.
    pub(crate) hooks: u64,
    /// Other things that happened.
    pub(crate) events: u64,
    /// Calls of tools.
    pub(crate) calls: u64,
}

impl OmittedItems {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts an injected text; those of one kind are one.
    pub(crate) fn count_injected(&mut self, injected: &InjectedText) {
        let is_known = |what: &str| self.injected.iter().position(|(w, _)| w == what);
        let what = injected.description();
        let what = match is_known(&what) {
            None if self.injected.len() >= KINDS => "other".to_owned(),
            _ => what,
        };
        let bytes = injected.text.len() as u64;
        match is_known(&what) {
            Some(at) => {
                if let Some((_, known)) = self.injected.get_mut(at) {
                    *known += bytes;
                }
            }
            None => self.injected.push((what, bytes)),
        }
    }

    /// `thinking 1.4 KB`, `skill "profiling" 4.2 KB`, `2 hooks`. Untrusted, not yet neutral.
    pub(crate) fn descriptions(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.calls > 0 {
            words.push(count_phrase(self.calls, "tool call"));
        }
        if self.thinking > 0 {
            words.push(format!("thinking {}", byte_count(self.thinking)));
        }
        for (what, bytes) in &self.injected {
            words.push(format!("{what} {}", byte_count(*bytes)));
        }
        for (count, what) in [(self.hooks, "hook"), (self.events, "event")] {
            if count > 0 {
                words.push(count_phrase(count, what));
            }
        }
        words
    }

    /// The flags that show what was left out.
    pub(crate) fn flags(&self) -> Vec<&'static str> {
        let mut flags = Vec::new();
        if self.thinking > 0 {
            flags.push("--thinking");
        }
        if !self.injected.is_empty() {
            flags.push("--injected");
        }
        if self.hooks + self.events > 0 {
            flags.push("--events");
        }
        flags
    }
}

/// `1 hook`, `2 hooks`.
fn count_phrase(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn injected(kind: &str, text: &str) -> InjectedText {
        InjectedText {
            kind: kind.to_owned(),
            name: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_is_left_out_is_one_line_however_much_it_is() {
        let mut quiet = OmittedItems::default();
        assert!(quiet.is_empty());
        for n in 0..100 {
            quiet.count_injected(&injected(&format!("kind {n}"), "text"));
            quiet.count_injected(&injected("reminder", "text"));
        }
        quiet.hooks = 1;
        quiet.events = 2;
        let words = quiet.descriptions();
        assert_eq!(words.len(), KINDS + 3);
        assert_eq!(words[1], "reminder 400 B");
        assert_eq!(words[KINDS], "other 356 B");
        assert_eq!(words[KINDS + 1..], ["1 hook", "2 events"]);
        assert_eq!(quiet.flags(), ["--injected", "--events"]);
    }
}
