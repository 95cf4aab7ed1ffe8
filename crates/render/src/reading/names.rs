//! Short names for what every heading names.

use rethread_model::ModelRef;

use crate::View;

/// The agent in a word: `Claude`, `Codex`, `Gemini`.
pub(crate) fn agent_word<'a>(view: &View<'a>) -> &'a str {
    // Only names of known agents can be cut: `Claude Code`, `Gemini CLI`.
    let known = view.agent.and_then(|name| name.split_whitespace().next());
    match known.unwrap_or_else(|| view.agent_name()) {
        "" => "Agent",
        name => name,
    }
}

/// A model without its maker and its date, so that it is still a part of its whole name:
/// `claude-opus-4-5-20251101` is `opus-4-5`.
pub(crate) fn model_label(model: &ModelRef) -> String {
    let id = model.id.rsplit('/').next().unwrap_or(&model.id);
    let id = id.strip_prefix("claude-").unwrap_or(id);
    let is_date = |end: &str| end.len() == 8 && end.bytes().all(|b| b.is_ascii_digit());
    match id.rsplit_once('-') {
        Some((name, end)) if is_date(end) && !name.is_empty() => name.to_owned(),
        _ => id.to_owned(),
    }
}

/// A path as it is seen from the workspace.
pub(crate) fn relative_path<'a>(path: &'a str, workspace: Option<&str>) -> &'a str {
    let inside = workspace
        .filter(|folder| folder.len() > 1)
        .and_then(|folder| path.strip_prefix(folder.trim_end_matches(['/', '\\'])))
        .and_then(|rest| rest.strip_prefix(['/', '\\']))
        .filter(|rest| !rest.is_empty());
    inside.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_keep_a_part_of_their_name() {
        for (id, label) in [
            ("claude-opus-4-5-20251101", "opus-4-5"),
            ("claude-20251101", "20251101"),
            ("openai/gpt-5.5", "gpt-5.5"),
            ("gemini-3-pro", "gemini-3-pro"),
            ("20251101", "20251101"),
            ("", ""),
        ] {
            let model = ModelRef {
                provider: None,
                id: id.to_owned(),
            };
            assert_eq!(model_label(&model), label);
        }
    }

    #[test]
    fn paths_inside_the_workspace_are_short() {
        for (path, workspace, shown) in [
            ("/home/a/shop/src/x.rs", Some("/home/a/shop"), "src/x.rs"),
            ("/home/a/shop/src/x.rs", Some("/home/a/shop/"), "src/x.rs"),
            (
                "/home/a/shopping/x.rs",
                Some("/home/a/shop"),
                "/home/a/shopping/x.rs",
            ),
            ("/home/a/shop", Some("/home/a/shop"), "/home/a/shop"),
            ("D:\\shop\\x.rs", Some("D:\\shop"), "x.rs"),
            ("/etc/passwd", Some("/"), "/etc/passwd"),
            ("/x", None, "/x"),
        ] {
            assert_eq!(relative_path(path, workspace), shown);
        }
    }
}
