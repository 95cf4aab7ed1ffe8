//! `search` and its index where something is wrong: damage, disks that take nothing, sources that change
//! meanwhile, and what lies elsewhere.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::search::{FIXTURES, places, with_claude, write_session};
use crate::world::{World, copy, json, while_repeating};

/// So long after its last change a file counts as settled.
const SETTLES: Duration = Duration::from_millis(2100);

fn index_folder(w: &World) -> PathBuf {
    w.home.join(".cache/rethread/search-index")
}

/// The answers with what is known from before and without it.
fn assert_same(w: &World, query: &str, when: &str) {
    let with = w.run(&["search", "--json", query]);
    let without = w.run(&["--no-cache", "search", "--json", query]);
    assert_eq!(with.out, without.out, "{when}: {query}");
    assert_eq!(with.code, without.code, "{when}: {query}: {with:?}");
}

#[test]
fn damage_is_told_and_the_answer_is_one_in_part() {
    let w = World::new();
    write_session(&w, 1, &[("user", "a rare wombat")]);
    write_session(&w, 2, &[("user", "a common wombat")]);
    let log = w
        .home
        .join(".claude/projects/-home-me-own/5e550002-0000-4000-8000-000000000000.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{text}{{\"type\":\"user\", broken\n{text}")).unwrap();
    std::thread::sleep(SETTLES);
    w.ok(&["list"]);
    for round in 0..2 {
        for flag in [&[][..], &["--no-cache"]] {
            let ask = |query: &str| w.run(&[flag, &["search", query]].concat());
            let found = ask("wombat");
            assert_eq!(found.code, 3, "{round}: {found:?}");
            assert!(found.out.contains("a rare [wombat]"), "{found:?}");
            assert!(found.err.contains(".jsonl:2: not JSON"), "{found:?}");
            // Where nothing is damaged, nothing is told.
            let whole = ask("rare");
            assert_eq!((whole.code, whole.err.as_str()), (0, ""));
            let none = ask("kangaroo title:rare");
            assert_eq!(none.code, 1, "{none:?}");
            let said = "nothing was found in 1 conversation";
            assert_eq!(none.err.trim_end(), said);
        }
        w.ok(&["index", "--update"]);
    }
    // What cannot be read at all is told whatever is found.
    fs::write(&log, [0xff_u8; 64]).unwrap();
    let listed = w.run(&["list"]);
    let found = w.run(&["search", "rare"]);
    assert_eq!((found.code, found.err), (listed.code, listed.err));
}

