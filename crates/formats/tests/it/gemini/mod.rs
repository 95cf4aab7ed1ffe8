//! Sessions of Gemini CLI.

mod types;
