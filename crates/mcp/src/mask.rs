//! Masking what looks like a secret key.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Shapes of keys: what stays to be seen of each is in the first group.
const SHAPES: [&str; 12] = [
    // Private keys, to their end or, where that is folded away, to the end of the text.
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    // OpenAI, Anthropic and all that took over their prefix.
    r"\b(sk-(?:ant-|proj-|or-)?)[A-Za-z0-9_-]{16,}",
    // GitHub and GitLab.
    r"\b(gh[pousr]_)[A-Za-z0-9]{16,}",
    r"\b(github_pat_)[A-Za-z0-9_]{16,}",
    r"\b(glpat-)[A-Za-z0-9_-]{16,}",
    // AWS and Google.
    r"\b((?:AKIA|ASIA))[A-Z0-9]{16}\b",
    r"\b(AIza)[A-Za-z0-9_-]{30,}",
    // Slack, npm, PyPI, Hugging Face.
    r"\b(xox[abeprs]-)[A-Za-z0-9-]{10,}",
    r"\b(npm_|pypi-|hf_)[A-Za-z0-9_-]{20,}",
    // Stripe.
    r"\b((?:sk|rk)_(?:live|test)_)[A-Za-z0-9]{16,}",
    // JSON web tokens.
    r"\b(eyJ)[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
    // Passwords in addresses.
    r"\b([a-z][a-z0-9+.-]*://[^\s/:@]{1,64}:)[^\s/@]{1,256}(?:@)",
];

/// What stands for the rest of a key.
const MASK: &str = "[masked]";

/// The text without what looks like a secret key.
pub(crate) fn mask_secrets(text: &str) -> Cow<'_, str> {
    static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let compiled = SHAPES.iter().filter_map(|shape| Regex::new(shape).ok());
        compiled.collect()
    });
    let mut masked = Cow::Borrowed(text);
    for pattern in PATTERNS.iter() {
        let replaced = pattern.replace_all(&masked, |found: &Captures<'_>| {
            let kept = found.get(1).map_or("", |group| group.as_str());
            let end = if found[0].ends_with('@') { "@" } else { "" };
            format!("{kept}{MASK}{end}")
        });
        if let Cow::Owned(replaced) = replaced {
            masked = Cow::Owned(replaced);
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles() {
        for shape in SHAPES {
            assert!(Regex::new(shape).is_ok(), "{shape}");
        }
    }

    #[test]
    fn keys_of_every_shape_are_masked() {
        let body = "a1B2".repeat(12);
        for (key, masked) in [
            (format!("sk-ant-api03-{body}"), "sk-ant-[masked]"),
            (format!("sk-{body}"), "sk-[masked]"),
            (format!("ghp_{body}"), "ghp_[masked]"),
            (format!("github_pat_{body}"), "github_pat_[masked]"),
            (format!("glpat-{body}"), "glpat-[masked]"),
            ("AKIAABCDEFGHIJKLMNOP".to_owned(), "AKIA[masked]"),
            (format!("AIza{body}"), "AIza[masked]"),
            (format!("xoxb-{body}"), "xoxb-[masked]"),
            (format!("npm_{body}"), "npm_[masked]"),
            (format!("sk_live_{body}"), "sk_live_[masked]"),
            (format!("eyJ{body}.eyJ{body}.{body}"), "eyJ[masked]"),
            (
                "postgres://ada:pass@db/shop".to_owned(),
                "postgres://ada:[masked]@db/shop",
            ),
            (
                format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"),
                "-----BEGIN RSA PRIVATE KEY-----[masked]",
            ),
            (
                format!("-----BEGIN PRIVATE KEY-----\n{body}"),
                "-----BEGIN PRIVATE KEY-----[masked]",
            ),
        ] {
            let text = format!("x \"{key}\"");
            let shown = mask_secrets(&text);
            assert!(shown.contains(masked), "{shown}");
            assert!(!shown.contains(&body), "{shown}");
        }
    }

    #[test]
    fn words_are_not_keys() {
        for text in [
            "the task-force-of-thirty-people",
            "sk-short",
            "https://example.org:8080/path@2",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "ask-me-anything-about-this-thing",
        ] {
            assert_eq!(mask_secrets(text), text);
        }
    }
}
