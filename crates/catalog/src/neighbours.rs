//! Folders in which other agents worked, as the beginnings of their sessions name them.
//!
//! Only names and the first bytes of files are read: enough to find a project's own store. What the
//! catalogue knows of a file is not read again.

use std::fs::DirEntry;
use std::io::Read;
use std::path::{Path, PathBuf};

use rethread_disk::{FileStamp, open_read, read_small};
use rethread_formats::Env;
use rethread_json::{Tree, split_lines};
use rethread_project::is_folder;

use crate::catalogue::{Catalogue, NamedFolders};
use crate::path::sort_paths;

/// How much of a session is read to find its folder.
const HEAD: u64 = 64 * 1024;

/// Folders that sessions of other agents name, and that are there.
pub(crate) fn workspaces(env: &Env, catalogue: &Catalogue) -> Vec<PathBuf> {
    let is_there = |p: &PathBuf| p.is_absolute() && is_folder(p);
    named(env, catalogue).into_iter().filter(is_there).collect()
}

/// Folders that sessions of other agents name, wherever those are.
pub(crate) fn named(env: &Env, catalogue: &Catalogue) -> Vec<PathBuf> {
    let mut named = Vec::new();
    let mut known = NamedFolders::load(catalogue);
    for home in &env.homes {
        let folder = |variable: &str, default: &[&str]| {
            let set = env.agent_variable(variable).map(PathBuf::from);
            set.unwrap_or_else(|| default.iter().fold(home.clone(), |p, part| p.join(part)))
        };
        let by_project = [
            folder("CLAUDE_CONFIG_DIR", &[".claude"]).join("projects"),
            folder("PI_CODING_AGENT_DIR", &[".pi", "agent"]).join("sessions"),
            folder("ATOMIC_CODING_AGENT_DIR", &[".atomic", "agent"]).join("sessions"),
        ];
        for projects in by_project {
            for project in folders(&projects) {
                let newest = newest(jsonl_files(&project));
                named.extend(
                    newest.and_then(|(stamp, file)| known.folder_of(&project, &file, stamp, cwd)),
                );
            }
        }
        let gemini = folder("GEMINI_CLI_HOME", &[])
            .join(".gemini")
            .join("projects.json");
        named.extend(gemini_projects(&gemini));
    }
    known.save();
    sort_paths(&mut named);
    named
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let is_folder = |entry: &DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
        kind => kind.is_ok_and(|kind| kind.is_dir()),
    };
    let there = entries(of).filter(is_folder);
    there.map(|entry| entry.path()).collect()
}

fn jsonl_files(of: &Path) -> Vec<PathBuf> {
    entries(of)
        .map(|entry| entry.path())
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .collect()
}

fn entries(of: &Path) -> impl Iterator<Item = DirEntry> {
    let entries = std::fs::read_dir(of).into_iter().flatten();
    entries.filter_map(Result::ok)
}

/// The newest file, by the time of its last change.
fn newest(files: Vec<PathBuf>) -> Option<(FileStamp, PathBuf)> {
    let dated = files.into_iter().map(|p| {
        let stamp = FileStamp::at(&p);
        (stamp.map(|s| s.modified), stamp, p)
    });
    let newest = dated.max_by(|a, b| (a.0, &a.2).cmp(&(b.0, &b.2)));
    newest.map(|(_, stamp, p)| (stamp.unwrap_or_default(), p))
}

/// The folder that the beginning of a session names.
fn cwd(session: &Path) -> Option<PathBuf> {
    let mut head = Vec::new();
    open_read(session)
        .ok()?
        .take(HEAD)
        .read_to_end(&mut head)
        .ok()?;
    let mut tree = Tree::default();
    split_lines(&head).find_map(|(_, line)| {
        tree.parse_into(line).ok()?;
        let root = tree.root(line);
        Some(PathBuf::from(root.get("cwd")?.str()?.into_owned()))
    })
}

fn gemini_projects(registry: &Path) -> Vec<PathBuf> {
    let Ok(bytes) = read_small(registry) else {
        return Vec::new();
    };
    let Ok(tree) = Tree::parse(&bytes) else {
        return Vec::new();
    };
    let projects = tree.root(&bytes).get("projects");
    let keys = projects
        .into_iter()
        .flat_map(rethread_json::Value::members)
        .filter_map(|(key, _)| key.str());
    keys.map(|key| PathBuf::from(key.into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a home is laid out for the test")]
    fn sessions_of_other_agents_name_their_folders() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let project = |name: &str| {
            let path = home.join("work").join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let (a, c, d) = (project("a"), project("c"), project("d"));
        let write = |path: &str, text: String| {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            ".claude/projects/-a/1.jsonl",
            format!(
                "{{\"type\":\"summary\"}}\nbroken\n{{\"cwd\":\"{}\"}}\n",
                a.display()
            ),
        );
        write(
            ".pi/agent/sessions/--c--/1.jsonl",
            format!("{{\"type\":\"session\",\"cwd\":\"{}\"}}\n", c.display()),
        );
        write(
            ".gemini/projects.json",
            format!("{{\"projects\":{{\"{}\":\"d\"}}}}", d.display()),
        );
        write(
            ".claude/projects/-gone/1.jsonl",
            "{\"cwd\":\"/nowhere/at/all\"}".to_owned(),
        );
        let env = Env::from_variables(BTreeMap::new(), Some(home.clone()), home.clone()).unwrap();
        let expected = [a, c, d];
        for _ in 0..2 {
            let catalogue = Catalogue::open(&env);
            assert_eq!(workspaces(&env, &catalogue), expected);
        }
    }
}
