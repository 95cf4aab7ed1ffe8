//! Sub-agents, and theirs, in other agents and back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use rethread_engine::{ConvertOutcome, Source, by_name};
use rethread_formats::{
    Agents, Conversation, MessageInput, NewMessage, SubagentTranscript, TextMessage,
};
use rethread_judges::ClientKind;
use rethread_model::{Block, Bodies as _, Body, LinkKind, Message, Role};
use serde_json::{Value, json as value};

use super::edits::{change, with};
use super::judges::{client_in, line, now};
use super::matrix::fixture_sessions;
use super::{Desk, contents, files_below};
use crate::world::{World, copy, json};

/// The formats that have a place for them.
const NATIVE: [&str; 6] = [
    "claude-code",
    "agentuse",
    "codex",
    "gemini",
    "opencode",
    "ndjson",
];

/// Those of them that are written by verbs other than `convert`.
fn written(source: &Source) -> impl Iterator<Item = &'static str> {
    let is_other = |to: &&str| *to != "ndjson" && *to != source.format.slug();
    NATIVE.into_iter().filter(is_other)
}

/// Two sessions with sub-agents that started others themselves.
fn families(temp: &Path) -> Vec<Source> {
    let all = fixture_sessions(temp).into_iter();
    let is_one = |source: &Source| {
        [
            "01a1e075-a000-7000-8000-0000000000a1",
            "ses_5bbbbbbbb001SubAgents00001",
        ]
        .contains(&source.id.as_str())
    };
    let found: Vec<Source> = all.filter(is_one).collect();
    assert_eq!(found.len(), 2);
    found
}

fn read(source: &Source) -> Conversation {
    source.format.reader().read(source).unwrap()
}

/// What a session begins with.
fn first_text(conversation: &Conversation) -> String {
    let mut texts = conversation.session.indexed().filter_map(|(ix, _)| {
        let Body::Message(message) = conversation.body(ix) else {
            return None;
        };
        let text = message.blocks.iter().find_map(|block| match block {
            Block::Text(text) => Some(text.value.clone()),
            _ => None,
        });
        text.filter(|_| message.role == Role::User)
    });
    texts
        .find(|text| !text.starts_with('<'))
        .unwrap_or_default()
}

/// The calls that a session makes.
fn calls(conversation: &Conversation) -> Vec<String> {
    let mut calls = Vec::new();
    for (ix, _) in conversation.session.indexed() {
        if let Body::Message(message) = conversation.body(ix) {
            calls.extend(message.blocks.iter().filter_map(|block| match block {
                Block::ToolCall(call) => Some(call.id.clone()),
                _ => None,
            }));
        }
    }
    calls
}

/// What each sub-agent was asked, and what the one that started it was.
fn tree(source: &Source) -> BTreeMap<String, String> {
    let main = read(source);
    let agents = Agents::of(&main);
    let mut tree = BTreeMap::new();
    for agent in &agents.read {
        let links = || agent.session.head.links.iter();
        let own = links().find(|l| l.kind == LinkKind::Parent).unwrap();
        let names = |one: &&Conversation| {
            let mut links = one.session.head.links.iter();
            links.any(|l| l.kind == LinkKind::SubAgent && l.session == agent.source.id)
        };
        let makes = |one: &&Conversation| {
            let call = own.tool_call.as_ref();
            call.is_some_and(|call| calls(one).contains(call))
        };
        let others = || {
            agents
                .read
                .iter()
                .filter(|a| a.source.id != agent.source.id)
        };
        let parent = others()
            .find(|a| a.source.id == own.session || names(a))
            .or_else(|| others().find(makes))
            .unwrap_or(&main);
        tree.insert(first_text(agent), first_text(parent));
    }
    tree
}

