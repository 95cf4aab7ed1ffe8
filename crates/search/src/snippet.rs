//! A few words around what was found.

use std::ops::Range;

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub struct SnippetSize {
    /// How many characters of a line, about.
    pub width: usize,
    /// How many lines before and behind the one that was found.
    pub context: usize,
}

/// A piece of a text, with what was found in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Its lines.
    pub lines: Vec<SnippetLine>,
}

/// A line of a snippet: white space in it is single spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnippetLine {
    /// The line.
    pub text: String,
    /// The bytes of it that were looked for.
    pub marks: Vec<Range<usize>>,
    /// Whether something of the text stands before it.
    pub is_cut_before: bool,
    /// Whether something of the text follows.
    pub is_cut_after: bool,
}

impl Snippet {
    /// The piece of a text that has most of what was found, in order, in it.
    pub fn of(text: &str, found: &[Range<usize>], size: SnippetSize) -> Self {
        let best = best_place(text, found, size.width);
        if size.context == 0 {
            let line = cut_line(text, 0..text.len(), found, best, size.width);
            return Self { lines: vec![line] };
        }
        let lines = lines_around(text, best, size.context);
        let line = |range: Range<usize>| {
            let within = range.contains(&best).then_some(best);
            let at = within.unwrap_or_else(|| first_in(found, &range).unwrap_or(range.start));
            cut_line(text, range, found, at, size.width)
        };
        Self {
            lines: lines.into_iter().map(line).collect(),
        }
    }
}

fn first_in(found: &[Range<usize>], range: &Range<usize>) -> Option<usize> {
    let mut inside = found.iter().filter(|f| range.contains(&f.start));
    inside.next().map(|f| f.start)
}

/// Where the most different things were found within a width.
fn best_place(text: &str, found: &[Range<usize>], width: usize) -> usize {
    let mut best = (0, 0);
    let word = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default().to_lowercase();
    // A text with many finds is not looked through for the very best place.
    for (at, first) in found.iter().enumerate().take(2000) {
        let near = found.iter().skip(at).take(32);
        let near = near.take_while(|range| range.end <= first.start + width);
        let mut words: Vec<String> = near.map(word).collect();
        words.sort_unstable();
        words.dedup();
        if words.len() > best.0 {
            best = (words.len(), first.start);
        }
    }
    best.1
}

/// The lines around a place, blank ones left out.
fn lines_around(text: &str, place: usize, context: usize) -> Vec<Range<usize>> {
    let line_at = |at: usize| {
        let start = text
            .get(..at)
            .and_then(|t| t.rfind('\n'))
            .map_or(0, |n| n + 1);
        let end = text
            .get(at..)
            .and_then(|t| t.find('\n'))
            .map_or(text.len(), |n| at + n);
        start..end
    };
    let middle = line_at(place.min(text.len()));
    let is_blank = |range: &Range<usize>| {
        text.get(range.clone())
            .is_none_or(|line| line.trim().is_empty())
    };
    let mut lines = vec![middle.clone()];
    let mut start = middle.start;
    while start > 0 && lines.len() <= context {
        let line = line_at(start - 1);
        start = line.start;
        if !is_blank(&line) {
            lines.push(line);
        }
    }
    lines.reverse();
    let before = lines.len();
    let mut end = middle.end;
    while end < text.len() && lines.len() < before + context {
        let line = line_at(end + 1);
        end = line.end;
        if !is_blank(&line) {
            lines.push(line);
        }
    }
    lines
}

