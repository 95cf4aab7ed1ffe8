//! What is printed as an id is taken by every command.

use std::collections::BTreeSet;
use std::fs;

use crate::world::{World, json};

/// Sessions of Codex whose ids begin with the time, as UUIDs of version 7 do.
fn codex(w: &World, ids: &[String]) {
    for (i, id) in ids.iter().enumerate() {
        let folder = w.home.join(".codex/sessions/2026/11/01");
        fs::create_dir_all(&folder).unwrap();
        let meta = format!(
            r#"{{"timestamp":"2026-11-01T10:00:00.000Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/p","originator":"codex_cli_rs","cli_version":"0.50.0"}}}}"#
        );
        let said = format!(
            r#"{{"timestamp":"2026-11-01T10:00:01.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"Number {i}"}}]}}}}"#
        );
        let name = format!("rollout-2026-11-01T10-00-00-{id}.jsonl");
        fs::write(folder.join(name), format!("{meta}\n{said}\n")).unwrap();
    }
}

/// Ids of version 7, made within ten minutes; a fixed generator makes them the same in every run.
fn uuids(count: u64) -> Vec<String> {
    let mut state = 1_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 16
    };
    let start = 0x019a_3f2c_1000_u64;
    let id = |_| {
        let time = start + random() % 600_000;
        format!(
            "{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
            time >> 16,
            time & 0xffff,
            random() & 0xfff,
            random() & 0xfff,
            random() & 0xffff_ffff_ffff,
        )
    };
    (0..count).map(id).collect()
}

fn printed(w: &World, args: &[&str]) -> Vec<String> {
    let out = w.ok(args);
    let id = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    out.lines().map(id).collect()
}

#[test]
fn every_printed_id_of_five_thousand_within_ten_minutes_resolves() {
    let w = World::new();
    let ids = uuids(5000);
    codex(&w, &ids);
    let printed = printed(&w, &["list"]);
    assert_eq!(printed.len(), ids.len());
    // What no other begins with is what `find` takes; some are asked for with the binary as well.
    for short in &printed {
        let begin = ids.iter().filter(|id| id.starts_with(short.as_str()));
        assert_eq!(begin.count(), 1, "{short}");
    }
    let lengths: BTreeSet<usize> = printed.iter().map(String::len).collect();
    let (least, most) = (lengths.first().unwrap(), lengths.last().unwrap());
    assert!(*least >= 8 && *most < 36 && least < most, "{lengths:?}");
    for short in printed.iter().step_by(500) {
        let shown = json(&w.ok(&["show", short, "--json"]));
        let id = shown["session"]["id"].as_str().unwrap();
        assert!(id.starts_with(short.as_str()), "{short}: {id}");
    }
    // The overview says the same.
    let overview = w.ok(&[]);
    assert!(
        printed
            .iter()
            .any(|short| overview.contains(&format!("{short} ")))
    );
}

#[test]
fn one_close_pair_does_not_widen_all() {
    let w = World::new();
    let ids = [
        "11111111-aaaa-4000-8000-000000000000",
        "22222222-aaaa-4000-8000-000000000000",
        "22222222-aaab-4000-8000-000000000000",
    ];
    codex(&w, &ids.map(str::to_owned));
    let mut printed = printed(&w, &["list"]);
    printed.sort();
    assert_eq!(printed, ["11111111", "22222222-aaaa", "22222222-aaab"]);
    let ambiguous = w.run(&["show", "22222222"]);
    assert_eq!(ambiguous.code, 1, "{ambiguous:?}");
    let hints = ambiguous
        .err
        .lines()
        .filter_map(|l| l.strip_prefix("hint: "));
    let named: Vec<&str> = hints.map(|l| l.split("  ").next().unwrap()).collect();
    assert_eq!(named.len(), 2, "{ambiguous:?}");
    for name in named {
        w.ok(&["show", name]);
    }
}

