//! What was said and done in a turn.

use std::io;

use rethread_model::Thinking;

use super::Flow;
use super::ansi::printed;
use super::diff::unified;
use super::media::{image, named};
use super::prose::prose;
use crate::notice::{Notice, Repeats};
use crate::reading::{Injected, Item, Speaker, is_patch, size};

impl Flow<'_, '_, '_> {
    pub(super) fn item(&mut self, item: Item) -> io::Result<()> {
        if let Item::Notice(notice) = item {
            return self.notice(notice);
        }
        self.end_events()?;
        match item {
            Item::Prose(text) => {
                self.prompt(&text);
                self.prose(&text)
            }
            Item::Typed(text) => self.typed(&text),
            Item::Printed(text) => self.printed(&text),
            Item::Thinking(thinking) => self.thinking(&thinking),
            Item::Call(call) => self.call(&call),
            Item::Image(media) => image(&mut self.page.out, self.view.bodies, &media),
            Item::File(media) => named(&mut self.page.out, "file", &media),
            Item::Unknown(words) => self.placeholder(&words),
            Item::Injected(injected) => self.injected(&injected),
            Item::Error(error) => {
                self.open("<div class=\"prose failed\"")?;
                self.out().raw(">\n")?;
                prose(self.out(), &error)?;
                self.out().raw("</div>\n")
            }
            Item::Label(label) => {
                self.open("<p class=bookmark")?;
                self.out().raw("><span class=label>")?;
                self.out().line(&label)?;
                self.out().raw("</span></p>\n")
            }
            Item::Empty => self.placeholder("(nothing was said)"),
            Item::Notice(_) => Ok(()),
        }
    }

    /// Writes the beginning of a tag, with the number of the entry where it is the first of it. The
    /// tag is still open.
    pub(super) fn open(&mut self, tag: &'static str) -> io::Result<()> {
        self.out().raw(tag)?;
        let Some(entry) = self.entry.filter(|_| self.named != self.entry) else {
            return Ok(());
        };
        self.named = Some(entry);
        self.out().raw(" id=\"")?;
        self.anchor("", entry.get() as u64 + 1)?;
        self.out().raw("\"")
    }

    pub(super) fn prose(&mut self, text: &str) -> io::Result<()> {
        self.open("<div class=prose")?;
        self.out().raw(">\n")?;
        prose(self.out(), text)?;
        self.out().raw("</div>\n")
    }

    /// A command that the person typed.
    fn typed(&mut self, text: &str) -> io::Result<()> {
        self.prompt(text);
        self.open("<pre class=typed")?;
        self.out().raw(">")?;
        self.out().text(text.trim())?;
        self.out().raw("</pre>\n")
    }

    /// What a program printed.
    pub(super) fn printed(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            return Ok(());
        }
        if is_patch(text) {
            return unified(self.out(), text);
        }
        // The first line break behind the tag is no part of the text.
        self.open("<pre class=out")?;
        self.out().raw(">\n")?;
        printed(self.out(), text)?;
        self.out().raw("</pre>\n")
    }

    pub(super) fn placeholder(&mut self, words: &str) -> io::Result<()> {
        self.open("<p class=media")?;
        self.out().raw("><code>")?;
        self.out().line(words)?;
        self.out().raw("</code></p>\n")
    }

    fn thinking(&mut self, thinking: &Thinking) -> io::Result<()> {
        let text = thinking.text.value.trim();
        // Nobody can read what only the vendor can decrypt.
        if text.is_empty() {
            return Ok(());
        }
        self.open("<details class=\"quiet thinking\"")?;
        self.out().raw(if thinking.summary {
            "><summary>thinking, summary "
        } else {
            "><summary>thinking "
        })?;
        self.folded(text)
    }

    fn injected(&mut self, injected: &Injected) -> io::Result<()> {
        self.open("<details class=\"quiet injected\"")?;
        self.out().raw("><summary>")?;
        self.out().line(&injected.what())?;
        self.out().raw(" ")?;
        self.folded(injected.text.trim())
    }

    /// Ends the line of a fold with the size of a text, and writes the text into it.
    fn folded(&mut self, text: &str) -> io::Result<()> {
        self.out().line(&size(text.len() as u64))?;
        self.out().raw("</summary>\n<div class=prose>\n")?;
        prose(self.out(), text)?;
        self.out().raw("</div>\n</details>\n")
    }

    /// Something that happened. What is no trouble waits for others of its kind.
    fn notice(&mut self, notice: Notice) -> io::Result<()> {
        if !notice.is_loud && self.speaker != Some(Speaker::Cut) {
            self.events.push(notice);
            return Ok(());
        }
        self.end_events()?;
        let Some(text) = &notice.text else {
            self.out().raw("<p class=notice>")?;
            self.out().line(&notice.line)?;
            return self.out().raw("</p>\n");
        };
        // Equal ones are counted before they are given, so the entry is not known any more.
        self.out().raw(if notice.is_error {
            "<details class=\"event failed\" open><summary>"
        } else {
            "<details class=event><summary>"
        })?;
        self.out().line(&notice.line)?;
        self.out().raw(" <span>")?;
        self.out().line(&size(text.len() as u64))?;
        self.out().raw("</span></summary>\n<div class=prose>\n")?;
        prose(self.out(), text)?;
        self.out().raw("</div>\n</details>\n")
    }

    /// Writes what happened, folded to a line.
    pub(super) fn end_events(&mut self) -> io::Result<()> {
        let events = std::mem::take(&mut self.events);
        if events.is_empty() {
            return Ok(());
        }
        self.out()
            .raw("<details class=\"quiet events\"><summary>")?;
        self.out().number(events.len() as u64)?;
        self.out().raw(if events.len() == 1 {
            " event</summary>\n<ul>\n"
        } else {
            " events</summary>\n<ul>\n"
        })?;
        let mut lines = Repeats::default();
        for Notice { line, text, .. } in events {
            let before = lines.push(line);
            self.event(before)?;
            if let Some(text) = text {
                let line = lines.take();
                self.event(line)?;
                self.out().raw("<li class=prose>\n")?;
                prose(self.out(), &text)?;
                self.out().raw("</li>\n")?;
            }
        }
        let last = lines.take();
        self.event(last)?;
        self.out().raw("</ul>\n</details>\n")
    }

    fn event(&mut self, line: Option<String>) -> io::Result<()> {
        let Some(line) = line else {
            return Ok(());
        };
        self.out().raw("<li>")?;
        self.out().line(&line)?;
        self.out().raw("</li>\n")
    }
}