#[test]
fn each_is_below_the_one_that_started_it() {
    let temp = tempfile::tempdir().unwrap();
    let desk = Desk::new();
    for source in families(temp.path()) {
        let wanted = tree(&source);
        assert!(wanted.len() >= 3, "{wanted:?}");
        assert!(wanted.values().any(|parent| parent.starts_with("Look")));
        for to in NATIVE.into_iter().filter(|to| *to != source.format.slug()) {
            let name = format!("{} -> {to}", source.path.display());
            let (done, made) = desk.convert(&source, by_name(to).unwrap()).unwrap();
            assert_eq!(tree(&made), wanted, "{name}");
            let fate = done.fates.iter().find(|f| f.what == "sub-agents").unwrap();
            assert_eq!(fate.count, wanted.len(), "{name}");
            assert_eq!(fate.native, wanted.len(), "{name}");
            // The calls that started them say so.
            let links = read(&made).session.head.links;
            let started = links.iter().filter(|l| l.kind == LinkKind::SubAgent);
            let linked = started.filter(|l| l.tool_call.is_some()).count();
            assert!(linked > 0, "{name}: {links:?}");
        }
    }
}

#[test]
fn a_change_in_one_changes_that_and_nothing_else() {
    let temp = tempfile::tempdir().unwrap();
    let desk = Desk::new();
    let old = "One, behind the church.";
    for source in families(temp.path()) {
        for to in NATIVE.into_iter().filter(|to| *to != source.format.slug()) {
            let name = format!("{} -> {to}", source.path.display());
            let to = by_name(to).unwrap();
            let root = desk.root(to);
            let (_, there) = desk.convert_to(&source, to, &root).unwrap();
            assert!(change(&root, old), "{name}");
            let (done, back) = desk.convert(&there, source.format).unwrap();
            let way = ConvertOutcome::Back {
                added: 0,
                changed: 1,
            };
            assert_eq!(done.way, way, "{name}: {:?}", done.notes);
            assert_eq!(with(&back, old), with(&source, old), "{name}");
            assert_ne!(contents(&back), contents(&source), "{name}");
        }
    }
}

fn message(role: Role, text: &str) -> MessageInput {
    MessageInput::Text(TextMessage {
        role,
        text: text.to_owned(),
        model: Some("acme/m-1".to_owned()),
        images: Vec::new(),
    })
}

/// The sub-agent that was asked this.
fn asked(main: &Source, text: &str) -> Conversation {
    let agents = Agents::of(&read(main)).read.into_iter();
    agents
        .into_iter()
        .find(|agent| first_text(agent) == text)
        .unwrap()
}

#[test]
fn what_one_said_since_comes_behind_what_it_said() {
    let temp = tempfile::tempdir().unwrap();
    let desk = Desk::new();
    let w = desk.writing();
    for source in families(temp.path()) {
        for to in written(&source) {
            let name = format!("{} -> {to}", source.path.display());
            let to = by_name(to).unwrap();
            let (_, there) = desk.convert(&source, to).unwrap();
            let agent = asked(&there, "Look in the old town").source;
            let more = [
                message(Role::User, "And behind the mill?"),
                message(Role::Assistant, "None there."),
            ];
            let added = to
                .writable()
                .unwrap()
                .subagents()
                .unwrap()
                .append_to_subagent(&w, &agent, &more)
                .unwrap();
            assert!(added.ids.iter().all(Result::is_ok), "{name}");
            let (done, back) = desk.convert(&there, source.format).unwrap();
            let way = ConvertOutcome::Back {
                added: 2,
                changed: 0,
            };
            assert_eq!(done.way, way, "{name}: {:?}", done.notes);
            assert_eq!(tree(&back), tree(&source), "{name}");
            let texts = |main: &Source| {
                let agent = asked(main, "Look in the old town");
                let bodies = agent.session.indexed().map(|(ix, _)| agent.body(ix));
                format!("{:?}", bodies.collect::<Vec<_>>())
            };
            assert!(!texts(&source).contains("None there."), "{name}");
            assert!(texts(&back).contains("None there."), "{name}");
            // All other files, or rows, are as they were.
            let (before, now) = (contents(&source), contents(&back));
            let kept = now.iter().filter(|file| before.contains(file)).count();
            let most = if source.format.slug() == "opencode" {
                3
            } else {
                1
            };
            assert!(kept + most >= before.len(), "{name}: {kept}");
        }
    }
}

