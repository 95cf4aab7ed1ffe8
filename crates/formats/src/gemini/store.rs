//! Where sessions live, and what their files are called.

use std::path::{Path, PathBuf};

use rethread_disk::SafeName;
use rethread_model::{Note, Summary, Workspace};
use uuid::Uuid;

use super::calls::sanitized_text;
use super::project::{CHATS, TMP, folder_of, is_project_hash, project_hash, root_files};
use super::reader::{copy_rank, other_copies};
use super::sniff::{ClientFile, file_kind};
use super::{FORMAT, Gemini};
use crate::kit::{SourceSink, agent_folders, folder_entries, known_roots, require_file};
use crate::{Dependencies, Env, OpenError, Removal, Root, Source, Store, WriteError};

/// The client's folder in a home.
const FOLDER: &str = ".gemini";

/// The file of a project's prompts.
const PROMPTS: &str = "logs.json";

/// How much comes before the id in a session's name: `session-2026-11-15T18-26-`.
const BEFORE_ID: usize = 25;

/// The folder of answers that were too long.
const OUTPUTS: &str = "tool-outputs";

/// The folder of logs of what happened.
const LOGS: &str = "logs";

impl Store for Gemini {
    /// The client's folder in the user's home, or where its variable says; and the one it uses inside
    /// of a sandbox of macOS.
    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        let homes = agent_folders(env, "GEMINI_CLI_HOME", "");
        let folders = homes
            .iter()
            .flat_map(|home| [home.join(FOLDER), home.join(".cache").join(FOLDER)]);
        known_roots(FORMAT, folders.filter(|path| path.join(TMP).is_dir()))
    }

    fn watched_folders(&self, root: &Root) -> Vec<(PathBuf, bool)> {
        vec![(root.path.join(TMP), true)]
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        list_folder(&root.path, out);
    }

    /// The sessions at a path that the user named: a file, or one of the client's folders.
    fn at_path(&self, path: &Path) -> Vec<Source> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if path.is_file() {
            return at_file(path).into_iter().collect();
        }
        let mut sources = Vec::new();
        list_folder(&path, &mut |found| sources.extend(found.ok()));
        // Others, too, have folders named `chats_folder` and files named `logs.json`.
        sources.retain(|s| is_in_store(&s.path) || file_kind(&s.path).is_some());
        sources
    }

    /// The file of a session, and those of its tools' answers.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        require_file(source)?;
        let mut files = vec![source.path.clone()];
        files.extend(output_files(&source.path, &source.id));
        Ok(files)
    }

    /// The file, the answers of its tools, and what says which project it belongs to.
    fn dependencies(&self, source: &Source, summary: &Summary) -> Dependencies {
        let path = &source.path;
        let mut own = vec![path.clone()];
        if let Some(project) = folder_of(path) {
            own.extend(outputs_folder(project, &summary.head.id));
            own.extend(output_files(path, &summary.head.id));
            own.extend(root_files(project));
        }
        Dependencies::on(own)
    }

    /// The project's folder, which also holds what tools gave.
    fn base_folder(&self, source: &Source) -> PathBuf {
        let folder = source.path.parent();
        let project = folder.filter(|f| f.ends_with(CHATS)).and_then(Path::parent);
        project.or(folder).unwrap_or(&source.path).to_owned()
    }

    /// Whether this is the file that the client would resume, of all that say they are the same
    /// session: the one that was changed last.
    fn is_whole(&self, source: &Source) -> bool {
        let copies = other_copies(&source.path, &source.id);
        let mine = copy_rank(&source.path);
        copies.iter().all(|file| copy_rank(file) < mine)
    }

    /// What goes when a session is removed: what the client keeps of it, its sub-agents with what it keeps
    /// of those, and its file. What another file of the same session needs as well stays.
    fn remove(&self, source: &Source, _for_good: bool) -> Result<Removal, WriteError> {
        let path = &source.path;
        let mut gone = Vec::new();
        let is_it = |file: &PathBuf| {
            let said = file_kind(file).and_then(|(_, id)| id);
            said.as_deref() == Some(&*source.id)
        };
        let is_alone = side_id(path).is_none() && !same_named(source).iter().any(is_it);
        if let Some(project) = folder_of(path).filter(|_| is_alone) {
            gone.extend(artifacts(project, &source.id));
            let agents = SafeName::new(&source.id).ok();
            let agents = agents.map(|name| rethread_disk::join(&project.join(CHATS), &name));
            for agent in agents.iter().flat_map(|a| folder_entries(a, &mut |_| {})) {
                gone.extend(artifacts(project, &id_of(&agent)));
            }
            gone.extend(agents);
        }
        // Links stay: they may lead anywhere.
        gone.retain(|path| {
            std::fs::symlink_metadata(path).is_ok_and(|m| m.is_dir() || m.is_file())
        });
        gone.push(path.clone());
        Ok(Removal::Files(gone))
    }

    fn hash_of_project(&self, workspace: &Workspace) -> Option<String> {
        let hash = workspace
            .encoded
            .as_deref()
            .filter(|_| workspace.path.is_none())?;
        is_project_hash(hash).then(|| hash.to_owned())
    }

    fn hash_project(&self, folder: &str) -> Option<String> {
        Some(project_hash(folder))
    }
}

