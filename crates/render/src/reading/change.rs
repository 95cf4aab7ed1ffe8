//! Changes of text, line by line.

use std::borrow::Cow;

use serde_json::Value;
use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

/// So many changed lines are compared; of more, all that went stands above all that came.
const MOST_LINES: usize = 500;

/// So many lines around a change are shown.
const CONTEXT: usize = 3;

/// A change of one file.
pub(crate) struct FileChange<'a> {
    /// The file; empty where it is that of the call.
    pub(crate) path: Cow<'a, str>,
    /// What else became of it: `new file`, `removed`, `moved to …`.
    pub(crate) note: Option<String>,
    /// Its lines.
    pub(crate) change: Change<'a>,
}

/// A change, line by line.
#[derive(Default)]
pub(crate) struct Change<'a> {
    pub(crate) lines: Vec<ChangedLine<'a>>,
}

/// A line of a change.
#[derive(Clone)]
pub(crate) struct ChangedLine<'a> {
    pub(crate) mark: LineMark,
    /// Its number in the file, where that is known: of a line that went, in the file before.
    pub(crate) number: Option<u64>,
    pub(crate) text: Cow<'a, str>,
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineMark {
    Same,
    Gone,
    Come,
    /// Lines are left out here.
    Gap,
}

impl<'a> Change<'a> {
    /// The change from one text to another. Lines have numbers if the texts are whole files.
    pub(crate) fn between_texts(old: &'a str, new: &'a str, whole: bool) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
        let tail = rest.take_while(|(a, b)| a == b).count();
        let (gone, come) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
        let before = head.saturating_sub(CONTEXT);
        let mut change = ChangeBuilder {
            lines: Vec::new(),
            at: whole.then_some((before as u64 + 1, before as u64 + 1)),
        };
        if before > 0 {
            change.skip_lines(0);
        }
        change.add_lines(LineMark::Same, &old[before..head]);
        if gone.len() > MOST_LINES || come.len() > MOST_LINES {
            change.add_lines(LineMark::Gone, gone);
            change.add_lines(LineMark::Come, come);
        } else {
            compare_lines(&mut change, gone, come);
        }
        let behind = &old[old.len() - tail..];
        let shown = behind.len().min(CONTEXT);
        change.add_lines(LineMark::Same, &behind[..shown]);
        if shown < behind.len() {
            change.skip_lines(0);
        }
        Self {
            lines: change.lines,
        }
    }

    /// A file that is new: all of its lines came.
    pub(crate) fn new_file(text: &'a str) -> Self {
        let mut change = ChangeBuilder {
            lines: Vec::new(),
            at: Some((1, 1)),
        };
        for line in text.lines() {
            change.push_line(LineMark::Come, line.into());
        }
        Self {
            lines: change.lines,
        }
    }

    /// The hunks that Claude Code keeps: `[{"oldStart":1,"newStart":1,"lines":[" a","-b"]}]`.
    pub(crate) fn of_hunks(hunks: &[Value]) -> Option<Change<'static>> {
        let mut change = ChangeBuilder {
            lines: Vec::new(),
            at: None,
        };
        for (at, hunk) in hunks.iter().enumerate() {
            let start = |name: &str| hunk.get(name).and_then(Value::as_u64);
            change.at = start("oldStart").zip(start("newStart"));
            if at > 0 {
                change.skip_lines(0);
            }
            for line in hunk.get("lines")?.as_array()? {
                let (mark, text) = split_mark(line.as_str()?)?;
                change.push_line(mark, text.to_owned().into());
            }
        }
        let lines = change.lines;
        (!lines.is_empty()).then_some(Change { lines })
    }

    /// A change as pi keeps it: each line is its mark, its number and its text.
    pub(crate) fn of_numbered(text: &str) -> Option<Change<'static>> {
        let mut lines = Vec::new();
        for line in text.lines() {
            let (mark, rest) = split_mark(line)?;
            let rest = rest.trim_start();
            if rest == "..." {
                lines.push(ChangedLine::gap());
                continue;
            }
            let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let number = Some(number.parse().ok()?);
            let text = text.to_owned().into();
            lines.push(ChangedLine { mark, number, text });
        }
        let is_gap = |line: &ChangedLine<'_>| line.mark == LineMark::Gap;
        (!lines.iter().all(is_gap)).then_some(Change { lines })
    }

    /// How many lines came and went.
    pub(crate) fn line_counts(&self) -> (u64, u64) {
        let count = |mark| self.lines.iter().filter(|l| l.mark == mark).count() as u64;
        (count(LineMark::Come), count(LineMark::Gone))
    }
}

