//! What a list shows of a session, as bytes for a cache.

use rethread_model::{
    Agent, Head, Note, Provenance, Severity, State, Status, Subagents, Summary, Title, TitleSource,
    Workspace, WorktreeRef,
};

use super::state::{SavedState, saved_enum, saved_struct};
use crate::by_name;

/// The version of a summary that is saved. It changes with every struct that is a part of one, and
/// with what formats make of the same file.
pub const SUMMARY_VERSION: u32 = 2;

/// The short name of a format.
struct Slug(&'static str);

impl SavedState for Slug {
    fn save(&self, out: &mut Vec<u8>) {
        self.0.to_owned().save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        let slug = String::load(bytes)?;
        // A session of nobody has none.
        if slug.is_empty() {
            return Some(Self(""));
        }
        Some(Self(by_name(&slug)?.slug()))
    }
}

impl SavedState for Head {
    fn save(&self, out: &mut Vec<u8>) {
        let Self {
            id,
            format,
            dialect,
            title,
            agent,
            workspace,
            created,
            updated,
            model,
            archived,
            links,
            recorded_usage,
            duration_ms,
            status,
            hidden,
            provenance,
            converted_from,
            made,
        } = self;
        id.save(out);
        Slug(format).save(out);
        dialect.save(out);
        title.save(out);
        agent.save(out);
        workspace.save(out);
        created.save(out);
        updated.save(out);
        model.save(out);
        archived.save(out);
        links.save(out);
        recorded_usage.save(out);
        duration_ms.save(out);
        status.save(out);
        hidden.save(out);
        provenance.save(out);
        converted_from.save(out);
        made.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self {
            id: SavedState::load(bytes)?,
            format: Slug::load(bytes)?.0,
            dialect: SavedState::load(bytes)?,
            title: SavedState::load(bytes)?,
            agent: SavedState::load(bytes)?,
            workspace: SavedState::load(bytes)?,
            created: SavedState::load(bytes)?,
            updated: SavedState::load(bytes)?,
            model: SavedState::load(bytes)?,
            archived: SavedState::load(bytes)?,
            links: SavedState::load(bytes)?,
            recorded_usage: SavedState::load(bytes)?,
            duration_ms: SavedState::load(bytes)?,
            status: SavedState::load(bytes)?,
            hidden: SavedState::load(bytes)?,
            provenance: SavedState::load(bytes)?,
            converted_from: SavedState::load(bytes)?,
            made: SavedState::load(bytes)?,
        })
    }
}

/// An enum with fields: the number of the variant, and a text where it has one.
impl SavedState for Status {
    fn save(&self, out: &mut Vec<u8>) {
        match self {
            Self::Running => out.push(0),
            Self::Completed => out.push(1),
            Self::Failed(why) => {
                out.push(2);
                why.save(out);
            }
            Self::Suspended => out.push(3),
            Self::Other(word) => {
                out.push(4);
                word.save(out);
            }
        }
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(match u8::load(bytes)? {
            0 => Self::Running,
            1 => Self::Completed,
            2 => Self::Failed(SavedState::load(bytes)?),
            3 => Self::Suspended,
            4 => Self::Other(SavedState::load(bytes)?),
            _ => return None,
        })
    }
}

impl SavedState for State {
    fn save(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ready => out.push(0),
            Self::Unsupported { version } => {
                out.push(1);
                version.save(out);
            }
            Self::Damaged => out.push(2),
            Self::Unreadable => out.push(3),
            Self::Empty => out.push(4),
            Self::Gone => out.push(5),
        }
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        Some(match u8::load(bytes)? {
            0 => Self::Ready,
            1 => Self::Unsupported {
                version: SavedState::load(bytes)?,
            },
            2 => Self::Damaged,
            3 => Self::Unreadable,
            4 => Self::Empty,
            5 => Self::Gone,
            _ => return None,
        })
    }
}

saved_struct!(Summary {
    head,
    path,
    counts,
    activity,
    size,
    subagents,
    state,
    notes
});
saved_struct!(Subagents {
    sessions,
    counts,
    size
});
saved_struct!(Title { text, source });
saved_enum!(TitleSource {
    FirstPrompt = 0,
    LastPrompt = 1,
    Summary = 2,
    Model = 3,
    Stored = 4,
    User = 5,
});
saved_struct!(Agent {
    id,
    name,
    version,
    role,
    protocol,
    protocol_version
});
saved_struct!(Workspace {
    path,
    root,
    relative,
    encoded,
    branch,
    commit,
    remote,
    worktree
});
saved_struct!(WorktreeRef { path, branch });
saved_struct!(Provenance {
    kind,
    host,
    path,
    agent,
    file_time
});
saved_struct!(Note {
    severity,
    path,
    line,
    offset,
    message,
    hint
});
saved_enum!(Severity {
    Quiet = 0,
    Remark = 1,
    Damage = 2,
    Detail = 3,
});

#[cfg(test)]
mod tests {
    use rethread_model::Moment;

    use super::*;

    fn full_summary() -> Summary {
        let text = |t: &str| Some(t.to_owned());
        Summary {
            head: Head {
                id: "an id".to_owned(),
                format: "codex",
                dialect: text("3"),
                title: Some(Title {
                    text: "a title".to_owned(),
                    source: TitleSource::User,
                }),
                agent: Agent {
                    role: text("reviewer"),
                    ..Agent::default()
                },
                workspace: Workspace {
                    path: text("/w"),
                    worktree: Some(WorktreeRef {
                        path: "/t".to_owned(),
                        branch: None,
                    }),
                    ..Workspace::default()
                },
                created: Moment::from_millis(1),
                status: Some(Status::Failed(text("why"))),
                provenance: Some(Provenance::default()),
                hidden: true,
                ..Head::default()
            },
            path: "/a/path".into(),
            state: State::Unsupported {
                version: "9".to_owned(),
            },
            notes: vec![Note::damage("broken").at("/a").line(7).hint("mend it")],
            subagents: Some(Subagents::default()),
            ..Summary::default()
        }
    }

    #[test]
    fn a_summary_is_loaded_as_it_was_saved() {
        let summary = full_summary();
        let mut bytes = Vec::new();
        summary.save(&mut bytes);
        assert_eq!(Summary::load(&mut bytes.as_slice()), Some(summary));
        for cut in 0..bytes.len() {
            assert_eq!(Summary::load(&mut &bytes[..cut]), None, "cut at {cut}");
        }
    }
}
