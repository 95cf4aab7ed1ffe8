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
