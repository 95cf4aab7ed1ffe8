//! What is read in one place and written in another: exports and pages.

use super::cases::{Case, Kind, Store, nothing_between, thread_of_three};

pub(super) const EXPORT: Case = Case {
    prepare: |w| Some(thread_of_three(w)),
    args: &["export", "ID", "-o", "all.ndjson", "--force"],
    input: "",
    between: nothing_between,
    kind: Kind::Copies,
    varies: false,
    store: Store::Threads,
};
pub(super) const EXPORT_PACKED: Case = Case {
    args: &["export", "ID", "-o", "all.ndjson.zst", "--force"],
    ..EXPORT
};
pub(super) const EXPORT_ALL_FORMS: Case = Case {
    args: &[
        "export",
        "ID",
        "--markdown",
        "--html",
        "--source",
        "-o",
        "all/of/it",
        "--force",
    ],
    // Paths stand in paths there, so it is not told whether an error names the right one.
    varies: true,
    ..EXPORT
};
pub(super) const SHOW: Case = Case {
    args: &["show", "ID", "--to", "html", "-o", "page.html", "--force"],
    ..EXPORT
};
pub(super) const SHOW_RAW: Case = Case {
    args: &["show", "ID", "--to", "raw", "-o", "raw"],
    ..EXPORT
};
