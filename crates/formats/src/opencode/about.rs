//! Facts about the format, and its facets.

use crate::format::format_facets;
use crate::{About, FormatRef};

/// The slug of the format.
pub(crate) const SLUG: &str = "opencode";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&OpenCode);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &[],
    name: "OpenCode",
    is_agent: true,
    versions: "0.x and 1.x",
    where_it_looks: "`~/.local/share/opencode`, or where `XDG_DATA_HOME` and `OPENCODE_DB` say",
    in_home: &[
        ".local/share/opencode/opencode*.db",
        ".local/share/opencode/opencode*.db-wal",
        ".local/share/opencode/storage",
        ".local/share/opencode/project/*/storage",
    ],
    in_project: &[],
    judge: Some("OpenCode 1.18.33"),
};

/// Sessions of OpenCode.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenCode;

format_facets!(OpenCode, |_| &ABOUT, [Writer, Carrier, Client, Rules]);
