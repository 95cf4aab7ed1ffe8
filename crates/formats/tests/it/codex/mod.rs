//! Sessions of the Codex CLI.

mod corpus;
mod properties;