/// A part of a text as one line of about this width, with a place in it.
fn cut_line(
    text: &str,
    range: Range<usize>,
    found: &[Range<usize>],
    place: usize,
    width: usize,
) -> SnippetLine {
    let all = text.get(range.clone()).unwrap_or_default();
    let place = place.clamp(range.start, range.end) - range.start;
    // A third before, unless there is less.
    let start = back_to_word(all, place, width / 3);
    let end = on_to_word(all, start, width);
    let start = back_to_word(all, end, width).min(start);
    let mut line = SnippetLine {
        is_cut_before: all.get(..start).is_some_and(|t| !t.trim().is_empty()),
        is_cut_after: all.get(end..).is_some_and(|t| !t.trim().is_empty()),
        ..SnippetLine::default()
    };
    let shown = range.start + start..range.start + end;
    let mut marks = found
        .iter()
        .filter(|f| f.start < shown.end && f.end > shown.start)
        .peekable();
    let mut open: Option<usize> = None;
    let mut is_gap = true;
    let piece = text.get(shown.clone()).unwrap_or_default();
    for (at, c) in piece.char_indices() {
        let at = shown.start + at;
        if marks.peek().is_some_and(|mark| at >= mark.end) {
            close_mark(&mut line, &mut open);
            marks.next();
        }
        let is_space = c.is_whitespace();
        if is_space && is_gap {
            continue;
        }
        is_gap = is_space;
        if open.is_none() && !is_space && marks.peek().is_some_and(|mark| at >= mark.start) {
            open = Some(line.text.len());
        }
        line.text.push(if is_space { ' ' } else { c });
    }
    close_mark(&mut line, &mut open);
    let len = line.text.trim_end().len();
    line.text.truncate(len);
    line
}

fn close_mark(line: &mut SnippetLine, open: &mut Option<usize>) {
    if let Some(start) = open.take() {
        let end = line.text.trim_end().len();
        line.marks.push(start..end.max(start));
    }
}

/// A place about so many characters before, at the beginning of a word.
fn back_to_word(text: &str, place: usize, count: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    let mut chars = before.char_indices().rev();
    let Some((far, _)) = chars.nth(count) else {
        return 0;
    };
    let rest = before.get(far..).unwrap_or_default();
    match rest.find(char::is_whitespace) {
        Some(space) => far + space + 1,
        None => far,
    }
    .min(place)
}

/// A place about so many characters behind, at the end of a word.
fn on_to_word(text: &str, place: usize, count: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    let Some((far, _)) = rest.char_indices().nth(count) else {
        return text.len();
    };
    let head = rest.get(..far).unwrap_or_default();
    let space = head.rfind(char::is_whitespace).filter(|at| *at > far / 2);
    place + space.unwrap_or(far)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::matcher::TextMatcher;
    use crate::query::Query;

    fn shown(query: &str, text: &str, size: SnippetSize) -> Vec<String> {
        let query = Query::parse(query).unwrap();
        let found = TextMatcher::new(&query).find_in(text).unwrap();
        let snippet = Snippet::of(text, &found.ranges, size);
        let line = |line: &SnippetLine| {
            let mut out = line.text.clone();
            for mark in line.marks.iter().rev() {
                out.insert(mark.end, ']');
                out.insert(mark.start, '[');
            }
            let before = if line.is_cut_before { "… " } else { "" };
            let after = if line.is_cut_after { " …" } else { "" };
            format!("{before}{out}{after}")
        };
        snippet.lines.iter().map(line).collect()
    }

    #[test]
    fn the_best_place_is_shown() {
        let text = format!(
            "cookie first\n{}we keep the target\n\tin a cookie, so that the redirect survives the sign-in{}",
            "long ".repeat(100),
            " and on".repeat(100)
        );
        let size = SnippetSize {
            width: 60,
            context: 0,
        };
        assert_eq!(
            shown("redirect cookie", &text, size),
            ["… the target in a [cookie], so that the [redirect] survives the …"]
        );
        let size = SnippetSize {
            width: 30,
            context: 1,
        };
        assert_eq!(
            shown("b", "one\n\ntwo\nthree b four\nfive\nsix", size),
            ["two", "three [b] four", "five"]
        );
    }

    proptest! {
        #[test]
        fn marks_are_what_was_found(text in "[a-c é日\n\t]{0,300}", width in 1_usize..60, context in 0_usize..3) {
            let query = Query::parse("a OR é OR \"b c\"").unwrap();
            if let Some(found) = TextMatcher::new(&query).find_in(&text) {
                let snippet = Snippet::of(&text, &found.ranges, SnippetSize { width, context });
                for line in &snippet.lines {
                    for mark in &line.marks {
                        prop_assert!(line.text.get(mark.clone()).is_some_and(|m| !m.is_empty()));
                    }
                }
            }
        }
    }
}