/// The sessions of a folder: the client's, that of all projects, or that of one.
pub(super) fn list_folder(root: &Path, out: &mut SourceSink<'_>) {
    let tmp = root.join(TMP);
    if tmp.is_dir() {
        list_projects(&tmp, out);
    } else if root.file_name().is_some_and(|name| name == TMP) {
        list_projects(root, out);
    } else if root.file_name().is_some_and(|name| name == CHATS) {
        list_chats(root, out);
    } else {
        list_project(root, out);
    }
}

fn list_projects(tmp: &Path, out: &mut SourceSink<'_>) {
    for folder in folder_entries(tmp, out) {
        if folder.is_dir() {
            list_project(&folder, out);
        }
    }
}

fn list_project(folder: &Path, out: &mut SourceSink<'_>) {
    let chats = folder.join(CHATS);
    if chats.is_dir() {
        list_chats(&chats, out);
    }
    for path in folder_entries(folder, out) {
        if let Some(id) = side_id(&path)
            && path.is_file()
        {
            out(Ok(Source::new(FORMAT, id, path)));
        }
    }
}

fn list_chats(chats: &Path, out: &mut SourceSink<'_>) {
    for path in folder_entries(chats, out) {
        if path.is_dir() {
            for path in folder_entries(&path, out) {
                add(path, has_ending, out);
            }
        } else {
            add(path, is_session_name, out);
        }
    }
}

fn add(path: PathBuf, fits: fn(&str) -> bool, out: &mut SourceSink<'_>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if fits(&name) && path.is_file() {
        let id = id_of(&path);
        out(Ok(Source::new(FORMAT, id, path)));
    }
}

/// Whether a name ends as sessions do.
fn has_ending(name: &str) -> bool {
    let stem = name.strip_suffix(".jsonl").or(name.strip_suffix(".json"));
    stem.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.'))
}

/// Whether a name is one that the client takes for a session.
fn is_session_name(name: &str) -> bool {
    name.starts_with("session-") && has_ending(name)
}

/// The id of a file that stands beside the chats: a checkpoint, or the prompts of a project.
pub(super) fn side_id(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    if name == PROMPTS {
        let folder = path.parent()?.file_name()?.to_string_lossy();
        return Some(format!("logs-{folder}"));
    }
    let stem = name.strip_suffix(".json")?;
    stem.strip_prefix("checkpoint-").map(|_| stem.to_owned())
}

/// A session's id: the beginning of its file says it, else its name says the beginning of it.
fn id_of(path: &Path) -> String {
    let said = file_kind(path).and_then(|(_, id)| id);
    said.unwrap_or_else(|| named_id(path))
}

/// As much of a session's id as its file's name tells.
pub(super) fn named_id(path: &Path) -> String {
    if let Some(id) = side_id(path) {
        return id;
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = stem
        .strip_prefix("session-")
        .and_then(|_| stem.get(BEFORE_ID..))
        .filter(|id| !id.is_empty());
    id.unwrap_or(&stem).to_owned()
}

fn at_file(path: PathBuf) -> Option<Source> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    if !name.contains(".json") {
        return None;
    }
    let id = match file_kind(&path) {
        Some((ClientFile::Log | ClientFile::Document, id)) => id.unwrap_or_else(|| named_id(&path)),
        Some((ClientFile::Checkpoint | ClientFile::Prompts, _)) => named_id(&path),
        // A damaged one can still be opened where it belongs.
        None if is_in_store(&path) && is_session_name(&name) => named_id(&path),
        None => return None,
    };
    Some(Source::new(FORMAT, id, path))
}

