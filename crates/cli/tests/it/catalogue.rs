//! What is known of sessions from before never changes an answer: not while they grow, shrink, move or
//! are replaced, not with several programs at once, and not where its own files are broken.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::screens::STORED;
use crate::world::{Answer, World, copy, strace, tree};

/// What is asked, with the catalogue and without it.
const QUESTIONS: [&[&str]; 7] = [
    &[],
    &["--json"],
    &["list"],
    &["list", "--json", "--subagents", "--sort", "tokens"],
    &["list", "--tsv", "--sort", "size"],
    &["list", ".", "--json"],
    &["show", "latest", "--json"],
];

/// So long after its last change a file counts as settled, and a list does not open it again.
const SETTLES: Duration = Duration::from_millis(2100);

/// A home with sessions of every agent.
fn library() -> World {
    let w = World::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    for (_, from, to) in STORED {
        copy(&fixtures.join(from), &w.home.join(to));
    }
    w.fixture("1.1/project");
    crate::opencode::store::installed(&w, "1.18/everything");
    w
}

fn folder(w: &World) -> PathBuf {
    w.home.join(".cache/rethread/catalogue")
}

fn database(w: &World) -> PathBuf {
    folder(w).join("catalogue.db")
}

fn without(w: &World, question: &[&str]) -> Answer {
    let mut args = vec!["--no-cache"];
    args.extend(question);
    w.run(&args)
}

/// The same is answered with the catalogue and without it, and nothing of the stores is another one.
fn assert_same_answers(w: &World, when: &str) {
    for question in QUESTIONS {
        let (with, without) = (w.run(question), without(w, question));
        assert_eq!(with.out, without.out, "{when}: {question:?}");
        assert_eq!(with.code, without.code, "{when}: {question:?}: {with:?}");
        assert_eq!(with.err, without.err, "{when}: {question:?}");
    }
}

/// The files of sessions, of all agents.
fn session_files(w: &World) -> Vec<PathBuf> {
    let files = tree(&w.root).into_iter().map(|(path, _)| path);
    let is_session = |path: &PathBuf| {
        let end = path
            .extension()
            .is_some_and(|e| e == "jsonl" || e == "json");
        end && !path.starts_with(w.home.join(".local/share/rethread"))
    };
    files.filter(is_session).collect()
}

/// Something that becomes of a file.
type Change = fn(&Path, &[u8]);

/// What becomes of the files of sessions.
const CHANGES: [(&str, Change); 8] = [
    ("a record more", |path, bytes| {
        let last = bytes.trim_ascii_end().rsplit(|b| *b == b'\n').next();
        let more = [bytes, last.unwrap_or_default(), b"\n"].concat();
        fs::write(path, more).unwrap();
    }),
    ("a record less", |path, bytes| {
        let whole = bytes.trim_ascii_end();
        let end = whole.iter().rposition(|b| *b == b'\n').unwrap_or(0);
        fs::write(path, &bytes[..end]).unwrap();
    }),
    ("other words of the same length", |path, bytes| {
        fs::write(path, other_words(bytes)).unwrap();
    }),
    ("other words, and the time of before", |path, bytes| {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        fs::write(path, other_words(bytes)).unwrap();
        set_time(path, modified);
    }),
    ("another file of the same length and time", |path, bytes| {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        let other = path.with_extension("new");
        fs::write(&other, other_words(bytes)).unwrap();
        set_time(&other, modified);
        fs::rename(other, path).unwrap();
    }),
    ("a time of long ago", |path, _| {
        set_time(path, std::time::UNIX_EPOCH + Duration::from_secs(7));
    }),
    ("two changes at once", |path, bytes| {
        fs::write(path, [bytes, b"\n"].concat()).unwrap();
        fs::write(path, [bytes, b" "].concat()).unwrap();
    }),
    ("gone", |path, _| fs::remove_file(path).unwrap()),
];

fn other_words(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(bytes)
        .replace("the", "eht")
        .replace("2026-11", "2026-10")
        .into_bytes()
}

fn set_time(path: &Path, modified: std::time::SystemTime) {
    let file = File::options().append(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(modified))
        .unwrap();
}

#[test]
fn every_change_of_a_source_is_seen() {
    let w = library();
    assert_same_answers(&w, "at first");
    for (name, change) in CHANGES {
        std::thread::sleep(SETTLES);
        assert_same_answers(&w, "before a change");
        for path in session_files(&w) {
            let bytes = fs::read(&path).unwrap();
            change(&path, &bytes);
        }
        assert_same_answers(&w, name);
    }
}

