//! Facts about the format, and its facets.

use crate::format::format_facets;
use crate::{About, FormatRef};

pub(crate) const SLUG: &str = "claude-code";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&ClaudeCode);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["claude"],
    name: "Claude Code",
    is_agent: true,
    versions: "1.0 to 2.1",
    where_it_looks: "`~/.claude/projects`, or where `CLAUDE_CONFIG_DIR` says",
    in_home: &[".claude/projects"],
    in_project: &[],
    judge: Some("Claude Code 2.1.325"),
};

/// Sessions of Claude Code, versions 1.0 to 2.1.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaudeCode;

format_facets!(ClaudeCode, |_| &ABOUT, [Writer, Carrier, Client, Rules]);
