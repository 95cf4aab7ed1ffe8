//! What must be true of the repository as a whole.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "folders are laid out for tests"
)]

mod adding_a_format;
mod conformance;
mod house_rules;
mod manifests;
mod repository;
mod tasks;
