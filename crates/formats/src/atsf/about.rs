//! Facts about the format, and its facets.

use crate::format::format_facets;
use crate::{About, FormatRef};

/// The slug of the format.
pub(crate) const SLUG: &str = "atsf";

/// The version that we write.
pub(crate) const SPEC_VERSION: &str = "1.1";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Atsf);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &[],
    name: "Agent Thread Storage Format",
    is_agent: false,
    versions: "1.x",
    where_it_looks: "`.agent/threads` in the current project, its git worktrees, and projects that sessions name",
    in_home: &[],
    in_project: &[".agent/threads", ".agent/config.json"],
    judge: None,
};

/// Agent Thread Storage Format 1.1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atsf;

format_facets!(Atsf, |_| &ABOUT, [Writer, Carrier, Rules, Projects]);
