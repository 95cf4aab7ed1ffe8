//! `rm`: into the trash, or for good.

#[cfg(target_os = "linux")]
use std::fs;

use crate::world::World;

#[test]
fn without_a_terminal_it_needs_yes() {
    let w = World::new();
    let id = w.thread("T");
    let answer = w.run(&["rm", &id]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.err.contains("`--yes`"), "{}", answer.err);
    assert!(w.folder(&id).is_dir());
}

#[test]
fn force_deletes_and_nothing_else_goes() {
    let w = World::new();
    let (a, b) = (w.thread("A"), w.thread("B"));
    w.ok(&["rm", &a, "--force"]);
    assert!(!w.folder(&a).exists());
    assert!(w.folder(&b).is_dir());
    let answer = w.run(&["rm", &b, "zzzz", "--force"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(w.folder(&b).is_dir(), "all names are looked up first");
}

#[test]
#[cfg(target_os = "linux")]
fn the_trash_program_is_asked_first() {
    use std::os::unix::fs::PermissionsExt;
    let w = World::new();
    let id = w.thread("T");
    let bin = w.root.join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("trash");
    fs::write(&program, "#!/bin/sh\nmv \"$1\" \"$HOME/trashed\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = w
        .command(&["rm", &id, "--yes"])
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!w.folder(&id).exists());
    assert!(w.home.join("trashed/thread.json").is_file());
}

#[test]
#[cfg(target_os = "linux")]
fn the_platform_s_trash_keeps_it() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "keep me"]);
    // Only the system's own folders, so that no `trash` program is found.
    let output = w
        .command(&["rm", &id, "--yes", "--json"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!w.folder(&id).exists());
    // In the home's trash, or in that of the volume.
    let home = w.home.join(".local/share/Trash/files").join(&id);
    let mut volumes = w
        .root
        .ancestors()
        .flat_map(|f| fs::read_dir(f).into_iter().flatten().flatten());
    let kept = home.is_dir()
        || volumes.any(|e| {
            e.file_name().to_string_lossy().starts_with(".Trash")
                && e.path().join("files").join(&id).is_dir()
        });
    assert!(kept, "the thread is in a trash folder");
}

/// A home whose trash takes nothing: a file is where it should be.
#[cfg(target_os = "linux")]
fn without_trash(w: &World, args: &[&str]) -> crate::world::Answer {
    let data = w.root.join("blocked");
    fs::write(&data, "").unwrap();
    let mut command = w.command(args);
    command
        .env("PATH", "/nonexistent")
        .env("XDG_DATA_HOME", &data);
    crate::world::answer(command.output().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn each_that_stays_is_named_and_the_others_go() {
    let w = World::new();
    let (a, b) = (w.thread("A"), w.thread("B"));
    let answer = without_trash(&w, &["rm", &a, &b, "--yes"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let errors: Vec<&str> = answer
        .err
        .lines()
        .filter(|l| l.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 2, "{answer:?}");
    assert!(
        errors[0].contains(&a) && errors[1].contains(&b),
        "{answer:?}"
    );
    // Words, and no value as a programmer would print it.
    assert!(!answer.err.contains('{'), "{answer:?}");
    assert!(answer.err.contains("Not a directory"), "{answer:?}");
    assert!(w.folder(&a).is_dir() && w.folder(&b).is_dir());
}

/// A session of Claude Code with a folder beside it: the folder goes first, and then the program
/// `trash` takes no more.
#[test]
#[cfg(target_os = "linux")]
fn what_went_and_what_did_not_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let w = World::new();
    let projects = w.home.join(".claude/projects/-shop");
    let id = "11111111-2222-4333-8444-555555555555";
    let own = projects.join(id).join("subagents");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("agent-a.jsonl"), "").unwrap();
    let line = format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"{id}","cwd":"/shop","version":"2.1.0","timestamp":"2026-11-15T10:00:00.000Z","message":{{"role":"user","content":"hello"}}}}"#
    );
    let log = projects.join(format!("{id}.jsonl"));
    fs::write(&log, line + "\n").unwrap();
    let bin = w.root.join("bin");
    fs::create_dir(&bin).unwrap();
    let program = bin.join("trash");
    let script = "#!/bin/sh\n[ -d \"$1\" ] || { echo 'no more room' >&2; exit 1; }\n/bin/mv \"$1\" \"$HOME/trashed\"\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let data = w.root.join("blocked");
    fs::write(&data, "").unwrap();
    let mut command = w.command(&["rm", id, "--yes"]);
    command.env("PATH", &bin).env("XDG_DATA_HOME", &data);
    let answer = crate::world::answer(command.output().unwrap());
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(answer.out.is_empty(), "{answer:?}");
    let folder = projects.join(id);
    let said = format!("in the trash already: `{}`", folder.display());
    assert!(answer.err.contains(&said), "{answer:?}");
    assert!(answer.err.contains("no more room"), "{answer:?}");
    assert!(log.is_file() && !folder.exists());
    // It is still found, so it can be tried again.
    w.ok(&["rm", id, "--force"]);
    assert!(!log.exists());
}
