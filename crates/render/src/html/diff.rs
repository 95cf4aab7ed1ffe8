//! Changes of text, line by line.

use std::io;

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

use super::links::linked;
use super::out::Out;

/// So many changed lines are compared; of more, all that went stands above all that came.
const MOST_LINES: usize = 500;

/// So many lines around a change are shown.
const CONTEXT: usize = 3;

/// A change, line by line.
pub(super) struct Change<'a> {
    lines: Vec<(Mark, &'a str)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Same,
    Gone,
    Come,
    /// Lines are left out here.
    Gap,
}

impl<'a> Change<'a> {
    pub(super) fn between(old: &'a str, new: &'a str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
        let tail = rest.take_while(|(a, b)| a == b).count();
        let (gone, come) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
        let mut lines = Vec::new();
        let before = head.saturating_sub(CONTEXT);
        if before > 0 {
            lines.push((Mark::Gap, ""));
        }
        lines.extend(old[before..head].iter().map(|l| (Mark::Same, *l)));
        if gone.len() > MOST_LINES || come.len() > MOST_LINES {
            lines.extend(gone.iter().map(|l| (Mark::Gone, *l)));
            lines.extend(come.iter().map(|l| (Mark::Come, *l)));
        } else {
            compare(&mut lines, gone, come);
        }
        let behind = &old[old.len() - tail..];
        let shown = behind.len().min(CONTEXT);
        lines.extend(behind[..shown].iter().map(|l| (Mark::Same, *l)));
        if shown < behind.len() {
            lines.push((Mark::Gap, ""));
        }
        Self { lines }
    }

    /// How many lines came and went.
    pub(super) fn counts(&self) -> (u64, u64) {
        let count = |mark| self.lines.iter().filter(|(m, _)| *m == mark).count() as u64;
        (count(Mark::Come), count(Mark::Gone))
    }

    pub(super) fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        out.raw("<pre class=diff>")?;
        for (mark, line) in &self.lines {
            let (open, close) = match mark {
                Mark::Same => ("<span> ", "\n</span>"),
                Mark::Gone => ("<del>-", "\n</del>"),
                Mark::Come => ("<ins>+", "\n</ins>"),
                Mark::Gap => ("<span class=gap>⋯", "\n</span>"),
            };
            out.raw(open)?;
            linked(out, line)?;
            out.raw(close)?;
        }
        out.raw("</pre>\n")
    }
}

fn compare<'a>(lines: &mut Vec<(Mark, &'a str)>, old: &[&'a str], new: &[&'a str]) {
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
    for (at, group) in group_diff_ops(ops, CONTEXT).iter().enumerate() {
        if at > 0 {
            lines.push((Mark::Gap, ""));
        }
        for op in group {
            let same = op.tag() == DiffTag::Equal;
            let mark = if same { Mark::Same } else { Mark::Gone };
            lines.extend(old[op.old_range()].iter().map(|l| (mark, *l)));
            if !same {
                lines.extend(new[op.new_range()].iter().map(|l| (Mark::Come, *l)));
            }
        }
    }
}

/// Whether a text is a change as programs write it: of `diff`, of git, or of `apply_patch`.
pub(super) fn is_diff(text: &str) -> bool {
    text.starts_with("*** Begin Patch")
        || text.starts_with("diff --git ")
        || text.starts_with("--- ") && text.lines().nth(1).is_some_and(|l| l.starts_with("+++ "))
}

/// Writes such a text, its lines in colours.
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

/// How many lines such a text adds and takes away.
pub(super) fn unified_counts(text: &str) -> (u64, u64) {
    let count = |mark: char, head: &str| {
        let lines = text.lines().filter(|l| l.starts_with(mark));
        lines.filter(|l| !l.starts_with(head)).count() as u64
    };
    (count('+', "+++ "), count('-', "--- "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(change: &Change<'_>) -> String {
        let line = |(mark, line): &(Mark, &str)| {
            let mark = match mark {
                Mark::Same => ' ',
                Mark::Gone => '-',
                Mark::Come => '+',
                Mark::Gap => '~',
            };
            format!("{mark}{line}")
        };
        let lines: Vec<String> = change.lines.iter().map(line).collect();
        lines.join("|")
    }

    #[test]
    fn changes_stand_among_the_lines_around_them() {
        let change = Change::between("a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\ne\nF\n");
        assert_eq!(shown(&change), " a|-b|+B| c| d| e|-f|+F");
        assert_eq!(change.counts(), (2, 2));
        let lines: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        let old = lines.join("\n");
        let new = old.replace("\n10\n", "\nten\n").replace("\n20\n", "\n");
        let change = Change::between(&old, &new);
        assert_eq!(
            shown(&change),
            "~| 7| 8| 9|-10|+ten| 11| 12| 13|~| 17| 18| 19|-20| 21| 22| 23|~"
        );
    }

    #[test]
    fn nothing_to_compare() {
        assert_eq!(shown(&Change::between("", "a\n")), "+a");
        assert_eq!(shown(&Change::between("a", "")), "-a");
        assert_eq!(shown(&Change::between("", "")), "");
        let many = "x\n".repeat(MOST_LINES + 1);
        assert_eq!(Change::between(&many, "y\n").counts(), (1, 501));
    }
}
