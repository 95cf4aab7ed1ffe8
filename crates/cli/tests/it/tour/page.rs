//! What a page shows of commands: blocks of `console`, with a `$` before each command.

/// A block of commands and what they print.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// Where its first command begins, and where its last output ends.
    pub(super) begin: usize,
    pub(super) end: usize,
    pub(super) shown: Vec<Shown<'a>>,
}

/// A command, and what the page shows behind it.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) command: &'a str,
    /// Without the empty line that parts it from the next command.
    pub(super) output: &'a str,
    /// Whether a command follows.
    is_parted: bool,
}

const FENCE: &str = "```console\n";
const ELISION: &str = "…";

impl<'a> Block<'a> {
    /// All blocks of a page.
    pub(super) fn all(text: &'a str) -> Vec<Self> {
        let mut blocks = Vec::new();
        let mut at = 0;
        while let Some(found) = text[at..].find(FENCE) {
            let begin = at + found + FENCE.len();
            let end = begin + text[begin..].find("```").unwrap();
            blocks.push(Self {
                begin,
                end,
                shown: shown(&text[begin..end]),
            });
            at = end;
        }
        blocks
    }
}

/// The commands of a block.
pub(super) fn commands<'a>(block: &'a Block<'a>) -> impl Iterator<Item = &'a str> {
    block.shown.iter().map(|shown| shown.command)
}

fn shown(block: &str) -> Vec<Shown<'_>> {
    let block = block
        .strip_prefix("$ ")
        .expect("a block begins with a command");
    let last = block.matches("\n$ ").count();
    let each = block.split("\n$ ").enumerate();
    each.map(|(number, one)| {
        let (command, output) = one.split_once('\n').unwrap_or((one, ""));
        Shown {
            command,
            output: output.trim_end_matches('\n'),
            is_parted: number < last,
        }
    })
    .collect()
}

impl Shown<'_> {
    /// Whether this is what the command printed.
    pub(super) fn fits(&self, answer: &str) -> bool {
        let Some((head, tail)) = self.elided() else {
            return self.output == answer;
        };
        let (head, tail) = (head.join("\n"), tail.join("\n"));
        answer.len() >= head.len() + tail.len()
            && answer.starts_with(&head)
            && answer.ends_with(&tail)
    }

    /// The lines before and behind an elision.
    fn elided(&self) -> Option<(Vec<&str>, Vec<&str>)> {
        let lines: Vec<&str> = self.output.lines().collect();
        let at = lines.iter().position(|line| *line == ELISION)?;
        Some((lines[..at].to_vec(), lines[at + 1..].to_vec()))
    }

    /// The command with this output, with as many lines before and behind an elision as there are
    /// now.
    pub(super) fn with(&self, answer: &str) -> String {
        let lines: Vec<&str> = answer.lines().collect();
        let output = match self.elided() {
            Some((head, tail)) if lines.len() > head.len() + tail.len() => {
                let (first, last) = (&lines[..head.len()], &lines[lines.len() - tail.len()..]);
                let all = first.iter().chain(&[ELISION]).chain(last);
                all.copied().collect::<Vec<_>>().join("\n")
            }
            _ => answer.to_owned(),
        };
        let end = if output.is_empty() { "" } else { "\n" };
        let between = if self.is_parted { "\n" } else { "" };
        format!("$ {}\n{output}{end}{between}", self.command)
    }
}
