//! Facts about the format, and its facets.

use crate::format::format_facets;
use crate::{About, FormatRef};

/// The slug of the format.
pub(crate) const SLUG: &str = "ndjson";

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&Ndjson);

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["unified"],
    name: "Unified NDJSON",
    is_agent: false,
    versions: "1.x, and flat 2.x",
    where_it_looks: "files that are named, such as `./export.ndjson`",
    in_home: &[],
    in_project: &[],
    judge: None,
};

/// Exports in Unified NDJSON.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ndjson;

format_facets!(Ndjson, |_| &ABOUT, [Carrier, Rules]);
