//! The command.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::Value;

use super::matrix::fixtures;
use crate::world::{World, json};

/// A pi session of three turns, with a call and a picture; its path.
fn pi(w: &World) -> String {
    let made = json(&w.ok(&["new", "--format", "pi", "--title", "Prices", "--json"]));
    let path = made["path"].as_str().unwrap().to_owned();
    w.ok(&["append", &path, "What does it cost?"]);
    let lines = [
        r#"{"role":"assistant","index":1,"timestamp":"2026-11-15T11:00:00Z","content":[{"type":"thinking","text":"Look it up."},{"type":"text","text":"Looking."},{"type":"tool_use","tool_id":"c1","tool_name":"bash","input":{"command":"cat price"}}],"metadata":{"model":{"name":"m-1"}}}"#,
        r#"{"role":"user","index":2,"content":[{"type":"tool_result","tool_id":"c1","output":"3","is_error":false}]}"#,
        r#"{"role":"assistant","index":3,"content":[{"type":"text","text":"Three euros."}],"metadata":{"model":{"name":"m-1"}}}"#,
    ];
    let answer = w.pipe(&["append", &path, "--message-json", "-"], lines.join("\n"));
    assert_eq!(answer.code, 0, "{answer:?}");
    path
}

fn converted(w: &World, args: &[&str]) -> Value {
    let mut args = args.to_vec();
    args.insert(0, "convert");
    args.push("--json");
    json(&w.ok(&args))
}

