//! Secrets where none may be: by the name of their key, or by how they begin.

use rethread_json::Value;

use super::law::SECRET;
use crate::check::known::holds_known_key;
use crate::check::sheet::Sheet;
use crate::check::walk::{At, Frame, value_path};

/// Names that a secret goes by, in lower case and without `-`, `_` and such.
const NAMES: &[&str] = &[
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "privatekey",
];

/// A name that ends like this says where a secret is, or something else about it.
const ABOUT: &[&str] = &[
    "env", "envvar", "variable", "name", "file", "path", "dir", "command", "helper", "url", "uri",
    "endpoint", "type", "limit", "budget", "count", "id", "policy", "prompt", "provider", "store",
];

/// Words in the place of a secret.
const NO_SECRET: &[&str] = &[
    "none", "null", "auto", "env", "ask", "prompt", "keychain", "keyring", "default", "redacted",
    "true", "false", "required", "optional", "unset", "changeme", "inherit", "enabled", "disabled",
];

/// The shortest secret under a name that only has a secret's name in it somewhere.
const SHORTEST: usize = 8;

/// Judges one value of a configuration. What it says is never repeated.
pub(super) fn judge_secrets(sheet: &mut Sheet<'_>, frames: &[Frame<'_>], value: Value<'_>) {
    let at = value.span().start;
    if let Some(At::Key(key)) = frames.last().map(|f| f.at)
        && let Some(what) = key.str().as_deref().and_then(holds_known_key)
    {
        let message = format!("the key `{}` is {what}", value_path(frames));
        return sheet.error(SECRET, at, message);
    }
    let Some(text) = value.str() else { return };
    if let Some(what) = holds_known_key(&text) {
        let message = format!("`{}` holds {what}", value_path(frames));
        sheet.error(SECRET, at, message);
    } else if is_named_secret(frames, &text) {
        let message = format!("`{}` holds a secret, as its name says", value_path(frames));
        sheet.error(SECRET, at, message);
    }
}

/// Whether a value is a secret by the name of its key, or of the list or object it is in.
fn is_named_secret(frames: &[Frame<'_>], text: &str) -> bool {
    let mut keys = frames.iter().rev().filter_map(|frame| match frame.at {
        At::Key(key) => key.str().map(|k| plain(&k)),
        At::Item(_) | At::Start => None,
    });
    let Some(own) = keys.next() else { return false };
    if is_about(&own) {
        return false;
    }
    let is_pass = |name: &str| name.contains("pass");
    if ends_as_secret(&own) || keys.next().is_some_and(|outer| ends_as_secret(&outer)) {
        return is_literal(text, is_pass(&own));
    }
    let named = NAMES.iter().any(|name| own.contains(name)) && !own.contains("tokeni");
    named && text.len() >= SHORTEST && is_literal(text, is_pass(&own))
}

/// `apiKey`, `MY_API_KEY` and `api-key` are one name.
fn plain(key: &str) -> String {
    let is_part = |c: &char| c.is_alphanumeric();
    key.chars()
        .filter(is_part)
        .collect::<String>()
        .to_lowercase()
}

fn is_about(name: &str) -> bool {
    ABOUT.iter().any(|end| name.ends_with(end))
}

/// Whether a name is a secret's, or that of several; `tokens` are counted more often than kept.
fn ends_as_secret(name: &str) -> bool {
    let one = name.strip_suffix('s').unwrap_or(name);
    let ends = |name: &str| NAMES.iter().any(|n| name.ends_with(n));
    ends(name) || (ends(one) && !name.ends_with("tokens"))
}

/// Whether a text is a value of its own, rather than the name of a place where the value is.
fn is_literal(text: &str, may_have_spaces: bool) -> bool {
    let text = text.trim();
    let lower = text.to_lowercase();
    let first = text.chars().next();
    let is_filler = text.chars().all(|c| Some(c) == first) || text.chars().all(|c| c == '.');
    let is_word = NO_SECRET.contains(&lower.trim_matches(|c: char| !c.is_alphanumeric()));
    let between = |open: &str, close: &str| text.starts_with(open) && text.ends_with(close);
    let is_variable = text.strip_prefix('$').is_some_and(is_identifier)
        || [
            ("${", "}"),
            ("{{", "}}"),
            ("{env:", "}"),
            ("<", ">"),
            ("%", "%"),
        ]
        .iter()
        .any(|(open, close)| between(open, close));
    let is_elsewhere = [
        "env:",
        "process.env.",
        "op://",
        "vault:",
        "keychain:",
        "file:",
    ]
    .iter()
    .any(|start| lower.starts_with(start));
    let has_spaces = text.contains(char::is_whitespace) && !may_have_spaces;
    !(text.is_empty() || is_filler || is_word || is_variable || is_elsewhere || has_spaces)
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_fillers_are_no_literals() {
        for text in [
            "",
            "${KEY}",
            "$KEY",
            "env:KEY",
            "<your key>",
            "REDACTED",
            "[redacted]",
            "xxxx",
            "***",
            "...",
            "{{ key }}",
            "%KEY%",
            "none",
            "op://vault/item",
            "ask the user",
        ] {
            assert!(!is_literal(text, false), "{text}");
        }
        for text in ["hunter2", "$2b$10$abc", "s3cr3t-value", "correcthorse"] {
            assert!(is_literal(text, false), "{text}");
        }
    }

    #[test]
    fn names_of_secrets() {
        for name in [
            "apiKey",
            "API_KEY",
            "x-api-key",
            "authToken",
            "clientSecret",
            "apiKeys",
        ] {
            assert!(ends_as_secret(&plain(name)), "{name}");
        }
        for name in ["tokens", "maxTokens", "tokenLimit", "model", "tokenizer"] {
            assert!(!ends_as_secret(&plain(name)), "{name}");
        }
        for name in ["apiKeyEnv", "passwordFile", "apiKeyHelper", "token_url"] {
            assert!(is_about(&plain(name)), "{name}");
        }
    }
}
