//! Modes, whatever the umask.

use std::{os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use rethread_disk::{Durability, LockedLog, Mode, ScratchFolder, replace};

use crate::{child, mode_of, place};

fn set(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn nobody_else_looks_into_a_scratch_folder() {
    let folder = ScratchFolder::new().unwrap();
    assert_eq!(mode_of(folder.path()), 0o700);
}

#[test]
fn new_files_and_folders_have_their_mode_whatever_the_umask() {
    for umask in ["000", "022", "077"] {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        std::fs::create_dir(&model).unwrap();
        set(&model, 0o2775);
        let shell = format!("umask {umask}");
        let said = child::run(child::command("modes", folder.path(), Some(&shell)));
        assert_eq!(said.done, [0], "{said:?}");
        let expected = [
            ("private", 0o600, 0o700),
            ("like", 0o664, 0o2775),
            ("exact", 0o750, 0o750),
        ];
        for (name, file, dir) in expected {
            let at = |kind: &str| folder.path().join(format!("{name}-{kind}"));
            for kind in ["replaced", "created", "line", "log"] {
                assert_eq!(mode_of(&at(kind)), file, "umask {umask}, {name} {kind}");
            }
            for path in [
                at("folder"),
                at("whole"),
                at("parent"),
                at("parent").join("child"),
            ] {
                assert_eq!(mode_of(&path), dir, "umask {umask}, {}", path.display());
            }
        }
    }
}

#[test]
fn what_is_replaced_keeps_its_mode() {
    for mode in [0o600, 0o644, 0o664, 0o755, 0o400] {
        let (_folder, path) = place();
        std::fs::write(&path, b"old").unwrap();
        set(&path, mode);
        replace(&path, b"new", Mode::Exact(0o666), Durability::None).unwrap();
        assert_eq!(
            (mode_of(&path), std::fs::read(&path).unwrap()),
            (mode, b"new".to_vec())
        );
    }
}

#[test]
fn what_is_rewritten_keeps_its_mode() {
    let (_folder, path) = place();
    std::fs::write(&path, b"old\n").unwrap();
    set(&path, 0o640);
    let mut log = LockedLog::open(&path, Duration::ZERO).unwrap();
    log.rewrite(Durability::None, |_, new| new.write_all(b"new\n"))
        .unwrap();
    assert_eq!(mode_of(&path), 0o640);
}

#[test]
fn what_root_replaces_keeps_its_owner() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let (_folder, path) = place();
    std::fs::write(&path, b"old").unwrap();
    if chown(&path, Some(12_345), Some(12_346)).is_err() {
        // Only root can try this.
        return;
    }
    replace(&path, b"new", Mode::Private, Durability::None).unwrap();
    let meta = std::fs::metadata(&path).unwrap();
    assert_eq!((meta.uid(), meta.gid()), (12_345, 12_346));
}

#[test]
fn bits_of_a_mode() {
    let (folder, path) = place();
    set(folder.path(), 0o750);
    let like = Mode::like(folder.path()).unwrap();
    assert_eq!((like.folder_bits(), like.file_bits()), (0o750, 0o640));
    std::fs::write(&path, b"").unwrap();
    assert!(Mode::like(&path).is_err());
    assert!(Mode::like(&folder.path().join("no")).is_err());
}
