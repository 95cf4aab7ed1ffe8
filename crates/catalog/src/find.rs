//! From what a user types to one session.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rethread_disk::{DiskError, open_read, path_of_text, shown_text};
use rethread_formats::{
    Env, FORMATS, FormatRef, Source, by_name, has_no_sessions, unpacking_damage, why_empty,
};
use rethread_model::{State, Summary};
use sha2::{Digest, Sha256};

use crate::asked_id::{AskedId, IdFit};
use crate::asked_workspace::AskedWorkspace;
use crate::copies::without_mere_descriptions;
use crate::discover::{Discovery, FormatFilter, discover_of, here};
use crate::list::list_only;
use crate::short_ids::ShortIds;

/// The shortest prefix of an id that is looked up.
const SHORTEST: usize = 4;

/// One of several sessions that a name could mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The format, by its short name.
    pub format: &'static str,
    /// The session's id.
    pub id: String,
    /// Its main file or folder.
    pub path: PathBuf,
    /// A name that means this one and no other of them.
    pub name: String,
}

/// Why a name is not one session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// Nothing has that name.
    #[error("no session is named `{}`", shown_text(.name))]
    NotFound {
        /// The name.
        name: String,
    },
    /// What is at that path is no session.
    #[error("`{}` is no session that can be read", .path.display())]
    NotASession {
        /// The path.
        path: PathBuf,
    },
    /// What is at that path is healthy, and no session is in it.
    #[error("`{}` holds no sessions", .path.display())]
    NoSessions {
        /// The path.
        path: PathBuf,
    },
    /// What is at that path is packed, and damaged before the first session in it.
    #[error("`{}` is damaged before its first session: {damage}", .path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        damage: String,
    },
    /// What is at that path may not be looked at.
    #[error(transparent)]
    Unreadable(DiskError),
    /// Several sessions have that name.
    #[error("`{}` could be {} sessions", shown_text(.name), .candidates.len())]
    Ambiguous {
        /// The name.
        name: String,
        /// The sessions.
        candidates: Vec<Candidate>,
    },
    /// Only the description is left: its git worktree is gone.
    #[error("the worktree of `{id}` is gone, and its messages with it; it was `{}`", .path.display())]
    Gone {
        /// The session's id.
        id: String,
        /// Where it was.
        path: PathBuf,
    },
    /// The prefix is too short to mean anything.
    #[error("`{}` is too short: give at least {SHORTEST} characters of the id", shown_text(.name))]
    TooShort {
        /// The name.
        name: String,
    },
}

/// Finds the session that a user names: by its path, its id, the beginning of its id, both ends of it
/// (`0196f3a1..9c2e`), `latest`, or any of these after `AGENT:` or `PATH#`, and before `@` and a part of
/// its path; `.:latest` is the newest of this project.
pub fn find(env: &Env, name: &str) -> Result<Source, FindError> {
    let path = env.cwd.join(path_of_text(name));
    let at_path = sources_at_in(env, &path);
    if !at_path.is_empty() {
        return one(name, at_path);
    }
    let not_found = || FindError::NotFound {
        name: name.to_owned(),
    };
    if let Some((path, id)) = in_file(env, name) {
        return by_id(name, id, None, sources_at_in(env, &path));
    }
    if name == ".:latest" {
        return latest_here(env).ok_or_else(not_found);
    }
    let (agent, id) = match name.split_once(':') {
        Some((agent, id)) if by_name(agent).is_some() => (by_name(agent), id),
        _ => (None, name),
    };
    let looked = FormatFilter { only: agent };
    if id == "latest" {
        return latest(env, agent).ok_or_else(not_found);
    }
    let is_path = name.contains(['/', '\\']) || path.is_file();
    if is_path {
        why_none_at(&path)?;
    }
    let is_short = AskedId::parse(id).chars_of_begin() < SHORTEST;
    // The current project first: usually it is there, and the rest need not be looked at. Who asked
    // for other homes wants to know if it is in those, too.
    let looks: &[fn(&Env, FormatFilter) -> Discovery] = match env.others.as_slice() {
        [] => &[here, discover_of],
        _ => &[discover_of],
    };
    for look in looks {
        let mut sources = look(env, looked).sources;
        if is_short {
            // Too short for the beginning of an id, but some ids are as short as that.
            sources.retain(|s| s.id == id);
        }
        match by_id(name, id, agent, sources) {
            Err(FindError::NotFound { .. }) => {}
            answer => return answer,
        }
    }
    if is_short {
        return Err(FindError::TooShort {
            name: name.to_owned(),
        });
    }
    by_head(env, name, id, agent)
}

