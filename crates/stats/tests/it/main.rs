//! What is counted of sessions.
#![allow(clippy::unwrap_used, reason = "tests may stop at once")]

mod agreement;
