//! Homes that are folders: of WSL distributions, and of users of Windows.

use std::fs;

use super::{FIRST, SECOND, claude, configure, fixture, listed, put};
use crate::world::{World, copy, json};

/// A world in which Ada works with three systems.
fn three_systems() -> World {
    let w = World::new();
    let ubuntu = w.root.join("Ubuntu/home/ada");
    put(
        &ubuntu.join(format!(".claude/projects/-home-ada-shop/{FIRST}.jsonl")),
        &claude(FIRST, "/home/ada/shop"),
    );
    copy(
        &fixture("atsf/1.1/document"),
        &ubuntu.join("shop/.agent/threads/till"),
    );
    let windows = w.root.join("Users/Ada");
    put(
        &windows.join(format!(".claude/projects/C--Users-Ada-shop/{SECOND}.jsonl")),
        &claude(SECOND, r"C:\Users\Ada\shop"),
    );
    w.ok(&["new", "--format", "pi", "--title", "Here"]);
    configure(
        &w,
        &format!(
            "[wsl]\nUbuntu = '{}'\n\n[windows]\nAda = '{}'\n",
            ubuntu.display(),
            windows.display()
        ),
    );
    w
}

#[test]
fn all_homes_are_listed_with_their_names() {
    let w = three_systems();
    assert_eq!(w.ok(&["list"]).lines().count(), 1);
    insta::assert_snapshot!(w.plain(&w.ok(&["list", "--ah"])), @"
    01a1df14  pi           2026-11-15 12:00  0  shop              Here
    aaaaaaaa  claude-code  2026-11-02 09:00  2  wsl_ubuntu:shop   Where is the till?
    bbbbbbbb  claude-code  2026-11-02 09:00  2  windows_ada:shop  Where is the till?
    a1b2c3d4  atsf         2025-02-14 10:30  2  wsl_ubuntu:myapp  Fix authentication bug
    ");
    let all = listed(&w, &["--ah", "--agent", "claude"]);
    let place = |i: usize| (&all[i]["home"], &all[i]["source"], &all[i]["workspace"]);
    let file = format!("/home/ada/.claude/projects/-home-ada-shop/{FIRST}.jsonl");
    let source = json(&format!(
        r#"{{"type":"wsl","host":"Ubuntu","path":"{file}"}}"#
    ));
    assert_eq!(
        place(0),
        (&"wsl_ubuntu".into(), &source, &"/home/ada/shop".into())
    );
    let file = format!(r"C:\Users\Ada\.claude\projects\C--Users-Ada-shop\{SECOND}.jsonl");
    let source = serde_json::json!({ "type": "windows", "host": "Ada", "path": file });
    assert_eq!(
        place(1),
        (&"windows_ada".into(), &source, &r"C:\Users\Ada\shop".into())
    );
}

#[test]
fn a_name_takes_one_home_alone() {
    let w = three_systems();
    let ids = |args: &[&str]| {
        let all = listed(&w, args);
        all.iter().map(|s| s["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--home-name", "windows_ada"]), [SECOND]);
    assert_eq!(
        ids(&["--home-name", "WSL_Ubuntu", "--agent", "claude"]),
        [FIRST]
    );
    assert_eq!(ids(&["--home-name", "local"]).len(), 1);
    assert_eq!(ids(&["--ah", "--home-name", "local"]).len(), 1);
    assert_eq!(
        ids(&["--home-name", "local", "--home-name", "windows_ada"]).len(),
        2
    );
    let answer = w.run(&["list", "--home-name", "remote_vm01"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    insta::assert_snapshot!(answer.err, @"
    error: `remote_vm01` is no home
    hint: there is `local`, `windows_ada`, `wsl_ubuntu`
    ");
}

#[test]
fn a_session_of_another_home_is_shown() {
    let w = three_systems();
    let answer = w.run(&["show", &FIRST[..8]]);
    assert_eq!(
        answer.code, 1,
        "only the local home is looked at: {answer:?}"
    );
    let shown = w.ok(&["show", &FIRST[..8], "--home-name", "wsl_ubuntu", "--json"]);
    let shown = json(&shown);
    assert_eq!(shown["session"]["source"]["type"], "wsl");
    assert_eq!(shown["messages"][1]["content"][0]["text"], "By the door.");
    let tree = w.ok(&["tree", "claude:latest", "--ah"]);
    assert!(tree.contains("Where is the till?"), "{tree}");
    let seen = w.ok(&["context", SECOND, "--ah", "--json"]);
    assert_eq!(json(&seen)["messages"].as_array().unwrap().len(), 2);
    let raw = w.ok(&["show", SECOND, "--ah", "--to", "raw"]);
    assert_eq!(raw, claude(SECOND, r"C:\Users\Ada\shop"));
}

#[test]
fn workspaces_are_those_of_their_own_system() {
    let w = three_systems();
    assert_eq!(listed(&w, &["--ah", "/home/ada/shop"]).len(), 1);
    assert_eq!(listed(&w, &["--ah", "shop"]).len(), 3);
    // A path of Windows is no path in the current folder.
    assert_eq!(listed(&w, &["--ah", "."]).len(), 1);
}

#[test]
fn an_export_spans_homes_and_reads_the_same() {
    let w = three_systems();
    let file = w.project.join("all.ndjson");
    w.ok(&["export", "--ah", "--aw", "--json", "-o", "all.ndjson"]);
    let text = fs::read_to_string(&file).unwrap();
    let header = json(text.lines().next().unwrap());
    let homes = ["local", "windows_ada", "wsl_ubuntu"];
    assert_eq!(header["homes"], serde_json::json!(homes));
    assert_eq!(header["session_count"], 4);
    let checked = w.run(&["check", "all.ndjson"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    // Every session stands there as it does in the export.
    w.ok(&["export", "all.ndjson", "--json", "-o", "again.ndjson"]);
    assert_eq!(
        fs::read_to_string(w.project.join("again.ndjson")).unwrap(),
        text
    );
    let markdown = |args: &[&str]| w.ok(&[&["export", "--markdown", "-o", "-"], args].concat());
    assert_eq!(markdown(&["--ah", "--aw"]), markdown(&["all.ndjson"]));
    let one = w.ok(&["list", "all.ndjson", "--home-name", "wsl_ubuntu", "--json"]);
    assert_eq!(one.lines().count(), 2);
}

#[test]
fn originals_of_several_homes_do_not_meet() {
    let w = three_systems();
    // The same path in two homes.
    let here = w.home.join(".claude/projects/-shop/");
    put(
        &here.join(format!("{FIRST}.jsonl")),
        &claude(FIRST, "/home/ada/shop"),
    );
    w.ok(&[
        "export", "--ah", "--aw", "--agent", "claude", "--source", "-o", "out",
    ]);
    let folder = fs::read_dir(w.project.join("out")).unwrap().next().unwrap();
    let manifest = fs::read_to_string(folder.unwrap().path().join("manifest.json")).unwrap();
    let manifest = json(&manifest);
    let files = manifest["files"].as_array().unwrap();
    let paths: Vec<&str> = files.iter().map(|f| f["path"].as_str().unwrap()).collect();
    assert_eq!(paths.len(), 3, "{paths:?}");
    let wsl = format!("wsl_ubuntu/home/ada/.claude/projects/-home-ada-shop/{FIRST}.jsonl");
    assert!(paths.contains(&wsl.as_str()), "{paths:?}");
    let windows =
        format!("windows_ada/C/Users/Ada/.claude/projects/C--Users-Ada-shop/{SECOND}.jsonl");
    assert!(paths.contains(&windows.as_str()), "{paths:?}");
}

#[test]
fn a_home_that_is_not_there_is_reported_and_the_rest_goes_on() {
    let w = three_systems();
    configure(&w, "[wsl]\nDebian = '/no/such/home/ada'\n");
    let answer = w.run(&["list", "--ah"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 1);
    insta::assert_snapshot!(answer.err, @"warning: /no/such/home/ada: `wsl_debian` cannot be read: no such folder");
    let answer = w.run(&["export", "--ah", "--aw", "--strict", "-o", "x.ndjson"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(!w.project.join("x.ndjson").exists());
}

#[test]
fn separators_of_a_home_of_windows_are_not_mixed() {
    let w = World::new();
    // One that was copied from its machine, so that nothing tells its drive.
    let copy = w.root.join("backup/ada");
    put(
        &copy.join(format!(".claude/projects/C--shop/{FIRST}.jsonl")),
        &claude(FIRST, r"C:\shop"),
    );
    configure(&w, &format!("[windows]\nAda = '{}'\n", copy.display()));
    let listed = listed(&w, &["--ah"]);
    let path = listed[0]["source"]["path"].as_str().unwrap();
    let is_mixed = path.contains('/') && path.contains('\\');
    assert!(!is_mixed, "{path}");
    let exported = w.ok(&["export", "--ah", "--aw", "-o", "-"]);
    let exported = json(exported.lines().nth(1).unwrap());
    assert_eq!(exported["session"]["source"]["path"], path);
}
