//! A folder is not made because a session names it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::opencode::store::{data, empty_database};
use crate::world::{Answer, World, json};

/// A session of a folder that is not there any more, by the path of its file.
fn of_a_folder_that_is_gone(w: &World) -> (PathBuf, String) {
    let gone = w.root.join("gone/far/away");
    fs::create_dir_all(&gone).unwrap();
    let cwd = gone.to_str().unwrap();
    let path = session(w, cwd);
    fs::remove_dir_all(w.root.join("gone")).unwrap();
    (gone, path)
}

fn session(w: &World, cwd: &str) -> String {
    let made = json(&w.ok(&["new", "--format", "pi", "--cwd", cwd, "--json"]));
    let path = made["path"].as_str().unwrap().to_owned();
    w.ok(&["append", &path, "Where is the sign-in?"]);
    w.ok(&["append", &path, "--role", "agent", "In the cellar."]);
    path
}

fn assert_refused(answer: &Answer, folder: &Path) {
    assert_eq!(answer.code, 1, "{answer:?}");
    let named = format!("error: `{}`", folder.display());
    assert!(answer.err.starts_with(&named), "{answer:?}");
    let hint = answer
        .err
        .lines()
        .find(|l| l.starts_with("hint: "))
        .unwrap();
    assert!(
        hint.contains("`--cwd DIR`") && hint.contains("`-o DIR`"),
        "{hint}"
    );
}

#[test]
fn a_folder_that_a_session_names_is_not_made() {
    let w = World::new();
    empty_database(&data(&w).join("opencode.db"));
    let (gone, session) = of_a_folder_that_is_gone(&w);
    for args in [&[][..], &["--lean"], &["--dry-run"]] {
        let refused = w.run(&[&["convert", &session, "--to", "atsf"], args].concat());
        assert_refused(&refused, &gone);
    }
    // Other agents keep their sessions in the home.
    for to in [
        "agentuse",
        "atomic",
        "claude-code",
        "codex",
        "gemini",
        "opencode",
    ] {
        w.ok(&["convert", &session, "--to", to]);
        if to != "agentuse" {
            let args = ["resume", &session, "--in", to, "--print"];
            let how = w.run(&args);
            assert_eq!(how.code, 0, "{how:?}");
        }
        assert!(!w.root.join("gone").exists(), "{to}");
    }
    // An export says the same.
    let export = w.root.join("export.ndjson");
    let export = export.to_str().unwrap();
    w.ok(&["export", &session, "-o", export]);
    assert_refused(&w.run(&["convert", export, "--to", "atsf"]), &gone);
    assert!(!w.root.join("gone").exists());
    // Where the user says.
    let made = json(&w.ok(&["convert", &session, "--to", "atsf", "--cwd", ".", "--json"]));
    let path = Path::new(made["path"].as_str().unwrap()).to_owned();
    assert!(
        path.starts_with(w.project.join(".agent/threads")),
        "{path:?}"
    );
    let made = json(&w.ok(&["convert", export, "--to", "atsf", "-o", "../out", "--json"]));
    let path = Path::new(made["path"].as_str().unwrap()).to_owned();
    assert!(path.starts_with(w.root.join("out")) || path.starts_with(w.project.join("../out")));
    let nowhere = w.run(&["convert", &session, "--to", "atsf", "--cwd", "nowhere"]);
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
    assert!(!w.root.join("gone").exists() && !w.project.join("nowhere").exists());
}

#[test]
fn an_original_does_not_come_back_into_a_project_that_is_gone() {
    let w = World::new();
    let thread = w.thread("A thread");
    w.ok(&["append", &thread, "Where is the sign-in?"]);
    let made = json(&w.ok(&["convert", &thread, "--to", "pi", "--json"]));
    let session = made["path"].as_str().unwrap();
    let project = w.root.join("moved");
    fs::rename(&w.project, &project).unwrap();
    let run = |args: &[&str]| {
        let mut command = w.command(&[&["convert", session, "--to", "atsf"], args].concat());
        command.current_dir(&w.root);
        crate::world::run_with(command, b"")
    };
    assert_refused(&run(&[]), &w.project);
    assert!(!w.project.exists());
    let back = run(&["--cwd", "moved"]);
    assert_eq!(back.code, 0, "{back:?}");
    assert!(!w.project.exists());
}

/// Only root can give a folder away.
#[cfg(unix)]
#[test]
fn a_project_of_somebody_else_must_be_named() {
    let w = World::new();
    let session = session(&w, w.project.to_str().unwrap());
    let given = std::os::unix::fs::chown(&w.project, Some(65534), None);
    if given.is_err() {
        return;
    }
    assert_refused(&w.run(&["convert", &session, "--to", "atsf"]), &w.project);
    assert!(!w.project.join(".agent").exists());
    w.ok(&["convert", &session, "--to", "atsf", "--cwd", "."]);
}
