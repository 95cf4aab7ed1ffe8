//! Changes of text, line by line.

use std::io;

use super::links::write_linked;
use super::out::HtmlWriter;
use crate::reading::{Change, FileChange, LineMark, relative_path};

/// Writes the changes of a call, each below the name of its file where it is not that of the call.
pub(super) fn write_file_changes(
    out: &mut HtmlWriter<'_>,
    files: &[FileChange<'_>],
    workspace: Option<&str>,
) -> io::Result<()> {
    for file in files {
        let words = [
            Some(relative_path(&file.path, workspace)),
            file.note.as_deref(),
        ];
        let words: Vec<&str> = words
            .into_iter()
            .flatten()
            .filter(|w| !w.is_empty())
            .collect();
        if !words.is_empty() {
            out.write_markup("<p class=media><code>")?;
            out.write_line(&words.join(", "))?;
            out.write_markup("</code></p>\n")?;
        }
        if !file.change.lines.is_empty() {
            write_change(out, &file.change)?;
        }
    }
    Ok(())
}

/// Writes a change, with the numbers of its lines where they are known.
fn write_change(out: &mut HtmlWriter<'_>, change: &Change<'_>) -> io::Result<()> {
    let digits = change.lines.iter().filter_map(|line| line.number).max();
    let digits = digits.map_or(0, |number| number.to_string().len());
    out.write_markup("<pre class=diff>")?;
    for line in &change.lines {
        let (open, mark, close) = match line.mark {
            LineMark::Same => ("<span>", " ", "\n</span>"),
            LineMark::Gone => ("<del>", "-", "\n</del>"),
            LineMark::Come => ("<ins>", "+", "\n</ins>"),
            LineMark::Gap => ("<span class=gap>", "⋯", "\n</span>"),
        };
        out.write_markup(open)?;
        if digits > 0 && line.mark != LineMark::Gap {
            let number = line.number.map_or(String::new(), |n| n.to_string());
            out.write_markup("<i class=line>")?;
            out.write_text(&format!("{number:>digits$} "))?;
            out.write_markup("</i>")?;
        }
        out.write_markup(mark)?;
        write_linked(out, &line.text)?;
        out.write_markup(close)?;
    }
    out.write_markup("</pre>\n")
}

/// Writes a change as programs write it, its lines in colours.
pub(super) fn write_unified_diff(out: &mut HtmlWriter<'_>, text: &str) -> io::Result<()> {
    out.write_markup("<pre class=diff>")?;
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
        out.write_markup(open)?;
        write_linked(out, line)?;
        out.write_markup(close)?;
    }
    out.write_markup("</pre>\n")
}
