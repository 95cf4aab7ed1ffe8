//! Facts about the format, and its facets.

use crate::{About, Carrier, Format, FormatRef, Projects, Reader, Rules, Store, Writer};

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

impl Format for Atsf {
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

    fn rules(&self) -> Option<&dyn Rules> {
        Some(self)
    }

    fn projects(&self) -> Option<&dyn Projects> {
        Some(self)
    }
}
