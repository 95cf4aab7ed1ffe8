//! Conversations made by hand, and what is shown of them.

#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

mod html;
mod markdown;
mod neutral;
mod outline;
mod properties;
mod sample;
mod text;
mod unified;