#[test]
fn a_folder_that_was_moved_is_seen() {
    let w = library();
    assert_same_answers(&w, "at first");
    std::thread::sleep(SETTLES);
    assert_same_answers(&w, "settled");
    let projects = w.home.join(".claude/projects");
    fs::rename(
        projects.join("-home-me-shop"),
        projects.join("-home-me-stall"),
    )
    .unwrap();
    fs::rename(
        w.home.join(".codex/sessions/2026"),
        w.home.join("elsewhere"),
    )
    .unwrap();
    assert_same_answers(&w, "moved");
    fs::rename(
        w.home.join("elsewhere"),
        w.home.join(".codex/sessions/2026"),
    )
    .unwrap();
    assert_same_answers(&w, "moved back");
}

#[test]
fn real_conversations_are_listed_the_same() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let w = World::new();
    for (name, to) in [
        ("claude-code", ".claude/projects"),
        ("codex", ".codex/sessions"),
        ("gemini", ".gemini/tmp"),
        ("pi", ".pi/agent/sessions"),
    ] {
        copy(&corpus.join(name), &w.home.join(to));
    }
    let listed = w.run(&["list"]).out.lines().count();
    assert!(listed > 100, "{listed}");
    std::thread::sleep(SETTLES);
    for when in ["at first", "settled", "again"] {
        for question in QUESTIONS {
            let (with, without) = (w.run(question), without(&w, question));
            assert!(with.out == without.out, "{when}: {question:?}");
            assert_eq!(with.code, without.code, "{when}: {question:?}");
        }
    }
}

/// The files below the home and the project that a command opens.
fn opened(w: &World, strace: &Path, args: &[&str]) -> Vec<String> {
    let log = w.scratch.path().join("opened");
    let plain = w.command(args);
    let mut traced = Command::new(strace);
    traced.args(["-f", "-e", "trace=openat", "-o"]).arg(&log);
    traced.arg(plain.get_program()).args(args);
    traced.current_dir(&w.project).env_clear();
    for (name, value) in plain.get_envs() {
        traced.env(name, value.unwrap());
    }
    assert!(traced.output().unwrap().status.success());
    let calls = fs::read_to_string(&log).unwrap();
    let files = calls.lines().filter(|call| !call.contains("O_DIRECTORY"));
    let sessions = files.filter(|call| call.contains(".jsonl\"") || call.contains(".json\""));
    sessions
        .filter_map(|call| Some(call.split('"').nth(1)?.to_owned()))
        .collect()
}

#[test]
fn what_did_not_change_is_not_opened_and_of_a_log_that_grew_only_that_one() {
    let Some(strace) = strace() else { return };
    let w = library();
    std::thread::sleep(SETTLES);
    let first = opened(&w, &strace, &["list"]);
    let logs: Vec<PathBuf> = session_files(&w)
        .into_iter()
        .filter(|path| path.extension().unwrap() == "jsonl")
        .collect();
    for log in logs {
        let log = log.to_str().unwrap();
        assert!(first.iter().any(|path| path == log), "{log} was not read");
    }
    let is_session = |path: &&String| !path.contains("/.local/share/rethread/");
    let again = opened(&w, &strace, &["list"]);
    let stores: Vec<&String> = again
        .iter()
        .filter(is_session)
        .filter(|path| path.contains("/sessions/") || path.contains("/projects/-"))
        .collect();
    assert!(stores.is_empty(), "{stores:?}");
    let grown = w
        .home
        .join(".claude/projects/-home-me-shop/a1b2c3d4-0000-4000-8000-00000000aaaa.jsonl");
    let bytes = fs::read(&grown).unwrap();
    CHANGES[0].1(&grown, &bytes);
    let after = opened(&w, &strace, &["list"]);
    let read: Vec<&String> = after
        .iter()
        .filter(is_session)
        .filter(|path| path.contains("/sessions/") || path.contains("/projects/-"))
        .collect();
    assert!(!read.is_empty());
    assert!(read.iter().all(|path| Path::new(path) == grown), "{read:?}");
}

