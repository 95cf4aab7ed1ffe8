//! Calls of tools with their results, as the client keeps them beside a message.

use rethread_json::{Passed, Skim, Strayed};
use rethread_model::{Blob, Block, Diff, RawRef, ToolCall, ToolInput, ToolResult, ToolStatus};

use super::content::{FunctionResponse, part_block, plain_block};
use crate::few::{Rest, few_next};
use crate::passed::{passed_json, passed_string, passed_text};

/// Where the whole answer of a call is, if it was saved to a file: by the file's name.
pub(super) type Outputs<'a> = &'a dyn Fn(&str) -> Option<Blob>;

/// A call as the client keeps it beside a message.
#[derive(Default)]
pub(super) struct ListedCall<'a> {
    pub(super) id: Option<Passed<'a>>,
    name: Option<Passed<'a>>,
    args: Option<Passed<'a>>,
    /// What was given to it; none where it has no result.
    given: Option<AllGiven<'a>>,
    status: Option<Passed<'a>>,
    display: Option<Passed<'a>>,
    title: Option<Passed<'a>>,
    agent: Option<Passed<'a>>,
}

/// What was given to a call.
struct AllGiven<'a> {
    parts: Vec<CallInputPart<'a>>,
    rest: Option<Rest<'a>>,
}

/// A part of what was given to a call.
struct CallInputPart<'a> {
    part: Passed<'a>,
    response: Option<FunctionResponse<'a>>,
}

impl<'a> ListedCall<'a> {
    /// The calls in a list, and what stands behind those that are told apart.
    pub(super) fn all(skim: &mut Skim<'a>) -> Result<(Vec<Self>, Option<Rest<'a>>), Strayed> {
        let mut calls = Vec::new();
        if !skim.enter_array() {
            skim.pass()?;
            return Ok((calls, None));
        }
        let rest = few_next(skim, |skim| {
            let call = Self::next(skim)?;
            let weight = 1 + call.given.as_ref().map_or(0, |given| given.parts.len());
            calls.push(call);
            Ok(weight)
        })?;
        Ok((calls, rest))
    }

    fn next(skim: &mut Skim<'a>) -> Result<Self, Strayed> {
        let mut call = Self::default();
        if !skim.enter_object() {
            skim.pass()?;
            return Ok(call);
        }
        while let Some(key) = skim.next_key()? {
            let slot = match &*key.bytes() {
                b"id" => &mut call.id,
                b"name" => &mut call.name,
                b"args" => &mut call.args,
                b"status" => &mut call.status,
                b"resultDisplay" => &mut call.display,
                b"displayName" => &mut call.title,
                b"agentId" => &mut call.agent,
                b"result" => {
                    call.given = CallInputPart::all(skim)?;
                    continue;
                }
                _ => {
                    skim.pass()?;
                    continue;
                }
            };
            *slot = Some(skim.pass()?);
        }
        Ok(call)
    }

    /// The call and its result, which follows it.
    pub(super) fn blocks(self, raw: RawRef, outputs: Outputs<'_>) -> Vec<Block> {
        let tool = self.call();
        let result = self.answer(&tool, raw, outputs);
        let result = result.map(Block::ToolResult);
        std::iter::once(Block::ToolCall(tool))
            .chain(result)
            .collect()
    }

    fn call(&self) -> ToolCall {
        let named = |value| passed_string(value).unwrap_or_default();
        ToolCall {
            title: passed_string(self.title),
            input: passed_json(self.args).map(ToolInput::Json),
            status: status(self.status),
            diffs: self.display.and_then(diff).into_iter().collect(),
            child_session: passed_string(self.agent),
            ..ToolCall::new(named(self.id), named(self.name))
        }
    }

    /// The result of the call; none if it has none yet.
    fn answer(&self, tool: &ToolCall, raw: RawRef, outputs: Outputs<'_>) -> Option<ToolResult> {
        let structured = passed_json(self.display);
        if self.given.is_none() && structured.is_none() {
            return None;
        }
        let mut result = ToolResult {
            name: Some(tool.name.clone()),
            is_error: tool.status == ToolStatus::Failed,
            structured,
            full_output: outputs(&output_name(&tool.name, &tool.id)),
            ..ToolResult::new(tool.id.as_str())
        };
        if let Some(given) = &self.given {
            add_given(given, raw, &mut result);
        } else if let Some(shown) = self.display.and_then(passed_text) {
            result.blocks.push(Block::Text(shown));
        }
        Some(result)
    }
}

