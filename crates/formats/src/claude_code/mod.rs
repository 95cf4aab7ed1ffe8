//! Sessions of Claude Code: a transcript of JSON lines for each session and each sub-agent.
//!
//! Records name their parents, so a file is a tree; what the client would resume is one path in it.
//! See `docs/formats/claude-code.md`.

mod blocks;
mod body;
mod build;
mod facts;
mod grow;
mod kinds;
mod layout;
mod leaf;
mod meta;
mod nodes;
mod read;
mod record;
mod said;
mod sniff;
mod summary;
mod titles;
mod types;
mod usage;
mod weave;

use std::path::{Path, PathBuf};

use rethread_model::{Body, EntryIx, Note, Session, Summary};

use crate::{About, Can, Conversation, Env, Format, Native, OpenError, Root, Source, Want};

pub use layout::encode_cwd;
pub use types::{Treatment, known_types, treatment};

const SLUG: &str = "claude-code";

static ABOUT: About = About {
    slug: SLUG,
    aliases: &["claude"],
    name: "Claude Code",
    versions: "1.0 to 2.1",
    can: &[Can::Read],
    where_it_looks: "`~/.claude/projects`, or where `CLAUDE_CONFIG_DIR` says",
};

/// Sessions of Claude Code, versions 1.0 to 2.1.
#[derive(Clone, Copy, Debug)]
pub struct ClaudeCode;

impl Format for ClaudeCode {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        layout::locate(env)
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        layout::list(&root.path, out);
    }

    fn at_path(&self, path: &Path) -> Vec<Source> {
        layout::at_path(path)
    }

    fn summarize(&self, source: &Source, want: Want) -> Summary {
        summary::summarize(source, want)
    }

    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        read::read(source)
    }

    fn body(&self, native: &Native, session: &Session, entry: EntryIx) -> Body {
        body::body(native, session, entry)
    }

    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        layout::files(source)
    }
}
