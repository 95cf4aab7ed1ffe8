//! A log that is written anew while its owner appends to it, without any lock.

use rethread_disk::{DiskError, Durability, Mode, append_line_lasting, rewrite};

#[test]
fn the_new_log_takes_the_place_of_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, "a\nb\n").unwrap();
    rewrite(&path, Durability::Close, |old, new| {
        let mut text = String::new();
        old.read_to_string(&mut text)?;
        new.write_all(text.to_uppercase().as_bytes())
    })
    .unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "A\nB\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_log_that_changes_meanwhile_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    for exchange in [false, true] {
        std::fs::write(&path, "a\n").unwrap();
        let done = rewrite(&path, Durability::None, |_, new| {
            if exchange {
                let other = folder.path().join("other");
                std::fs::write(&other, "a\nb\n")?;
                std::fs::rename(other, &path)?;
            } else {
                append_line_lasting(&path, b"b", Mode::Private, Durability::None).unwrap();
            }
            new.write_all(b"new\n")
        });
        assert!(matches!(done, Err(DiskError::Changed { .. })), "{done:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\nb\n");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_append_ends_a_torn_line_and_refuses_two_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, "torn").unwrap();
    let at = append_line_lasting(&path, b"next", Mode::Private, Durability::Each).unwrap();
    assert_eq!(at, 5);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "torn\nnext\n");
    let two = append_line_lasting(&path, b"a\nb", Mode::Private, Durability::None);
    assert!(matches!(two, Err(DiskError::LineBreak { at: 1, .. })));
}

#[cfg(unix)]
#[test]
fn only_links_are_removed_as_links() {
    use rethread_disk::remove_link;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    std::fs::write(&file, "x").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    remove_link(&link).unwrap();
    assert!(!link.is_symlink() && file.exists());
    assert!(matches!(
        remove_link(&file),
        Err(DiskError::NotALink { .. })
    ));
    assert!(matches!(
        remove_link(&link),
        Err(DiskError::NotFound { .. })
    ));
}
