//! Facts about the format, and its facets.

use std::path::PathBuf;

use super::Agent;
use super::store::pi_folder;
use crate::format::format_facets;
use crate::{About, Env, FormatRef};

/// What differs between the programs that write this format.
pub(crate) struct Flavour {
    /// The slug of the format.
    pub(crate) slug: &'static str,
    /// The program's name for people.
    pub(crate) agent: &'static str,
    /// The program.
    pub(crate) program: Agent,
    /// The format.
    pub(crate) format: FormatRef,
    /// Facts about it.
    pub(crate) about: &'static About,
    /// The agent's folder, where a variable names it.
    pub(crate) folder: fn(&Env) -> Option<PathBuf>,
    /// The folder in a home otherwise: `agent` in it is the agent's.
    pub(crate) home: &'static str,
    /// The variable that names a folder of sessions.
    pub(crate) sessions: &'static str,
}

static ABOUT: About = About {
    slug: "pi",
    aliases: &[],
    name: "pi",
    is_agent: true,
    versions: "1 to 3",
    where_it_looks: "`~/.pi/agent/sessions`, or where `PI_CODING_AGENT_DIR` and `PI_CODING_AGENT_SESSION_DIR` say",
    in_home: &[".pi/agent/sessions", ".pi/agent/*.jsonl"],
    in_project: &[],
    judge: Some("pi 0.87.1"),
};

/// The format as a value.
pub const FORMAT: FormatRef = FormatRef::new(&PI);

/// Sessions of pi, versions 1 to 3.
static PI: Flavour = Flavour {
    slug: "pi",
    agent: "pi",
    program: Agent::Pi,
    format: FormatRef::new(&PI),
    about: &ABOUT,
    folder: pi_folder,
    home: ".pi",
    sessions: "PI_CODING_AGENT_SESSION_DIR",
};

format_facets!(
    Flavour,
    |flavour| flavour.about,
    [Writer, Carrier, Client, Rules]
);
