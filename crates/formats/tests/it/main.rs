//! What an agent sees of a session manager: ids, contexts, and the bytes of files.
#![allow(
    clippy::disallowed_methods,
    reason = "tests put files in place and look at what became of them"
)]

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
