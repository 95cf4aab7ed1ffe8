//! The project that a folder belongs to, as the client tells it.

use std::fmt::Write as _;
use std::path::Path;

use rethread_disk::read_small;
use rethread_project::{Repository, relative};
use rusqlite::OptionalExtension as _;
use rusqlite::types::Value;
use sha1::{Digest as _, Sha1};

use super::create::text_value;
use super::session_rows::has_table;
use super::writing::DatabaseChange;
use crate::{WriteError, Writing};

/// The project of folders that are in no repository, and of repositories without a commit.
pub(super) const GLOBAL: &str = "global";

/// The file in a repository's git folder in which the client notes the project's id.
const NOTED: &str = "opencode";

/// The project that a folder belongs to.
pub(super) struct ProjectHome {
    pub(super) project: String,
    /// The folder below the root of the repository.
    pub(super) relative: String,
}

impl ProjectHome {
    /// The project of a folder. One that the client does not know yet is written down as the client
    /// would do it when it is started there.
    pub(super) fn of(
        w: &Writing<'_>,
        change: &DatabaseChange<'_>,
        cwd: &Path,
    ) -> Result<Self, WriteError> {
        let Some(repository) = Repository::find(cwd) else {
            return Self::make(w, change, GLOBAL, Path::new("/"), None, cwd);
        };
        let root = repository.root().to_owned();
        let by_rule = rule_is_known(change)?
            .then(|| id(&repository))
            .flatten()
            .filter(|id| is_plain(id));
        let known = match &by_rule {
            Some(id) => change.exists("project", id)?.then(|| id.clone()),
            None => None,
        };
        let known = match known {
            Some(id) => Some(id),
            None => of_folder(change, &repository, cwd)?,
        };
        match (known, by_rule) {
            (Some(project), _) => Ok(Self {
                project,
                relative: join_checked(&root, cwd),
            }),
            (None, Some(id)) => Self::make(w, change, &id, &root, Some("git"), cwd),
            (None, None) => Err(WriteError::BadInput(format!(
                "which project of OpenCode `{}` is, only OpenCode can tell: run `opencode session list` in it once",
                root.display()
            ))),
        }
    }

    fn make(
        w: &Writing<'_>,
        change: &DatabaseChange<'_>,
        id: &str,
        root: &Path,
        vcs: Option<&str>,
        cwd: &Path,
    ) -> Result<Self, WriteError> {
        if !change.exists("project", id)? {
            let time = Value::Integer(w.env.now().millis());
            change.insert(
                "project",
                vec![
                    ("id", text_value(id)),
                    ("worktree", text_value(&root.to_string_lossy())),
                    ("vcs", vcs.map_or(Value::Null, text_value)),
                    ("time_created", time.clone()),
                    ("time_updated", time),
                    ("sandboxes", text_value("[]")),
                ],
            )?;
        }
        Ok(Self {
            project: id.to_owned(),
            relative: join_checked(root, cwd),
        })
    }
}

/// A folder below a root, empty for the root itself.
fn join_checked(root: &Path, folder: &Path) -> String {
    let below = relative(root, folder);
    if below == "." { String::new() } else { below }
}

/// Whether the database is of a client that names projects by the rule of [`id`]: older ones, which
/// lack this table, did it otherwise.
fn rule_is_known(change: &DatabaseChange<'_>) -> Result<bool, WriteError> {
    change.ask(|tx| has_table(tx, "project_directory"))
}

/// The project that the database has for this repository, or that a session in the same folder is
/// of: clients of other versions name it in another way.
fn of_folder(
    change: &DatabaseChange<'_>,
    repository: &Repository,
    cwd: &Path,
) -> Result<Option<String>, WriteError> {
    let ask = |sql: &str, folder: &Path| {
        change.ask(|tx| {
            tx.query_row(sql, [folder.to_string_lossy()], |row| row.get(0))
                .optional()
        })
    };
    let by_root = "SELECT id FROM project WHERE worktree = ?1 ORDER BY time_updated DESC";
    let main = repository.main_root();
    for root in main.as_deref().into_iter().chain([repository.root()]) {
        if let Some(project) = ask(by_root, root)? {
            return Ok(Some(project));
        }
    }
    let by_folder =
        "SELECT project_id FROM session WHERE directory = ?1 ORDER BY time_created DESC LIMIT 1";
    ask(by_folder, cwd)
}

