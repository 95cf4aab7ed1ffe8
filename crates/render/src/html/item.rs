//! What was said and done in a turn.

use std::io;

use rethread_model::Thinking;

use super::SessionPage;
use super::ansi::write_printed;
use super::diff::write_unified_diff;
use super::media::{write_image, write_named};
use super::prose::write_prose;
use crate::byte_count;
use crate::notice::{Notice, RepeatedLines};
use crate::reading::{InjectedText, Speaker, TurnItem, is_patch};

impl SessionPage<'_, '_, '_> {
    pub(super) fn write_item(&mut self, item: TurnItem) -> io::Result<()> {
        if let TurnItem::Notice(notice) = item {
            return self.write_notice(notice);
        }
        self.end_events()?;
        match item {
            TurnItem::Prose(text) => {
                self.add_prompt(&text);
                self.write_prose(&text)
            }
            TurnItem::Typed(text) => self.write_typed(&text),
            TurnItem::Printed(text) => self.write_printed(&text),
            TurnItem::Thinking(thinking) => self.write_thinking(&thinking),
            TurnItem::Call(call) => self.write_call(&call),
            TurnItem::Image(media) => write_image(&mut self.page.out, self.view.bodies, &media),
            TurnItem::File(media) => write_named(&mut self.page.out, "file", &media),
            TurnItem::Unknown(words) => self.write_placeholder(&words),
            TurnItem::Injected(injected) => self.write_injected(&injected),
            TurnItem::Error(error) => {
                self.open_tag("<div class=\"prose failed\"")?;
                self.out().write_markup(">\n")?;
                write_prose(self.out(), &error)?;
                self.out().write_markup("</div>\n")
            }
            TurnItem::Label(label) => {
                self.open_tag("<p class=bookmark")?;
                self.out().write_markup("><span class=label>")?;
                self.out().write_line(&label)?;
                self.out().write_markup("</span></p>\n")
            }
            TurnItem::Empty => self.write_placeholder("(nothing was said)"),
            TurnItem::Notice(_) => Ok(()),
        }
    }

    /// Writes the beginning of a tag, with the number of the entry where it is the first of it. The
    /// tag is still open.
    pub(super) fn open_tag(&mut self, tag: &'static str) -> io::Result<()> {
        self.out().write_markup(tag)?;
        let Some(entry) = self.entry.filter(|_| self.named != self.entry) else {
            return Ok(());
        };
        self.named = Some(entry);
        self.out().write_markup(" id=\"")?;
        self.write_anchor("", entry.get() as u64 + 1)?;
        self.out().write_markup("\"")
    }

    pub(super) fn write_prose(&mut self, text: &str) -> io::Result<()> {
        self.open_tag("<div class=prose")?;
        self.out().write_markup(">\n")?;
        write_prose(self.out(), text)?;
        self.out().write_markup("</div>\n")
    }

    /// A command that the person typed.
    fn write_typed(&mut self, text: &str) -> io::Result<()> {
        self.add_prompt(text);
        self.open_tag("<pre class=typed")?;
        self.out().write_markup(">")?;
        self.out().write_text(text.trim())?;
        self.out().write_markup("</pre>\n")
    }

    /// What a program printed.
    pub(super) fn write_printed(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            return Ok(());
        }
        if is_patch(text) {
            return write_unified_diff(self.out(), text);
        }
        // The first line break behind the tag is no part of the text.
        self.open_tag("<pre class=out")?;
        self.out().write_markup(">\n")?;
        write_printed(self.out(), text)?;
        self.out().write_markup("</pre>\n")
    }

    pub(super) fn write_placeholder(&mut self, words: &str) -> io::Result<()> {
        self.open_tag("<p class=media")?;
        self.out().write_markup("><code>")?;
        self.out().write_line(words)?;
        self.out().write_markup("</code></p>\n")
    }

    fn write_thinking(&mut self, thinking: &Thinking) -> io::Result<()> {
        let text = thinking.text.value.trim();
        // Nobody can read what only the vendor can decrypt.
        if text.is_empty() {
            return Ok(());
        }
        self.open_tag("<details class=\"quiet thinking\"")?;
        self.out().write_markup(if thinking.summary {
            "><summary>thinking, summary "
        } else {
            "><summary>thinking "
        })?;
        self.write_folded(text)
    }

    fn write_injected(&mut self, injected: &InjectedText) -> io::Result<()> {
        self.open_tag("<details class=\"quiet injected\"")?;
        self.out().write_markup("><summary>")?;
        self.out().write_line(&injected.description())?;
        self.out().write_markup(" ")?;
        self.write_folded(injected.text.trim())
    }

    /// Ends the line of a fold with the size of a text, and writes the text into it.
    fn write_folded(&mut self, text: &str) -> io::Result<()> {
        self.out().write_line(&byte_count(text.len() as u64))?;
        self.out().write_markup("</summary>\n<div class=prose>\n")?;
        write_prose(self.out(), text)?;
        self.out().write_markup("</div>\n</details>\n")
    }

    /// Something that happened. What is no trouble waits for others of its kind.
    fn write_notice(&mut self, notice: Notice) -> io::Result<()> {
        if !notice.is_loud && self.speaker != Some(Speaker::Cut) {
            self.events.push(notice);
            return Ok(());
        }
        self.end_events()?;
        let Some(text) = &notice.text else {
            self.out().write_markup("<p class=notice>")?;
            self.out().write_line(&notice.line)?;
            return self.out().write_markup("</p>\n");
        };
        // Equal ones are counted before they are given, so the entry is not known any more.
        self.out().write_markup(if notice.is_error {
            "<details class=\"event failed\" open><summary>"
        } else {
            "<details class=event><summary>"
        })?;
        self.out().write_line(&notice.line)?;
        self.out().write_markup(" <span>")?;
        self.out().write_line(&byte_count(text.len() as u64))?;
        self.out()
            .write_markup("</span></summary>\n<div class=prose>\n")?;
        write_prose(self.out(), text)?;
        self.out().write_markup("</div>\n</details>\n")
    }

    /// Writes what happened, folded to a line.
    pub(super) fn end_events(&mut self) -> io::Result<()> {
        let events = std::mem::take(&mut self.events);
        if events.is_empty() {
            return Ok(());
        }
        self.out()
            .write_markup("<details class=\"quiet events\"><summary>")?;
        self.out().write_number(events.len() as u64)?;
        self.out().write_markup(if events.len() == 1 {
            " event</summary>\n<ul>\n"
        } else {
            " events</summary>\n<ul>\n"
        })?;
        let mut lines = RepeatedLines::default();
        for Notice { line, text, .. } in events {
            let before = lines.push(line);
            self.write_event(before)?;
            if let Some(text) = text {
                let line = lines.take();
                self.write_event(line)?;
                self.out().write_markup("<li class=prose>\n")?;
                write_prose(self.out(), &text)?;
                self.out().write_markup("</li>\n")?;
            }
        }
        let last = lines.take();
        self.write_event(last)?;
        self.out().write_markup("</ul>\n</details>\n")
    }

    fn write_event(&mut self, line: Option<String>) -> io::Result<()> {
        let Some(line) = line else {
            return Ok(());
        };
        self.out().write_markup("<li>")?;
        self.out().write_line(&line)?;
        self.out().write_markup("</li>\n")
    }
}