#[test]
fn one_that_was_started_since_is_started_in_the_original() {
    let temp = tempfile::tempdir().unwrap();
    let desk = Desk::new();
    let w = desk.writing();
    for source in families(temp.path()) {
        for to in written(&source) {
            let name = format!("{} -> {to}", source.path.display());
            let to = by_name(to).unwrap();
            let (_, there) = desk.convert(&source, to).unwrap();
            let parent = asked(&there, "Look in the city").source;
            let told = [rethread_formats::TranscriptStep {
                after: None,
                time: None,
                step: rethread_formats::StepKind::Message(Box::new(NewMessage {
                    default_model: Some("acme/m-1".to_owned()),
                    number: 1,
                    ..NewMessage::new(Message::new(
                        Role::User,
                        vec![Block::text("Look in the harbour")],
                    ))
                })),
            }];
            let agent = SubagentTranscript {
                call: None,
                title: Some("harbour"),
                told: &told,
            };
            to.writable()
                .unwrap()
                .subagents()
                .unwrap()
                .write_subagent(&w, &parent, &agent)
                .unwrap();
            let (done, back) = desk.convert(&there, source.format).unwrap();
            let way = ConvertOutcome::Back {
                added: 1,
                changed: 0,
            };
            assert_eq!(done.way, way, "{name}: {:?}", done.notes);
            let mut wanted = tree(&source);
            // Two clients keep all of them in one folder, whoever started them.
            let is_flat = ["claude-code", "gemini"].contains(&to.slug());
            let parent = if is_flat {
                "Who sells signs?"
            } else {
                "Look in the city"
            };
            wanted.insert("Look in the harbour".to_owned(), parent.to_owned());
            assert_eq!(tree(&back), wanted, "{name}");
        }
    }
}

/// A session of Claude Code in which a sub-agent ran the tests; its path.
fn with_agent(w: &World) -> String {
    let made = json(&now(w, &["new", "--format", "claude-code", "--json"], ""));
    let path = made["path"].as_str().unwrap().to_owned();
    let talk = [
        value!({"index": 1, "role": "user", "content": [{"type": "text", "text": "Which tests fail?"}]}),
        value!({"index": 2, "role": "assistant", "content": [
            {"type": "text", "text": "I ask somebody."},
            {"type": "tool_use", "tool_id": "toolu_1", "tool_name": "Task", "input": {"prompt": "Run the tests"}},
        ], "metadata": {"model": {"name": "m-1"}}}),
        value!({"index": 3, "role": "user", "content": [
            {"type": "tool_result", "tool_id": "toolu_1", "output": "1 failing"},
        ]}),
        value!({"index": 4, "role": "assistant", "content": [{"type": "text", "text": "One fails."}]}),
    ];
    let talk: String = talk.iter().map(|line| format!("{line}\n")).collect();
    now(w, &["append", &path, "--message-json", "-"], &talk);
    let folder = Path::new(&path).with_extension("").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    let record = |uuid: &str, parent: Option<&str>, kind: &str, message: Value| {
        value!({"parentUuid": parent, "isSidechain": true, "userType": "external",
            "cwd": w.project, "sessionId": made["id"], "version": "2.1.325", "gitBranch": "",
            "agentId": "a1", "type": kind, "message": message, "uuid": uuid,
            "timestamp": "2026-11-15T12:00:00.000Z"})
    };
    let asked = value!({"role": "user", "content": "Run the tests"});
    let said = value!({"id": "m1", "type": "message", "role": "assistant", "model": "m-1",
        "content": [{"type": "text", "text": "One of them is red."}]});
    let log = [
        record("u1", None, "user", asked),
        record("u2", Some("u1"), "assistant", said),
    ];
    let log: String = log.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("agent-a1.jsonl"), log).unwrap();
    let about =
        value!({"agentType": "general-purpose", "description": "tests", "toolUseId": "toolu_1"});
    fs::write(folder.join("agent-a1.meta.json"), about.to_string()).unwrap();
    path
}