impl<'a> CallInputPart<'a> {
    /// What was given: one part, or an array of parts; none for `null`.
    fn all(skim: &mut Skim<'a>) -> Result<Option<AllGiven<'a>>, Strayed> {
        let mut parts = Vec::new();
        if skim.enter_array() {
            let rest = few_next(skim, |skim| {
                parts.push(Self::next(skim)?);
                Ok(1)
            })?;
            return Ok(Some(AllGiven { parts, rest }));
        }
        let lone = Self::next(skim)?;
        if lone.part.is_null() {
            return Ok(None);
        }
        parts.push(lone);
        Ok(Some(AllGiven { parts, rest: None }))
    }

    fn next(skim: &mut Skim<'a>) -> Result<Self, Strayed> {
        let start = skim.offset();
        let mut response = None;
        if !skim.enter_object() {
            let part = skim.pass()?;
            return Ok(Self { part, response });
        }
        while let Some(key) = skim.next_key()? {
            match &*key.bytes() {
                b"functionResponse" => response = FunctionResponse::next(skim)?,
                _ => drop(skim.pass()?),
            }
        }
        let part = skim.since(start);
        Ok(Self { part, response })
    }

    /// Whether it answers this call; none where it says of no call that it does.
    fn answers(&self, call: &str) -> Option<bool> {
        Some(self.response.as_ref()?.id()? == call)
    }
}

/// Adds what was given to a call. When the client resumes a session, it puts the results of all
/// calls beside each: then only that with the call's id is its own.
fn add_given(given: &AllGiven<'_>, raw: RawRef, result: &mut ToolResult) {
    let call = result.call_id.clone();
    let AllGiven { parts, rest } = given;
    let has_own = parts.iter().any(|part| part.answers(&call) == Some(true));
    for CallInputPart { part, response } in parts
        .iter()
        .filter(|part| !(has_own && part.answers(&call) == Some(false)))
    {
        match response {
            Some(response) => response.add(raw, result),
            None => result.blocks.push(plain_block(part_block(*part, raw))),
        }
    }
    result.blocks.extend(rest.map(Rest::block));
}

fn status(word: Option<Passed<'_>>) -> ToolStatus {
    match passed_string(word).as_deref() {
        Some("success") => ToolStatus::Completed,
        Some("error") => ToolStatus::Failed,
        Some("cancelled") => ToolStatus::Cancelled,
        Some("executing") => ToolStatus::Running,
        None | Some("scheduled" | "validating" | "awaiting_approval") => ToolStatus::Pending,
        Some(other) => ToolStatus::Other(other.to_owned()),
    }
}

/// The change of a file that the client shows to the person.
fn diff(display: Passed<'_>) -> Option<Diff> {
    let [diff, path, name, old, new] = display.pick([
        "fileDiff",
        "filePath",
        "fileName",
        "originalContent",
        "newContent",
    ]);
    diff?;
    Some(Diff {
        path: passed_string(path).or_else(|| passed_string(name))?,
        old: old.and_then(passed_text),
        new: new.and_then(passed_text),
    })
}

/// The name of the file in which the client saves an answer that is too long, without its ending.
pub(super) fn output_name(tool: &str, id: &str) -> String {
    let safe = |text: &str| sanitized_text(text).to_lowercase();
    let (tool, id) = (safe(tool), safe(id));
    if id.starts_with(&tool) {
        id
    } else {
        format!("{tool}_{id}")
    }
}

/// Text as the client makes it fit for the name of a file.
pub(super) fn sanitized_text(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    // It counts in UTF-16.
    let one = |c: char| {
        if fits(c) {
            c.to_string()
        } else {
            "_".repeat(c.len_utf16())
        }
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_saved_outputs() {
        for (tool, id, name) in [
            (
                "run_shell_command",
                "run_shell_command__fc_1",
                "run_shell_command__fc_1",
            ),
            ("read_file", "call.1/x", "read_file_call_1_x"),
            ("Grep", "GREP-😀", "grep-__"),
        ] {
            assert_eq!(output_name(tool, id), name);
        }
    }
}
