//! The agents' own clients as judges: what they make of a session that we wrote, and we of theirs.

mod codex;
mod departures;
mod ours;
pub(crate) mod sent;
