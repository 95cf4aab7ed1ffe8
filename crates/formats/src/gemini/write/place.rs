//! Where new sessions go: into the folder that the client uses for the project.

use std::path::{Path, PathBuf};

use rethread_disk::{Created, Mode, create, ensure_folder};

use crate::gemini::project::{CHATS, ROOT_FILE, TMP, project_hash, registered_projects, root_in};
use crate::{Env, WriteError, Writing};

/// How many short names are tried when others have them.
const TRIES: u32 = 10_000;

/// The client's folder to write to.
pub(in crate::gemini) fn store_folder(env: &Env) -> Option<PathBuf> {
    let home = match env.agent_variable("GEMINI_CLI_HOME") {
        Some(home) => env.cwd.join(home),
        None => env.homes.first()?.clone(),
    };
    Some(home.join(".gemini"))
}

/// The short name that the client makes of a project's path.
pub(super) fn path_slug(path: &Path) -> String {
    let base = path.file_name().unwrap_or_default().to_string_lossy();
    let mut slug = String::new();
    for c in base.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "project" } else { slug }.to_owned()
}

/// The project's folder that the client would use for this project, as far as there is one: the one
/// that is registered, one that says it belongs to it, or one with its hash.
pub(super) fn existing_folder(store: &Path, project: &str) -> Option<PathBuf> {
    let tmp = store.join(TMP);
    let owns = |folder: &Path| root_in(folder).is_none_or(|root| root == project);
    let named = registered_projects(store).into_iter();
    let named = named
        .filter(|(path, name)| path == project && is_short_name(name))
        .map(|(_, name)| tmp.join(name))
        .find(|folder| owns(folder));
    let hashed = || Some(tmp.join(project_hash(project))).filter(|p| p.is_dir());
    named.or_else(|| marked(&tmp, project)).or_else(hashed)
}

fn is_short_name(name: &str) -> bool {
    let fits = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !name.is_empty() && name.bytes().all(fits)
}

/// The folder whose marker names this project.
fn marked(tmp: &Path, project: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(tmp).into_iter().flatten();
    let mut folders: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    folders.sort();
    folders
        .into_iter()
        .find(|folder| root_in(folder).as_deref() == Some(project))
}

/// The folder of a project's chats. It is made where there is none, and marked as the client marks
/// it, so that the client takes it for its own.
pub(in crate::gemini) fn chats_folder(
    w: &Writing<'_>,
    store: &Path,
    project: &str,
) -> Result<PathBuf, WriteError> {
    let there = store.ancestors().find(|f| f.is_dir()).unwrap_or(store);
    let mode = Mode::like(there)?;
    let folder = match existing_folder(store, project) {
        Some(folder) => folder,
        None => claimed(w, store, project, mode)?,
    };
    let chats = folder.join(CHATS);
    ensure_folder(&chats, &mode, w.durability)?;
    Ok(chats)
}

/// A new project's folder, under the first short name that nobody has.
fn claimed(
    w: &Writing<'_>,
    store: &Path,
    project: &str,
    mode: Mode,
) -> Result<PathBuf, WriteError> {
    let slug = path_slug(Path::new(project));
    let taken: Vec<String> = registered_projects(store)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    for number in 0..TRIES {
        let name = match number {
            0 => slug.clone(),
            n => format!("{slug}-{n}"),
        };
        if taken.contains(&name) {
            continue;
        }
        let folder = store.join(TMP).join(name);
        ensure_folder(&folder, &mode, w.durability)?;
        let marker = folder.join(ROOT_FILE);
        let made = create(&marker, project.as_bytes(), mode, w.durability)?;
        if made == Created::New || root_in(&folder).as_deref() == Some(project) {
            return Ok(folder);
        }
    }
    let why = format!("no short name is free for `{project}`");
    Err(WriteError::BadInput(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names() {
        for (path, name) in [
            ("/home/me/Shop", "shop"),
            ("/a/My  Web_Shop!", "my-web-shop"),
            ("/a/--x--", "x"),
            ("/a/😀", "project"),
            ("/", "project"),
        ] {
            assert_eq!(path_slug(Path::new(path)), name, "{path}");
        }
    }
}
