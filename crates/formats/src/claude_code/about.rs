//! Facts about the format, and its facets.

use crate::{About, Carrier, Client, Format, FormatRef, Reader, Rules, Store, Writer};

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

impl Format for ClaudeCode {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn store(&self) -> &dyn Store {
        self
    }

    fn reader(&self) -> &dyn Reader {
        self
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn client(&self) -> Option<&dyn Client> {
        Some(self)
    }

    fn rules(&self) -> Option<&dyn Rules> {
        Some(self)
    }
}
