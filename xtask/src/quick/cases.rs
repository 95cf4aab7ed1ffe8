//! The commands whose instructions are counted.

/// The long session of Claude Code.
pub(super) const CLAUDE: &str = "11111111-1111-4111-8111-111111111111";
/// The long session of Codex CLI.
pub(super) const CODEX: &str = "01a1d000-0000-7000-8000-222222222222";
/// The long session of pi.
pub(super) const PI: &str = "01a1d000-0000-7000-8000-333333333333";

/// A command.
pub(super) struct Case {
    /// What the table calls it.
    pub(super) name: String,
    /// Its arguments.
    pub(super) args: Vec<String>,
}

/// The arguments of each command, as words; the long sessions are named by their agents.
const LINES: &[&str] = &[
    "--version",
    "--help",
    "",
    "agents",
    "list",
    "list --json",
    "list --subagents --hidden --json",
    "show CLAUDE",
    "show CLAUDE --json",
    "show CLAUDE --to markdown",
    "show CODEX",
    "show PI",
    "show gemini:latest",
    "show opencode:latest",
    "show agentuse:latest",
    "show atsf:latest",
    "tree CLAUDE",
    "tree PI",
    "context CLAUDE",
    "context CODEX",
    "context PI",
    "context opencode:latest",
    "export CLAUDE -o -",
    "export CODEX -o -",
    "export PI -o -",
    "export CLAUDE --lean -o -",
    "export CLAUDE -o out.md",
    "export CLAUDE -o out.html",
    "export CLAUDE -o out.ndjson.zst",
    "export -o -",
    "convert CLAUDE --to atsf",
    "convert CLAUDE --to agentuse",
    "convert CLAUDE --to codex",
    "convert CLAUDE --to gemini",
    "convert CLAUDE --to opencode",
    "convert CLAUDE --to pi",
    "convert CLAUDE --to atomic",
    "convert CLAUDE --to ndjson -o out",
    "convert CLAUDE --to codex --lean",
    "convert CODEX --to claude-code",
    "convert PI --to claude-code",
    "convert opencode:latest --to claude-code",
    "convert agentuse:latest --to claude-code",
    "check CLAUDE",
    "check CODEX",
    "check .",
    "new --format claude-code --title Title",
    "append CLAUDE word",
    "append CODEX word",
    "append PI word",
    "append opencode:latest word",
    "append atsf:latest word",
    "fork CLAUDE",
    "fork CODEX",
    "fork PI",
    "rename CLAUDE Title",
    "rename PI Title",
    "label PI 00020000 word",
    "rm CLAUDE --force",
    "resume CLAUDE --print",
    "resume CLAUDE --in codex --print",
    "msg send ben word --as ann",
    "msg inbox --as ann",
];

/// All of them.
pub(super) fn all() -> Vec<Case> {
    let case = |line: &&str| Case {
        name: if line.is_empty() { "overview" } else { line }.to_owned(),
        args: line.split_whitespace().map(argument).collect(),
    };
    LINES.iter().map(case).collect()
}

fn argument(word: &str) -> String {
    match word {
        "CLAUDE" => CLAUDE,
        "CODEX" => CODEX,
        "PI" => PI,
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_there_once() {
        let mut names: Vec<_> = all().into_iter().map(|case| case.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| !name.contains('\t')));
    }
}
