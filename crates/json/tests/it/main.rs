//! The laws of the crate, and the inputs that break others.
#![allow(
    clippy::unwrap_used,
    reason = "a test that meets the unexpected must fail"
)]

mod generate;
mod hostile;
mod lines;
mod patch;
mod pull;
mod salvage;
mod skim;
mod tree;
mod write;
