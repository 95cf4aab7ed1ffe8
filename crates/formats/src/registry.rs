//! All formats.

use crate::{Format, agentuse, atomic, atsf, claude_code, codex, gemini, ndjson, opencode, pi};

/// All formats, one line each.
pub static FORMATS: &[&dyn Format] = &[
    &atsf::Atsf,
    &agentuse::AgentUse,
    &claude_code::ClaudeCode,
    &codex::Codex,
    &gemini::Gemini,
    &opencode::OpenCode,
    &pi::Pi,
    &atomic::Atomic,
    &ndjson::Ndjson,
];

/// The format with this short name or alias.
///
/// ```
/// assert_eq!(rethread_formats::by_name("atsf").map(|f| f.about().slug), Some("atsf"));
/// ```
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    let names = |f: &dyn Format| f.about().slug == name || f.about().aliases.contains(&name);
    FORMATS.iter().copied().find(|f| names(*f))
}
