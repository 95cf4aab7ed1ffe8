//! What a user of the library sees of formats: entries, contexts, and the bytes of files.
#![allow(
    clippy::disallowed_methods,
    reason = "tests put files in place and look at what became of them"
)]

#[allow(
    clippy::unwrap_used,
    clippy::format_push_string,
    reason = "a test fails where it stands, and builds texts"
)]
mod claude_code;
#[allow(
    clippy::unwrap_used,
    clippy::format_push_string,
    reason = "a test fails where it stands, and builds texts"
)]
mod codex;
#[allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails where it stands, and says when it was skipped"
)]
mod gemini;
#[allow(
    clippy::unwrap_used,
    clippy::many_single_char_names,
    reason = "a test fails where it stands, and entries are called as in a drawing"
)]
mod pi;
#[allow(clippy::unwrap_used, reason = "a test fails where it stands")]
mod resumed_scans;
