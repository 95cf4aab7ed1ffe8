//! Modes follow the project; what is our own is private.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::world::World;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_shared_project_has_a_shared_store_whatever_the_umask() {
    for (project, folder, file) in [
        (0o2775, 0o2775, 0o664),
        (0o700, 0o700, 0o600),
        (0o755, 0o755, 0o644),
    ] {
        let w = World::new();
        fs::set_permissions(&w.project, fs::Permissions::from_mode(project)).unwrap();
        let script = format!(
            "umask 077; set -e; id=$('{0}' new --format atsf | cut -f1); '{0}' append $id x >/dev/null; \
             printf '{{\"role\":\"user\",\"content\":[{{\"type\":\"image\",\"data\":\"QQ==\"}}]}}' | \
             '{0}' append $id --message-json - >/dev/null; '{0}' fork $id | cut -f1",
            env!("CARGO_BIN_EXE_rethread")
        );
        let mut shell = std::process::Command::new("sh");
        let output = shell
            .args(["-c", &script])
            .current_dir(&w.project)
            .env("HOME", &w.home)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut folders = vec![w.project.join(".agent")];
        while let Some(at) = folders.pop() {
            assert_eq!(mode(&at), folder, "{}", at.display());
            for entry in fs::read_dir(&at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    assert_eq!(mode(&path), file, "{}", path.display());
                }
            }
        }
        let data = w.home.join(".local/share/rethread");
        assert_eq!(mode(&data), 0o700);
        assert_eq!(mode(&data.join("projects.jsonl")), 0o600);
    }
}

/// All modes in a folder, of folders and of files.
#[cfg(target_os = "linux")]
fn modes_in(root: &Path) -> (Vec<u32>, Vec<u32>) {
    let (mut folders, mut files) = (vec![mode(root)], Vec::new());
    let mut open = vec![root.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(mode(&path));
                open.push(path);
            } else {
                files.push(mode(&path));
            }
        }
    }
    for modes in [&mut folders, &mut files] {
        modes.sort_unstable();
        modes.dedup();
    }
    (folders, files)
}

/// With a lax umask, what `-o` makes is for nobody else; what is there says otherwise.
#[cfg(target_os = "linux")]
#[test]
fn what_is_made_for_conversations_under_o_is_private() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "a secret"]);
    let mut ways: Vec<Vec<&str>> = vec![
        vec!["show", &id, "--to", "raw"],
        vec!["export", &id, "--markdown"],
        vec!["export", &id, "--source"],
        vec!["export", &id, "--html"],
    ];
    let formats = ["pi", "atomic", "claude-code", "codex", "gemini", "agentuse"];
    for format in formats.iter().chain(&["ndjson"]) {
        ways.push(vec!["convert", &id, "--to", format]);
    }
    for format in formats.iter().chain(&["atsf"]) {
        ways.push(vec!["new", "--format", format]);
    }
    for (at, way) in ways.iter().enumerate() {
        for (existing, folder, file) in [(false, 0o700, 0o600), (true, 0o755, 0o644)] {
            let made = w.root.join(format!("out-{at}-{existing}/below"));
            if existing {
                fs::create_dir_all(&made).unwrap();
                for path in [made.parent().unwrap(), &made] {
                    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
                }
            }
            let out = made.to_str().unwrap();
            let script = "umask 022; exec \"$0\" \"$@\"";
            let dir = format!("{out}/");
            let args = [
                &way[..],
                &["-o", if way[0] == "export" { &dir } else { out }],
            ]
            .concat();
            let wrapper = ["sh", "-c", script];
            let output = crate::every_call::wrapped(&w, &wrapper, &args).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{args:?}: {output:?}");
            let (folders, files) = modes_in(&made);
            // What is there says who may look; some say for themselves that nobody else may.
            let no_more = |modes: &[u32], most: u32| modes.iter().all(|mode| mode & !most == 0);
            assert!(no_more(&folders, folder), "{args:?}: {folders:?}");
            assert!(no_more(&files, file), "{args:?}: {files:?}");
            if way[0] == "convert" {
                assert_eq!((folders, files), (vec![folder], vec![file]), "{args:?}");
            }
            let above = mode(made.parent().unwrap());
            assert_eq!(above, folder, "{args:?}");
        }
    }
}
