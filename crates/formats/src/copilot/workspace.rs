//! The file that names a session: flat YAML, of which two members matter.

use std::path::Path;

use rethread_disk::read_small;
use rethread_json::Tree;
use rethread_model::{Title, TitleSource};

use super::store::FOLDERS;
use crate::first_prompt::FirstPrompt;

/// The file in a session's folder.
pub(super) const WORKSPACE: &str = "workspace.yaml";

/// What a session is called: as the person named it, else as the client did, unless that is only the
/// beginning of the first prompt, of which we make titles ourselves.
pub(super) fn title(log: &Path, prompt: &FirstPrompt) -> Option<Title> {
    let stored = FOLDERS.own_folder(log).and_then(|folder| {
        let bytes = read_small(&folder.join(WORKSPACE)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let is_given = member(&text, "user_named").is_some_and(|word| word == "true");
        let name = member(&text, "name").filter(|name| !name.is_empty())?;
        let words: String = name.chars().take(20).collect();
        let is_prompt = prompt
            .text()
            .is_some_and(|prompt| prompt.starts_with(&words));
        let source = match (is_given, is_prompt) {
            (true, _) => TitleSource::User,
            (false, true) => return None,
            (false, false) => TitleSource::Model,
        };
        Some(Title { text: name, source })
    });
    stored.or_else(|| prompt.title())
}

/// A member of the file that is a text, however it is quoted.
fn member(yaml: &str, key: &str) -> Option<String> {
    let mut lines = yaml.lines();
    let rest = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let rest = rest.trim();
    Some(match rest.bytes().next() {
        Some(b'"') => match Tree::parse(rest.as_bytes()) {
            Ok(tree) => tree.root(rest.as_bytes()).str()?.into_owned(),
            Err(_) => rest.trim_matches('"').to_owned(),
        },
        Some(b'\'') => rest.trim_matches('\'').replace("''", "'"),
        Some(b'|' | b'>') => {
            let inner = lines.take_while(|line| line.starts_with(' '));
            inner.map(str::trim).collect::<Vec<_>>().join(" ")
        }
        _ => rest.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_however_they_are_quoted() {
        let yaml =
            "id: x\nname: plain: text\nb: \"two\\nlines\"\nc: 'it''s'\nd: |-\n  one\n  two\ne: ~\n";
        let members = ["name", "b", "c", "d", "f"].map(|key| member(yaml, key));
        let found =
            ["plain: text", "two\nlines", "it's", "one two"].map(|text| Some(text.to_owned()));
        assert_eq!(members[..4], found);
        assert_eq!(members[4], None);
    }
}
