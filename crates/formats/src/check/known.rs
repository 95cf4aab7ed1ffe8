//! Keys of well-known services, by how they begin.

/// How the keys of well-known services begin, and how many characters follow at least.
const KNOWN: &[Known] = &[
    known("sk-ant-", 4, Tail::Any, "an Anthropic key"),
    known("sk-proj-", 4, Tail::Any, "an OpenAI key"),
    known("sk-", 20, Tail::WithDigit, "a key that begins with `sk-`"),
    known("ghp_", 4, Tail::Any, "a GitHub token"),
    known("gho_", 4, Tail::Any, "a GitHub token"),
    known("ghu_", 4, Tail::Any, "a GitHub token"),
    known("ghs_", 4, Tail::Any, "a GitHub token"),
    known("ghr_", 4, Tail::Any, "a GitHub token"),
    known("github_pat_", 4, Tail::Any, "a GitHub token"),
    known("glpat-", 4, Tail::Any, "a GitLab token"),
    known("xoxb-", 4, Tail::Any, "a Slack token"),
    known("xoxp-", 4, Tail::Any, "a Slack token"),
    known("xoxa-", 4, Tail::Any, "a Slack token"),
    known("AKIA", 16, Tail::Capitals, "an AWS key"),
    known("AIza", 35, Tail::Any, "a Google key"),
    known("npm_", 36, Tail::Any, "an npm token"),
    known("hf_", 30, Tail::Any, "a Hugging Face token"),
];

struct Known {
    begins: &'static str,
    least: usize,
    tail: Tail,
    what: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Any,
    /// A digit among them: words with hyphens are no key.
    WithDigit,
    Capitals,
}

const fn known(begins: &'static str, least: usize, tail: Tail, what: &'static str) -> Known {
    Known {
        begins,
        least,
        tail,
        what,
    }
}

/// What kind of secret a text holds, if one of the well-known ones is in it.
pub(crate) fn holds_known_key(text: &str) -> Option<&'static str> {
    if is_private_key(text) {
        return Some("a private key");
    }
    let mut words = text.split(|c: char| !is_key_char(c) && c != '.');
    words.find_map(|word| {
        let fits = |k: &&Known| word.match_indices(k.begins).any(|(i, _)| k.fits(word, i));
        let known = KNOWN.iter().find(fits).map(|k| k.what);
        known.or_else(|| is_web_token(word).then_some("a JSON web token"))
    })
}

impl Known {
    /// Whether a key begins at this byte of a word.
    fn fits(&self, word: &str, at: usize) -> bool {
        let before = word[..at].chars().next_back();
        if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
            return false;
        }
        let is_part = |c: &char| match self.tail {
            Tail::Capitals => c.is_ascii_uppercase() || c.is_ascii_digit(),
            Tail::Any | Tail::WithDigit => is_key_char(*c),
        };
        let tail = word[at + self.begins.len()..].chars().take_while(is_part);
        let (mut len, mut digit) = (0, self.tail != Tail::WithDigit);
        for c in tail {
            len += 1;
            digit |= c.is_ascii_digit();
        }
        len >= self.least && digit
    }
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn is_private_key(text: &str) -> bool {
    let after = text.split_once("-----BEGIN ").map(|(_, after)| after);
    after.is_some_and(|a| a.lines().next().unwrap_or(a).contains("PRIVATE KEY-----"))
}

/// `eyJ….eyJ….…`
fn is_web_token(word: &str) -> bool {
    let mut parts = word.split('.');
    let long = |part: Option<&str>| part.is_some_and(|p| p.len() >= 10);
    word.starts_with("eyJ") && long(parts.next()) && long(parts.next()) && parts.next().is_some()
}

/// A text of a file between backticks: its beginning, and nothing of a secret.
pub(crate) fn shown_text(text: &str) -> String {
    const LONGEST: usize = 60;
    if holds_known_key(text).is_some() {
        return "`…`".to_owned();
    }
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("`{short}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_keys_are_seen_wherever_they_stand() {
        let long = "abcdefghijklmnopqrstuvwxyz0123456789";
        for text in [
            format!("sk-ant-api03-{long}"),
            format!("sk-proj-{long}"),
            format!("sk-{long}"),
            format!("ghp_{long}"),
            format!("github_pat_11A_{long}"),
            "glpat-12ab34cd".to_owned(),
            "xoxb-1234-5678".to_owned(),
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            format!("AIza{}", &long[..35]),
            format!("npm_{long}"),
            format!("hf_{long}"),
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl".to_owned(),
            "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln".to_owned(),
            format!("curl -H 'x-api-key: sk-ant-{long}' host"),
            format!("KEY=ghp_{long} npm test"),
        ] {
            assert!(holds_known_key(&text).is_some(), "{text}");
            assert!(!shown_text(&text).contains("sk-"), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_key_is_none() {
        for text in [
            "task-force-of-twenty-and-more-words-1",
            "sk-a-folder-with-a-rather-long-name",
            "sk-ant-…",
            "AKIA",
            "eyJ.a.b",
            "sonnet",
            "-----BEGIN CERTIFICATE-----",
            "https://example.org/npm_packages",
        ] {
            assert_eq!(holds_known_key(text), None, "{text}");
        }
    }
}