#[test]
fn programs_at_the_same_time_all_answer_right() {
    let w = library();
    let expected = without(&w, &["list", "--json"]).out;
    for round in 0..4 {
        if round % 2 == 0 {
            let _ = fs::remove_dir_all(folder(&w));
        }
        let children: Vec<_> = (0..8)
            .map(|_| {
                let mut command = w.command(&["list", "--json"]);
                command
                    .stdout(std::process::Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        }
    }
    assert_same_answers(&w, "afterwards");
}

#[test]
fn only_its_owner_can_read_it() {
    let w = library();
    w.ok(&["list"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder(&w)), 0o700);
    for entry in fs::read_dir(folder(&w)).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

/// Answers are right while the catalogue is broken, it is said once why it was built anew, and then it is
/// whole again.
fn assert_built_anew(w: &World, why: &str) {
    let expected = without(w, &["list", "--json"]);
    let first = w.run(&["list", "--json"]);
    assert_eq!(
        (first.code, &first.out),
        (0, &expected.out),
        "{why}: {first:?}"
    );
    assert!(
        first.err.contains("the catalogue was built anew"),
        "{why}: {first:?}"
    );
    let next = w.run(&["list", "--json"]);
    assert_eq!(
        (next.code, &next.out),
        (0, &expected.out),
        "{why}: {next:?}"
    );
    assert_eq!(next.err, expected.err, "{why}");
}

#[test]
fn a_damaged_catalogue_is_built_anew() {
    let w = library();
    w.ok(&["list"]);
    fs::write(database(&w), "no database at all, but a line of text\n").unwrap();
    assert_built_anew(&w, "text");
    // All pages but the first are noise.
    let mut bytes = fs::read(database(&w)).unwrap();
    for file in ["catalogue.db-wal", "catalogue.db-shm"] {
        let _ = fs::remove_file(folder(&w).join(file));
    }
    bytes[4096..].fill(0x5a);
    fs::write(database(&w), bytes).unwrap();
    assert_built_anew(&w, "noise");
    let db = rusqlite::Connection::open(database(&w)).unwrap();
    db.execute_batch("DROP TABLE source; CREATE TABLE source (id INTEGER PRIMARY KEY)")
        .unwrap();
    drop(db);
    assert_built_anew(&w, "other tables");
}

#[test]
fn a_catalogue_of_a_newer_version_is_set_aside_and_one_row_that_is_damaged_is_read_again() {
    let w = library();
    let expected = w.ok(&["list", "--json"]);
    let db = rusqlite::Connection::open(database(&w)).unwrap();
    db.execute_batch("UPDATE source SET facts = x'00ff' WHERE id % 2 = 0")
        .unwrap();
    assert_eq!(w.ok(&["list", "--json"]), expected);
    db.pragma_update(None, "user_version", i32::MAX).unwrap();
    drop(db);
    assert_built_anew(&w, "newer");
    let aside = w.home.join(".cache/rethread/catalogue.unusable");
    assert!(aside.join("catalogue.db").is_file(), "it is kept");
}

#[test]
fn where_nothing_can_be_kept_all_is_read() {
    let w = library();
    let expected = without(&w, &["list", "--json"]);
    // A file stands where the folder should be.
    fs::create_dir_all(w.home.join(".cache")).unwrap();
    fs::write(w.home.join(".cache/rethread"), "in the way").unwrap();
    let answer = w.run(&["list", "--json"]);
    assert_eq!((answer.code, &answer.out), (0, &expected.out), "{answer:?}");
    let quiet = without(&w, &["list"]).err;
    assert_eq!(w.run(&["list"]).err, quiet, "nobody is to be troubled");
    let answer = w.run(&["list", "--verbose"]);
    assert!(
        answer.err.contains("the catalogue is not used"),
        "{answer:?}"
    );
    fs::remove_file(w.home.join(".cache/rethread")).unwrap();
    // A disk that takes nothing more, from nothing at all to nearly enough.
    for limit in [0, 100, 4096, 10_000, 40_000, 100_000] {
        let script = format!("trap '' XFSZ; exec prlimit --fsize={limit} \"$0\" \"$@\"");
        let command = crate::every_call::wrapped(&w, &["sh", "-c", &script], &["list", "--json"]);
        let answer = crate::world::run_with(command, b"");
        assert_eq!(
            (answer.code, &answer.out),
            (0, &expected.out),
            "{limit}: {answer:?}"
        );
        let next = w.run(&["list", "--json"]);
        assert_eq!(
            (next.code, &next.out),
            (0, &expected.out),
            "{limit}: {next:?}"
        );
    }
}
