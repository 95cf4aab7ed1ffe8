//! Where sessions live, and what their files are called.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rethread_model::{Link, LinkKind, Note, Summary};

use super::base::find_bases;
use super::meta::{Beginning, read_beginning};
use super::names::{INDEX, name_of};
use super::{Codex, FORMAT, document};
use crate::kit::{SourceSink, agent_folders, folder_entries, known_roots, require_file};
use crate::{Dependencies, Env, OpenError, Root, Source, Store};

/// The folders of sessions in a home.
pub(super) const SESSIONS: &str = "sessions";
pub(super) const ARCHIVED: &str = "archived_sessions";

/// How deep folders are searched: the client nests them by year, month and day.
const DEEPEST: usize = 8;

impl Store for Codex {
    /// The homes that are there.
    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        let homes = agent_folders(env, "CODEX_HOME", ".codex").into_iter();
        known_roots(FORMAT, homes.filter(|home| home.is_dir()))
    }

    fn watched_folders(&self, root: &Root) -> Vec<(PathBuf, bool)> {
        let folders = [SESSIONS, ARCHIVED].map(|name| root.path.join(name));
        let there = folders.into_iter().filter(|folder| folder.is_dir());
        there
            .chain([root.path.clone()])
            .map(|folder| (folder.clone(), folder != root.path))
            .collect()
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        list_folder(&root.path, out);
    }

    /// The sessions at a path that the user named: a file, a home, or a folder of sessions.
    fn at_path(&self, path: &Path) -> Vec<Source> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if path.is_file() {
            let source = |id| Source::new(FORMAT, id, path.clone());
            return id_of(&path).map(source).into_iter().collect();
        }
        let mut sources = Vec::new();
        if is_store(&path) {
            list_folder(&path, &mut |found| sources.extend(found.ok()));
        }
        sources
    }

    /// The one file of a session.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        require_file(source)?;
        Ok(vec![source.path.clone()])
    }

    /// The file, those that a fork goes on from, and the names of all sessions of the home.
    fn dependencies(&self, source: &Source, summary: &Summary) -> Dependencies {
        let path = &source.path;
        let mut found = Dependencies::on(vec![path.clone()]);
        let is_fork = |link: &Link| link.kind == LinkKind::ForkOf;
        let is_plain = summary.head.dialect.as_deref() == Some("legacy");
        if (!is_plain || summary.head.links.iter().any(is_fork))
            && let Beginning::Session(meta) = read_beginning(path)
        {
            let bases = find_bases(path, meta.base);
            found
                .own
                .extend(bases.parts.into_iter().map(|(file, _)| file));
            // It may appear anywhere in the home.
            found.unwatchable = bases.missing.is_some();
        }
        found
            .shared
            .extend(home_of(path).map(|home| home.join(INDEX)));
        found
    }

    /// The name that a person gave the session.
    fn shared_facts(&self, source: &Source, id: &str) -> Option<Vec<u8>> {
        let name = name_of(&home_of(&source.path)?, id);
        Some(name.unwrap_or_default().into_bytes())
    }

    /// The client's folder, where the session is in it: a session that goes on from another needs that
    /// beside it.
    fn base_folder(&self, source: &Source) -> PathBuf {
        let is_root = |folder: &&Path| folder.ends_with(SESSIONS) || folder.ends_with(ARCHIVED);
        let root = source.path.ancestors().skip(1).find(is_root);
        let base = root.or(Some(&source.path)).and_then(Path::parent);
        base.unwrap_or(&source.path).to_owned()
    }
}

/// The sessions of a home, or of a folder of sessions.
pub(super) fn list_folder(root: &Path, out: &mut SourceSink<'_>) {
    let inner = [root.join(SESSIONS), root.join(ARCHIVED)];
    if inner.iter().any(|p| p.is_dir()) {
        for folder in inner {
            walk(&folder, out);
        }
    } else {
        walk(root, out);
    }
}

/// The sessions below a folder: its own first, then those of the folders in it, by name.
fn walk(folder: &Path, out: &mut SourceSink<'_>) {
    let mut open = vec![(folder.to_owned(), 0)];
    let mut seen = BTreeSet::new();
    while let Some((folder, depth)) = open.pop() {
        // A link may lead to where we were.
        if depth > 0 && !seen.insert(std::fs::canonicalize(&folder).ok()) {
            continue;
        }
        let names = folder_entries(&folder, out);
        for path in names.iter().rev() {
            if depth < DEEPEST && path.is_dir() {
                open.push((path.clone(), depth + 1));
            }
        }
        sources(&names, out);
    }
}