/// Says why what is at a path is no session, if there is something.
pub fn why_none_at(path: &Path) -> Result<(), FindError> {
    let looked = if path.is_dir() {
        std::fs::read_dir(path)
            .map(|_| ())
            .map_err(|cause| DiskError::Read {
                path: path.to_owned(),
                cause,
            })
    } else {
        open_read(path).map(|_| ())
    };
    let path = path.to_owned();
    match looked {
        Err(e) if e.io().is_some_and(is_denied) => Err(FindError::Unreadable(e)),
        Err(_) if !path.exists() => Ok(()),
        Err(e @ DiskError::Read { .. }) => Err(FindError::Unreadable(e)),
        Ok(()) if holds_none(&path) => Err(FindError::NoSessions { path }),
        Ok(()) | Err(_) => Err(match unpacking_damage(&path) {
            Some(damage) => FindError::Damaged { path, damage },
            None => FindError::NotASession { path },
        }),
    }
}

/// Whether a file is healthy and no session is in it: an export without any, or an empty file.
pub fn holds_none(path: &Path) -> bool {
    path.is_file() && (why_empty(path).is_some() || has_no_sessions(path))
}

/// Whether the system does not let us look; then it does not say either whether something is there.
fn is_denied(e: &io::Error) -> bool {
    e.kind() == io::ErrorKind::PermissionDenied
}

/// The sessions at a path, of whatever format.
pub fn sources_at(path: &Path) -> Vec<Source> {
    FORMATS
        .iter()
        .flat_map(|format| format.store().at_path(path))
        .collect()
}

fn sources_at_in(env: &Env, path: &Path) -> Vec<Source> {
    let at_home = |source: Source| Source {
        home: env.home_of(&source.path).cloned(),
        ..source
    };
    sources_at(path).into_iter().map(at_home).collect()
}

/// The session that a summary is of, in its home. There is none if nobody knows its format.
pub fn source_of(env: &Env, summary: &Summary) -> Option<Source> {
    Some(Source {
        home: env.home_of(&summary.path).cloned(),
        ..Source::of_summary(summary)?
    })
}

/// The sessions whose name is or begins with `id`; a whole id wins over the beginning of another, and
/// both over an id that has these ends or is at this place. Where nothing is spelled so, large and small
/// letters are the same.
fn by_id(
    name: &str,
    id: &str,
    agent: Option<FormatRef>,
    sources: Vec<Source>,
) -> Result<Source, FindError> {
    let asked = AskedId::parse(id);
    let of_agent = |s: &Source| agent.is_none_or(|a| a == s.format);
    let fits = sources.into_iter().filter(of_agent);
    let mut fits: Vec<(IdFit, Source)> = fits.filter_map(|s| Some((asked.fit(&s)?, s))).collect();
    let best = fits.iter().map(|(fit, _)| *fit).min();
    fits.retain(|(fit, _)| Some(*fit) == best);
    let mut matches: Vec<Source> = fits.into_iter().map(|(_, source)| source).collect();
    if matches.iter().any(|s| s.id.starts_with(id)) {
        matches.retain(|s| s.id.starts_with(id));
    }
    if matches.iter().any(|s| s.id.len() == id.len()) {
        matches.retain(|s| s.id.len() == id.len());
    }
    one(name, matches)
}

/// The sessions whose files say another id than their names.
fn by_head(env: &Env, name: &str, id: &str, agent: Option<FormatRef>) -> Result<Source, FindError> {
    let sessions = list_only(env, agent).into_iter();
    let (gone, there): (Vec<Summary>, Vec<Summary>) =
        sessions.partition(|s| s.state == State::Gone);
    let sources = there.iter().filter_map(|s| source_of(env, s)).collect();
    match by_id(name, id, agent, sources) {
        Err(FindError::NotFound { .. }) => {}
        answer => return answer,
    }
    match gone.into_iter().find(|s| s.head.id.starts_with(id)) {
        Some(s) => Err(FindError::Gone {
            id: s.head.id,
            path: s.path,
        }),
        None => Err(FindError::NotFound {
            name: name.to_owned(),
        }),
    }
}

