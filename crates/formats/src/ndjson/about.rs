//! Facts about the format, and its facets.

use crate::{About, Carrier, Format, FormatRef, Reader, Rules, Store};

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

impl Format for Ndjson {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn store(&self) -> &dyn Store {
        self
    }

    fn reader(&self) -> &dyn Reader {
        self
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn rules(&self) -> Option<&dyn Rules> {
        Some(self)
    }
}
