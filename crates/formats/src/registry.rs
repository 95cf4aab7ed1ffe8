//! All formats.

use crate::{
    FormatRef, agentuse, atomic, atsf, claude_code, codex, copilot, gemini, ndjson, opencode, pi,
};

/// All formats, one line each.
pub static FORMATS: &[FormatRef] = &[
    atsf::FORMAT,
    agentuse::FORMAT,
    claude_code::FORMAT,
    codex::FORMAT,
    copilot::FORMAT,
    gemini::FORMAT,
    opencode::FORMAT,
    pi::FORMAT,
    atomic::FORMAT,
    ndjson::FORMAT,
];

/// The format of the store that is made in projects and in their worktrees: the only one that has its
/// store there, and hooks.
pub static PROJECT_FORMAT: FormatRef = atsf::FORMAT;

/// The format with this short name or alias.
///
/// ```
/// assert_eq!(rethread_formats::by_name("atsf").map(|f| f.slug()), Some("atsf"));
/// ```
pub fn by_name(name: &str) -> Option<FormatRef> {
    let names = |f: &FormatRef| f.slug() == name || f.about().aliases.contains(&name);
    FORMATS.iter().copied().find(names)
}
