//! Sessions of Gemini CLI.

mod listing;
mod types;
