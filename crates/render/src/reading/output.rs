//! What a tool printed, without what its client wrote around it.

use std::borrow::Cow;

use rethread_model::{Block, ToolResult};
use serde_json::Value;

use crate::tool::flat_blocks;

/// So much of a text is looked at for what a client wrote before the output.
const LOOK: usize = 600;

/// What one text of a result says.
pub(crate) struct ToolOutput<'a> {
    /// What the tool printed.
    pub(crate) text: Cow<'a, str>,
    /// How long it took, where the client wrote that.
    pub(crate) duration_ms: Option<f64>,
}

impl<'a> ToolOutput<'a> {
    /// Takes a text apart.
    pub(crate) fn parse(text: &'a str) -> Self {
        parse_packed(text)
            .or_else(|| below_heading(text))
            .unwrap_or_else(|| Self {
                text: strip_tags(text).into(),
                duration_ms: None,
            })
    }

    /// How many lines a result has, and how long its tool took.
    pub(crate) fn measure_result(result: &ToolResult) -> (u64, Option<f64>) {
        let mut lines = 0;
        let mut took = None;
        for block in flat_blocks(&result.blocks) {
            if let Block::Text(text) = block {
                let output = ToolOutput::parse(&text.value);
                lines += output.text.trim_end().lines().count() as u64;
                took = took.or(output.duration_ms);
            }
        }
        (lines, took)
    }
}

/// Codex writes facts above the output, each on a line.
fn below_heading(text: &str) -> Option<ToolOutput<'_>> {
    let start = text.get(..text.floor_char_boundary(LOOK))?;
    let is_fact = |line: &str| {
        let facts = [
            "Chunk ID: ",
            "Wall time: ",
            "Exit code: ",
            "Process exited with code ",
            "Process running with session ID ",
            "Original token count: ",
            "Total output lines: ",
            "Duration: ",
        ];
        facts.iter().any(|fact| line.starts_with(fact))
    };
    let mut took = None;
    let mut at = 0;
    for (facts, line) in start.split_inclusive('\n').enumerate() {
        at += line.len();
        let line = line.trim_end();
        if line == "Output:" && facts > 0 {
            return Some(ToolOutput {
                text: text.get(at..)?.into(),
                duration_ms: took,
            });
        }
        if !is_fact(line) {
            return None;
        }
        if let Some(rest) = line.strip_prefix("Wall time: ") {
            let seconds: Option<f64> = rest.split(' ').next().and_then(|n| n.parse().ok());
            took = seconds.map(|s| s * 1000.0).filter(|ms| *ms > 0.0);
        }
    }
    None
}

/// Earlier versions of Codex wrote the output into an object with facts beside it.
fn parse_packed(text: &str) -> Option<ToolOutput<'_>> {
    if !text.starts_with("{\"output\":") {
        return None;
    }
    let Value::Object(mut object) = serde_json::from_str(text).ok()? else {
        return None;
    };
    let seconds = object.get("metadata")?.get("duration_seconds");
    let took = seconds.and_then(Value::as_f64).map(|s| s * 1000.0);
    let Value::String(output) = object.remove("output")? else {
        return None;
    };
    Some(ToolOutput {
        text: output.into(),
        duration_ms: took.filter(|ms| *ms > 0.0),
    })
}

/// Claude Code sets errors and the beginnings of long outputs in tags.
fn strip_tags(text: &str) -> &str {
    let tags = [
        ("<tool_use_error>", "</tool_use_error>"),
        ("<persisted-output>", "</persisted-output>"),
    ];
    let inside = |(open, close): &(&str, &str)| {
        let rest = text.trim().strip_prefix(open)?.strip_suffix(close)?;
        Some(rest.trim_start_matches('\n'))
    };
    tags.iter().find_map(inside).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_without_what_clients_write_around_them() {
        for (text, printed, took) in [
            (
                "Chunk ID: a\nWall time: 0.9845 seconds\nProcess exited with code 0\nOutput:\na\nb\n",
                "a\nb\n",
                Some(984.5),
            ),
            (
                "Exit code: 1\nWall time: 2 seconds\nOutput:\n",
                "",
                Some(2000.0),
            ),
            (
                "Exit code: 1\nhm\nOutput:\nx",
                "Exit code: 1\nhm\nOutput:\nx",
                None,
            ),
            ("Output:\nx", "Output:\nx", None),
            (
                r#"{"output":"a\n","metadata":{"exit_code":0,"duration_seconds":0.5}}"#,
                "a\n",
                Some(500.0),
            ),
            (r#"{"output":1}"#, r#"{"output":1}"#, None),
            (
                "<tool_use_error>File not found</tool_use_error>",
                "File not found",
                None,
            ),
            ("", "", None),
        ] {
            let output = ToolOutput::parse(text);
            assert_eq!(output.text, printed);
            assert_eq!(output.duration_ms, took);
        }
    }
}