/// The sessions in a folder itself, of those files whose names fit.
pub(super) fn list_logs(folder: &Path, fits: &dyn Fn(&str) -> bool) -> Vec<Source> {
    let mut names = folder_entries(folder, &mut |_| {});
    names.retain(|path| path.file_name().and_then(|n| n.to_str()).is_some_and(fits));
    let mut found = Vec::new();
    sources(&names, &mut |source| found.extend(source.ok()));
    found
}

fn sources(names: &[PathBuf], out: &mut SourceSink<'_>) {
    for path in names {
        if is_shadowed(path, names) || !path.is_file() {
            continue;
        }
        if let Some(id) = id_of(path) {
            out(Ok(Source::new(FORMAT, id, path.clone())));
        }
    }
}

/// Whether a compressed file has its plain one beside it: that is the one that goes on.
fn is_shadowed(path: &Path, names: &[PathBuf]) -> bool {
    super::packed::is_packed(path) && names.binary_search(&path.with_extension("")).is_ok()
}

/// What the name of a session's file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RolloutName {
    /// The session's id.
    pub(super) thread: String,
    /// The file's own id: another one where turns were taken back.
    pub(super) rollout: String,
}

impl RolloutName {
    /// Reads `rollout-<time>-<id>.jsonl`, also with `_<file's id>` behind the id, also compressed,
    /// and `rollout-<date>-<id>.json`.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let stem = name.strip_prefix("rollout-")?;
        let stem = stem.strip_suffix(".zst").unwrap_or(stem);
        let (stem, time) = match stem.strip_suffix(".jsonl") {
            Some(stem) => (stem, "0000-00-00T00-00-00-"),
            None => (stem.strip_suffix(".json")?, "0000-00-00-"),
        };
        let ids = stem.get(time.len()..)?;
        let fits = |(byte, pattern): (u8, u8)| match pattern {
            b'0' => byte.is_ascii_digit(),
            sign => byte == sign,
        };
        if !stem.bytes().zip(time.bytes()).all(fits) {
            return None;
        }
        let (thread, rollout) = ids.split_once('_').unwrap_or((ids, ids));
        (is_uuid(thread) && is_uuid(rollout)).then(|| Self {
            thread: thread.to_owned(),
            rollout: rollout.to_owned(),
        })
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// The id of the session that a file is, from its name, or from its beginning where the name tells
/// nothing.
fn id_of(path: &Path) -> Option<String> {
    if let Some(named) = RolloutName::of(path) {
        return Some(named.thread);
    }
    let name = path.file_name()?.to_str()?;
    if name.starts_with('.') {
        return None;
    }
    if document::is_document(path) {
        return document::id_of(path);
    }
    let plain = name.strip_suffix(".zst").unwrap_or(name);
    plain.strip_suffix(".jsonl")?;
    match read_beginning(path) {
        Beginning::Session(meta) if !meta.id.is_empty() => Some(meta.id),
        Beginning::Session(_) | Beginning::Nameless => {
            Some(super::meta::SessionMeta::unsaid(path).id)
        }
        Beginning::Other => None,
    }
}

/// Whether a folder is one of this format: a home, a folder of sessions, or one of a date in it.
/// Others have folders named `sessions`, so a name alone is not enough.
fn is_store(path: &Path) -> bool {
    let is_home = |p: &Path| {
        p.join(ARCHIVED).is_dir()
            || p.join(INDEX).is_file()
            || p.file_name().is_some_and(|n| n == ".codex")
    };
    let has_rollouts = |p: &Path| {
        let mut names = folder_entries(p, &mut |_| {}).into_iter();
        names.any(|n| RolloutName::of(&n).is_some())
    };
    let home = home_of(&path.join("file"));
    is_home(path)
        || home.as_deref().is_some_and(is_home)
        || has_rollouts(path)
        || has_rollouts(&path.join(SESSIONS))
        || has_dates(path)
        || has_dates(&path.join(SESSIONS))
}

/// Whether a folder holds years, and those months.
fn has_dates(folder: &Path) -> bool {
    let numbered = |folder: &Path, digits| {
        let mut names = folder_entries(folder, &mut |_| {});
        names.retain(|p| is_number(p, digits));
        names
    };
    let years = numbered(folder, 4);
    years.iter().any(|year| !numbered(year, 2).is_empty())
}

fn is_number(folder: &Path, digits: usize) -> bool {
    let name = folder.file_name().unwrap_or_default().as_encoded_bytes();
    name.len() == digits && name.iter().all(u8::is_ascii_digit) && folder.is_dir()
}

/// The home that a session's file is in.
pub(super) fn home_of(path: &Path) -> Option<PathBuf> {
    let is_sessions = |p: &&Path| {
        let name = p.file_name().unwrap_or_default();
        name == SESSIONS || name == ARCHIVED
    };
    let folder = path.ancestors().skip(1).find(is_sessions)?;
    folder.parent().map(Path::to_owned)
}

/// Whether a file is among those that were put away.
pub(super) fn is_archived(path: &Path) -> bool {
    path.ancestors()
        .skip(1)
        .any(|p| p.file_name().is_some_and(|n| n == ARCHIVED))
}

/// The folder that holds a file with all others: its home or, without one, the folder of years.
pub(super) fn store_of(path: &Path) -> Option<PathBuf> {
    let is_dated = || {
        let mut folders = path.ancestors().skip(1);
        [2, 2, 4]
            .into_iter()
            .all(|digits| folders.next().is_some_and(|f| is_number(f, digits)))
    };
    let years = || path.ancestors().nth(4).filter(|_| is_dated());
    home_of(path).or_else(|| years().map(Path::to_owned))
}

/// The file with this id of its own: beside another one, or anywhere in its home.
pub(super) fn find_rollout(beside: &Path, id: &str) -> Option<PathBuf> {
    let fits = |path: &PathBuf| {
        RolloutName::of(path).is_some_and(|n| n.rollout.eq_ignore_ascii_case(id)) && path.is_file()
    };
    let quiet = &mut |_| {};
    let near = beside.parent().map(|f| folder_entries(f, quiet));
    if let Some(found) = near.into_iter().flatten().find(fits) {
        return Some(found);
    }
    let folder = store_of(beside)?;
    let mut found = None;
    list_folder(&folder, &mut |source| {
        let path = source.ok().map(|s| s.path);
        if found.is_none() {
            found = path.filter(fits);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let thread = "01a1e075-346b-7c10-a10e-2d7f3fb827f3";
        let other = "0418f71e-beb0-474c-a03d-1719a72e64cc";
        for (name, rollout) in [
            (
                format!("rollout-2026-11-15T18-25-39-{thread}.jsonl"),
                thread,
            ),
            (
                format!("rollout-2026-11-15T18-25-39-{thread}.jsonl.zst"),
                thread,
            ),
            (
                format!("rollout-2026-11-15T18-25-39-{thread}_{other}.jsonl"),
                other,
            ),
            (format!("rollout-2025-08-23-{thread}.json"), thread),
        ] {
            let named = RolloutName::of(Path::new(&name));
            let expected = RolloutName {
                thread: thread.to_owned(),
                rollout: rollout.to_owned(),
            };
            assert_eq!(named, Some(expected), "{name}");
        }
        for name in [
            format!("rollout-2026-11-15T18:25:39-{thread}.jsonl"),
            format!("rollout-2026-11-15T18-25-39-{thread}.txt"),
            "rollout-2026-11-15T18-25-39-é.jsonl".to_owned(),
            "rollout-.jsonl".to_owned(),
            format!("{thread}.jsonl"),
        ] {
            assert_eq!(RolloutName::of(Path::new(&name)), None, "{name}");
        }
    }

    #[test]
    fn homes_of_files() {
        let home = |path| home_of(Path::new(path));
        let expected = Some(PathBuf::from("/h/.codex"));
        assert_eq!(home("/h/.codex/sessions/2026/11/15/a.jsonl"), expected);
        assert_eq!(home("/h/.codex/archived_sessions/a.jsonl"), expected);
        assert_eq!(home("/h/a.jsonl"), None);
    }
}
