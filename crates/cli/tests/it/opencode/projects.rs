//! The project that a new session belongs to is the one that the client would say.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_judges::{ClientKind, Turn};
use rusqlite::Connection;

use super::judged::{MODEL, now, user, words};
use super::store::{data, installed, read};
use super::written::{assert_healthy, new};
use crate::seen::seen;
use crate::world::{World, json};

/// The projects of a database: id, root and kind of repository.
fn projects(path: &Path) -> Vec<(String, String, Option<String>)> {
    let db = Connection::open(path).unwrap();
    let sql = "SELECT id, worktree, vcs FROM project WHERE id <> 'prj_shop' ORDER BY id";
    let mut query = db.prepare(sql).unwrap();
    let found = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    found.collect::<Result<_, _>>().unwrap()
}

fn project_of(path: &Path, id: &str) -> (String, Option<String>) {
    let db = Connection::open(path).unwrap();
    let sql = "SELECT project_id, path FROM session WHERE id = ?1";
    db.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
}

#[test]
fn without_a_database_the_error_says_how_to_get_one() {
    let w = World::new();
    let none = w.run(&["new", "--format", "opencode"]);
    assert_eq!(none.code, 2, "{none:?}");
    insta::assert_snapshot!(w.plain(&none.err), @"error: there is no database of OpenCode at `[ROOT]/home/.local/share/opencode/opencode.db` yet, and only OpenCode makes one: start it once, or run `opencode session list`");
    assert!(!data(&w).exists());
}

#[test]
fn a_repository_that_opencode_does_not_know_gets_its_project() {
    let w = World::with_git();
    let path = installed(&w, "1.18/everything");
    let root = w.project.to_str().unwrap().to_owned();
    let commit = w.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let first = new(&w, &[]);
    let expected = [(commit.clone(), root.clone(), Some("git".to_owned()))];
    assert_eq!(projects(&path), expected);
    assert_eq!(
        project_of(&path, &first),
        (commit.clone(), Some(String::new()))
    );
    let head = read(&path, &first).session.head;
    assert_eq!(head.workspace.root.as_deref(), Some(root.as_str()));
    // It is known now, whatever becomes of the repository, and in all of its folders.
    w.git(&["remote", "add", "origin", "git@example.com:me/shop.git"]);
    fs::create_dir_all(w.project.join("web")).unwrap();
    let second = new(&w, &["--cwd", "web"]);
    assert_eq!(projects(&path), expected);
    assert_eq!(project_of(&path, &second), (commit, Some("web".to_owned())));
    assert_healthy(&w, &path);
}

#[test]
fn what_is_in_no_repository_belongs_to_one_project_together() {
    let w = World::new();
    let path = installed(&w, "1.18/everything");
    let id = new(&w, &[]);
    assert_eq!(
        projects(&path),
        [("global".to_owned(), "/".to_owned(), None)]
    );
    assert_eq!(project_of(&path, &id).0, "global");
    assert_eq!(read(&path, &id).session.head.workspace.root, None);
    assert_healthy(&w, &path);
}

#[test]
fn a_database_of_an_older_client_needs_the_client_to_name_the_project() {
    let w = World::with_git();
    let path = installed(&w, "1.18/everything");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("DROP TABLE project_directory").unwrap();
    let refused = w.run(&["new", "--format", "opencode"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    insta::assert_snapshot!(w.plain(&refused.err), @"error: which project of OpenCode `[ROOT]/shop` is, only OpenCode can tell: run `opencode session list` in it once");
    let root = w.project.to_str().unwrap();
    db.execute("UPDATE project SET worktree = ?1", [root])
        .unwrap();
    db.close().unwrap();
    assert_eq!(project_of(&path, &new(&w, &[])).0, "prj_shop");
    assert_healthy(&w, &path);
}

/// Ways for a folder to be in a repository, or not.
fn folders(w: &World) -> Vec<PathBuf> {
    let make = |name: &str, commands: &[&[&str]]| {
        let folder = w.root.join(name);
        fs::create_dir_all(&folder).unwrap();
        for args in commands {
            let at = ["-C", folder.to_str().unwrap()];
            w.git(&[&at[..], args].concat());
        }
        folder
    };
    let init: &[&str] = &["init", "-q", "-b", "main"];
    let commit: &[&str] = &["commit", "-q", "--allow-empty", "-m", "start"];
    let plain = make("plain", &[]);
    let fresh = make("fresh", &[init]);
    let remote = [
        "remote",
        "add",
        "origin",
        "https://me@Example.com/me/far.git",
    ];
    let far = make("far", &[init, commit, &remote]);
    let near = make("near", &[init, commit]);
    let inside = near.join("web");
    fs::create_dir_all(&inside).unwrap();
    let other = w.root.join("other");
    make(
        "near",
        &[&["worktree", "add", "-q", other.to_str().unwrap()]],
    );
    vec![plain, fresh, far, inside, other]
}

#[test]
fn the_real_client_names_projects_as_we_do() {
    let w = World::new();
    let elsewhere = w.root.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &elsewhere) else {
        return;
    };
    desk.run_client(&words(&["session", "list"]));
    let path = data(&w).join("opencode.db");
    for folder in folders(&w) {
        let cwd = folder.to_str().unwrap();
        let made = [
            "new", "--format", "opencode", "--title", "Ours", "--cwd", cwd, "--json",
        ];
        let made = json(&now(&w, &made, "").out);
        let ours = made["id"].as_str().unwrap();
        now(&w, &["append", ours, "Hello?", "--model", MODEL], "");
        now(&w, &["append", ours, "Hello.", "--role", "agent"], "");
        let before = project_of(&path, ours);
        let desk = ClientKind::OpenCode.set_up(&w.home, &folder).unwrap();
        let listed = json(&desk.list_sessions().unwrap());
        let listed = listed.as_array().unwrap();
        assert!(listed.iter().any(|s| s["id"] == *ours), "{cwd}: {listed:?}");
        // A session of the client's own is of the same project.
        desk.begin_session("Is anybody there?");
        let db = Connection::open(&path).unwrap();
        let sql = "SELECT id FROM session WHERE directory = ?1 AND id <> ?2";
        let theirs: String = db.query_row(sql, [cwd, ours], |row| row.get(0)).unwrap();
        assert_eq!(project_of(&path, &theirs), before, "{cwd}");
        assert_eq!(project_of(&path, ours), before, "{cwd}");
        let export = w.root.join("export.json");
        fs::write(&export, desk.run_client(&words(&["export", ours])).stdout).unwrap();
        let said = seen(&w, export.to_str().unwrap());
        let sent = desk.resume_session(ours, "NEW-PROMPT");
        assert_eq!(
            sent,
            [said.as_slice(), &[user("NEW-PROMPT")]].concat(),
            "{cwd}"
        );
        assert!(
            matches!(&said[..], [Turn::Text(..), Turn::Text(..)]),
            "{said:?}"
        );
    }
}
