//! Facts about the format, and its facets.

use crate::format::format_facets;
use crate::{About, FormatRef};

/// The short name of the format.
pub(crate) const SLUG: &str = "codex";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Codex);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["codex-cli"],
    name: "Codex CLI",
    is_agent: true,
    versions: "all, from the one JSON file of 2025 to 0.166",
    where_it_looks: "`~/.codex`, or where `CODEX_HOME` says",
    in_home: &[
        ".codex/sessions",
        ".codex/archived_sessions",
        ".codex/session_index.jsonl",
    ],
    in_project: &[],
    judge: Some("Codex CLI 0.166.0"),
};

/// Sessions of the Codex CLI.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codex;

format_facets!(Codex, |_| &ABOUT, [Writer, Carrier, Client, Rules]);
