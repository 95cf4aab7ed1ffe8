//! Tests of searching over real stores in scratch folders.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests write files of their own, and panic"
)]

mod corpus;
mod law;
mod store;