/// Lets a client list what was converted, and go on with it.
fn assert_resumed(client: ClientKind, agent: &str) {
    let w = World::new();
    let Some(desk) = client_in(&w, client, agent) else {
        return;
    };
    let path = with_agent(&w);
    let made = json(&now(&w, &["convert", &path, "--to", agent, "--json"], ""));
    let id = made["id"].as_str().unwrap();
    let format = by_name(agent).unwrap();
    let there = made["path"].as_str().unwrap();
    let there = there.split_once('#').map_or(there, |(path, _)| path);
    let source = Source::new(format, id.to_owned(), there.into());
    let agents = Agents::of(&format.reader().read(&source).unwrap()).read;
    let child = match agents.as_slice() {
        [child] => child.source.id.clone(),
        others => panic!("{others:?}"),
    };
    // One client lists by the beginnings of its ids.
    let listed = desk.list_sessions().unwrap();
    let short = |id: &str| id.get(..13).unwrap().to_owned();
    assert!(listed.contains(&short(id)), "{listed}");
    assert!(!listed.contains(&child), "{listed}");
    assert!(!listed.contains("Run the tests"), "{listed}");
    if agent == "opencode" {
        // It takes the sub-agent for one of its own.
        let out = desk.run_client(&["export", &child].map(Into::into)).stdout;
        let out = json(std::str::from_utf8(&out).unwrap());
        assert_eq!(out["info"]["parentID"], id);
        assert!(out["messages"].to_string().contains("One of them is red."));
    }
    let sent = desk.resume_by_server(id, "AND-NOW");
    let lines: Vec<String> = sent.iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "user: Which tests fail?",
            "assistant: I ask somebody.",
            r#"call Task {"prompt":"Run the tests"}"#,
            "result 1 failing",
            "assistant: One fails.",
            "user: AND-NOW",
        ]
    );
    // The client went on, and left the sub-agent alone.
    let out = w.root.join("back");
    let name = match agent {
        "opencode" => format!("{there}#{id}"),
        _ => there.to_owned(),
    };
    let back = [
        "convert",
        &name,
        "--to",
        "claude",
        "-o",
        out.to_str().unwrap(),
        "--json",
    ];
    let back = json(&now(&w, &back, ""));
    assert_eq!(back["way"], "continued", "{back}");
    let before = Path::new(&path)
        .with_extension("")
        .join("subagents/agent-a1.jsonl");
    let back = Path::new(back["path"].as_str().unwrap()).with_extension("");
    let back = back.join("subagents/agent-a1.jsonl");
    assert_eq!(fs::read(back).unwrap(), fs::read(before).unwrap());
}

#[test]
fn codex_goes_on_with_the_one_that_started_them() {
    assert_resumed(ClientKind::Codex, "codex");
}

#[test]
fn gemini_goes_on_with_the_one_that_started_them() {
    assert_resumed(ClientKind::Gemini, "gemini");
}

#[test]
fn opencode_goes_on_with_the_one_that_started_them() {
    assert_resumed(ClientKind::OpenCode, "opencode");
}

