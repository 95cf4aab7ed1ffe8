//! Facts about the format, and its facets.

use crate::{About, Carrier, Client, Format, FormatRef, Reader, Rules, Store, Writer};

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

impl Format for Codex {
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
