//! The binary as a user meets it: real files in, real files and text out.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::format_push_string,
    clippy::format_collect,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "tests lay out folders, read the environment, build texts and may stop at once"
)]

mod agents;
mod agentuse;
mod agreement;
mod append;
mod bombs;
#[cfg(target_os = "linux")]
mod catalogue;
mod check;
mod claude_code;
mod codex;
mod concurrency;
#[cfg(target_os = "linux")]
mod confined;
mod conformance;
mod convert;
mod copilot;
mod corpus;
mod damage;
mod discovery;
mod document;
mod documents;
mod errors;
#[cfg(target_os = "linux")]
mod every_call;
mod export;
mod follow;
mod fork;
mod gemini;
mod help;
mod homes;
mod hooks;
mod hostile_repository;
mod ids;
mod json_reference;
mod judges;
mod list;
#[cfg(target_os = "linux")]
mod many_projects;
mod mcp;
mod memory;
mod modes;
mod msg;
#[cfg(target_os = "linux")]
mod names;
mod native_context;
mod new;
mod no_conversation;
mod on_terminal;
mod open;
mod opencode;
mod originals;
mod overview;
mod paths;
mod pi;
mod pi_judges;
mod pi_verbs;
mod reference;
mod replace;
mod restore;
mod resume;
mod rm;
mod sample;
mod sample_flag;
mod screens;
mod search;
#[cfg(unix)]
mod search_trouble;
mod seen;
mod shapes;
mod show;
mod stats;
mod still_writing;
mod sums;
mod tail;
mod terminal;
mod tour;
mod unified;
mod versions;
mod workspaces;
mod worktree;
mod world;
