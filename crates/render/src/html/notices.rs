//! What is no message: compactions, labels, changes, events.

use std::io;

use super::Flow;
use super::prose::prose;
use crate::notice::Notice;
use crate::tool::hidden_calls;

impl Flow<'_, '_, '_> {
    pub(super) fn notice(&mut self, notice: Option<Notice>) -> io::Result<()> {
        let Some(Notice {
            line,
            text,
            is_error,
        }) = notice
        else {
            return Ok(());
        };
        let Some(text) = text else {
            let before = self.notices.push(line);
            return self.put_notice(before);
        };
        self.end_run()?;
        self.speaker = None;
        let out = self.out();
        out.raw(if is_error {
            "<details class=\"event failed\" open><summary>"
        } else {
            "<details class=event><summary>"
        })?;
        out.line(&line)?;
        out.raw("</summary>\n<div class=prose>\n")?;
        prose(out, &text)?;
        out.raw("</div></details>\n")
    }

    fn put_notice(&mut self, notice: Option<String>) -> io::Result<()> {
        let Some(notice) = notice else {
            return Ok(());
        };
        self.speaker = None;
        self.out().raw("<p class=notice>")?;
        self.out().line(&notice)?;
        self.out().raw("</p>\n")
    }

    /// Says what was held back so far.
    pub(super) fn end_run(&mut self) -> io::Result<()> {
        let notice = self.notices.take();
        self.put_notice(notice)?;
        let hidden = hidden_calls(std::mem::take(&mut self.hidden));
        self.put_notice(hidden)
    }
}