#[test]
fn they_are_left_out_on_demand() {
    let w = World::new();
    let path = with_agent(&w);
    let there = w.root.join("there");
    let there = there.to_str().unwrap();
    let convert = ["convert", &path, "--to", "codex", "-o", there];
    assert_snapshot!(w.ok(&[&convert[..], &["--dry-run"]].concat()), @"
    title               1  native
    text                3  native
    tool calls          1  native
    tool results        1  native
    models              2  native
    usage               2  travel along
    times               4  native
    sub-agents          1  native
    ");
    let without = [&convert[..], &["--no-subagents"]].concat();
    assert_snapshot!(w.ok(&[&without[..], &["--dry-run"]].concat()), @"
    title               1  native
    text                3  native
    tool calls          1  native
    tool results        1  native
    models              2  native
    usage               2  travel along
    times               4  native
    sub-agents          1  left out
    ");
    let strict = w.run(&[&without[..], &["--strict"]].concat());
    assert_eq!(strict.code, 1);
    assert_snapshot!(strict.err, @"
    error: its sub-agents would be left out
    hint: without `--no-subagents` they come along
    ");
    let made = json(&w.ok(&[&without[..], &["--json"]].concat()));
    let what = value!([{"what": "sub-agents", "count": 1, "native": 0}]);
    assert_eq!(made["dropped"], what);
    assert_eq!(files_below(&w.root.join("there/sessions")).len(), 1);
    let file = fs::read_to_string(made["path"].as_str().unwrap()).unwrap();
    assert!(!file.contains("agent-a1"));
}

#[test]
fn those_that_are_gone_or_damaged_stop_nothing() {
    let w = World::new();
    let path = with_agent(&w);
    let codex = w.root.join("codex");
    let codex = codex.to_str().unwrap();
    let made = json(&w.ok(&["convert", &path, "--to", "codex", "-o", codex, "--json"]));
    let parent = made["path"].as_str().unwrap();
    let child = files_below(Path::new(codex)).into_iter().find(|file| {
        file.extension().is_some_and(|e| e == "jsonl") && file.to_str() != Some(parent)
    });
    let child = child.unwrap();
    // The original needs it no more than the other way round.
    let bytes = fs::read(&child).unwrap();
    fs::remove_file(&child).unwrap();
    let pi = w.run(&["convert", parent, "--to", "pi", "--dry-run"]);
    assert_eq!(pi.code, 0, "{pi:?}");
    assert!(pi.err.contains("is not here"), "{}", pi.err);
    fs::write(&child, [b"{\n", &bytes[..]].concat()).unwrap();
    let pi = w.run(&["convert", parent, "--to", "pi", "--dry-run"]);
    assert_eq!(pi.code, 3, "{pi:?}");
    let strict = w.run(&["convert", parent, "--to", "pi", "--dry-run", "--strict"]);
    assert_eq!(strict.code, 1, "{strict:?}");
}

#[test]
fn what_is_gone_comes_back_and_what_is_there_stays() {
    let w = World::new();
    let home = w.home.join(".codex");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    copy(&fixture.join("codex/0.166/sub-agents"), &home);
    let file = |id: &str| {
        let all = files_below(&home).into_iter();
        all.into_iter().find(|f| f.to_string_lossy().contains(id))
    };
    let main = file("0000000000a1").unwrap();
    let child = file("0000000000a2").unwrap();
    let made = w.ok(&[
        "convert",
        main.to_str().unwrap(),
        "--to",
        "claude",
        "--json",
    ]);
    let there = json(&made)["path"].as_str().unwrap().to_owned();
    let back = ["convert", &there, "--to", "codex", "--json"];
    assert_eq!(json(&w.ok(&back))["way"], "unchanged");
    // A sub-agent alone.
    let before = fs::read(&child).unwrap();
    fs::remove_file(&child).unwrap();
    assert_eq!(json(&w.ok(&back))["way"], "restored");
    assert_eq!(fs::read(&child).unwrap(), before);
    // Somebody went on with the sub-agent, and nothing of the session is put beside it.
    fs::write(&child, [&before[..], b"\n"].concat()).unwrap();
    fs::remove_file(&main).unwrap();
    fs::remove_file(file("0000000000a3").unwrap()).unwrap();
    let answer = w.run(&back);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(answer.err.contains("exists already"), "{answer:?}");
    assert!(!main.exists());
    assert_eq!(file("0000000000a3"), None);
}

#[test]
fn a_change_comes_back_through_two_others() {
    let temp = tempfile::tempdir().unwrap();
    let desk = Desk::new();
    let old = "One, behind the church.";
    for source in families(temp.path()) {
        let (first, second) = match source.format.slug() {
            "codex" => ("opencode", "gemini"),
            _ => ("claude-code", "codex"),
        };
        let (_, there) = desk.convert(&source, by_name(first).unwrap()).unwrap();
        let second = by_name(second).unwrap();
        let root = desk.root(second);
        let (_, there) = desk.convert_to(&there, second, &root).unwrap();
        assert!(change(&root, old));
        let home = source.format;
        let (done, back) = desk.convert(&there, home).unwrap();
        assert!(
            matches!(done.way, ConvertOutcome::Back { .. }),
            "{:?}",
            done.notes
        );
        assert_eq!(with(&back, old), with(&source, old));
        assert_ne!(contents(&back), contents(&source));
    }
}
