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