#[cfg(unix)]
#[test]
fn the_index_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let w = World::new();
    write_session(&w, 1, &[("user", "a rare wombat")]);
    let script = "umask 000; exec \"$0\" \"$@\"";
    for args in [&["index", "--rebuild"][..], &["search", "wombat"]] {
        let command = crate::every_call::wrapped(&w, &["sh", "-c", script], args);
        let answer = crate::world::run_with(command, b"");
        assert_eq!(answer.code, 0, "{answer:?}");
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&index_folder(&w)), 0o700);
    let files: Vec<PathBuf> = fs::read_dir(index_folder(&w))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() > 4, "{files:?}");
    for path in files {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_takes_no_more_changes_no_answer() {
    let w = with_claude(&["2.1/everything", "2.1/compaction"]);
    write_session(
        &w,
        1,
        &[("user", "the rare wombat"), ("assistant", "the end")],
    );
    std::thread::sleep(SETTLES);
    let expected = w.run(&["--no-cache", "search", "--json", "the"]);
    assert_eq!(expected.code, 0, "{expected:?}");
    for is_there in [false, true] {
        // From nothing at all to nearly enough.
        for limit in [0, 100, 2000, 8192, 40_000, 150_000] {
            if is_there {
                w.ok(&["index", "--rebuild"]);
                write_session(&w, 2, &[("user", "new words"), ("user", "the more")]);
            } else {
                let _ = fs::remove_dir_all(w.home.join(".cache"));
            }
            let script = format!("trap '' XFSZ; exec prlimit --fsize={limit} \"$0\" \"$@\"");
            for args in [&["index", "--update"][..], &["search", "--json", "the"]] {
                let command = crate::every_call::wrapped(&w, &["sh", "-c", &script], args);
                let answer = crate::world::run_with(command, b"");
                assert!([0, 1].contains(&answer.code), "{limit}: {answer:?}");
                assert!(!answer.err.contains("panicked"), "{limit}: {answer:?}");
                if args.len() == 3 {
                    let expected = w.run(&["--no-cache", "search", "--json", "the"]);
                    assert_eq!(answer.out, expected.out, "{limit}");
                }
            }
            assert_same(&w, "the", &format!("after {limit}"));
            w.ok(&["index", "--update"]);
            assert_same(&w, "the", &format!("whole again after {limit}"));
        }
    }
}

#[test]
fn of_a_log_that_grew_only_what_is_new_is_indexed() {
    let w = World::new();
    let said: Vec<(&str, &str)> = (0..40).map(|_| ("user", "a rare wombat")).collect();
    write_session(&w, 1, &said);
    write_session(&w, 2, &[("user", "a word of another")]);
    std::thread::sleep(SETTLES);
    w.ok(&["index", "--rebuild"]);
    let segments = || {
        let meta = fs::read_to_string(index_folder(&w).join("meta.json")).unwrap();
        let meta = json(&meta);
        let of = |s: &serde_json::Value| {
            let deleted = s["deletes"]["num_deleted_docs"].as_u64().unwrap_or(0);
            (s["max_doc"].as_u64().unwrap(), deleted)
        };
        let mut all: Vec<(u64, u64)> = meta["segments"]
            .as_array()
            .unwrap()
            .iter()
            .map(of)
            .collect();
        all.sort_unstable();
        all
    };
    let before = segments();
    let log = w
        .home
        .join(".claude/projects/-home-me-own/5e550001-0000-4000-8000-000000000000.jsonl");
    let old = fs::read_to_string(&log).unwrap();
    let last = old.lines().last().unwrap();
    let more = last
        .replace("-39\"", "-40\"")
        .replace("10:00:39", "10:00:40")
        .replace("wombat", "kangaroo");
    // As an agent writes it, so that it is the same file.
    let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
    writeln!(file, "{more}").unwrap();
    drop(file);
    w.ok(&["index", "--update"]);
    let mut expected = before;
    expected.push((1, 0));
    expected.sort_unstable();
    assert_eq!(segments(), expected, "one text was added, and none removed");
    for query in ["wombat", "kangaroo", "rare", "word"] {
        assert_same(&w, query, "grown");
    }
    assert_eq!(places(&w, &["kangaroo"])[0]["entry"], "#41");
    // What was replaced is indexed anew.
    fs::write(&log, old.replace("wombat", "bandicoot")).unwrap();
    w.ok(&["index", "--update"]);
    for query in ["wombat", "kangaroo", "bandicoot"] {
        assert_same(&w, query, "replaced");
    }
    assert_eq!(w.run(&["search", "kangaroo"]).code, 1);
}

#[test]
fn sources_that_change_meanwhile_are_searched_as_they_are() {
    let w = World::new();
    write_session(&w, 1, &[("user", "a rare wombat")]);
    let log = w
        .home
        .join(".claude/projects/-home-me-own/5e550002-0000-4000-8000-000000000000.jsonl");
    let change = |round: usize| match round % 4 {
        0 => write_session(&w, 2, &[("user", "one wombat"), ("user", "two wombats")]),
        1 => {
            let half = fs::read(&log).unwrap_or_default();
            let _ = fs::write(&log, &half[..half.len() / 2]);
        }
        2 => write_session(&w, 2, &[("user", "no such animal")]),
        _ => {
            let _ = fs::remove_file(&log);
        }
    };
    let rounds = std::sync::atomic::AtomicUsize::new(0);
    let again = || change(rounds.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    while_repeating(again, || {
        for round in 0..24 {
            let args: &[&str] = match round % 3 {
                0 => &["search", "--json", "wombat"],
                1 => &["--no-cache", "search", "--json", "wombat"],
                _ => &["index", "--update"],
            };
            let answer = w.run(args);
            assert!([0, 3].contains(&answer.code), "{args:?}: {answer:?}");
            let is_found = answer.out.contains("a rare wombat");
            assert!(is_found || round % 3 == 2, "{args:?}: {answer:?}");
        }
    });
    write_session(&w, 2, &[("user", "one last wombat")]);
    assert_same(&w, "wombat", "afterwards");
    assert_eq!(places(&w, &["wombat"]).len(), 2);
}

#[test]
fn other_homes_are_searched_as_they_are_listed() {
    let w = World::new();
    write_session(&w, 1, &[("user", "a rare wombat")]);
    let other = w.root.join("laptop");
    copy(&w.home.join(".claude"), &other.join(".claude"));
    let log =
        other.join(".claude/projects/-home-me-own/5e550001-0000-4000-8000-000000000000.jsonl");
    let there =
        other.join(".claude/projects/-home-me-own/5e550009-0000-4000-8000-000000000000.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let text = text
        .replace("5e550001", "5e550009")
        .replace("rare", "distant");
    fs::write(there, text.replace("2026-11-02", "2026-11-03")).unwrap();
    fs::remove_file(&log).unwrap();
    let config = w.home.join(".config/rethread");
    fs::create_dir_all(&config).unwrap();
    let named = format!("[wsl]\nLaptop = '{}'\n", other.display());
    fs::write(config.join("config.toml"), named).unwrap();
    let listed = |flags: &[&str]| {
        let out = w.ok(&[&["list", "--json"], flags].concat());
        let mut ids: Vec<String> = out.lines().map(|l| json(l)["id"].to_string()).collect();
        ids.sort();
        ids
    };
    for flags in [&[][..], &["--ah"], &["--home-name", "local"]] {
        for cache in [&[][..], &["--no-cache"]] {
            let found = places(&w, &[&["wombat"], flags, cache].concat());
            let mut ids: Vec<String> = found.iter().map(|p| p["session_id"].to_string()).collect();
            ids.sort();
            assert_eq!(ids, listed(flags), "{flags:?} {cache:?}");
        }
    }
    assert_eq!(places(&w, &["wombat", "--ah"]).len(), 2);
    std::thread::sleep(SETTLES);
    w.ok(&["search", "wombat", "--ah"]);
    w.ok(&["index", "--update"]);
    assert_eq!(places(&w, &["wombat", "--ah"]).len(), 2);
    assert_eq!(places(&w, &["wombat"]).len(), 1);
}

/// What is found but in sub-agents, by what it is, what it says and when.
fn found_texts(w: &World, flag: &[&str]) -> Vec<(String, String, String)> {
    let mut args = flag.to_vec();
    args.push("/./");
    let word = |place: &serde_json::Value, name: &str| place[name].to_string();
    let all = places(w, &args);
    let text = |p: &serde_json::Value| (word(p, "kind"), word(p, "snippet"), word(p, "time"));
    let own = all.iter().filter(|p| p["is_agent_session"] == false);
    let mut all: Vec<_> = own.map(text).collect();
    all.sort();
    all
}

#[test]
fn originals_that_travel_along_are_found_and_what_the_copy_says_too_is_said_once() {
    let w = World::new();
    let project = w.home.join(".claude/projects/-home-me-shop");
    copy(
        &Path::new(FIXTURES).join("claude-code/2.1/everything"),
        &project,
    );
    let original = found_texts(&w, &["--agent", "claude"]);
    assert!(original.len() > 5, "{original:?}");
    let listed = w.ok(&["list", "--json"]);
    let id = json(listed.lines().next().unwrap())["id"].clone();
    w.ok(&["convert", id.as_str().unwrap(), "--to", "pi"]);
    assert_eq!(
        found_texts(&w, &[]).len(),
        original.len(),
        "all are repeated"
    );
    w.ok(&["convert", "pi:latest", "--to", "codex"]);
    fs::remove_dir_all(&project).unwrap();
    fs::remove_dir_all(w.home.join(".pi")).unwrap();
    // Now there is only a copy of a copy, which carries the one that carries the original.
    let found = found_texts(&w, &[]);
    let is_title = |text: &(String, String, String)| text.0 == "\"title\"";
    for text in original.iter().filter(|text| !is_title(text)) {
        // A format may put the name of a picture behind the words.
        let is_same =
            |f: &&(String, String, String)| f.0 == text.0 && (f.1 == text.1 || f.2 == text.2);
        assert!(found.iter().any(|f| is_same(&f)), "{text:?}\n{found:#?}");
    }
    for text in &found {
        let count = |all: &[(String, String, String)]| all.iter().filter(|t| *t == text).count();
        assert!(count(&found) <= count(&original).max(1), "twice: {text:?}");
    }
    let parts = places(&w, &["/./"]);
    let carried = parts.iter().filter(|p| p["part"] == "carried_original");
    assert!(carried.clone().count() > 0, "{parts:#?}");
    for place in carried {
        assert_eq!(place["agent"], "codex");
        assert!(place["entry"].is_null());
    }
    assert_eq!(found_texts(&w, &["--no-cache"]), found);
    std::thread::sleep(SETTLES);
    w.ok(&["list"]);
    w.ok(&["index", "--update"]);
    assert_eq!(found_texts(&w, &[]), found);
}
