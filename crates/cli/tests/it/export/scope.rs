//! Which sessions an export takes.

use super::{lines, populated};
use crate::world::{World, json};

#[test]
fn names_are_paths_then_workspaces_then_sessions() {
    let w = populated();
    let sessions = |args: &[&str]| lines(&w, args).len() - 1;
    assert_eq!(sessions(&[]), 3);
    assert_eq!(sessions(&["."]), 3);
    assert_eq!(sessions(&["shop"]), 3);
    assert_eq!(sessions(&[w.project.to_str().unwrap()]), 3);
    assert_eq!(sessions(&["shop", "--agent", "pi"]), 1);
    assert_eq!(sessions(&["--agent", "atsf"]), 2);
    let listed = w.ok(&["list", "--agent", "pi", "--json"]);
    let id = json(&listed)["id"].as_str().unwrap().to_owned();
    assert_eq!(sessions(&[&id[..8]]), 1);
    assert_eq!(sessions(&[&id, &id, "shop"]), 3);
    let answer = w.run(&["export", "nowhere-at-all", "-o", "-"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(answer.err.contains("nowhere-at-all"), "{answer:?}");
    let answer = w.run(&["export", "--since", "tomorrow-ish", "-o", "-"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert_eq!(sessions(&["--until", "2020-01-01"]), 0);
}

#[test]
fn without_a_name_only_the_current_workspace_is_taken() {
    let w = populated();
    let other = w.root.join("other");
    std::fs::create_dir(&other).unwrap();
    let made = w.command(&[
        "new",
        "--format",
        "pi",
        "--title",
        "x",
        "--cwd",
        other.to_str().unwrap(),
    ]);
    let mut made = made;
    assert!(made.output().unwrap().status.success());
    assert_eq!(lines(&w, &[]).len(), 4);
    let all = lines(&w, &["--aw"]);
    assert_eq!(all.len(), 5);
    super::assert_header_fits(&all);
    assert_eq!(all[0]["workspaces"], json(r#"["other","shop"]"#));
    assert_eq!(all[0]["agent_types"], json(r#"["atsf","pi"]"#));
}

#[test]
fn homes_that_the_user_names_are_looked_at() {
    let w = populated();
    let empty = World::new();
    let home = w.home.to_str().unwrap();
    let answer = empty.run(&["export", "--aw", "--ah", "--home", home, "-o", "-"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.out.lines().count() > 1);
}
