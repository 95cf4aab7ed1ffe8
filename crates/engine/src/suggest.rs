//! What somebody may have meant who typed what there is not.

use rethread_search::edit_distance;

use crate::Error;

/// Something that can be asked for, and how it may be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownName {
    /// What is suggested.
    pub(crate) name: String,
    /// Another word for it.
    pub(crate) alias: Option<String>,
}

impl KnownName {
    pub(crate) fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            alias: None,
        }
    }
}

/// How many of the things that there are are told.
const MOST: usize = 12;

/// An error that says that there is no such thing, what was probably meant, and what there is.
pub(crate) fn unknown_name(what: &str, typed: &str, known: &[KnownName]) -> Error {
    let meant = closest_name(typed, known).map(|name| format!("did you mean `{name}`? "));
    let mut names: Vec<String> = known.iter().map(|k| format!("`{}`", k.name)).collect();
    names.dedup();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let there_is = if names.is_empty() {
        "there is none".to_owned()
    } else {
        format!("there is {}", names.join(", "))
    };
    Error::Usage {
        message: format!("`{typed}` is no {what}"),
        hint: Some(format!("{}{there_is}", meant.unwrap_or_default())),
    }
}

/// What is spelled most like it, if anything is.
fn closest_name<'a>(typed: &str, known: &'a [KnownName]) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let distance = |k: &KnownName| {
        let spelled = std::iter::once(&k.name).chain(&k.alias);
        spelled
            .map(|s| edit_distance(&typed, &s.to_lowercase()))
            .min()
    };
    let near = typed.chars().count().div_ceil(3).max(1);
    let rated = known.iter().filter_map(|k| Some((distance(k)?, k)));
    let close = rated.filter(|(distance, _)| *distance <= near);
    let best = close.min_by_key(|(distance, _)| *distance).map(|(_, k)| k);
    let holds = |k: &&KnownName| typed.len() >= 3 && k.name.to_lowercase().contains(&typed);
    let found = best.or_else(|| known.iter().find(holds));
    found.map(|k| k.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_close_is_suggested() {
        let known = [
            KnownName {
                name: "claude-code".to_owned(),
                alias: Some("claude".to_owned()),
            },
            KnownName::named("codex"),
            KnownName::named("opencode"),
        ];
        assert_eq!(closest_name("clade", &known), Some("claude-code"));
        assert_eq!(closest_name("Codx", &known), Some("codex"));
        assert_eq!(closest_name("code", &known), Some("codex"));
        assert_eq!(closest_name("emacs", &known), None);
    }
}