#[test]
fn ids_that_several_have_are_told_apart() {
    let w = World::new();
    let id = "33333333-aaaa-4000-8000-000000000000";
    codex(&w, &[id.to_owned()]);
    let claude = |project: &str, text: &str| {
        let folder = w.home.join(".claude/projects").join(project);
        fs::create_dir_all(&folder).unwrap();
        let line = format!(
            r#"{{"type":"user","uuid":"u","sessionId":"{id}","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/q","message":{{"role":"user","content":"{text}"}}}}"#
        );
        fs::write(folder.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
    };
    claude("-a", "One");
    let names = printed(&w, &["list"]);
    let both: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(
        both,
        BTreeSet::from(["claude-code:33333333", "codex:33333333"])
    );
    for name in &names {
        w.ok(&["show", name]);
    }
    // Two of one agent are told apart by where they are.
    claude("-b", "Two");
    let names: BTreeSet<String> = printed(&w, &["list"]).into_iter().collect();
    let expected = ["33333333@a", "33333333@b", "codex:33333333"];
    assert_eq!(names, expected.map(str::to_owned).into());
    let said = |name: &str| w.ok(&["show", name]);
    assert!(said("33333333@a").contains("One"));
    assert!(said("33333333@b").contains("Two"));
    assert!(said("claude:33333333@-b").contains("Two"));
    for verb in ["tree", "context", "export"] {
        w.ok(&[verb, "33333333@b"]);
    }
    assert_eq!(w.run(&["show", "33333333@c"]).code, 1);
    let ambiguous = w.run(&["show", "claude:33333333"]);
    let hints = ambiguous
        .err
        .lines()
        .filter_map(|l| l.strip_prefix("hint: "));
    for name in hints.map(|l| l.split("  ").next().unwrap()) {
        w.ok(&["show", name]);
    }
}

#[test]
fn an_id_that_differs_in_its_end_alone_keeps_the_columns() {
    let w = World::new();
    let ids = [
        "11111111-aaaa-4000-8000-000000000000",
        "22222222-aaaa-4000-8000-000000000001",
        "22222222-aaaa-4000-8000-000000000002",
    ];
    codex(&w, &ids.map(str::to_owned));
    let mut names = printed(&w, &["list"]);
    names.sort();
    assert_eq!(names, ["11111111", "22222222..0001", "22222222..0002"]);
    for (name, id) in names.iter().zip(ids) {
        let shown = json(&w.ok(&["show", name, "--json"]));
        assert_eq!(shown["session"]["id"], id);
    }
    let out = w.ok(&["list"]);
    let columns: BTreeSet<Option<usize>> = out.lines().map(|l| l.find("codex")).collect();
    assert_eq!(columns.len(), 1, "{out}");
}

#[test]
fn sessions_in_a_file_are_named_with_the_file() {
    let w = World::new();
    let ids = uuids(3);
    codex(&w, &ids);
    w.ok(&["export", "--aw", "-o", "all.ndjson"]);
    fs::remove_dir_all(w.home.join(".codex")).unwrap();
    let names = printed(&w, &["list", "all.ndjson"]);
    assert_eq!(names.len(), 3);
    for name in &names {
        assert!(name.starts_with("all.ndjson#"), "{name}");
        w.ok(&["show", name]);
    }
    // What came down a pipe has no place to be found at.
    let piped = w.pipe(
        &["list", "-"],
        fs::read(w.project.join("all.ndjson")).unwrap(),
    );
    assert!(!piped.out.contains('#'), "{piped:?}");
}

/// A session of Claude Code, said at this time.
fn claude(w: &World, id: &str, cwd: &str, time: &str) -> std::path::PathBuf {
    let folder = w.home.join(".claude/projects/-p");
    fs::create_dir_all(&folder).unwrap();
    let line = format!(
        r#"{{"type":"user","uuid":"u","sessionId":"{id}","timestamp":"{time}","cwd":"{cwd}","message":{{"role":"user","content":"Hello"}}}}"#
    );
    let path = folder.join(format!("{id}.jsonl"));
    fs::write(&path, line + "\n").unwrap();
    path
}

#[test]
fn the_newest_of_this_project() {
    let w = World::new();
    let here = w.project.to_str().unwrap();
    let old = "aaaaaaaa-0000-4000-8000-000000000000";
    claude(&w, old, here, "2026-11-01T10:00:00.000Z");
    let elsewhere = "bbbbbbbb-0000-4000-8000-000000000000";
    claude(&w, elsewhere, "/elsewhere", "2026-11-02T10:00:00.000Z");
    claude(
        &w,
        "cccccccc-0000-4000-8000-000000000000",
        r"D:\\x",
        "2026-11-03T10:00:00.000Z",
    );
    let id = |name: &str| json(&w.ok(&["show", name, "--json"]))["session"]["id"].clone();
    assert_eq!(id(".:latest"), old);
    assert_eq!(id("latest"), "cccccccc-0000-4000-8000-000000000000");
    let empty = w.root.join("empty");
    fs::create_dir(&empty).unwrap();
    // The home folder holds the files, and none of them is of that folder.
    for folder in [&w.home, &empty] {
        let none = w
            .command(&["show", ".:latest"])
            .current_dir(folder)
            .output();
        assert_eq!(none.unwrap().status.code(), Some(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_newest_of_an_agent_is_looked_for_in_its_own_stores() {
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let w = World::new();
    codex(&w, &uuids(3));
    let own = "aaaaaaaa-0000-4000-8000-000000000000";
    claude(&w, own, "/p", "2026-11-01T10:00:00.000Z");
    for name in ["claude:latest", "claude:aaaa"] {
        let log = w.root.join("calls");
        let plain = w.command(&["show", name, "--json"]);
        let mut traced = std::process::Command::new(&strace);
        traced.args(["-f", "-e", "trace=%file", "-o"]).arg(&log);
        traced.arg(plain.get_program()).args(plain.get_args());
        traced.current_dir(&w.project).env_clear();
        traced.envs(plain.get_envs().map(|(name, value)| (name, value.unwrap())));
        let output = traced.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let shown = json(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(shown["session"]["id"], own);
        let calls = fs::read_to_string(&log).unwrap();
        let others: Vec<&str> = calls.lines().filter(|l| l.contains(".codex")).collect();
        assert!(others.is_empty(), "{name}: {others:?}");
    }
}

#[cfg(unix)]
#[test]
fn paths_that_are_no_utf_8_can_be_named() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let w = World::new();
    let id = "aaaaaaaa-0000-4000-8000-000000000000";
    let from = claude(&w, id, "/p", "2026-11-01T10:00:00.000Z");
    let odd = OsStr::from_bytes(b"caf\xe9");
    let folder = w.project.join(odd);
    if fs::create_dir(&folder).is_err() {
        return; // Some disks take no such names.
    }
    let file = folder.join(format!("{id}.jsonl"));
    fs::copy(&from, &file).unwrap();
    fs::remove_dir_all(w.home.join(".claude")).unwrap();
    let relative = std::path::Path::new(odd).join(format!("{id}.jsonl"));
    for (command, flags) in [
        ("show", &["--json"][..]),
        ("list", &["--json"]),
        ("tree", &[]),
        ("context", &["--json"]),
        ("export", &["-o", "-"]),
        ("convert", &["--to", "pi", "-o", "out"]),
    ] {
        let mut words: Vec<&OsStr> = vec![OsStr::new(command), relative.as_os_str()];
        words.extend(flags.iter().map(OsStr::new));
        let output = w.command(&words).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        assert!(!output.stdout.is_empty(), "{command}");
    }
    let gone = w
        .command(&[OsStr::new("show"), OsStr::from_bytes(b"none\xff")])
        .output()
        .unwrap();
    assert_eq!(gone.status.code(), Some(1));
    let said = String::from_utf8(gone.stderr).unwrap();
    assert!(
        said.contains("no session is named `none\u{fffd}`"),
        "{said}"
    );
}
