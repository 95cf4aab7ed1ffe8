//! Text of conversations inside our Markdown, so that it cannot leave its place.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::{Plain, neutral, one_line};

/// Writes a text that is Markdown itself, every line behind a prefix.
///
/// Outside of code, `<` before what could be a tag becomes `&lt;`. Links lead to the web and to mail
/// alone, and pictures become links: what makes one is spelled as a character reference, so that it
/// is text. Code blocks are recognised only
/// where every reader of Markdown agrees: at the start of a line. A fence that is indented by up to
/// three spaces is moved there, because it depends on the lines above whether it belongs to a list;
/// one that is indented further can only be inside a list, and ends with it. A block that is still
/// open at the end is closed.
pub(super) fn write_prose(out: &mut dyn Write, prefix: &str, text: &str) -> io::Result<()> {
    let text = neutral(text);
    let mut open: Option<CodeFence> = None;
    let mut spans = true;
    for line in text.lines() {
        let line = &*indent_line(line, prefix);
        if let Some(fence) = open {
            writeln!(out, "{prefix}{line}")?;
            if fence.is_closed_by(line) {
                open = None;
                spans = true;
            }
        } else if let Some(fence) = CodeFence::opened_by(line) {
            writeln!(out, "{prefix}{}", line.trim_start_matches(' '))?;
            open = Some(fence);
        } else {
            writeln!(out, "{prefix}{}", neutralise_line(line, &mut spans))?;
        }
    }
    match open {
        Some(fence) => writeln!(out, "{prefix}{}", fence.mark.to_string().repeat(fence.len)),
        None => Ok(()),
    }
}

/// The line behind a prefix. Where there is one, tabs at the start become spaces: the prefix moves
/// what a tab is worth, and four columns would be two.
fn indent_line<'a>(line: &'a str, prefix: &str) -> Cow<'a, str> {
    let rest = line.trim_start_matches([' ', '\t']);
    let indent = &line[..line.len() - rest.len()];
    if prefix.is_empty() || !indent.contains('\t') {
        return Cow::Borrowed(line);
    }
    Cow::Owned(indent.replace('\t', "    ") + rest)
}

/// One line of Markdown text for a place of ours: a heading, an item of a list.
pub(super) fn escape_line(text: &str) -> String {
    neutralise_line(&one_line(text), &mut true).into_owned()
}

/// One line of text as inline code.
pub(super) fn inline_code(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(&text) + 1);
    // A space on both sides is taken away again; it keeps backticks of the text apart from ours.
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// One line of text inside HTML of ours, where nothing is Markdown.
pub(super) fn escape_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

/// Writes a text as a code block that it cannot leave.
pub(super) fn write_fenced(out: &mut dyn Write, info: &str, text: &str) -> io::Result<()> {
    let text = text.trim_end_matches(['\n', '\r']);
    let ticks = "`".repeat(longest_run(text).max(2) + 1);
    writeln!(out, "\n{ticks}{info}")?;
    if !text.is_empty() {
        writeln!(out, "{}", Plain(text))?;
    }
    writeln!(out, "{ticks}")
}

fn longest_run(text: &str) -> usize {
    backtick_runs(text).map(|(_, len)| len).max().unwrap_or(0)
}

/// The runs of backticks: where each starts, and how long it is.
fn backtick_runs(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find('`')?;
        let rest = &text[start..];
        let len = rest.len() - rest.trim_start_matches('`').len();
        at = start + len;
        Some((start, len))
    })
}

#[derive(Clone, Copy)]
struct CodeFence {
    mark: char,
    len: usize,
}

impl CodeFence {
    fn opened_by(line: &str) -> Option<Self> {
        let (fence, info) = Self::fence_at(line)?;
        let valid = fence.mark == '~' || !info.contains('`');
        valid.then_some(fence)
    }

    fn is_closed_by(self, line: &str) -> bool {
        Self::fence_at(line).is_some_and(|(fence, rest)| {
            fence.mark == self.mark && fence.len >= self.len && rest.trim().is_empty()
        })
    }

    fn fence_at(line: &str) -> Option<(Self, &str)> {
        let bare = line.trim_start_matches(' ');
        let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = bare.trim_start_matches(mark);
        let len = bare.len() - rest.len();
        let indent = line.len() - bare.len();
        (indent <= 3 && len >= 3).then_some((Self { mark, len }, rest))
    }
}

/// A line in which no `<` starts a tag, no picture is loaded, and no link leads anywhere but to the
/// web and to mail, except inside inline code.
///
/// `spans` says whether inline code can be told for sure: every line since the last empty one had
/// its backticks in pairs. Then the code of this line begins and ends in it, whatever the lines
/// above are. A `|` may end a cell of a table and a backslash may hide a backtick, so there we do
/// not try.
fn neutralise_line<'a>(line: &'a str, spans: &mut bool) -> Cow<'a, str> {
    if line.trim().is_empty() {
        *spans = true;
        return Cow::Borrowed(line);
    }
    let (code, paired) = code_spans(line);
    let hidden = line.contains("\\`");
    let sure = *spans && !hidden && !line.contains('|');
    *spans = *spans && !hidden && paired;
    if !["<", "![", "](", "]:"]
        .iter()
        .any(|mark| line.contains(mark))
    {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + 8);
    let mut code = code.into_iter().filter(|_| sure).peekable();
    for (at, c) in line.char_indices() {
        while code.next_if(|(_, end)| *end <= at).is_some() {}
        let inside = code.peek().is_some_and(|(start, _)| *start <= at);
        let rest = &line[at + c.len_utf8()..];
        let next = rest.chars().next();
        let is_tag = next.is_some_and(|n| n.is_ascii_alphabetic() || "/!?".contains(n));
        match (c, next) {
            _ if inside => out.push(c),
            ('<', _) if is_tag => out.push_str("&lt;"),
            ('!', Some('[')) => out.push_str("&#33;"),
            // Behind the words of a link, or of a name that others refer to, stands the address.
            ('(', _) if out.ends_with(']') && !leads_outside(rest) => out.push_str("&#40;"),
            (':', _) if out.ends_with(']') && !leads_outside(rest) => out.push_str("&#58;"),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether an address leads to the web or to mail. One that is spelled in any other way does not.
fn leads_outside(address: &str) -> bool {
    let address = address.trim_start_matches([' ', '\t']).as_bytes();
    let known: [&[u8]; 3] = [b"http://", b"https://", b"mailto:"];
    let begins = |with: &&[u8]| {
        let start = address.get(..with.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(with))
    };
    known.iter().any(begins)
}

/// The inline code of a line, and whether every run of backticks belongs to some.
fn code_spans(line: &str) -> (Vec<(usize, usize)>, bool) {
    let runs: Vec<(usize, usize)> = backtick_runs(line).collect();
    let mut spans = Vec::new();
    let mut paired = true;
    let mut at = 0;
    while let Some((start, len)) = runs.get(at).copied() {
        let close = runs[at + 1..].iter().position(|(_, other)| *other == len);
        if let Some(n) = close {
            spans.push((start, runs[at + 1 + n].0 + len));
            at += n + 2;
        } else {
            paired = false;
            at += 1;
        }
    }
    (spans, paired)
}
