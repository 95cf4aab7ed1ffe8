//! Words that wrap at the width of a terminal.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A longer thing without spaces is broken, whatever it is.
const LONGEST_WORD: usize = 400;

/// A piece of text in one style. The text is neutral already.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StyledSpan {
    pub(super) style: Style,
    pub(super) text: String,
}

impl StyledSpan {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self {
            style: Style::new(),
            text: text.into(),
        }
    }
}

/// The columns that spans take.
pub(super) fn spans_width(spans: &[StyledSpan]) -> usize {
    spans.iter().map(|span| span.text.width()).sum()
}

/// Breaks spans into lines of at most so many columns, between words. A line break in the text is one.
/// Paths and addresses stay whole, so that they can be copied; any other word that is too long is
/// broken.
pub(super) fn wrap_spans(spans: &[StyledSpan], columns: usize) -> Vec<Vec<StyledSpan>> {
    let mut lines = WrappedLines {
        all: vec![Vec::new()],
        used: 0,
        columns: columns.max(1),
    };
    let mut word: Vec<StyledSpan> = Vec::new();
    let mut space = String::new();
    for span in spans {
        for (at, c) in span.text.char_indices() {
            match c {
                '\n' => {
                    lines.put_word(&mut space, &mut word);
                    space.clear();
                    lines.all.push(Vec::new());
                    lines.used = 0;
                }
                ' ' | '\t' => {
                    if !word.is_empty() {
                        lines.put_word(&mut space, &mut word);
                        space.clear();
                    }
                    space.push(' ');
                }
                _ => {
                    let end = at + c.len_utf8();
                    let text = span.text.get(at..end).unwrap_or_default();
                    // Scripts without spaces break between any two of their characters.
                    if c.width().unwrap_or(0) > 1 {
                        lines.put_word(&mut space, &mut word);
                        space.clear();
                    }
                    push_span(&mut word, span.style, text);
                }
            }
        }
    }
    lines.put_word(&mut space, &mut word);
    lines.all
}

fn push_span(spans: &mut Vec<StyledSpan>, style: Style, text: &str) {
    match spans.last_mut() {
        Some(last) if last.style == style => last.text.push_str(text),
        _ => spans.push(StyledSpan {
            style,
            text: text.to_owned(),
        }),
    }
}

struct WrappedLines {
    all: Vec<Vec<StyledSpan>>,
    /// The columns that the last line takes.
    used: usize,
    columns: usize,
}

impl WrappedLines {
    /// Puts a word on the line, behind the space before it, or on the next.
    fn put_word(&mut self, space: &mut String, word: &mut Vec<StyledSpan>) {
        if word.is_empty() {
            return;
        }
        let wide = spans_width(word);
        let is_first = self.used == 0;
        if !is_first && self.used + space.len() + wide > self.columns {
            self.all.push(Vec::new());
            self.used = 0;
        } else if space.len() + wide <= self.columns {
            // Spaces at the beginning of a line that the text breaks itself are indentation.
            if let Some(line) = self.all.last_mut()
                && !space.is_empty()
            {
                let before = line.last().map(|span| span.style);
                let behind = word.first().map(|span| span.style);
                let style = behind.filter(|style| before == Some(*style));
                push_span(line, style.unwrap_or_default(), space);
                self.used += space.len();
            }
        }
        space.clear();
        let is_whole = word.iter().any(|span| span.text.contains(['/', '\\']));
        if wide > self.columns && !(is_whole && wide <= LONGEST_WORD) {
            return self.break_word(word);
        }
        if let Some(line) = self.all.last_mut() {
            for span in word.drain(..) {
                push_span(line, span.style, &span.text);
            }
        }
        self.used += wide;
    }

    /// Breaks a word wherever a line is full.
    fn break_word(&mut self, word: &mut Vec<StyledSpan>) {
        for span in word.drain(..) {
            for c in span.text.chars() {
                let wide = c.width().unwrap_or(0);
                if self.used > 0 && self.used + wide > self.columns {
                    self.all.push(Vec::new());
                    self.used = 0;
                }
                if let Some(line) = self.all.last_mut() {
                    push_span(line, span.style, c.encode_utf8(&mut [0; 4]));
                }
                self.used += wide;
            }
        }
    }
}

/// Breaks a line of code or output wherever it reaches the width.
pub(super) fn fold_line(line: &str, columns: usize) -> Vec<&str> {
    let columns = columns.max(2);
    let mut parts = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, c) in line.char_indices() {
        let wide = c.width().unwrap_or(0);
        if used + wide > columns && at > start {
            parts.extend(line.get(start..at));
            (start, used) = (at, 0);
        }
        used += wide;
    }
    parts.extend(line.get(start..));
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str, columns: usize) -> Vec<String> {
        let wrapped = wrap_spans(&[StyledSpan::plain(text)], columns);
        let line = |spans: &Vec<StyledSpan>| spans.iter().map(|s| s.text.as_str()).collect();
        wrapped.iter().map(line).collect()
    }

    #[test]
    fn words_wrap() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(lines("one  two", 20), ["one  two"]);
        assert_eq!(lines("  in\n    deeper", 20), ["  in", "    deeper"]);
        assert_eq!(lines("日本語日本語", 5), ["日本", "語日", "本語"]);
        assert_eq!(lines("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(
            lines("see https://a.example/b ok", 8),
            ["see", "https://a.example/b", "ok"]
        );
        assert_eq!(lines("", 4), [""]);
    }

    #[test]
    fn styles_stay_inside_words() {
        let bold = Style::new().bold();
        let spans = [
            StyledSpan::plain("a "),
            StyledSpan {
                style: bold,
                text: "bold".to_owned(),
            },
            StyledSpan::plain(", end"),
        ];
        let wrapped = wrap_spans(&spans, 6);
        let text: Vec<String> = wrapped
            .iter()
            .map(|line| line.iter().map(|s| s.text.as_str()).collect())
            .collect();
        assert_eq!(text, ["a", "bold,", "end"]);
        assert_eq!(wrapped[1][0].style, bold);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_no_word_is_lost(
            text in "[a-z日é \n]{0,200}", columns in 2_usize..40
        ) {
            let lines = lines(&text, columns);
            for line in &lines {
                prop_assert!(line.width() <= columns, "{line:?}");
            }
            let letters = |t: &str| t.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }

        #[test]
        fn folded_lines_are_the_line(text in "[a-z日\u{301}]{0,80}", columns in 2_usize..20) {
            let parts = fold_line(&text, columns);
            prop_assert_eq!(parts.concat(), text.as_str());
            for part in parts {
                prop_assert!(part.chars().map(|c| c.width().unwrap_or(0)).sum::<usize>() <= columns);
            }
        }
    }
}
