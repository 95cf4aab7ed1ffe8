//! `list`: filters, sorting, forms.

use std::fs;

use insta::assert_snapshot;

use crate::on_terminal::on_terminal;
use crate::world::{World, json};

fn three(w: &World) -> [String; 3] {
    let make = |title: &str, agent: &str, time: &str, texts: &[&str]| {
        let out = w.ok(&[
            "new",
            "--format",
            "atsf",
            "--title",
            title,
            "--agent-id",
            agent,
            "--json",
        ]);
        let id = json(&out)["id"].as_str().unwrap().to_owned();
        for text in texts {
            let tokens = text.len();
            w.message(&id, &format!(r#"{{"role":"user","timestamp":"{time}","content":"{text}","tokens":{{"input":{tokens}}}}}"#));
        }
        id
    };
    [
        make(
            "oldest",
            "claude-code",
            "2026-11-01T10:00:00.000Z",
            &["a", "b", "c"],
        ),
        make(
            "newest",
            "codex",
            "2026-11-14T10:00:00.000Z",
            &["a much longer message than the others have"],
        ),
        make("middle", "codex", "2026-11-10T10:00:00.000Z", &["x", "y"]),
    ]
}

fn titles(w: &World, args: &[&str]) -> Vec<String> {
    let mut all = vec!["list", "--json"];
    all.extend(args);
    let answer = w.run(&all);
    answer
        .out
        .lines()
        .map(|l| json(l)["title"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn newest_first_filtered_and_sorted() {
    let w = World::new();
    three(&w);
    assert_eq!(titles(&w, &[]), ["newest", "middle", "oldest"]);
    assert_eq!(titles(&w, &["--limit", "2"]), ["newest", "middle"]);
    assert_eq!(
        titles(&w, &["--sort", "messages"]),
        ["oldest", "middle", "newest"]
    );
    assert_eq!(
        titles(&w, &["--sort", "tokens"]),
        ["newest", "oldest", "middle"]
    );
    assert_eq!(titles(&w, &["--sort", "size", "--limit", "1"]), ["oldest"]);
    assert_eq!(titles(&w, &["--since", "7d"]), ["newest", "middle"]);
    assert_eq!(
        titles(&w, &["--since", "yesterday", "--until", "yesterday"]),
        ["newest"]
    );
    assert_eq!(titles(&w, &["--until", "2026-11-10"]), ["middle", "oldest"]);
    assert_eq!(titles(&w, &["--agent", "codex"]), ["newest", "middle"]);
    assert_eq!(titles(&w, &["--agent", "atsf"]).len(), 3);
    assert_eq!(
        titles(&w, &["shop"]).len(),
        3,
        "part of the workspace's name"
    );
    assert_eq!(titles(&w, &["."]).len(), 3);
    assert_eq!(titles(&w, &[w.root.to_str().unwrap()]).len(), 3);
    assert!(titles(&w, &["elsewhere"]).is_empty());
}

#[test]
fn nothing_found_is_exit_1_and_a_bad_time_is_exit_2() {
    let w = World::new();
    let nothing = w.run(&["list"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (1, ""), "{nothing:?}");
    let wrong = w.run(&["list", "--since", "soon"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.err.contains("`soon` is no time"), "{}", wrong.err);
}

#[test]
fn tables_for_people_and_for_programs() {
    let w = World::new();
    three(&w);
    assert_snapshot!("list_table", w.ok(&["list"]));
    assert_snapshot!("list_tsv", w.plain(&w.ok(&["list", "--tsv"])));
}

#[test]
fn a_session_object_a_line_in_the_unified_vocabulary() {
    let w = World::new();
    let [oldest, ..] = three(&w);
    let out = w.ok(&["list", "--json", "--agent", "claude-code"]);
    assert_eq!(out.lines().count(), 1);
    let object = json(&out);
    let keys: Vec<&str> = object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        &keys[..14],
        [
            "id",
            "agent",
            "workspace",
            "workspace_encoded",
            "started_at",
            "ended_at",
            "source",
            "is_agent_session",
            "parent_session_id",
            "agent_id",
            "title",
            "message_count",
            "updated_at",
            "size"
        ]
    );
    assert_eq!(object["id"], oldest.as_str());
    assert_eq!(object["message_count"], 3);
    assert_eq!(object["updated_at"], "2026-11-01T10:00:00.000Z");
    let size: u64 = ["thread.json", "messages.jsonl"]
        .iter()
        .map(|f| fs::metadata(w.folder(&oldest).join(f)).unwrap().len())
        .sum();
    assert_eq!(object["size"], size);
}

/// A thread with messages at these times.
fn said_at(w: &World, title: &str, times: &[&str]) {
    let id = w.thread(title);
    for time in times {
        w.message(
            &id,
            &format!(r#"{{"role":"user","timestamp":"{time}","content":"x"}}"#),
        );
    }
}

#[test]
fn a_session_belongs_to_a_span_if_something_was_said_in_it() {
    let w = World::new();
    said_at(
        &w,
        "went on",
        &["2026-11-14T10:00:00.000Z", "2026-11-15T10:00:00.000Z"],
    );
    said_at(
        &w,
        "around",
        &["2026-11-10T10:00:00.000Z", "2026-11-15T09:00:00.000Z"],
    );
    said_at(&w, "before", &["2026-11-12T10:00:00.000Z"]);
    // Yesterday's work does not vanish because it went on today.
    assert_eq!(
        titles(&w, &["--since", "yesterday", "--until", "yesterday"]),
        ["went on"]
    );
    assert_eq!(
        titles(&w, &["--until", "yesterday"]),
        ["went on", "around", "before"]
    );
    assert_eq!(titles(&w, &["--since", "today"]), ["went on", "around"]);
    assert_eq!(
        titles(&w, &["--since", "thursday", "--until", "thursday"]),
        ["before"],
        "nothing was said in `around` on the twelfth"
    );
    assert_eq!(
        titles(&w, &["--since", "tuesday", "--until", "tuesday"]),
        ["around"]
    );
    assert_eq!(titles(&w, &["--since", "november"]).len(), 3);
    assert!(titles(&w, &["--until", "last month"]).is_empty());
    // The same is exported.
    let out = w.ok(&[
        "export", "--since", "thursday", "--until", "thursday", "-o", "-",
    ]);
    assert_eq!(out.lines().count(), 2, "a header and a session: {out}");
}

#[test]
fn words_match_titles_and_nothing_found_says_what_was_looked_at() {
    let w = World::new();
    three(&w);
    assert_eq!(titles(&w, &["IDDL"]), ["middle"]);
    assert_eq!(titles(&w, &["-n", "1"]), ["newest"]);
    for (args, said) in [
        (
            &["list", "elsewhere"][..],
            "no sessions were found: none of 3 fits a workspace or title with `elsewhere`\n",
        ),
        (
            &["list", "/no/such", "--since", "today"],
            "no sessions were found: none of 3 fits the workspace `/no/such` and the other flags\n",
        ),
        (
            &["list", "--since", "today"],
            "no sessions were found: none of 3 fits what was asked for\n",
        ),
    ] {
        let answer = w.run(args);
        assert_eq!((answer.code, answer.err.as_str()), (1, said), "{args:?}");
    }
    // A word that only a title has takes nothing along into an export.
    assert_ne!(w.run(&["export", "iddl", "-o", "-"]).code, 0);
}

#[test]
fn typos_are_no_empty_answers() {
    let w = World::new();
    three(&w);
    let model = r#"{"role":"agent","content":"x","model":"claude-opus-4-5"}"#;
    w.message(&w.thread("with a model"), model);
    for (args, said) in [
        (
            &["list", "--agent", "clade"][..],
            "error: `clade` is no agent\nhint: did you mean `claude-code`? there is `atsf`, `agentuse`, ",
        ),
        (
            &["list", "--home-name", "lcal"],
            "error: `lcal` is no home\nhint: did you mean `local`? there is `local`\n",
        ),
        (
            &["export", "--agent", "codexx", "-o", "-"],
            "error: `codexx` is no agent\nhint: did you mean `codex`? ",
        ),
        (
            &["export", "--home-name", "remote_x", "-o", "-"],
            "error: `remote_x` is no home\nhint: there is `local`\n",
        ),
        (
            &["show", "latest", "--home-name", "lcal"],
            "error: `lcal` is no home\n",
        ),
    ] {
        let answer = w.run(args);
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{answer:?}");
        assert!(answer.err.starts_with(said), "{args:?}: {}", answer.err);
    }
    // An agent that a session names is one, whether we know its format or not.
    assert_eq!(titles(&w, &["--agent", "codex"]).len(), 2);
}

#[test]
fn an_unknown_model_is_an_error_that_names_those_there_are() {
    let w = World::new();
    let folder = w.home.join(".pi/agent/sessions/--p--");
    fs::create_dir_all(&folder).unwrap();
    let from = crate::world::fixtures().join("../pi");
    let found = walk(&from)
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"));
    for (i, path) in found.take(3).enumerate() {
        fs::copy(
            path,
            folder.join(format!("2026-11-15T00-00-0{i}-000Z_{i}.jsonl")),
        )
        .unwrap();
    }
    let all = w.run(&["list", "--json", "--hidden"]).out;
    let model = all
        .lines()
        .find_map(|l| json(l)["model"].as_str().map(str::to_owned))
        .unwrap();
    let id = model.rsplit('/').next().unwrap();
    assert_eq!(w.run(&["list", "--hidden", "--model", id]).code % 3, 0);
    let typed = format!("{}x", id.to_uppercase());
    let answer = w.run(&["list", "--model", &typed]);
    assert_eq!(answer.code, 2, "{answer:?}");
    let meant =
        format!("error: `{typed}` is no model of these sessions\nhint: did you mean `{id}`?");
    assert!(answer.err.contains(&meant), "{answer:?}");
}

/// All files below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = crate::world::tree(folder)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    files.sort();
    files
}

#[test]
fn what_a_list_is_sorted_by_is_shown() {
    let w = World::new();
    three(&w);
    for (key, cell) in [
        ("tokens", "42"),
        ("size", " B"),
        ("messages", "3"),
        ("cost", "-"),
    ] {
        let out = w.ok(&["list", "--sort", key]);
        assert!(out.contains(cell), "{key}: {out}");
    }
    let size = w.ok(&["list", "--sort", "size"]);
    let columns = |line: &str| line.split("  ").count();
    let with_size = size.lines().next().map(columns);
    let without = w.ok(&["list"]).lines().next().map(columns);
    assert!(with_size > without, "{size}");
}

#[test]
fn tables_fit_the_terminal() {
    let w = World::new();
    three(&w);
    said_at(
        &w,
        "A title that is much longer than a narrow terminal is wide, so that it must be cut somewhere",
        &["2025-03-01T10:00:00.000Z", "2026-11-15T09:30:00.000Z"],
    );
    for columns in ["50", "80", "160"] {
        for colour in ["never", "always"] {
            let args = ["list", "--no-pager", "--color", colour];
            let Some(shown) = on_terminal(&w, &args, "", &[("COLUMNS", columns)]) else {
                return;
            };
            let name = format!("list_{columns}_{colour}");
            assert_snapshot!(name, shown.out.replace('\u{1b}', "␛"));
            if colour == "never" {
                let most: usize = columns.parse().unwrap();
                for line in shown.out.lines() {
                    assert!(line.chars().count() <= most, "{columns}: {line}");
                }
            }
        }
    }
}
