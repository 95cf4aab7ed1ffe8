//! Changes of text, line by line.

use std::io;

use super::links::linked;
use super::out::Out;
use crate::reading::{Change, FileChange, Mark, relative};

/// Writes the changes of a call, each below the name of its file where it is not that of the call.
pub(super) fn write_file_changes(
    out: &mut Out<'_>,
    files: &[FileChange<'_>],
    workspace: Option<&str>,
) -> io::Result<()> {
    for file in files {
        let words = [Some(relative(&file.path, workspace)), file.note.as_deref()];
        let words: Vec<&str> = words
            .into_iter()
            .flatten()
            .filter(|w| !w.is_empty())
            .collect();
        if !words.is_empty() {
            out.raw("<p class=media><code>")?;
            out.line(&words.join(", "))?;
            out.raw("</code></p>\n")?;
        }
        if !file.change.lines.is_empty() {
            write_change(out, &file.change)?;
        }
    }
    Ok(())
}

/// Writes a change, with the numbers of its lines where they are known.
fn write_change(out: &mut Out<'_>, change: &Change<'_>) -> io::Result<()> {
    let digits = change.lines.iter().filter_map(|line| line.number).max();
    let digits = digits.map_or(0, |number| number.to_string().len());
    out.raw("<pre class=diff>")?;
    for line in &change.lines {
        let (open, mark, close) = match line.mark {
            Mark::Same => ("<span>", " ", "\n</span>"),
            Mark::Gone => ("<del>", "-", "\n</del>"),
            Mark::Come => ("<ins>", "+", "\n</ins>"),
            Mark::Gap => ("<span class=gap>", "⋯", "\n</span>"),
        };
        out.raw(open)?;
        if digits > 0 && line.mark != Mark::Gap {
            let number = line.number.map_or(String::new(), |n| n.to_string());
            out.raw("<i class=line>")?;
            out.text(&format!("{number:>digits$} "))?;
            out.raw("</i>")?;
        }
        out.raw(mark)?;
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