/// One session, or the newest of several that hold the same bytes.
fn one(name: &str, sources: Vec<Source>) -> Result<Source, FindError> {
    let mut sources = without_mere_descriptions(sources, |source| Some(source.clone()));
    sources.dedup();
    let newest = sources.iter().max_by_key(|s| changed(s)).cloned();
    let Some(newest) = newest else {
        return Err(FindError::NotFound {
            name: name.to_owned(),
        });
    };
    let copies = || {
        let digest = content(&newest);
        digest.is_some()
            && sources
                .iter()
                .all(|s| s.id == newest.id && content(s) == digest)
    };
    if sources.len() == 1 || copies() {
        return Ok(newest);
    }
    // Others may begin like these: only a whole id is sure to mean no other.
    let names = ShortIds::new(&sources, &[]);
    let candidate = |s: Source| Candidate {
        format: s.format.slug(),
        name: names.whole_name(&s),
        id: s.id,
        path: s.path,
    };
    let mut candidates: Vec<Candidate> = sources.into_iter().map(candidate).collect();
    candidates.sort_by(|a, b| (&a.id, &a.path).cmp(&(&b.id, &b.path)));
    Err(FindError::Ambiguous {
        name: name.to_owned(),
        candidates,
    })
}

fn files(source: &Source) -> Vec<PathBuf> {
    source.format.store().files(source).unwrap_or_default()
}

fn changed(source: &Source) -> Option<SystemTime> {
    let time = |p: &PathBuf| std::fs::metadata(p).and_then(|m| m.modified()).ok();
    files(source).iter().filter_map(time).max()
}

/// A digest of all that a session holds.
fn content(source: &Source) -> Option<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    if let Some(rows) = source.format.reader().rows(source).ok()? {
        for part in &rows.parts {
            let mut reader = part.reader();
            loop {
                match reader.read(&mut buffer).ok()? {
                    0 => break,
                    n => hash.update(&buffer[..n]),
                }
            }
        }
        return Some(hash.finalize().into());
    }
    for path in files(source) {
        hash.update(path.file_name()?.as_encoded_bytes());
        let mut file = open_read(&path).ok()?;
        loop {
            match file.read(&mut buffer).ok()? {
                0 => break,
                n => hash.update(&buffer[..n]),
            }
        }
    }
    Some(hash.finalize().into())
}

/// The session in which something was said last, or that was made last. Those of sub-agents count with
/// their parents.
fn latest(env: &Env, agent: Option<FormatRef>) -> Option<Source> {
    newest(env, list_only(env, agent))
}

/// The session of the current project in which something was said last.
fn latest_here(env: &Env) -> Option<Source> {
    let mut here = AskedWorkspace::new(env, ".");
    let mut sessions = list_only(env, None);
    sessions.retain(|session| here.has(env, session));
    newest(env, sessions)
}

fn newest(env: &Env, sessions: Vec<Summary>) -> Option<Source> {
    let is_own = |s: &Summary| s.state != State::Gone && !s.is_subagent();
    let fits = sessions.into_iter().filter(is_own);
    // A copy was made later than what is said in it.
    let time = |s: &Summary| s.head.updated.max(s.head.made);
    let newest = fits.max_by(|a, b| (time(a), &a.head.id).cmp(&(time(b), &b.head.id)))?;
    source_of(env, &newest)
}

/// A file of several sessions, and the id of one of them: `PATH#ID`. Either may hold a `#` itself, so
/// the first that is a path counts, else the last.
fn in_file<'a>(env: &Env, name: &'a str) -> Option<(PathBuf, &'a str)> {
    let path = |text: &str| env.cwd.join(path_of_text(text));
    let split = |at: usize| Some((path(name.get(..at)?), name.get(at + 1..)?));
    let places = || name.match_indices('#').map(|(at, _)| at);
    let there = places().filter_map(split).find(|(path, _)| path.exists());
    there.or_else(|| split(places().next_back()?))
}
