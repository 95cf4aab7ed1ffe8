//! Sessions of the coding agent Atomic, which writes what pi writes, in a folder of its own.
//!
//! See `docs/formats/atomic.md`.
//!
//! What Atomic adds are entries and fields that pi does not write, and the shared reader knows them:
//! `internal` and `workflow` in the header, `excludeFromContext`, `session_summary`, and the retired
//! `context_compaction` and `context_window_change`.

mod about;
mod store;

pub use about::FORMAT;
