//! Facts about the format, and its facets.

use crate::format::format_facets;
use crate::{About, FormatRef};

/// The slug of the format.
pub(crate) const SLUG: &str = "agentuse";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&AgentUse);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &[],
    name: "AgentUse",
    is_agent: false,
    versions: "all",
    where_it_looks: "`~/.local/share/agentuse/project`, or in `XDG_DATA_HOME` where that is set",
    in_home: &[".local/share/agentuse/project"],
    in_project: &[],
    judge: None,
};

/// Sessions of AgentUse.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentUse;

format_facets!(AgentUse, |_| &ABOUT, [Writer, Carrier, Rules]);
