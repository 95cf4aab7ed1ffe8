//! Facts about the format, and its facets.

use crate::format::format_facets;
use crate::{About, FormatRef};

/// The slug of the format.
pub(crate) const SLUG: &str = "gemini";

/// The program's name for people.
pub(crate) const AGENT: &str = "Gemini CLI";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Gemini);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["gemini-cli"],
    name: AGENT,
    is_agent: true,
    versions: "0.1 to 0.61",
    where_it_looks: "`~/.gemini/tmp`, or where `GEMINI_CLI_HOME` says",
    in_home: &[
        ".gemini/projects.json",
        ".gemini/tmp/*/chats",
        ".gemini/tmp/*/tool-outputs",
        ".gemini/tmp/*/logs.json",
        ".gemini/tmp/*/checkpoint-*.json",
        ".gemini/tmp/*/.project_root",
        ".cache/.gemini/tmp/*/chats",
        ".cache/.gemini/tmp/*/tool-outputs",
        ".cache/.gemini/tmp/*/logs.json",
        ".cache/.gemini/tmp/*/checkpoint-*.json",
        ".cache/.gemini/tmp/*/.project_root",
    ],
    in_project: &[],
    judge: Some("Gemini CLI 0.61.0"),
};

/// Sessions of Gemini CLI.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gemini;

format_facets!(Gemini, |_| &ABOUT, [Writer, Carrier, Client, Rules]);