impl ChangedLine<'_> {
    /// The line without what it was taken from.
    pub(super) fn into_owned(self) -> ChangedLine<'static> {
        ChangedLine {
            mark: self.mark,
            number: self.number,
            text: self.text.into_owned().into(),
        }
    }

    fn gap() -> Self {
        Self {
            mark: LineMark::Gap,
            number: None,
            text: "".into(),
        }
    }
}

/// Numbers lines as they are added.
struct ChangeBuilder<'a> {
    lines: Vec<ChangedLine<'a>>,
    /// The number of the next line, before and after the change.
    at: Option<(u64, u64)>,
}

impl<'a> ChangeBuilder<'a> {
    fn push_line(&mut self, mark: LineMark, text: Cow<'a, str>) {
        let number = match (&mut self.at, mark) {
            (Some((old, new)), LineMark::Same) => {
                (*old, *new) = (old.saturating_add(1), new.saturating_add(1));
                Some(*new - 1)
            }
            (Some((old, _)), LineMark::Gone) => {
                *old = old.saturating_add(1);
                Some(*old - 1)
            }
            (Some((_, new)), LineMark::Come) => {
                *new = new.saturating_add(1);
                Some(*new - 1)
            }
            (None, _) | (Some(_), LineMark::Gap) => None,
        };
        self.lines.push(ChangedLine { mark, number, text });
    }

    fn add_lines(&mut self, mark: LineMark, lines: &[&'a str]) {
        for line in lines {
            self.push_line(mark, (*line).into());
        }
    }

    /// Leaves out lines that did not change.
    fn skip_lines(&mut self, lines: u64) {
        if let Some((old, new)) = &mut self.at {
            (*old, *new) = (old.saturating_add(lines), new.saturating_add(lines));
        }
        self.lines.push(ChangedLine::gap());
    }
}

fn compare_lines<'a>(change: &mut ChangeBuilder<'a>, old: &[&'a str], new: &[&'a str]) {
    let ops = capture_diff_slices(Algorithm::Myers, old, new);
    let mut seen = 0;
    for (at, group) in group_diff_ops(ops, CONTEXT).iter().enumerate() {
        let start = group.first().map_or(seen, |op| op.old_range().start);
        if at > 0 {
            change.skip_lines((start - seen) as u64);
        }
        for op in group {
            let same = op.tag() == DiffTag::Equal;
            let mark = if same { LineMark::Same } else { LineMark::Gone };
            change.add_lines(mark, &old[op.old_range()]);
            if !same {
                change.add_lines(LineMark::Come, &new[op.new_range()]);
            }
            seen = op.old_range().end;
        }
    }
}

/// What the first character of a line of a patch says.
fn split_mark(line: &str) -> Option<(LineMark, &str)> {
    if let Some(rest) = line.strip_prefix('+') {
        return Some((LineMark::Come, rest));
    }
    if let Some(rest) = line.strip_prefix('-') {
        return Some((LineMark::Gone, rest));
    }
    match line.strip_prefix(' ') {
        Some(rest) => Some((LineMark::Same, rest)),
        None if line.is_empty() => Some((LineMark::Same, "")),
        None => None,
    }
}

