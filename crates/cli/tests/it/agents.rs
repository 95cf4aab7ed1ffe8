//! `agents` and `resume`.

use insta::assert_snapshot;

use crate::world::{World, json};

#[test]
fn every_format_with_its_places_and_what_can_be_done() {
    let w = World::new();
    w.thread("a thread");
    w.ok(&["new", "--format", "pi"]);
    let shown = w.plain(&w.ok(&["agents"]));
    let of = |slug: &str| {
        let lines = shown.lines().skip_while(|l| !l.starts_with(slug));
        lines.take(2).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(of("atsf"), @"
    atsf              1  read, write
                         [ROOT]/shop
    ");
    assert_snapshot!(of("pi"), @"
    pi                1  read, write, resume
                         [ROOT]/home/.pi/agent
    ");
    assert!(of("atomic").contains("none in"), "{shown}");
    assert_snapshot!(of("ndjson"), @"
    ndjson            0  read
                         only files that are named, such as `./export.ndjson`
    ");
    let all = w.ok(&["agents", "--json"]);
    let pi = all.lines().map(json).find(|a| a["agent"] == "pi").unwrap();
    assert_eq!(pi["can"], serde_json::json!(["read", "write", "resume"]));
    assert_eq!(pi["sessions"], 1);
}

#[test]
fn how_things_arrive_in_each_format() {
    let w = World::new();
    let shown = w.ok(&["agents"]);
    let table = shown.split_once("\n\n").unwrap().1;
    assert_snapshot!(table, @"
    converted to  atsf   agentuse claude codex  gemini opencode pi     atomic ndjson
    title         native packed   native native native native   native 98 %   native
    text          native 99 %     native native native native   native native native
    thinking      native native   packed native native native   native native native
    tool calls    98 %   98 %     85 %   87 %   86 %   87 %     98 %   98 %   native
    tool results  native native   native native native native   native native native
    images        66 %   packed   85 %   86 %   93 %   92 %     85 %   87 %   81 %
    files         20 %   20 %     packed packed 28 %   33 %     packed packed 85 %
    models        92 %   72 %     88 %   91 %   91 %   native   92 %   92 %   native
    usage         48 %   66 %     98 %   95 %   59 %   98 %     native 99 %   native
    times         89 %   34 %     98 %   98 %   88 %   88 %     99 %   99 %   native
    branches      packed packed   native 67 %   91 %   3 %      native native native
    compactions   packed packed   90 %   76 %   84 %   76 %     87 %   92 %   native
    labels        packed packed   packed packed packed packed          packed native
    sub-agents    packed native   native native native native   packed packed native
    other records packed packed   packed 2 %    packed packed   packed packed 93 %
    All formats are converted to these. What is packed travels along, for the way back.
    Went on with sessions of all others: Claude Code 2.1.325, Codex CLI 0.166.0, Gemini CLI 0.61.0, OpenCode 1.18.33, pi 0.87.1.
    ");
    let all = w.ok(&["agents", "--json"]);
    let codex = all
        .lines()
        .map(json)
        .find(|a| a["agent"] == "codex")
        .unwrap();
    assert_eq!(codex["judged_by"], "Codex CLI 0.166.0");
    let from = codex["converts_from"].as_object().unwrap();
    assert_eq!(from.len(), 9);
    for (name, fates) in from {
        assert!(fates.as_array().unwrap().len() >= 5, "{name}: {fates}");
    }
}

#[test]
fn the_command_that_continues_a_session() {
    let w = World::new();
    w.ok(&["new", "--format", "pi"]);
    assert_snapshot!(w.plain(&w.ok(&["resume", "pi:latest", "--print"])), @"cd [ROOT]/shop && pi --session [ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl");
    assert_snapshot!(w.plain(&w.ok(&["resume", "latest", "--json"])), @r#"{"command":["pi","--session","[ROOT]/home/.pi/agent/sessions/--[ROOT]-shop--/2026-11-15T12-00-00-000Z_01a1df14-1e00-7948-8523-d812268295b1.jsonl"],"cwd":"[ROOT]/shop"}"#);
    let thread = w.thread("has no client");
    let answer = w.run(&["resume", &thread, "--print"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert_eq!(
        answer.err,
        "error: atsf sessions have no client that continues them\n\
         hint: `--in AGENT` continues it in another\n"
    );
}

/// Whoever wrote a session chose its id.
#[test]
fn an_id_that_begins_like_an_option_is_not_given_to_a_client() {
    use std::fs;
    let said = |lines: &[&str]| lines.join("\n") + "\n";
    for (path, session) in [
        (
            ".gemini/tmp/shop/chats/session-2026-11-10T10-00-aaaaaaaa.jsonl",
            said(&[
                r#"{"sessionId":"--yolo","projectHash":"h","startTime":"2026-11-10T10:00:00Z"}"#,
                r#"{"id":"1","type":"user","content":"Hello"}"#,
            ]),
        ),
        (
            ".codex/sessions/2026/11/10/rollout-2026-11-10T10-00-00-01a1df14-1e00-7948-8523-d812268295b1.jsonl",
            said(&[
                r#"{"timestamp":"2026-11-10T10:00:00Z","type":"session_meta","payload":{"id":"--yolo","timestamp":"2026-11-10T10:00:00Z","cwd":"/"}}"#,
                r#"{"timestamp":"2026-11-10T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}"#,
            ]),
        ),
        (
            ".claude/projects/-shop/--yolo.jsonl",
            said(&[
                r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"--yolo","cwd":"/","timestamp":"2026-11-10T10:00:00Z","message":{"role":"user","content":"Hello"}}"#,
            ]),
        ),
    ] {
        let w = World::new();
        let path = w.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, session).unwrap();
        let answer = w.run(&["resume", path.to_str().unwrap(), "--print"]);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{answer:?}");
        assert!(answer.err.contains("begins like an option"), "{answer:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_client_is_started_in_the_sessions_folder() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    let w = World::new();
    w.ok(&["new", "--format", "pi"]);
    let bin = w.root.join("bin");
    fs::create_dir(&bin).unwrap();
    let script = bin.join("pi");
    fs::write(&script, "#!/bin/sh\npwd; echo \"$1\"; exit 3\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |path: &str| {
        let mut command = w.command(&["resume", "latest"]);
        command
            .env("PATH", path)
            .current_dir(&w.root)
            .output()
            .unwrap()
    };
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let output = run(&path);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, format!("{}\n--session\n", w.project.display()));
    assert_eq!(output.status.code(), Some(1));
    let missing = run("/nowhere");
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        String::from_utf8(missing.stderr)
            .unwrap()
            .contains("hint: install it")
    );
    fs::remove_dir(&w.project).unwrap();
    let homeless = run(&path);
    assert!(
        String::from_utf8(homeless.stderr)
            .unwrap()
            .contains("is not there")
    );
}
