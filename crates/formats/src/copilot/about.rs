//! Facts about the format, and its facets.

use crate::format::format_facets;
use crate::{About, FormatRef};

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Copilot);

static ABOUT: About = About {
    slug: "copilot",
    aliases: &["copilot-cli", "github-copilot"],
    name: "GitHub Copilot CLI",
    is_agent: true,
    versions: "0.0.3xx to 1.0.102",
    where_it_looks: "`~/.copilot/session-state`, or where `COPILOT_HOME` says",
    in_home: &[
        ".copilot/session-state/*.jsonl",
        ".copilot/session-state/*/events.jsonl",
        ".copilot/session-state/*/workspace.yaml",
        ".copilot/session-state/*/plan.md",
        ".copilot/session-state/*/checkpoints",
    ],
    in_project: &[],
    judge: None,
};

/// Sessions of GitHub Copilot CLI.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copilot;

format_facets!(Copilot, |_| &ABOUT, [Rules]);
