//! Where sessions live, and what their files are called.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rethread_disk::DiskError;
use rethread_model::Note;

use super::{Flavour, header};
use crate::kit::{SourceSink, folder_entries, known_roots, require_file};
use crate::unusable::why_empty;
use crate::{Env, OpenError, Root, Source, Store};

/// The folder of sessions in an agent's folder.
const SESSIONS: &str = "sessions";

impl Store for Flavour {
    /// The folders of a program that are there: that of the agent, in each home unless a variable names
    /// it, and that of sessions kept elsewhere.
    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        let in_homes = || env.homes.iter().map(|h| h.join(self.home).join("agent"));
        let mut folders = match (self.folder)(env) {
            Some(folder) => vec![folder],
            None => in_homes().collect(),
        };
        folders.extend(expanded_folder(env, self.sessions));
        known_roots(self.format, folders.into_iter().filter(|p| p.is_dir()))
    }

    fn watched_folders(&self, root: &Root) -> Vec<(PathBuf, bool)> {
        let sessions = root.path.join(SESSIONS);
        let has_own = sessions.is_dir();
        vec![(if has_own { sessions } else { root.path.clone() }, true)]
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        list_folder(self, &root.path, out);
    }

    /// The sessions at a path that the user named: a file, a folder of sessions, or an agent's folder.
    fn at_path(&self, path: &Path) -> Vec<Source> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let is_ours = is_atomic(&path) == (self.slug == "atomic");
        if !is_ours {
            return Vec::new();
        }
        if path.is_file() {
            let Some(named) = candidate(&path) else {
                return Vec::new();
            };
            let id = match (header::first_header(&path), named) {
                (Ok(Some(header)), _) => Some(header.id),
                (_, SessionFileName::Session(id)) => Some(id),
                (_, SessionFileName::Unsure) => None,
            };
            return id
                .map(|id| Source::new(self.format, id, path))
                .into_iter()
                .collect();
        }
        let mut sources = Vec::new();
        list_folder(self, &path, &mut |found| sources.extend(found.ok()));
        // Only what is short can be empty, or a pointer.
        let is_short = |s: &Source| std::fs::metadata(&s.path).is_ok_and(|m| m.len() < 1024);
        sources.retain(|s| !is_short(s) || why_empty(&s.path).is_none());
        sources
    }

    /// The one file of a session.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        require_file(source)?;
        Ok(vec![source.path.clone()])
    }
}

/// The name of the folder in which the sessions of a working folder are kept.
///
/// The folder is to be absolute. Several folders can have one name, so nobody can tell from the name
/// which it was: that is in the header of each session.
///
/// ```
/// use rethread_formats::pi::encode_cwd;
/// assert_eq!(encode_cwd("/home/me/shop"), "--home-me-shop--");
/// ```
pub fn encode_cwd(cwd: &str) -> String {
    let is_separator = |c: char| c == '/' || c == '\\';
    // Resolving a path takes the separators at its end, except for a root.
    let resolved = match cwd.trim_end_matches(is_separator) {
        "" => "",
        drive if drive.ends_with(':') => cwd,
        rest => rest,
    };
    let inner = resolved.strip_prefix(is_separator).unwrap_or(resolved);
    format!("--{}--", inner.replace(['/', '\\', ':'], "-"))
}

/// The folder that a variable names, with `~` for the home.
pub(crate) fn expanded_folder(env: &Env, variable: &str) -> Option<PathBuf> {
    let named = PathBuf::from(env.agent_variable(variable)?);
    let home = env.homes.first();
    let path = match (named.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => named,
    };
    Some(env.cwd.join(path))
}

/// Whether a path is one of Atomic's: the two write alike, so only the folder tells.
pub(crate) fn is_atomic(path: &Path) -> bool {
    path.components().any(|c| c.as_os_str() == ".atomic")
}

/// The folder that pi's own variable names. What Atomic's own variable names is Atomic's, also if pi's
/// names it too.
pub(super) fn pi_folder(env: &Env) -> Option<PathBuf> {
    let atomic = expanded_folder(env, "ATOMIC_CODING_AGENT_DIR");
    expanded_folder(env, "PI_CODING_AGENT_DIR")
        .filter(|p| !is_atomic(p) && Some(p) != atomic.as_ref())
}