/// The id that the client gives to a repository: of its remote, else the one that it noted itself,
/// else the first commit. None where that cannot be found out.
fn id(repository: &Repository) -> Option<String> {
    if !repository.answers() {
        return None;
    }
    match repository.remote_url("origin").as_deref().map(remote) {
        Some(Remote::Named(name)) => return Some(fast_hash(&format!("git-remote:{name}"))),
        Some(Remote::Odd) => return None,
        Some(Remote::Nameless) | None => {}
    }
    let noted = read_small(&repository.common_dir().join(NOTED)).ok();
    let noted = noted.and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(id) = noted.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
        return Some(id.to_owned());
    }
    if repository.commit().is_none() {
        return Some(GLOBAL.to_owned());
    }
    repository.root_commits()?.into_iter().next()
}

/// Whether an id is one that the client itself could have made.
fn is_plain(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.len() <= 100 && id.chars().all(fits)
}

fn fast_hash(text: &str) -> String {
    let mut digits = String::new();
    for byte in Sha1::digest(text.as_bytes()) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// What the address of a remote says about a project.
#[derive(Debug, PartialEq, Eq)]
enum Remote {
    /// Host and path.
    Named(String),
    /// It is on this machine, or names no host: the client passes over it.
    Nameless,
    /// It holds what the client would spell in another way; how, is its own affair.
    Odd,
}

fn remote(url: &str) -> Remote {
    let url = url.trim();
    let (scheme, rest) = match url.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, url),
    };
    let (host, path) = match (scheme, rest.strip_prefix("//")) {
        (Some(scheme), _) if scheme.eq_ignore_ascii_case("file") => return Remote::Nameless,
        (Some(_), Some(rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit_once('@').map_or(authority, |(_, h)| h);
            // A port is no part of the name.
            let host = host.split_once(':').map_or(host, |(h, _)| h);
            (host, path)
        }
        (Some("http" | "https" | "ftp" | "ws" | "wss"), None) => return Remote::Odd,
        // `host:path` without a user looks like a scheme, and has no host then.
        (Some(_), None) => return Remote::Nameless,
        (None, _) => match url.split_once(':') {
            Some((host, path)) if !host.contains('/') && !path.is_empty() => {
                (host.split_once('@').map_or(host, |(_, h)| h), path)
            }
            _ => return Remote::Nameless,
        },
    };
    let path = path.trim_start_matches('/');
    let path = path.strip_suffix('/').unwrap_or(path);
    let path = path.strip_suffix(".git").unwrap_or(path);
    let path = path.trim_end_matches('/');
    if host.is_empty() || path.is_empty() {
        return Remote::Nameless;
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '~' | '/');
    let is_step = |part: &str| part.is_empty() || part == "." || part == "..";
    if !host.chars().chain(path.chars()).all(fits) || path.split('/').any(is_step) {
        return Remote::Odd;
    }
    Remote::Named(format!("{}/{path}", host.to_ascii_lowercase()))
}

fn is_scheme(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_are_named_by_host_and_path() {
        for (url, name) in [
            ("git@Example.com:me/shop.git", "example.com/me/shop"),
            ("https://example.com/me/shop", "example.com/me/shop"),
            (
                "https://u:p@example.com:443/me/shop.git/",
                "example.com/me/shop",
            ),
            (
                "ssh://git@example.com:2222/me/shop.git",
                "example.com/me/shop",
            ),
            ("work@example.com:/srv/shop.git", "example.com/srv/shop"),
        ] {
            assert_eq!(remote(url), Remote::Named(name.to_owned()), "{url}");
        }
        for url in [
            "/srv/shop.git",
            "../shop",
            "file:///srv/shop.git",
            "example.com:me/shop",
            "",
        ] {
            assert_eq!(remote(url), Remote::Nameless, "{url}");
        }
        for url in [
            "https://example.com/a/../b",
            "https://example.com/a%20b",
            "https://b\u{fc}ro.example/x",
        ] {
            assert_eq!(remote(url), Remote::Odd, "{url}");
        }
    }

    #[test]
    fn a_hash_has_forty_digits() {
        assert_eq!(fast_hash("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    }
}
