//! Sessions of GitHub Copilot CLI, which are only read: a log of events for each.

mod about;
mod body;
mod event;
mod reader;
mod rules;
mod store;
mod workspace;

use about::Copilot;
pub use about::FORMAT;
