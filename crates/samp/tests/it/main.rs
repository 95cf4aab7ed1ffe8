//! The library as another program would use it.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests lay out folders, read the environment and may stop at once"
)]

mod canonical;
mod check;
mod compact;
mod conflicts;
mod crowd;
mod inbox;
mod lines;
mod post;
mod sync;
mod vectors;
