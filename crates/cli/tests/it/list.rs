//! `list`: filters, sorting, forms.

use std::fs;

use insta::assert_snapshot;

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
