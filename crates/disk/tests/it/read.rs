//! Reading what may be something else, or larger, than expected.

use std::{fs::File, io::Write as _};

use rethread_disk::{
    DiskError, Entry, EntryKind, FileKind, OpenFolder, SMALL, open_read, open_sized, read_at,
    read_next, read_small,
};

use crate::place;

fn kind(result: Result<impl Sized, DiskError>) -> FileKind {
    match result.err() {
        Some(DiskError::NotAFile { found, .. }) => found,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_small_file_is_read_whole() {
    let (_folder, path) = place();
    for content in [&b""[..], b"a", b"one\ntwo\n", &vec![b'x'; 300_000]] {
        std::fs::write(&path, content).unwrap();
        assert_eq!(read_small(&path).unwrap(), content);
    }
}

#[test]
fn the_next_bytes_come_behind_what_is_there() {
    let (_folder, path) = place();
    std::fs::write(&path, b"one two three").unwrap();
    let (file, len) = open_sized(&path).unwrap();
    assert_eq!(len, 13);
    // A buffer that was used before has room for more than is asked for.
    let mut buffer = Vec::with_capacity(100);
    buffer.extend_from_slice(b"0 ");
    read_next(&file, 0, &mut buffer).unwrap();
    assert_eq!(buffer, b"0 ");
    let (file, _) = open_sized(&path).unwrap();
    read_next(&file, 7, &mut buffer).unwrap();
    assert_eq!(buffer, b"0 one two");
    let (file, _) = open_sized(&path).unwrap();
    let mut buffer = Vec::new();
    read_next(&file, 1000, &mut buffer).unwrap();
    assert_eq!(buffer, b"one two three");
}

#[test]
fn only_small_files_are_taken_into_memory() {
    let (_folder, path) = place();
    let file = File::create(&path).unwrap();
    file.set_len(SMALL).unwrap();
    assert_eq!(read_small(&path).unwrap().len() as u64, SMALL);
    for more in [1, 1000, SMALL] {
        file.set_len(SMALL + more).unwrap();
        let e = read_small(&path).unwrap_err();
        assert!(matches!(e, DiskError::TooLarge { limit: SMALL, .. }), "{e}");
        assert_eq!(
            e.to_string(),
            format!("`{}` is larger than 67108864 bytes", path.display())
        );
    }
}

/// The system says that it is empty.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_longer_than_it_says_is_read_whole() {
    let status = read_small("/proc/self/status".as_ref()).unwrap();
    assert!(status.starts_with(b"Name:") && status.ends_with(b"\n"));
}

#[test]
fn what_is_missing_is_not_found() {
    let (folder, path) = place();
    std::fs::write(&path, b"").unwrap();
    for missing in [folder.path().join("no"), path.join("below"), "".into()] {
        let e = open_read(&missing).unwrap_err();
        assert!(matches!(e, DiskError::NotFound { .. }), "{e}");
        assert_eq!(e.path(), Some(missing.as_path()));
        let e = read_small(&missing).unwrap_err();
        assert!(matches!(e, DiskError::NotFound { .. }), "{e}");
    }
}

#[test]
fn a_folder_is_refused() {
    let (folder, _) = place();
    assert_eq!(kind(open_read(folder.path())), FileKind::Folder);
    assert_eq!(kind(read_small(folder.path())), FileKind::Folder);
}

#[test]
fn an_opened_file_is_only_for_reading() {
    let (_folder, path) = place();
    std::fs::write(&path, b"old").unwrap();
    assert!(open_read(&path).unwrap().write_all(b"new").is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
}

#[test]
fn reading_at_a_position_ends_with_the_buffer_or_the_file() {
    let (_folder, path) = place();
    let content: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    std::fs::write(&path, &content).unwrap();
    let file = open_read(&path).unwrap();
    for (offset, wanted, expected) in [
        (0, 0, 0),
        (0, 10, 10),
        (199_990, 10, 10),
        (199_990, 11, 10),
        (199_999, 100, 1),
        (200_000, 1, 0),
        (u64::from(u32::MAX), 1, 0),
        (3, 300_000, 199_997),
        (7, 150_000, 150_000),
        // Back again: the cursor does not matter.
        (1, 10, 10),
    ] {
        let mut buf = vec![0; wanted];
        let n = read_at(&file, offset, &mut buf).unwrap();
        assert_eq!(n, expected, "{offset} {wanted}");
        let from = usize::try_from(offset).unwrap().min(content.len());
        assert_eq!(buf[..n], content[from..from + n], "{offset} {wanted}");
    }
}

#[cfg(unix)]
#[test]
fn reading_at_a_position_leaves_the_cursor() {
    use std::io::Read as _;
    let (_folder, path) = place();
    std::fs::write(&path, b"0123456789").unwrap();
    let mut file = open_read(&path).unwrap();
    let mut three = [0; 3];
    file.read_exact(&mut three).unwrap();
    assert_eq!(read_at(&file, 7, &mut [0; 2]).unwrap(), 2);
    file.read_exact(&mut three).unwrap();
    assert_eq!(three, *b"345");
}

#[test]
fn a_file_that_cannot_be_read_at_a_position_is_an_error() {
    let (_folder, path) = place();
    let unreadable = File::create(&path).unwrap();
    assert!(read_at(&unreadable, 0, &mut [0]).is_err());
}

#[cfg(unix)]
mod special {
    use std::{
        os::unix::{fs::symlink, net::UnixListener},
        path::Path,
        process::Command,
        time::{Duration, Instant},
    };

    use super::*;

    /// Refused by both, also through a link. Who waits for a pipe waits for ever.
    fn refused_as(path: &Path, expected: FileKind) {
        let link = path.with_extension("link");
        symlink(path, &link).unwrap();
        for path in [path, &link] {
            assert_eq!(kind(open_read(path)), expected);
            assert_eq!(kind(read_small(path)), expected);
        }
    }

    fn makes(program: &str, path: &Path, args: &[&str]) -> bool {
        let made = Command::new(program).arg(path).args(args).output();
        made.is_ok_and(|made| made.status.success())
    }

    #[test]
    fn links_to_files_are_followed() {
        let (folder, path) = place();
        std::fs::write(&path, b"content").unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        symlink("log.jsonl", &one).unwrap();
        symlink(&one, &two).unwrap();
        for link in [one, two] {
            assert_eq!(read_small(&link).unwrap(), b"content");
            let mut start = [0; 4];
            let file = open_read(&link).unwrap();
            assert_eq!(read_at(&file, 0, &mut start).unwrap(), 4);
            assert_eq!(start, *b"cont");
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_not_found() {
        let (folder, path) = place();
        symlink(folder.path().join("no"), &path).unwrap();
        let e = open_read(&path).unwrap_err();
        assert!(matches!(e, DiskError::NotFound { .. }), "{e}");
        assert!(!folder.path().join("no").exists());
    }

    #[test]
    fn a_link_to_itself_is_an_error() {
        let (_folder, path) = place();
        symlink(&path, &path).unwrap();
        let e = open_read(&path).unwrap_err();
        assert!(matches!(e, DiskError::Read { .. }), "{e}");
        assert_eq!(e.path(), Some(path.as_path()));
    }

    #[test]
    fn folders_are_refused_through_links() {
        let (folder, _) = place();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        refused_as(&inner, FileKind::Folder);
    }

    #[test]
    fn pipes_do_not_hang() {
        let (_folder, path) = place();
        assert!(makes("mkfifo", &path, &[]));
        refused_as(&path, FileKind::Pipe);
    }

    /// The pipe takes the place of the file between the look and the opening, again and again.
    #[test]
    fn pipes_that_appear_meanwhile_do_not_hang() {
        let (folder, path) = place();
        let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        std::fs::write(&file, b"content").unwrap();
        assert!(makes("mkfifo", &pipe, &[]));
        std::fs::hard_link(&file, &path).unwrap();
        std::thread::scope(|scope| {
            let exchange = scope.spawn(|| {
                let next = folder.path().join("next");
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_millis(300) {
                    for one in [&pipe, &file] {
                        std::fs::hard_link(one, &next).unwrap();
                        std::fs::rename(&next, &path).unwrap();
                    }
                }
            });
            while !exchange.is_finished() {
                match read_small(&path) {
                    Ok(content) => assert_eq!(content, b"content"),
                    Err(DiskError::NotAFile { found, .. }) => assert_eq!(found, FileKind::Pipe),
                    Err(e) => panic!("{e}"),
                }
            }
        });
    }

    #[test]
    fn sockets_are_refused() {
        let (_folder, path) = place();
        let _listener = UnixListener::bind(&path).unwrap();
        refused_as(&path, FileKind::Socket);
    }

    /// On devices of our own, if we may make some.
    #[test]
    fn devices_are_refused() {
        let (folder, _) = place();
        let zero = folder.path().join("zero");
        let block = folder.path().join("block");
        if !makes("mknod", &zero, &["c", "1", "5"]) || !makes("mknod", &block, &["b", "7", "99"]) {
            rethread_judges::skip("devices cannot be made here");
            return;
        }
        refused_as(&zero, FileKind::Device);
        refused_as(&block, FileKind::Device);
    }
}

#[test]
fn an_open_folder_names_and_reads_what_is_in_it() {
    let (folder, path) = place();
    let (name, content) = (path.file_name().unwrap(), vec![b'x'; 300_000]);
    std::fs::write(&path, &content).unwrap();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    let mut open = OpenFolder::open(folder.path()).unwrap();
    let mut entries: Vec<Entry> = open.entries().map(Result::unwrap).collect();
    entries.sort_by_key(|e| e.kind == EntryKind::Folder);
    let kinds: Vec<EntryKind> = entries.iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [EntryKind::File, EntryKind::Folder]);
    assert_eq!(entries[0].name, name);
    assert_eq!(open.read_small(name).unwrap(), content);
    assert!(open.may_have("inner".as_ref()));
    assert!(!open.may_have("inner/none".as_ref()));
    assert!(!open.may_have(&std::path::Path::new(name).join("below")));
    let e = open.read_small("none".as_ref()).unwrap_err();
    assert!(matches!(e, DiskError::NotFound { .. }), "{e}");
    assert_eq!(e.path(), Some(folder.path().join("none").as_path()));
    assert!(OpenFolder::open(&path).is_err());
}

#[cfg(unix)]
#[test]
fn an_open_folder_follows_no_link_and_waits_for_no_pipe() {
    let (folder, path) = place();
    std::fs::write(&path, b"a secret").unwrap();
    std::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    let fifo = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let mut open = OpenFolder::open(folder.path()).unwrap();
    let entries: Vec<Entry> = open.entries().map(Result::unwrap).collect();
    for (name, expected) in [("link", EntryKind::Other), ("pipe", EntryKind::Other)] {
        let entry = entries.iter().find(|e| e.name == name).unwrap();
        assert_eq!(entry.kind, expected);
    }
    assert!(open.read_small("link".as_ref()).is_err());
    assert_eq!(kind(open.read_small("pipe".as_ref())), FileKind::Pipe);
    assert_eq!(kind(open.read_small("inner".as_ref())), FileKind::Folder);
}
