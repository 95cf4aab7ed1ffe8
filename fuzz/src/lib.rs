//! What must hold for any bytes: one function a target, which panics where it does not hold.
//!
//! `fuzz_targets` hands them to libFuzzer (`cargo xtask fuzz`, or `cargo fuzz`). [`Mutations`] makes
//! inputs of fixtures without it, always the same ones, for the short run that is a test.
#![allow(
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "targets panic where something does not hold, and lay out folders to read"
)]

mod escapers;
mod lines;
mod mutate;
mod readers;
mod samp;
mod seeds;
mod tree;

pub use escapers::escapers;
pub use lines::lines;
pub use mutate::Mutations;
pub use readers::readers;
pub use samp::samp;
pub use seeds::seeds;
pub use tree::tree;

/// A target by its name.
pub struct Target {
    /// The name of its file in `fuzz_targets`.
    pub name: &'static str,
    /// The function.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 5] = [
    Target {
        name: "lines",
        run: lines,
    },
    Target {
        name: "tree",
        run: tree,
    },
    Target {
        name: "readers",
        run: readers,
    },
    Target {
        name: "samp",
        run: samp,
    },
    Target {
        name: "escapers",
        run: escapers,
    },
];