/// Whether a text is a change as programs write it: of `diff`, of git, or of `apply_patch`.
pub(crate) fn is_patch(text: &str) -> bool {
    text.starts_with("*** Begin Patch")
        || text.starts_with("diff --git ")
        || text.starts_with("Index: ") && text.contains("\n+++ ")
        || text.starts_with("--- ") && text.lines().nth(1).is_some_and(|l| l.starts_with("+++ "))
}

/// How many lines such a text adds and takes away.
pub(crate) fn patch_counts(text: &str) -> (u64, u64) {
    let count = |mark: char, head: &str| {
        let lines = text.lines().filter(|l| l.starts_with(mark));
        lines.filter(|l| !l.starts_with(head)).count() as u64
    };
    (count('+', "+++ "), count('-', "--- "))
}

impl<'a> FileChange<'a> {
    /// The files that a patch changes.
    pub(crate) fn of_patch(text: &'a str) -> Vec<Self> {
        let mut files: Vec<Self> = Vec::new();
        let mut counting = ChangeBuilder {
            lines: Vec::new(),
            at: None,
        };
        let mut old_path = "";
        for line in text.lines() {
            let in_hunk = !counting.lines.is_empty() || counting.at.is_some();
            let verbs = [
                ("*** Update File: ", None),
                ("*** Add File: ", Some("new file")),
                ("*** Delete File: ", Some("removed")),
            ];
            let begun = verbs
                .iter()
                .find_map(|(verb, note)| Some((line.strip_prefix(verb)?, *note)));
            if let Some((path, note)) = begun {
                finish_file(&mut files, &mut counting);
                files.push(Self::new(path, note));
            } else if let Some(target) = line.strip_prefix("*** Move to: ") {
                if let Some(file) = files.last_mut() {
                    file.note = Some(format!("moved to {target}"));
                }
            } else if line.starts_with("*** ") || line.starts_with("\\ No newline") {
            } else if line.starts_with("diff --git ") || line.starts_with("Index: ") {
                finish_file(&mut files, &mut counting);
                old_path = "";
            } else if let Some(path) = line.strip_prefix("--- ").filter(|_| !in_hunk) {
                old_path = diff_path(path);
            } else if let Some(path) = line.strip_prefix("+++ ").filter(|_| !in_hunk) {
                let (path, note) = match (old_path, diff_path(path)) {
                    ("/dev/null", new) => (new, Some("new file")),
                    (old, "/dev/null") => (old, Some("removed")),
                    (_, new) => (new, None),
                };
                files.push(Self::new(path, note));
            } else if line.starts_with("@@") {
                if !counting.lines.is_empty() {
                    counting.skip_lines(0);
                }
                counting.at = hunk_start(line);
            } else if !files.is_empty()
                && let Some((mark, text)) = split_mark(line)
            {
                counting.push_line(mark, text.into());
            }
        }
        finish_file(&mut files, &mut counting);
        files
    }

    fn new(path: &'a str, note: Option<&str>) -> Self {
        Self {
            path: path.trim().into(),
            note: note.map(str::to_owned),
            change: Change::default(),
        }
    }
}

/// Hands the lines over to the file that they belong to.
fn finish_file<'a>(files: &mut [FileChange<'a>], counting: &mut ChangeBuilder<'a>) {
    let lines = std::mem::take(&mut counting.lines);
    counting.at = None;
    if let Some(file) = files.last_mut() {
        file.change.lines.extend(lines);
    }
}

/// The path behind `---` or `+++`, without the letter of git and the time of `diff`.
fn diff_path(path: &str) -> &str {
    let path = path.split('\t').next().unwrap_or(path).trim();
    let letters = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
    letters.unwrap_or(path)
}

