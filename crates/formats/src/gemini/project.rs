//! The folders in which the client keeps what belongs to a project, and which project that is.

use std::path::{Path, PathBuf};

use rethread_disk::read_small;
use rethread_json::{Tree, Value};
use rethread_model::Workspace;
use sha2::{Digest, Sha256};

use super::meta::LogMeta;

/// The folder of chats in a project's folder.
pub(super) const CHATS: &str = "chats";

/// The folder of projects' folders in the client's.
pub(super) const TMP: &str = "tmp";

/// The file in a project's folder that holds the project's path.
pub(super) const ROOT_FILE: &str = ".project_root";

/// The file in the client's folder that gives each project a short name.
const REGISTRY: &str = "projects.json";

/// The client's hash of a project: SHA-256 of its path in hexadecimal digits.
///
/// ```
/// let hash = rethread_formats::gemini::project_hash("/home/me/shop");
/// assert_eq!(&hash[..8], "4a68c726");
/// ```
pub fn project_hash(path: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| {
        DIGITS
            .get(usize::from(half))
            .copied()
            .map_or('0', char::from)
    };
    let digest = Sha256::digest(path.as_bytes());
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}

/// Whether a name is such a hash: 64 of those digits.
pub fn is_project_hash(name: &str) -> bool {
    let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 64 && name.bytes().all(is_digit)
}

/// The project's folder that a file is in: around `chats_folder`, else the one that holds it.
pub(super) fn folder_of(file: &Path) -> Option<&Path> {
    let is_chats = |p: &&Path| p.file_name().is_some_and(|name| name == CHATS);
    let above = file.ancestors().skip(1).take(2);
    match above.into_iter().find(is_chats) {
        Some(chats) => chats.parent(),
        None => file.parent(),
    }
}

/// The project that a project's folder says it belongs to.
pub(super) fn root_in(folder: &Path) -> Option<String> {
    let bytes = read_small(&folder.join(ROOT_FILE)).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let path = text.trim();
    (!path.is_empty() && !path.contains(['\n', '\0'])).then(|| path.to_owned())
}

/// The files that say which project a project's folder belongs to, as far as they are asked.
pub(super) fn root_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![folder.join(ROOT_FILE)];
    if root_in(folder).is_none() {
        files.extend(store_of(folder).map(|store| store.join(REGISTRY)));
    }
    files
}

/// The client's folder around a project's folder.
fn store_of(folder: &Path) -> Option<&Path> {
    let tmp = folder.parent()?;
    tmp.parent()
        .filter(|_| tmp.file_name().is_some_and(|name| name == TMP))
}

/// The client's folder that a session's file is in.
pub(super) fn store_around(file: &Path) -> Option<&Path> {
    store_of(folder_of(file)?)
}

/// The projects of the client's folder with their short names.
pub(super) fn registered_projects(store: &Path) -> Vec<(String, String)> {
    let Ok(bytes) = read_small(&store.join(REGISTRY)) else {
        return Vec::new();
    };
    let Ok(tree) = Tree::parse(&bytes) else {
        return Vec::new();
    };
    let projects = tree.root(&bytes).get("projects");
    let members = projects.into_iter().flat_map(Value::members);
    members
        .filter_map(|(path, name)| Some((path.str()?.into_owned(), name.str()?.into_owned())))
        .collect()
}

/// Where a session was held. `told` are folders that the session itself names.
pub(super) fn find_workspace(file: &Path, meta: &LogMeta, told: &[String]) -> Workspace {
    let folder = folder_of(file);
    let name = folder.and_then(Path::file_name).and_then(|n| n.to_str());
    let hash = meta
        .project_hash
        .as_deref()
        .or(name.filter(|n| is_project_hash(n)));
    let path = folder.and_then(|folder| known_root(folder, name?, hash));
    let told: Vec<&String> = told.iter().chain(&meta.directories).collect();
    let by_hash = || told.iter().find(|p| Some(project_hash(p).as_str()) == hash);
    let path = path
        .or_else(|| by_hash().map(|p| (*p).clone()))
        .or_else(|| told.first().map(|p| (*p).clone()));
    Workspace {
        path,
        encoded: hash.or(name).map(str::to_owned),
        ..Workspace::default()
    }
}

/// The project that the client's own files name.
fn known_root(folder: &Path, name: &str, hash: Option<&str>) -> Option<String> {
    if let Some(root) = root_in(folder) {
        return Some(root);
    }
    let projects = registered_projects(store_of(folder)?);
    let mut paths = projects.iter();
    let by_name = paths.find(|(_, short)| short == name);
    let by_hash = || {
        let mut paths = projects.iter();
        paths.find(|(path, _)| Some(project_hash(path).as_str()) == hash)
    };
    by_name.or_else(by_hash).map(|(path, _)| path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_files() {
        for (file, folder) in [
            ("/g/tmp/shop/chats/session-1.jsonl", "/g/tmp/shop"),
            ("/g/tmp/shop/chats/parent/child.jsonl", "/g/tmp/shop"),
            ("/g/tmp/shop/logs.json", "/g/tmp/shop"),
        ] {
            assert_eq!(folder_of(Path::new(file)), Some(Path::new(folder)));
        }
    }
}