/// Whether a file is where the client keeps its own.
fn is_in_store(path: &Path) -> bool {
    let tmp = folder_of(path).and_then(Path::parent);
    tmp.is_some_and(|tmp| tmp.ends_with(Path::new(FOLDER).join(TMP)))
}

/// The session that started the one in this file, by the folder that it is in.
pub(super) fn parent_session(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let chats = folder.parent()?;
    let is_chats = chats.file_name().is_some_and(|name| name == CHATS);
    let name = folder.file_name()?.to_str()?;
    is_chats.then(|| name.to_owned())
}

/// The folder in a project's folder for answers of a session's tools that were too long.
pub(super) fn outputs_folder(project: &Path, id: &str) -> Option<PathBuf> {
    let name = SafeName::new(&format!("session-{}", sanitized_text(id))).ok()?;
    Some(rethread_disk::join(&project.join(OUTPUTS), &name))
}

/// The files in which answers of a session's tools were saved.
pub(super) fn output_files(path: &Path, id: &str) -> Vec<PathBuf> {
    let folder = folder_of(path).and_then(|project| outputs_folder(project, id));
    let Some(folder) = folder else {
        return Vec::new();
    };
    let mut files = folder_entries(&folder, &mut |_| {});
    // Links are not followed: they may lead anywhere.
    files.retain(|file| std::fs::symlink_metadata(file).is_ok_and(|m| m.is_file()));
    files
}

/// Files that may hold the same session: those with the same beginning of the id in their names,
/// in all projects' folders. The client copies a folder when it gives it another name, and writes a
/// session anew when it resumes it.
pub(super) fn same_named(source: &Source) -> Vec<PathBuf> {
    let Some(folder) = folder_of(&source.path) else {
        return Vec::new();
    };
    if parent_session(&source.path).is_some() || side_id(&source.path).is_some() {
        return Vec::new();
    }
    let short: String = source.id.chars().take(8).collect();
    let projects = match folder.parent().filter(|tmp| tmp.ends_with(TMP)) {
        Some(tmp) => folder_entries(tmp, &mut |_| {}),
        None => vec![folder.to_owned()],
    };
    let chats = projects.iter().map(|project| project.join(CHATS));
    let files = chats.flat_map(|chats| folder_entries(&chats, &mut |_| {}));
    let is_namesake = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path != &source.path && is_session_name(&name) && name.contains(&short)
    };
    files.filter(is_namesake).collect()
}

/// The file that holds the session with this id already; the file of the source itself counts.
pub(super) fn with_id(source: &Source) -> Option<PathBuf> {
    let own = source.path.is_file().then(|| source.path.clone());
    let mut files = own.into_iter().chain(same_named(source));
    files.find(|file| file_kind(file).and_then(|(_, id)| id).as_deref() == Some(&*source.id))
}

/// What the client keeps of a session beside its chats: what its tools saved, a log of what happened,
/// and a folder with plans and tasks.
fn artifacts(project: &Path, id: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = outputs_folder(project, id).into_iter().collect();
    if let Ok(name) = SafeName::new(&format!("session-{}.jsonl", sanitized_text(id))) {
        found.push(rethread_disk::join(&project.join(LOGS), &name));
    }
    // Other names are those of folders that all sessions of the project share.
    let own = SafeName::new(id)
        .ok()
        .filter(|_| Uuid::try_parse(id).is_ok());
    found.extend(own.map(|name| rethread_disk::join(project, &name)));
    found
}

/// Whether a file is in a folder that is named by a hash, which the client no longer writes to.
pub(super) fn is_in_hash_folder(path: &Path) -> bool {
    let name = folder_of(path).and_then(Path::file_name);
    name.and_then(|n| n.to_str()).is_some_and(is_project_hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_ids() {
        for (path, id) in [
            (
                "/c/chats/session-2026-11-15T18-26-e738eb0d.jsonl",
                "e738eb0d",
            ),
            (
                "/c/chats/session-2026-11-15T18-26-e738eb0d.json",
                "e738eb0d",
            ),
            ("/c/chats/session-x.json", "session-x"),
            ("/c/chats/p/child.jsonl", "child"),
            (
                "/c/checkpoint-before%20merge.json",
                "checkpoint-before%20merge",
            ),
            ("/c/logs.json", "logs-c"),
        ] {
            assert_eq!(named_id(Path::new(path)), id, "{path}");
        }
    }
}