/// The sessions of a folder: in it, and in the folders of a working folder each. In an agent's
/// folder those are in `sessions`.
pub(crate) fn list_folder(flavour: &Flavour, root: &Path, out: &mut SourceSink<'_>) {
    let inner = root.join(SESSIONS);
    let (sessions, any_name) = if inner.is_dir() {
        list_files(flavour, root, out);
        (inner, true)
    } else {
        (
            root.to_owned(),
            root.file_name() == Some(OsStr::new(SESSIONS)),
        )
    };
    list_files(flavour, &sessions, out);
    for folder in folder_entries(&sessions, out) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let fits = any_name || name.starts_with("--") && name.ends_with("--");
        // Links to folders count.
        if fits && folder.is_dir() {
            list_files(flavour, &folder, out);
        }
    }
}

fn list_files(flavour: &Flavour, folder: &Path, out: &mut SourceSink<'_>) {
    for path in folder_entries(folder, out) {
        let Some(named) = candidate(&path) else {
            continue;
        };
        if !path.is_file() {
            continue;
        }
        let id = match named {
            SessionFileName::Session(id) => Ok(Some(id)),
            SessionFileName::Unsure => {
                header::first_header(&path).map(|header| header.map(|h| h.id))
            }
        };
        match id {
            Ok(Some(id)) => out(Ok(Source::new(flavour.format, id, path))),
            // It went away meanwhile.
            Ok(None) | Err(DiskError::NotFound { .. }) => {}
            Err(e) => out(Err(Note::damage(e.to_string()))),
        }
    }
}

/// What the name of a file that can be a session tells.
#[derive(Debug, PartialEq, Eq)]
enum SessionFileName {
    /// It is one, with this id.
    Session(String),
    /// Nothing: the beginning of the file must.
    Unsure,
}

/// Whether a file can be a session by its name.
fn candidate(path: &Path) -> Option<SessionFileName> {
    let name = path.file_name()?.to_string_lossy();
    let stem = name.strip_suffix(".jsonl")?;
    if stem.starts_with('.') || stem.ends_with(".trajectory") {
        return None;
    }
    Some(id_in(stem).map_or(SessionFileName::Unsure, |id| {
        SessionFileName::Session(id.to_owned())
    }))
}

/// The id in a name `<time>_<id>`, where the time is spelled `2026-11-15T17-50-27-876Z`.
fn id_in(stem: &str) -> Option<&str> {
    const TIME: &[u8] = b"0000-00-00T00-00-00-000Z_";
    let (time, id) = stem.split_at_checked(TIME.len())?;
    let fits = |(byte, pattern): (u8, &u8)| match pattern {
        b'0' => byte.is_ascii_digit(),
        sign => byte == *sign,
    };
    (!id.is_empty() && time.bytes().zip(TIME).all(fits)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders() {
        for (cwd, name) in [
            ("/", "----"),
            ("/a b/c", "--a b-c--"),
            ("/x:y", "--x-y--"),
            ("/trail/", "--trail--"),
            ("C:\\Users\\me", "--C--Users-me--"),
            ("/häuser/α.β", "--häuser-α.β--"),
            ("\\\\server\\share", "---server-share--"),
        ] {
            assert_eq!(encode_cwd(cwd), name, "{cwd}");
        }
    }

    #[test]
    fn names_of_files() {
        for (name, told) in [
            ("2026-11-15T17-50-27-876Z_01a1e054.jsonl", Some("01a1e054")),
            ("2026-11-15T17-50-27-876Z_a_b.c.jsonl", Some("a_b.c")),
            ("2026-11-15T17-50-27-876Z_é.jsonl", Some("é")),
            ("2026-11-15T17-50-27-876Z_.jsonl", None),
            ("2026-11-15T17:50:27.876Z_a.jsonl", None),
            ("talk.jsonl", None),
        ] {
            let told = told.map_or(SessionFileName::Unsure, |id| {
                SessionFileName::Session(id.to_owned())
            });
            assert_eq!(candidate(Path::new(name)), Some(told), "{name}");
        }
        for name in ["run.trajectory.jsonl", "index.json", ".hidden.jsonl"] {
            assert_eq!(candidate(Path::new(name)), None, "{name}");
        }
    }
}
