//! Git facts compared with what the real `git` says.

#![allow(
    clippy::disallowed_methods,
    reason = "tests build the folders they look at"
)]

mod damaged;
mod facts;
mod git;
mod worktrees;
