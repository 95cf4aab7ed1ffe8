//! The table of instruction counts, and what it means that a count is another.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};

/// How much a count may differ from the table, in percent.
const TOLERANCE: u64 = 3;

/// How many instructions each command takes, and with which compiler.
pub(super) struct CountTable {
    compiler: String,
    /// Thousands of instructions, by the name of the command.
    counts: BTreeMap<String, u64>,
}

/// What the comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Each command takes what the table says, or less.
    Same,
    /// A command takes more, or the table has other commands.
    Changed,
    /// The table is of another compiler, so nothing follows from it.
    OtherCompiler,
}

/// Counts beside those of the table.
pub(super) struct Comparison {
    /// The compiler of the table, if it is another one.
    other_compiler: Option<String>,
    rows: Vec<Row>,
}

/// One command: what the table says, and what was counted.
struct Row {
    name: String,
    before: Option<u64>,
    now: Option<u64>,
}

impl CountTable {
    pub(super) fn new(compiler: String) -> Self {
        let counts = BTreeMap::new();
        Self { compiler, counts }
    }

    /// Adds a command with its instructions.
    pub(super) fn insert(&mut self, name: &str, instructions: u64) {
        let count = instructions.div_ceil(1000);
        self.counts.insert(name.to_owned(), count);
    }

    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The table as it is kept in the repository.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!(
            "# Thousands of instructions of each command, by `cargo xtask bench --quick --save`\ncompiler\t{}\n",
            self.compiler
        );
        for (name, count) in &self.counts {
            let _ = writeln!(text, "{name}\t{count}");
        }
        text
    }

    /// Reads a table.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let compiler = lines
            .next()
            .and_then(|line| line.strip_prefix("compiler\t"));
        let compiler = compiler.context("the table names no compiler")?;
        let mut table = Self::new(compiler.to_owned());
        for line in lines {
            let row = line.split_once('\t');
            let row = row.and_then(|(name, count)| Some((name, count.parse().ok()?)));
            let (name, count) = row.with_context(|| format!("`{line}` is no row of the table"))?;
            if table.counts.insert(name.to_owned(), count).is_some() {
                bail!("`{name}` is in the table twice");
            }
        }
        Ok(table)
    }

    /// Compares what was counted with this table.
    pub(super) fn compare(&self, counted: &Self) -> Comparison {
        let names: std::collections::BTreeSet<&String> =
            self.counts.keys().chain(counted.counts.keys()).collect();
        let rows = names.into_iter().map(|name| Row {
            name: name.clone(),
            before: self.counts.get(name).copied(),
            now: counted.counts.get(name).copied(),
        });
        Comparison {
            other_compiler: (self.compiler != counted.compiler).then(|| self.compiler.clone()),
            rows: rows.collect(),
        }
    }
}

/// How a count stands to that of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    More,
    Less,
    /// Only in the table, or only among what was counted.
    Unknown,
}

impl Row {
    fn change(&self) -> Change {
        let (Some(before), Some(now)) = (self.before, self.now) else {
            return Change::Unknown;
        };
        let (before, now) = (u128::from(before), u128::from(now));
        let tolerance = u128::from(TOLERANCE);
        if now * 100 > before * (100 + tolerance) {
            Change::More
        } else if now * 100 < before * (100 - tolerance) {
            Change::Less
        } else {
            Change::None
        }
    }

    /// What is said about it.
    fn told(&self) -> String {
        match (self.before, self.now) {
            (Some(before), Some(now)) => {
                #[allow(clippy::cast_precision_loss, reason = "it is printed with one digit")]
                let percent = (now as f64 / before.max(1) as f64 - 1.0) * 100.0;
                format!("{percent:+.1} %: {before} before, {now} now (thousands)")
            }
            (None, Some(now)) => format!("not in the table: {now} now (thousands)"),
            (_, None) => "in the table, but no command that is counted".to_owned(),
        }
    }
}

impl Comparison {
    pub(super) fn verdict(&self) -> Verdict {
        let is_wrong = |row: &Row| matches!(row.change(), Change::More | Change::Unknown);
        if self.other_compiler.is_some() {
            Verdict::OtherCompiler
        } else if self.rows.iter().any(is_wrong) {
            Verdict::Changed
        } else {
            Verdict::Same
        }
    }

