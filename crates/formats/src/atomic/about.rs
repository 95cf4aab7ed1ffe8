//! Facts about Atomic, and what differs from pi.

use super::store::folder;
use crate::pi::{Agent, Flavour};
use crate::{About, FormatRef};

static ABOUT: About = About {
    slug: "atomic",
    aliases: &[],
    name: "Atomic",
    is_agent: true,
    versions: "1 to 3",
    where_it_looks: "`~/.atomic/agent/sessions`, or where `ATOMIC_CODING_AGENT_DIR` and `ATOMIC_CODING_AGENT_SESSION_DIR` say",
    in_home: &[".atomic/agent/sessions", ".atomic/agent/*.jsonl"],
    in_project: &[],
    judge: None,
};

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&ATOMIC);

/// Sessions of Atomic, versions 1 to 3.
static ATOMIC: Flavour = Flavour {
    slug: "atomic",
    agent: "Atomic",
    program: Agent::Atomic,
    format: FormatRef::new(&ATOMIC),
    about: &ABOUT,
    folder,
    home: ".atomic",
    sessions: "ATOMIC_CODING_AGENT_SESSION_DIR",
};
