//! Changes of text, line by line.

use std::io;

use super::links::linked;
use super::out::Out;
use crate::reading::{Change, Mark};

/// Writes a change.
pub(super) fn write_change(out: &mut Out<'_>, change: &Change<'_>) -> io::Result<()> {
    out.raw("<pre class=diff>")?;
    for line in &change.lines {
        let (open, close) = match line.mark {
            Mark::Same => ("<span> ", "\n</span>"),
            Mark::Gone => ("<del>-", "\n</del>"),
            Mark::Come => ("<ins>+", "\n</ins>"),
            Mark::Gap => ("<span class=gap>⋯", "\n</span>"),
        };
        out.raw(open)?;
        linked(out, &line.text)?;
        out.raw(close)?;
    }
    out.raw("</pre>\n")
}

/// Writes a change as programs write it, its lines in colours.
pub(super) fn unified(out: &mut Out<'_>, text: &str) -> io::Result<()> {
    out.raw("<pre class=diff>")?;
    for line in text.lines() {
        let is_head = ["+++ ", "--- ", "*** ", "diff ", "index "];
        let (open, close) = if is_head.iter().any(|h| line.starts_with(h)) {
            ("<span class=file>", "\n</span>")
        } else if line.starts_with("@@") {
            ("<span class=gap>", "\n</span>")
        } else if line.starts_with('+') {
            ("<ins>", "\n</ins>")
        } else if line.starts_with('-') {
            ("<del>", "\n</del>")
        } else {
            ("<span>", "\n</span>")
        };
        out.raw(open)?;
        linked(out, line)?;
        out.raw(close)?;
    }
    out.raw("</pre>\n")
}