/// The first lines of a hunk: `@@ -1,2 +3,4 @@`.
fn hunk_start(line: &str) -> Option<(u64, u64)> {
    let mut words = line.split(' ').skip(1);
    let mut first = |mark| {
        let word = words.next()?.strip_prefix(mark)?;
        word.split(',').next()?.parse().ok()
    };
    Some((first('-')?, first('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(change: &Change<'_>) -> String {
        let line = |line: &ChangedLine<'_>| {
            let mark = match line.mark {
                LineMark::Same => ' ',
                LineMark::Gone => '-',
                LineMark::Come => '+',
                LineMark::Gap => '~',
            };
            let number = line.number.map_or(String::new(), |n| n.to_string());
            format!("{number}{mark}{}", line.text)
        };
        let lines: Vec<String> = change.lines.iter().map(line).collect();
        lines.join("|")
    }

    #[test]
    fn changes_stand_among_the_lines_around_them() {
        let change = Change::between_texts("a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\ne\nF\n", false);
        assert_eq!(shown(&change), " a|-b|+B| c| d| e|-f|+F");
        assert_eq!(change.line_counts(), (2, 2));
        let lines: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        let old = lines.join("\n");
        let new = old.replace("\n10\n", "\nten\n").replace("\n20\n", "\n");
        let change = Change::between_texts(&old, &new, false);
        assert_eq!(
            shown(&change),
            "~| 7| 8| 9|-10|+ten| 11| 12| 13|~| 17| 18| 19|-20| 21| 22| 23|~"
        );
        let change = Change::between_texts(&old, &new, true);
        assert_eq!(
            shown(&change),
            "~|8 7|9 8|10 9|11-10|11+ten|12 11|13 12|14 13|~|18 17|19 18|20 19|21-20|21 21|22 22|23 23|~"
        );
    }

    #[test]
    fn nothing_to_compare() {
        assert_eq!(shown(&Change::between_texts("", "a\n", false)), "+a");
        assert_eq!(shown(&Change::between_texts("a", "", false)), "-a");
        assert_eq!(shown(&Change::between_texts("", "", true)), "");
        let many = "x\n".repeat(MOST_LINES + 1);
        assert_eq!(
            Change::between_texts(&many, "y\n", false).line_counts(),
            (1, 501)
        );
    }

    #[test]
    fn patches_of_several_files() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n x\n-y\n+z\n*** Add File: b.rs\n+new\n*** Delete File: c.rs\n*** End Patch";
        let files = FileChange::of_patch(patch);
        let all: Vec<(String, Option<&str>, String)> = files
            .iter()
            .map(|f| (f.path.to_string(), f.note.as_deref(), shown(&f.change)))
            .collect();
        assert_eq!(
            all,
            [
                ("a.rs".to_owned(), None, " x|-y|+z".to_owned()),
                ("b.rs".to_owned(), Some("new file"), "+new".to_owned()),
                ("c.rs".to_owned(), Some("removed"), String::new()),
            ]
        );
        let git =
            "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ fn\n a\n--- b\n+c\n";
        let files = FileChange::of_patch(git);
        assert_eq!(files.len(), 1);
        assert_eq!(shown(&files[0].change), "3 a|4--- b|4+c");
        for odd in ["", "@@", "+x", "--- a\n+++ b\n@@ -x +y @@\n+z"] {
            let _ = FileChange::of_patch(odd);
        }
    }

    #[test]
    fn changes_that_agents_keep() {
        let hunks: Value = serde_json::from_str(
            r#"[{"oldStart":12,"newStart":12,"lines":["-a","+b"," c"]},{"oldStart":40,"newStart":41,"lines":["-d"]}]"#,
        )
        .unwrap();
        let change = Change::of_hunks(hunks.as_array().unwrap()).unwrap();
        assert_eq!(shown(&change), "12-a|12+b|13 c|~|40-d");
        assert!(Change::of_hunks(&[Value::Null]).is_none());
        let change = Change::of_numbered("   9 same\n-10 old\n+10 new\n     ...").unwrap();
        assert_eq!(shown(&change), "9 same|10-old|10+new|~");
        assert!(Change::of_numbered("hello").is_none());
    }
}
