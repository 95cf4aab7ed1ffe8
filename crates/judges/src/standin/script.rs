//! What the user wants the model to do: tools named in a prompt.

use serde_json::Value;

/// A tool that the model is to call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestedTool {
    pub(super) name: String,
    pub(super) input: Value,
}

/// The tools in a text: `[[tool:NAME {json}]]`, any number of them.
pub(super) fn parse_requested_tools(text: &str) -> Vec<RequestedTool> {
    // One client puts backslashes before quotes.
    let text = text.replace("\\\"", "\"");
    let mut found = Vec::new();
    for part in text.split("[[tool:").skip(1) {
        let Some((name, rest)) = part.split_once(' ') else {
            continue;
        };
        // What follows the value is the end of the mark, and more text.
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(input)) = values.next() {
            let name = name.to_owned();
            found.push(RequestedTool { name, input });
        }
    }
    found
}

/// All text in a list of blocks, or the text itself.
pub(super) fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter_map(|block| block.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_in_a_prompt() {
        let text = r#"Go [[tool:Read {"path":"a]]b"}]] and [[tool:x.y {}]] [[tool:bad {]]"#;
        let names: Vec<String> = parse_requested_tools(text)
            .into_iter()
            .map(|w| w.name)
            .collect();
        assert_eq!(names, ["Read", "x.y"]);
        assert_eq!(parse_requested_tools(text)[0].input["path"], "a]]b");
    }
}
