//! What a tool was given, as text.

use rethread_json::{Kind, Tree, Value};
use rethread_model::{ToolCall, ToolInput};

/// Larger inputs are taken as they are spelled.
const LONGEST_INPUT: usize = 64 << 20;

/// What a tool was given: the strings and numbers of its input, a line each, without the names of fields;
/// the changes of files where there is no input.
pub(crate) fn input_text(call: &ToolCall) -> String {
    match &call.input {
        Some(ToolInput::Text(text)) => text.value.clone(),
        Some(ToolInput::Json(json)) => json_text(json.bytes()),
        None => {
            let mut lines = Vec::new();
            for diff in &call.diffs {
                lines.push(diff.path.as_str());
                let texts = [&diff.old, &diff.new].into_iter().flatten();
                lines.extend(texts.map(|text| text.value.as_str()));
            }
            lines.join("\n")
        }
    }
}

fn json_text(bytes: &[u8]) -> String {
    let parsed = (bytes.len() <= LONGEST_INPUT).then(|| Tree::parse(bytes).ok());
    let Some(tree) = parsed.flatten() else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let mut out = String::new();
    // The values that are still to be looked at, the next one last.
    let mut open: Vec<Value<'_>> = vec![tree.root(bytes)];
    while let Some(value) = open.pop() {
        match value.kind() {
            Kind::Object => {
                let start = open.len();
                open.extend(value.members().map(|(_, member)| member));
                open.get_mut(start..).unwrap_or_default().reverse();
            }
            Kind::Array => {
                let start = open.len();
                open.extend(value.items());
                open.get_mut(start..).unwrap_or_default().reverse();
            }
            Kind::String => add_line(&mut out, &value.str().unwrap_or_default()),
            Kind::Number => add_line(&mut out, &String::from_utf8_lossy(value.raw())),
            Kind::Bool | Kind::Null => {}
        }
    }
    out
}

fn add_line(out: &mut String, line: &str) {
    if line.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(line);
}