#[test]
fn into_the_store_of_another_agent() {
    let w = World::new();
    let path = pi(&w);
    let answer = w.run(&["convert", &path, "--to", "claude"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let (id, made) = answer.out.trim_end().split_once('\t').unwrap();
    assert!(made.starts_with(w.home.join(".claude/projects").to_str().unwrap()));
    assert!(made.ends_with(&format!("{id}.jsonl")), "{made}");
    assert_snapshot!(w.plain(&answer.err), @r"
    travels along: thinking, times
    what travels along is packed into the session where Claude Code leaves it alone; converting back restores it
    ");
    let shown = w.ok(&["show", made]);
    let said = shown.split_once("\n\n").unwrap().1;
    assert_snapshot!(said, @r"
    #2  You  12:00
        What does it cost?

    #3  Claude  m-1  12:00
        Look it up.

        Looking.

        ✓ bash  cat price
          │ 3

        Three euros.
    ");
}

#[test]
fn what_would_become_of_everything() {
    let w = World::new();
    let path = pi(&w);
    let before = fs::read(&path).unwrap();
    assert_snapshot!(w.ok(&["convert", &path, "--to", "codex", "--dry-run"]), @"
    title               1  native
    text                3  native
    thinking            1  native
    tool calls          1  native
    tool results        1  native
    models              2  native
    usage               2  travel along
    times               4  native
    ");
    assert!(!w.home.join(".codex").exists());
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn back_where_the_original_still_is_writes_nothing() {
    let w = World::new();
    let path = pi(&w);
    let there = converted(&w, &[&path, "--to", "codex"]);
    let back = converted(&w, &[there["path"].as_str().unwrap(), "--to", "pi"]);
    assert_eq!(back["way"], "unchanged");
    assert_eq!(back["path"], path.as_str());
    // Where it is gone, it comes back under its id.
    let before = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let back = converted(&w, &[there["path"].as_str().unwrap(), "--to", "pi"]);
    assert_eq!(back["way"], "restored");
    assert_eq!(fs::read(&path).unwrap(), before);
    // Where somebody went on with it, it is not touched.
    w.ok(&["append", &path, "And for two?"]);
    let again = w.run(&["convert", there["path"].as_str().unwrap(), "--to", "pi"]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("exists already"), "{}", again.err);
}

#[test]
fn what_was_said_meanwhile_goes_beside_an_original_that_is_there() {
    let w = World::new();
    let path = pi(&w);
    let before = fs::read(&path).unwrap();
    let there = converted(&w, &[&path, "--to", "codex"]);
    let there = there["path"].as_str().unwrap();
    w.ok(&["append", there, "And for two?"]);
    let answer = w.run(&["convert", there, "--to", "pi"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(
        answer.err.contains("is still there, and stays as it is"),
        "{}",
        answer.err
    );
    let back = answer.out.trim_end().split_once('\t').unwrap().1;
    assert_ne!(back, path);
    assert_eq!(fs::read(&path).unwrap(), before);
    let said = w.ok(&["show", back]);
    let found = ["What does it cost?", "Three euros.", "And for two?"].map(|text| said.find(text));
    assert!(
        found.is_sorted() && found.iter().all(Option::is_some),
        "{said}"
    );
}

#[test]
fn what_was_said_meanwhile_comes_behind_the_original() {
    let w = World::new();
    let path = pi(&w);
    let before = fs::read(&path).unwrap();
    for to in ["claude-code", "codex", "gemini", "atsf", "agentuse"] {
        let there = converted(&w, &[&path, "--to", to]);
        let there = there["path"].as_str().unwrap();
        w.ok(&["append", there, "And for two?"]);
        w.ok(&["append", there, "--role", "agent", "--model", "m-2", "Six."]);
        let out = w.root.join(format!("back-{to}"));
        let back = converted(&w, &[there, "--to", "pi", "-o", out.to_str().unwrap()]);
        assert_eq!(back["way"], "continued", "{to}: {back}");
        let now = fs::read(back["path"].as_str().unwrap()).unwrap();
        let added = now.strip_prefix(before.as_slice()).unwrap_or_else(|| {
            panic!("{to}: {}", String::from_utf8_lossy(&now));
        });
        let added: Vec<Value> = std::str::from_utf8(added)
            .unwrap()
            .lines()
            .map(json)
            .collect();
        assert_eq!(added.len(), 2, "{to}: {added:?}");
        assert_eq!(added[0]["message"]["role"], "user", "{to}");
        assert_eq!(added[1]["message"]["content"][0]["text"], "Six.", "{to}");
    }
}

#[test]
fn damaged_and_hostile_luggage_hides_nothing_that_is_said() {
    let w = World::new();
    let path = pi(&w);
    let there = converted(&w, &[&path, "--to", "codex"]);
    let there = there["path"].as_str().unwrap();
    let text = fs::read_to_string(there).unwrap();
    let name = std::path::Path::new(&path).file_name().unwrap();
    let name = name.to_str().unwrap();
    let pieces = text.lines().filter(|line| !line.contains("\"piece\":0"));
    let cut: String = pieces.map(|line| format!("{line}\n")).collect();
    let evil = text.replace(name, "../../evil.jsonl");
    for (n, text) in [cut, evil].into_iter().enumerate() {
        fs::write(there, text).unwrap();
        let out = format!("out-{n}");
        let answer = w.run(&["convert", there, "--to", "pi", "-o", &out, "--json"]);
        assert_eq!(answer.code, 3, "{answer:?}");
        assert!(
            answer.err.contains("the original cannot come back"),
            "{answer:?}"
        );
        let strict = w.run(&["convert", there, "--to", "pi", "-o", "strict", "--strict"]);
        assert_eq!(strict.code, 1, "{strict:?}");
        assert!(!w.project.join("strict").exists());
        let made = json(&answer.out);
        assert_eq!(made["way"], "written");
        let shown = w.ok(&["show", made["path"].as_str().unwrap()]);
        assert!(shown.contains("Three euros."), "{shown}");
    }
    let all = crate::world::tree(&w.root);
    assert!(!all.iter().any(|(path, _)| path.ends_with("evil.jsonl")));
}

#[test]
fn lean_leaves_no_way_back_and_strict_refuses_it() {
    let w = World::new();
    let path = pi(&w);
    let refused = w.run(&["convert", &path, "--to", "codex", "--lean", "--strict"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert_snapshot!(refused.err, @"
    error: codex has no place for: usage
    hint: without `--lean` it travels along
    ");
    assert!(!w.home.join(".codex").exists());
    let lean = converted(&w, &[&path, "--to", "codex", "--lean"]);
    let text = fs::read_to_string(lean["path"].as_str().unwrap()).unwrap();
    assert!(!text.contains("zstd_base64"), "{text}");
    assert_eq!(lean["carried"], Value::Array(Vec::new()));
    let back = converted(
        &w,
        &[lean["path"].as_str().unwrap(), "--to", "pi", "-o", "out"],
    );
    assert_eq!(back["way"], "written");
}

#[test]
fn a_name_goes_where_codex_looks_for_names() {
    let w = World::new();
    let path = pi(&w);
    let index = w.home.join(".codex/session_index.jsonl");
    converted(&w, &[&path, "--to", "codex"]);
    // The client makes that file, and nobody else.
    assert!(!index.exists());
    fs::write(&index, "{\"id\":\"x\",\"thread_name\":\"Other\"}\n").unwrap();
    w.ok(&["append", &path, "And for two?"]);
    let made = converted(&w, &[&path, "--to", "codex"]);
    let text = fs::read_to_string(&index).unwrap();
    let lines: Vec<Value> = text.lines().map(json).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[1]["id"], made["id"]);
    assert_eq!(lines[1]["thread_name"], "Prices");
    // Under another folder, nothing is said of it.
    converted(&w, &[&path, "--to", "codex", "-o", "out"]);
    assert_eq!(fs::read_to_string(&index).unwrap(), text);
}

#[test]
fn what_gemini_would_delete_comes_back_renewed() {
    let w = World::new();
    let made = json(&w.ok(&["new", "--format", "gemini", "--json"]));
    let path = made["path"].as_str().unwrap().to_owned();
    w.ok(&["append", &path, "Hello"]);
    let before = fs::read_to_string(&path).unwrap();
    let there = converted(&w, &[&path, "--to", "pi"]);
    let there = there["path"].as_str().unwrap();
    fs::remove_file(&path).unwrap();
    let later = |args: &[&str]| {
        let mut command = w.command(args);
        command.env("RETHREAD_NOW", "2026-12-20T12:00:00.000Z");
        crate::world::run_with(command, b"")
    };
    let back = later(&["convert", there, "--to", "gemini"]);
    assert_eq!(back.code, 0, "{back:?}");
    assert_snapshot!(w.plain(&back.err), @"
    the original is back as it was
    note: [ROOT]/home/.gemini/tmp/shop/chats/session-2026-11-15T12-00-5b7cfc0b-3e3af1dd.jsonl: it now says that it changed today, because Gemini CLI deletes what did not change for long
    ");
    let now = fs::read_to_string(&path).unwrap();
    assert_eq!(
        now.strip_prefix(&before),
        Some("{\"$set\":{\"lastUpdated\":\"2026-12-20T12:00:00.000Z\"}}\n")
    );
    // That is the original still.
    let again = later(&["convert", there, "--to", "gemini", "--json"]);
    assert_eq!(json(&again.out)["way"], "unchanged", "{again:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), now);
    // Elsewhere no client deletes anything.
    let out = w.root.join("out");
    let args = [
        "convert",
        there,
        "--to",
        "gemini",
        "-o",
        out.to_str().unwrap(),
    ];
    let copy = later(&[&args[..], &["--json"]].concat());
    let copy = json(&copy.out)["path"].as_str().unwrap().to_owned();
    assert_eq!(fs::read_to_string(copy).unwrap(), before);
}

/// Ids of the sources that were converted, in order.
fn sources(out: &str) -> Vec<String> {
    let source = |line| json(line)["source"].as_str().unwrap().to_owned();
    out.lines().map(source).collect()
}

#[test]
fn many_at_once_by_workspace_agent_and_time() {
    let w = World::new();
    let one = pi(&w);
    let two = w.ok(&["fork", &one, "--json"]);
    let two = json(&two)["path"].as_str().unwrap().to_owned();
    let thread = w.thread("A thread");
    w.ok(&["append", &thread, "Hello"]);
    let elsewhere = w.root.join("mill");
    fs::create_dir(&elsewhere).unwrap();
    let made = w.ok(&[
        "new",
        "--format",
        "pi",
        "--cwd",
        elsewhere.to_str().unwrap(),
        "--json",
    ]);
    let other = json(&made)["path"].as_str().unwrap().to_owned();
    w.ok(&["append", &other, "Hello"]);
    let dry = |args: &[&str]| {
        let all = [&["convert", "--to", "codex", "--dry-run", "--json"], args].concat();
        let answer = w.run(&all);
        assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
        sources(&answer.out)
    };
    assert_eq!(dry(&[&one, &two, &one]).len(), 2);
    assert_eq!(dry(&["."]).len(), 3);
    assert_eq!(dry(&["mill"]), [other.as_str()]);
    assert_eq!(dry(&["--agent", "pi"]).len(), 2);
    assert_eq!(dry(&["--agent", "pi", "--aw"]).len(), 3);
    assert_eq!(
        dry(&["mill", "--agent", "atsf", "--since", "7d", "."]).len(),
        1
    );
    w.ok(&[
        "append",
        &other,
        "Hi",
        "--role",
        "agent",
        "--model",
        "acme/Big-1",
    ]);
    assert_eq!(dry(&["--model", "acme/big", "--aw"]), [other.as_str()]);
    let none = w.run(&["convert", "--to", "codex", "--until", "2020-01-01"]);
    assert_eq!(
        (none.code, none.err.as_str()),
        (1, "no sessions were found\n")
    );
    let nothing = w.run(&["convert", "--to", "codex"]);
    assert_eq!(nothing.code, 2, "{nothing:?}");
    // What has the format already is passed over.
    let answer = w.run(&["convert", ".", "--to", "pi"]);
    assert_eq!(
        (answer.code, answer.out.lines().count()),
        (0, 1),
        "{answer:?}"
    );
    assert_snapshot!(w.ok(&["convert", &one, &thread, "--to", "codex", "--dry-run"]).replace(&thread, "[ID]"), @"
    01a1df14-1e00-7948-8523-d812268295b1:
    title               1  native
    text                3  native
    thinking            1  native
    tool calls          1  native
    tool results        1  native
    models              2  native
    usage               2  travel along
    times               4  native
    [ID]:
    title               1  native
    text                1  native
    times               1  native
    ");
}

#[test]
fn one_of_several_that_cannot_be_had_does_not_stop_the_others_unless_strictly() {
    let w = World::new();
    let path = pi(&w);
    let strict = w.run(&["convert", &path, "nothing", "--to", "codex", "--strict"]);
    assert_eq!((strict.code, strict.out.as_str()), (1, ""), "{strict:?}");
    assert!(!w.home.join(".codex").exists());
    let answer = w.run(&["convert", "nothing", &path, "--to", "codex"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(
        answer.err.contains("no session is named `nothing`"),
        "{answer:?}"
    );
    assert_eq!(answer.out.lines().count(), 1);
}

const COMPRESSED: &str = "rollout-2026-11-15T09-00-00-01a1e075-346b-7c10-a10e-00000000000a.jsonl";

/// The client compresses what nobody touched for a week, and unpacks it to go on with it.
#[test]
fn what_is_compressed_comes_back_unpacked_if_something_was_done_to_it() {
    let w = World::new();
    let name = format!("sessions/2026/11/15/{COMPRESSED}.zst");
    let packed = w.home.join(".codex").join(&name);
    fs::create_dir_all(packed.parent().unwrap()).unwrap();
    fs::copy(fixtures().join("codex/0.166/packed").join(&name), &packed).unwrap();
    let lines = zstd::decode_all(&*fs::read(&packed).unwrap()).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let there = |args: &[&str]| {
        let made = json(&w.ok(&[&["convert", "--json"], args].concat()));
        PathBuf::from(made["path"].as_str().unwrap())
    };
    let claude = there(&[packed.to_str().unwrap(), "--to", "claude-code"]);
    let claude = claude.to_str().unwrap();
    // Something was said since.
    w.ok(&["append", claude, "And now?"]);
    // The original is there, so it stays as it is, and all goes into a session of its own.
    let beside = there(&[claude, "--to", "codex"]);
    assert_ne!(beside.file_name().unwrap(), COMPRESSED);
    assert_eq!(fs::read_dir(packed.parent().unwrap()).unwrap().count(), 2);
    // It is not there.
    let out = w.root.join("out");
    let back = there(&[claude, "--to", "codex", "-o", out.to_str().unwrap()]);
    assert_eq!(back, out.join(name.strip_suffix(".zst").unwrap()));
    let came = fs::read_to_string(&back).unwrap();
    let added = came.strip_prefix(&lines).unwrap();
    assert!(added.contains("And now?"), "{added}");
    // Something is said differently.
    let said = fs::read_to_string(claude).unwrap();
    let end = said.find("And now?").unwrap();
    let end = said[..end].rfind('\n').unwrap() + 1;
    fs::write(claude, said[..end].replace("Packed.", "Packed it.")).unwrap();
    let out = w.root.join("changed");
    let back = there(&[claude, "--to", "codex", "-o", out.to_str().unwrap()]);
    let changed = fs::read_to_string(&back).unwrap();
    assert_eq!(changed, lines.replace("Packed.", "Packed it."));
}