    /// What is printed: each command that changed, and what to do about it.
    pub(super) fn report(&self) -> String {
        let mut text = String::new();
        if let Some(other) = &self.other_compiler {
            let _ = writeln!(
                text,
                "The table was made with rustc {other}, so this is not an error:"
            );
        }
        for row in &self.rows {
            let word = match row.change() {
                Change::None => continue,
                Change::More => "MORE",
                Change::Less => "less",
                Change::Unknown => "UNKNOWN",
            };
            let _ = writeln!(text, "{word:>8}  {}: {}", row.name, row.told());
        }
        let has = |change| self.rows.iter().any(|row| row.change() == change);
        if has(Change::More) || has(Change::Unknown) {
            let _ = writeln!(
                text,
                "A command may take {TOLERANCE} % more instructions than `xtask/instructions.tsv` says. If it is to take more, or to be in the table, write the table anew with `cargo xtask bench --quick --save`, and say why in the commit."
            );
        } else if has(Change::Less) {
            let _ = writeln!(
                text,
                "Some commands take less than the table says. Keep it that way: `cargo xtask bench --quick --save`"
            );
        } else {
            let _ = writeln!(
                text,
                "{} commands take as many instructions as the table says, within {TOLERANCE} %",
                self.rows.len()
            );
        }
        text
    }
}

/// Instructions in thousands, with a word for it.
pub(super) fn thousands(instructions: u64) -> String {
    format!("{} k", instructions.div_ceil(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(compiler: &str, rows: &[(&str, u64)]) -> CountTable {
        let mut table = CountTable::new(compiler.to_owned());
        for (name, thousands) in rows {
            table.insert(name, thousands * 1000);
        }
        table
    }

    fn compared(before: u64, now: u64) -> Comparison {
        table("1.95", &[("list", before)]).compare(&table("1.95", &[("list", now)]))
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let text = table("1.95 linux", &[("list --json", 12), ("list", 3)]).to_text();
        let read = CountTable::parse(&text).unwrap();
        assert_eq!(read.to_text(), text);
        assert_eq!(read.counts["list --json"], 12);
    }

    #[test]
    fn a_table_that_is_none_is_an_error() {
        let head = "compiler\tx\n";
        for text in ["", "list\t1\n", &format!("{head}list\n")] {
            assert!(CountTable::parse(text).is_err(), "{text}");
        }
        let twice = format!("{head}list\t1\nlist\t2\n");
        assert!(CountTable::parse(&twice).is_err());
    }

    #[test]
    fn three_percent_more_pass_and_no_more_than_that() {
        assert_eq!(compared(1000, 1030).verdict(), Verdict::Same);
        let more = compared(1000, 1031);
        assert_eq!(more.verdict(), Verdict::Changed);
        let report = more.report();
        assert!(
            report.contains("MORE  list: +3.1 %: 1000 before, 1031 now"),
            "{report}"
        );
        assert!(
            report.contains("cargo xtask bench --quick --save"),
            "{report}"
        );
    }

    #[test]
    fn less_passes_and_is_to_be_kept() {
        let less = compared(1000, 969);
        assert_eq!(less.verdict(), Verdict::Same);
        let report = less.report();
        assert!(report.contains("less  list: -3.1 %"), "{report}");
        assert!(report.contains("--quick --save"), "{report}");
        assert!(
            compared(1000, 970)
                .report()
                .starts_with("1 commands take as many")
        );
    }

    #[test]
    fn commands_that_are_on_one_side_only_fail() {
        let (one, both) = ([("list", 1)], [("list", 1), ("show", 1)]);
        for (before, now) in [(&one[..], &both[..]), (&both, &one)] {
            let found = table("1.95", before).compare(&table("1.95", now));
            assert_eq!(found.verdict(), Verdict::Changed);
            assert!(found.report().contains("UNKNOWN  show"));
        }
    }

    #[test]
    fn another_compiler_is_reported_and_does_not_fail() {
        let found = table("1.95", &[("list", 100)]).compare(&table("1.96", &[("list", 200)]));
        assert_eq!(found.verdict(), Verdict::OtherCompiler);
        let report = found.report();
        assert!(report.contains("made with rustc 1.95"), "{report}");
        assert!(report.contains("MORE  list: +100.0 %"), "{report}");
    }
}
