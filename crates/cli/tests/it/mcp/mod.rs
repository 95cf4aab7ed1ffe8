//! `mcp`: a server for other programs.

mod client;
mod config;
mod hostile;
#[cfg(unix)]
mod http;
mod inspector;
mod judges;
mod messages;
mod questions;
mod reading;
mod tools;
