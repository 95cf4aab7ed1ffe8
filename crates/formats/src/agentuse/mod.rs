//! Sessions of AgentUse: a folder a session, a file for each message and each part of one.
//!
//! `session.json` describes a session; each exchange of prompt and answer is a folder with a
//! `message.json` and one file a part of the answer. Sub-agents are sessions in the folder of the
//! session that started them. See `docs/formats/agentuse.md`.

mod about;
mod append;
mod blocks;
mod body;
mod carrier;
mod create;
mod exchange;
mod fields;
mod files;
mod info;
mod key;
mod link;
mod load;
mod object;
mod open;
mod prepare;
mod reader;
mod rules;
mod steps;
mod store;
mod summary;
mod ulid;
mod unified;
mod writer;

use about::{AgentUse, SLUG};

pub use about::FORMAT;
