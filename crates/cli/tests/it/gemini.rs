//! Sessions of Gemini CLI: found, listed, read and shown.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use rethread_formats::{Conversation, Format, Source, Want, gemini::Gemini};
use rethread_judges::{Client, Turn};
use rethread_model::{
    Blob, Block, Bodies, Body, Counts, Kind, LinkKind, Message, Severity, State, TitleSource,
    Usage, Visibility,
};

use crate::seen::seen;
use crate::sums::assert_counted_once;
use crate::world::{World, copy, json, strace, tree};

const MAIN: &str = "5d0f6f1e-3a51-4c0e-9a6b-0c5d8f1b2a01";
const CHILD: &str = "c7a4e9d2-1b7f-4f64-8a35-6f0e2d9b7c02";
const HASH: &str = "4a68c726aa051718fe4af11f691cc40edc7757ac525175fccc8ab9ab302342fe";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gemini")
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    tree(folder).into_iter().map(|(path, _)| path).collect()
}

/// The one session of a case.
fn session(case: &str) -> PathBuf {
    let mut files = files_below(&fixtures().join(case));
    assert_eq!(files.len(), 1, "{case}");
    files.remove(0)
}

fn read(path: &Path) -> Conversation {
    let source = Source::new("gemini", String::new(), path.to_owned());
    Gemini.read(&source).unwrap()
}

fn everything() -> Conversation {
    let chats = fixtures().join("0.61/everything/tmp/shop/chats");
    read(&chats.join("session-2026-11-14T09-00-5d0f6f1e.jsonl"))
}

/// Makes a case the client's folder in a home.
fn lay_out(w: &World, case: &str) -> PathBuf {
    let home = w.home.join(".gemini");
    copy(&fixtures().join(case), &home);
    home
}

/// Reads a session and saves every part of it: the same bytes, every record accounted for.
fn assert_lossless(path: &Path) -> Conversation {
    let conversation = read(path);
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let mut saved = Vec::new();
        conversation.native.save(number, &mut saved).unwrap();
        let original = fs::read(&part.path).unwrap();
        assert!(saved == original, "{}", part.path.display());
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        assert!(tiled == original, "records tile {}", part.path.display());
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
    conversation
}

/// The files of a folder that are sessions.
fn sessions_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = files_below(folder);
    files.retain(|path| !Gemini.at_path(path).is_empty());
    files
}

fn message(c: &Conversation, id: &str) -> Message {
    match c.body(c.session.find(id).unwrap()) {
        Body::Message(message) => message,
        other => panic!("{id}: {other:?}"),
    }
}

/// The ids of the messages that the client would resume.
fn active(c: &Conversation) -> Vec<&str> {
    let path = c.session.active_path();
    path.into_iter().map(|ix| c.session.id(ix)).collect()
}

#[test]
fn fixtures_are_read_and_saved_byte_for_byte() {
    let found = sessions_below(&fixtures());
    assert_eq!(found.len(), 18, "{found:#?}");
    for path in found {
        assert_lossless(&path);
    }
}

#[test]
fn a_log_cut_at_any_byte_is_read_up_to_there() {
    let w = World::new();
    let path = w.root.join("session-2026-11-14T10-00-7e1c2b3a.jsonl");
    for case in [
        "0.61/rewound",
        "0.61/compressed",
        "0.61/damaged",
        "0.61/crlf-bom",
    ] {
        let whole = fs::read(session(case)).unwrap();
        let header = whole.iter().position(|b| *b == b'}').unwrap();
        for len in header..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            if !Gemini.at_path(&path).is_empty() {
                assert_lossless(&path);
            }
        }
    }
}

#[test]
fn a_document_cut_at_any_byte_is_read_up_to_there() {
    let w = World::new();
    let path = w.root.join("session-2025-12-01T09-00-8a8a8a8a.json");
    let folder = fixtures().join("0.20/document/tmp").join(HASH);
    let whole = fs::read(folder.join("chats/session-2025-12-01T08-00-8a8a8a8a.json")).unwrap();
    let mut most = 0;
    for len in 0..whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        if Gemini.at_path(&path).is_empty() {
            continue;
        }
        let c = assert_lossless(&path);
        let count = c.session.entries().len();
        assert!(count >= most, "cut at {len}");
        assert!(!c.notes.is_empty(), "cut at {len}");
        most = count;
    }
    assert_eq!(most, 5);
}

#[test]
fn list_in_a_folder_that_is_named() {
    let w = World::new();
    lay_out(&w, "0.61/everything");
    assert_eq!(
        w.ok(&["list", "--tsv"]).lines().count(),
        1,
        "one for people"
    );
    assert_snapshot!("gemini_list", w.plain(&w.ok(&["list", "--hidden"])));
    let tokens = w.ok(&["list", "--hidden", "--json", "--sort", "tokens"]);
    assert_snapshot!("gemini_list_tokens", w.plain(&tokens));
}

#[test]
fn show_as_text_markdown_and_json() {
    let w = World::new();
    lay_out(&w, "0.61/everything");
    let id = format!("gemini:{MAIN}");
    assert_snapshot!("gemini_show", w.plain(&w.ok(&["show", &id, "--thinking"])));
    let markdown = w.ok(&["show", &id, "--to", "markdown"]);
    assert_snapshot!("gemini_markdown", w.plain(&markdown));
    assert_snapshot!("gemini_json", w.plain(&w.ok(&["show", &id, "--json"])));
    assert_snapshot!("gemini_tree", w.plain(&w.ok(&["tree", &id])));
}

#[test]
fn the_client_folder_is_where_its_variable_says() {
    let w = World::new();
    lay_out(&w, "0.61/everything");
    copy(
        &fixtures().join("0.20/document"),
        &w.root.join("other/.gemini"),
    );
    copy(
        &fixtures().join("0.61/twice"),
        &w.home.join(".cache/.gemini"),
    );
    let ids = |variables: &[(&str, &str)], args: &[&str]| {
        let mut all = vec!["list", "--tsv", "--hidden", "--subagents"];
        all.extend(args);
        let mut command = w.command(&all);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut ids: Vec<String> = text.lines().map(|l| l[..8].to_owned()).collect();
        ids.sort();
        ids
    };
    let own = ["5d0f6f1e", "6f6f6f6f", "c7a4e9d2", "logs-sho"];
    assert_eq!(ids(&[], &[]), own);
    let variable = ("GEMINI_CLI_HOME", "../other");
    let other = ["8a8a8a8a", "checkpoi", "checkpoi", "logs-4a6"];
    assert_eq!(ids(&[variable], &[]), other);
    assert_eq!(ids(&[variable], &["--home", "../home"]), own);
}

#[test]
fn paths_lead_to_sessions() {
    let w = World::new();
    let home = lay_out(&w, "0.61/twice");
    let chats = home.join("tmp/shop/chats");
    for path in [&home, &home.join("tmp"), &home.join("tmp/shop"), &chats] {
        let shown = w.ok(&["show", path.to_str().unwrap(), "--json"]);
        assert!(
            shown.lines().next().unwrap().contains("6f6f6f6f"),
            "{shown}"
        );
    }
    for name in [
        "logs.json",
        "session-notes.json",
        "session-claude.jsonl",
        "checkpoint-model.json",
    ] {
        let path = fixtures().join("0.20/no-session").join(name);
        assert!(Gemini.at_path(&path).is_empty(), "{name}");
        let source = Source::new("gemini", String::new(), path);
        assert_eq!(
            Gemini.read(&source).unwrap_err().kind(),
            "not_a_session",
            "{name}"
        );
        assert_eq!(
            Gemini.summarize(&source, Want::default()).state,
            State::Damaged
        );
    }
    assert!(
        Gemini
            .at_path(&fixtures().join("0.20/no-session"))
            .is_empty()
    );
}

#[test]
fn a_later_version_of_a_message_speaks_and_all_are_kept() {
    let c = everything();
    let ix = c
        .session
        .find("a0000000-0000-4000-8000-000000000002")
        .unwrap();
    // Both versions, the message that repeats the results, and the saved output.
    assert_eq!(c.session.origin(ix).len(), 4);
    let repeated = c.session.find("a0000000-0000-4000-8000-000000000003");
    assert_eq!(repeated, Some(ix), "the repetition is an alias");
    let said = message(&c, "a0000000-0000-4000-8000-000000000002");
    let kinds: Vec<&str> = said
        .blocks
        .iter()
        .map(|b| match b {
            Block::Thinking(_) => "thinking",
            Block::Text(_) => "text",
            Block::ToolCall(_) => "call",
            Block::ToolResult(_) => "result",
            _ => "other",
        })
        .collect();
    let calls = ["call", "result"].repeat(3);
    assert_eq!(kinds, [vec!["thinking", "text"], calls].concat());
    let Block::ToolResult(shell) = &said.blocks[5] else {
        panic!("{:?}", said.blocks[5]);
    };
    assert_eq!((shell.is_error, shell.exit_code), (true, Some(1)));
    let Some(Blob::Record(raw)) = &shell.full_output else {
        panic!("{shell:?}");
    };
    let output = c.native.read(*raw).unwrap();
    assert!(output.starts_with(b"Output: 1 failing"), "{output:?}");
    let Block::ToolResult(picture) = &said.blocks[7] else {
        panic!("{:?}", said.blocks[7]);
    };
    let Block::Image(media) = &picture.blocks[1] else {
        panic!("{picture:?}");
    };
    let Blob::Inline { record, start, len } = &media.blob else {
        panic!("{media:?}");
    };
    let bytes = c.native.read(*record).unwrap();
    let start = usize::try_from(*start).unwrap();
    let inline = &bytes[start..start + usize::try_from(*len).unwrap()];
    assert!(
        inline.starts_with(b"iVBORw0KGgo") && inline.ends_with(b"ggg=="),
        "{inline:?}"
    );
}

#[test]
fn content_that_holds_calls_says_their_order() {
    let c = everything();
    let said = message(&c, "a0000000-0000-4000-8000-00000000000a");
    let [
        Block::Thinking(thought),
        Block::Text(_),
        Block::ToolCall(call),
        Block::ToolResult(_),
        Block::Unknown { type_name, .. },
    ] = said.blocks.as_slice()
    else {
        panic!("{:?}", said.blocks);
    };
    assert_eq!(thought.signature.as_deref(), Some("c2ln"));
    assert_eq!(call.signature.as_deref(), Some("c2lnMg=="));
    assert_eq!(call.title.as_deref(), Some("SaveMemory"));
    assert_eq!(type_name, "executableCode");
}

#[test]
fn what_is_known_of_the_whole() {
    let c = everything();
    let head = &c.session.head;
    let title = head.title.as_ref().unwrap();
    assert_eq!(
        (title.text.as_str(), title.source),
        ("Fix the sign-in test", TitleSource::Summary)
    );
    assert_eq!(head.workspace.path.as_deref(), Some("/home/me/shop"));
    assert_eq!(head.workspace.encoded.as_deref(), Some(HASH));
    assert_eq!(head.model.as_ref().unwrap().id, "gemini-2.5-flash");
    assert_eq!(
        head.created.unwrap().to_string(),
        "2026-11-14T09:00:00.000Z"
    );
    assert_eq!(
        head.updated.unwrap().to_string(),
        "2026-11-14T09:01:10.000Z"
    );
    let [link] = head.links.as_slice() else {
        panic!("{:?}", head.links);
    };
    assert_eq!(
        (link.kind, link.session.as_str()),
        (LinkKind::SubAgent, CHILD)
    );
    assert_eq!(link.tool_call.as_deref(), Some("delegate__c5"));
    let chats = fixtures().join("0.61/everything/tmp/shop/chats");
    let child = read(&chats.join(MAIN).join(format!("{CHILD}.jsonl")));
    let [link] = child.session.head.links.as_slice() else {
        panic!("{:?}", child.session.head.links);
    };
    assert_eq!((link.kind, link.session.as_str()), (LinkKind::Parent, MAIN));
    assert!(child.session.head.hidden);
}

#[test]
fn who_is_meant_to_see_a_message() {
    let c = everything();
    let seen: Vec<(Kind, Visibility)> = c
        .session
        .active_path()
        .into_iter()
        .map(|ix| (c.session.entry(ix).kind, c.session.entry(ix).visibility))
        .collect();
    assert_eq!(seen[0].1, Visibility::Injected);
    assert_eq!(seen[1].1, Visibility::Visible);
    assert_eq!(seen[4], (Kind::Event, Visibility::UiOnly));
    assert_eq!(seen[7].1, Visibility::UiOnly, "a command");
    assert_eq!(seen[10].0, Kind::Unknown, "a type that nobody knows");
    let beside = c.session.entries().iter().filter(|e| e.beside).count();
    assert_eq!(beside, 1, "a line that is no message");
}

#[test]
fn what_a_rewind_drops_stays_as_a_branch() {
    let c = read(&session("0.61/rewound"));
    assert_eq!(active(&c), ["q1", "r1", "q3", "r3"]);
    assert_eq!(c.session.entries().len(), 7);
    let said = message(&c, "r3");
    assert_eq!(said.blocks, [Block::text("Strawberry.")]);
    assert!(c.notes.is_empty(), "{:?}", c.notes);
}

#[test]
fn a_list_in_place_of_another_begins_a_new_branch_where_they_differ() {
    let c = read(&session("0.61/compressed"));
    assert_eq!(active(&c), ["q5"]);
    let ids: Vec<&str> = c
        .session
        .indexed()
        .map(|(ix, _)| c.session.id(ix))
        .collect();
    assert_eq!(ids, ["q1", "r1", "q2", "s1", "s2", "", "q3", "q4", "q5"]);
    let first = c.session.find("r1").unwrap();
    assert_eq!(c.session.origin(first).len(), 2, "the same message twice");
    assert_eq!(
        message(&c, "r1").blocks,
        [Block::text("Trees are tall, and old.")]
    );
    let summary = c.session.entry(c.session.find("s1").unwrap());
    assert_eq!(summary.parent, None);
    assert_eq!(summary.logical_parent, c.session.find("q2"));
    let damage = c.notes.iter().filter(|n| n.severity == Severity::Damage);
    assert_eq!(damage.count(), 1, "{:?}", c.notes);
}

#[test]
fn a_session_that_the_client_resumed_is_one_chain() {
    let c = assert_lossless(&session("0.61/resumed"));
    let chain = ["ctx", "q1", "g1", "g2", "q2", "g3"];
    assert_eq!(active(&c), chain);
    assert_eq!(c.session.entries().len(), chain.len(), "no branch");
    let said = message(&c, "g1");
    let results: Vec<&[Block]> = said
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::ToolResult(result) => Some(result.blocks.as_slice()),
            _ => None,
        })
        .collect();
    // Each call has its own result, though the client put all beside each.
    assert_eq!(results, [[Block::text("text 1")], [Block::text("text 2")]]);
    let [note] = c.notes.as_slice() else {
        panic!("{:?}", c.notes);
    };
    assert_eq!(note.severity, Severity::Remark);
    assert!(
        note.message.contains("two messages have the id `g1`"),
        "{note}"
    );
    assert_eq!(assert_tokens(&session("0.61/resumed")), 12 + 21 + 33);
}

#[test]
fn damage_is_named_and_the_rest_is_read() {
    let w = World::new();
    for case in [
        "0.61/damaged",
        "0.61/crlf-bom",
        "0.61/no-header",
        "0.20/torn",
    ] {
        let path = session(case);
        let answer = w.run(&["show", path.to_str().unwrap()]);
        let expected = if case == "0.61/crlf-bom" { 0 } else { 3 };
        assert_eq!(answer.code, expected, "{case}: {answer:?}");
        let root = fixtures().to_str().unwrap().to_owned();
        let err = answer.err.replace(&root, "[FIXTURES]");
        assert_snapshot!(format!("gemini_{}", case.replace(['/', '.'], "_")), err);
    }
    let c = read(&session("0.61/damaged"));
    assert_eq!(active(&c), ["q1", "r1", "q2", "r2", "q3", "r3", "r4"]);
}

#[test]
fn of_several_files_of_one_session_the_client_resumes_the_last() {
    let w = World::new();
    let home = lay_out(&w, "0.61/twice");
    let listed = w.ok(&["list", "--json"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
    let path = json(listed.lines().next().unwrap())["source"]["path"].clone();
    assert!(path.as_str().unwrap().ends_with(".jsonl"), "{path}");
    let answer = w.run(&["show", "6f6f6f6f"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.out.contains("And gone on with."), "{}", answer.out);
    assert_eq!(
        answer.err.matches("the same session is in").count(),
        2,
        "{}",
        answer.err
    );
    // Without the newest, the copy in the folder with a short name is the one.
    fs::remove_file(home.join("tmp/shop/chats/session-2026-11-14T14-00-6f6f6f6f.jsonl")).unwrap();
    let listed = w.ok(&["list", "--json"]);
    let path = json(&listed)["source"]["path"].clone();
    assert!(path.as_str().unwrap().contains("tmp/shop/"), "{path}");
}

#[test]
fn older_chats_checkpoints_and_prompts_are_sessions() {
    let w = World::new();
    lay_out(&w, "0.20/document");
    for (id, first) in [
        ("8a8a8a8a", "Write hello.txt."),
        ("checkpoint-before%20merge", "This is the Gemini CLI."),
        ("checkpoint-old", "This is the Gemini CLI."),
        (&*format!("logs-{HASH}"), "Write hello.txt."),
    ] {
        let shown = w.ok(&["show", id, "--to", "markdown"]);
        assert!(shown.contains(first), "{id}: {shown}");
    }
    let folder = fixtures().join("0.20/document/tmp").join(HASH);
    let c = read(&folder.join("checkpoint-old.json"));
    let kinds: Vec<Kind> = c.session.entries().iter().map(|e| e.kind).collect();
    assert_eq!(kinds[4], Kind::Message(rethread_model::Role::Tool));
    assert_eq!(
        c.session.head.workspace.path.as_deref(),
        Some("/home/me/shop")
    );
    assert!(read(&folder.join("logs.json")).session.head.hidden);
}

#[test]
fn a_project_known_by_its_hash_is_found_among_folders_that_others_name() {
    let w = World::new();
    lay_out(&w, "0.20/document");
    let workspace = || {
        let listed = w.ok(&["list", "--json", "--agent", "gemini"]);
        let chat = listed.lines().map(json);
        let chat = chat
            .into_iter()
            .find(|s| s["id"].as_str().unwrap().starts_with("8a8a"));
        chat.unwrap()["workspace"].as_str().unwrap().to_owned()
    };
    // The chat itself does not say it, and its checkpoints are there only by accident.
    let folder = w.home.join(".gemini/tmp").join(HASH);
    for name in ["checkpoint-old.json", "checkpoint-before%20merge.json"] {
        fs::remove_file(folder.join(name)).unwrap();
    }
    assert_eq!(workspace(), "");
    let pi = w.home.join(".pi/agent/sessions/--home-me-shop--");
    fs::create_dir_all(&pi).unwrap();
    let header = r#"{"type":"session","version":3,"id":"p1","cwd":"/home/me/shop"}"#;
    fs::write(pi.join("a.jsonl"), header).unwrap();
    assert_eq!(workspace(), "/home/me/shop");
}

#[test]
fn counts_of_a_list_are_those_of_a_reading() {
    for path in sessions_below(&fixtures()) {
        let source = Gemini.at_path(&path).remove(0);
        let summary = Gemini.summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        );
        let quick = Gemini.summarize(&source, Want::default());
        let counts = Counts {
            usage: None,
            ..summary.counts
        };
        assert_eq!(quick.counts, counts, "{}", path.display());
        let c = read(&path);
        assert_eq!(quick.head, summary.head, "{}", path.display());
        assert_eq!(c.session.head, summary.head, "{}", path.display());
        let messages = c.session.active_path().into_iter();
        let messages = messages.filter(|ix| c.session.entry(*ix).kind.is_message());
        assert_eq!(
            messages.count() as u64,
            summary.counts.messages,
            "{}",
            path.display()
        );
    }
}

/// What the client recorded, added up in the plainest way: of each id the last record.
fn recorded(path: &Path) -> (u64, u64) {
    let text = fs::read_to_string(path).unwrap();
    let mut last = std::collections::BTreeMap::new();
    let mut take = |m: &serde_json::Value| {
        if let (Some(id), Some(total)) = (m["id"].as_str(), m["tokens"]["total"].as_u64()) {
            let cached = m["tokens"]["cached"].as_u64().unwrap_or(0);
            last.insert(id.to_owned(), (total, cached));
        }
    };
    if path.extension().is_some_and(|e| e == "jsonl") {
        for line in text.lines() {
            let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else {
                continue;
            };
            take(&value);
            let inner = value["$set"]["messages"].as_array().cloned();
            inner.unwrap_or_default().iter().for_each(&mut take);
        }
    } else {
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let inner = value["messages"].as_array().cloned();
        inner.unwrap_or_default().iter().for_each(&mut take);
    }
    let sum = |f: fn(&(u64, u64)) -> u64| last.values().map(f).sum();
    (sum(|t| t.0), sum(|t| t.1))
}

fn assert_tokens(path: &Path) -> u64 {
    let source = Gemini.at_path(path).remove(0);
    let usage: Usage = Gemini
        .summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        )
        .counts
        .usage
        .unwrap();
    let (total, cached) = recorded(path);
    assert_eq!(
        usage.recorded_total.unwrap_or(0),
        total,
        "{}",
        path.display()
    );
    assert_eq!(usage.cache_read, cached, "{}", path.display());
    usage.total()
}

#[test]
fn tokens_are_those_that_the_client_recorded() {
    let chats = fixtures().join("0.61/everything/tmp/shop/chats");
    let main = chats.join("session-2026-11-14T09-00-5d0f6f1e.jsonl");
    assert_eq!(assert_tokens(&main), 1265 + 1575 + 915);
    // Each id once, its last version; what was rewound was paid for.
    assert_eq!(assert_tokens(&session("0.61/rewound")), 11 + 22 + 36);
    assert_eq!(assert_tokens(&session("0.61/compressed")), 16);
}

#[test]
fn credentials_are_never_opened() {
    let Some(strace) = strace() else { return };
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    for name in [
        "oauth_creds.json",
        "google_accounts.json",
        "settings.json",
        ".env",
    ] {
        fs::write(home.join(name), "{\"access_token\":\"secret\"}").unwrap();
    }
    let trace = w.root.join("trace");
    let output = w.command(&["list", "--sort", "tokens"]);
    let mut traced = std::process::Command::new(strace);
    traced
        .args(["-f", "-e", "trace=open,openat,openat2", "-o"])
        .arg(&trace);
    traced.arg(output.get_program()).args(output.get_args());
    for (key, value) in output.get_envs() {
        traced.env(key, value.unwrap_or_default());
    }
    assert!(
        traced
            .current_dir(&w.project)
            .output()
            .unwrap()
            .status
            .success()
    );
    let trace = fs::read_to_string(&trace).unwrap();
    assert!(trace.contains("session-2026-11-14T09-00-5d0f6f1e.jsonl"));
    for name in ["oauth_creds", "google_accounts", "settings.json", "/.env"] {
        assert!(!trace.contains(name), "{name}");
    }
}

#[test]
fn all_sessions_of_the_corpus_are_read() {
    let Some(corpus) = std::env::var_os("RETHREAD_CORPUS").map(PathBuf::from) else {
        eprintln!("skipped: RETHREAD_CORPUS names no folder of real conversations");
        return;
    };
    let mut found = files_below(&corpus.join("gemini"));
    let recorded = fs::read_dir(corpus.join("recorded")).unwrap();
    for folder in recorded.map(|f| f.unwrap().path()) {
        if folder
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("gemini")
        {
            found.extend(sessions_below(&folder));
        }
    }
    assert!(found.len() > 1, "no sessions under {}", corpus.display());
    let w = World::new();
    for path in found {
        let c = assert_lossless(&path);
        assert!(c.notes.is_empty(), "{}: {:?}", path.display(), c.notes);
        assert!(!c.session.entries().is_empty(), "{}", path.display());
        assert_tokens(&path);
        for to in ["text", "markdown", "unified"] {
            let answer = w.run(&["show", path.to_str().unwrap(), "--to", to]);
            assert_ne!(answer.code, 1, "{answer:?}");
        }
    }
    for stranger in [
        "claude-code",
        "codex",
        "copilot",
        "opencode",
        "pi",
        "agentuse",
        "atsf",
    ] {
        let found = sessions_below(&corpus.join(stranger));
        assert!(found.is_empty(), "{found:#?}");
    }
}

/// Starts a session and gives its id and file.
fn started(w: &World, args: &[&str]) -> (String, PathBuf) {
    let mut all = vec!["new", "--format", "gemini", "--json"];
    all.extend(args);
    let made = json(&w.ok(&all));
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("id"), PathBuf::from(text("path")))
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(json).collect()
}

const TALK: &str = r#"{"role":"user","content":[{"type":"text","text":"Which tests fail?"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}
{"uuid":"answer-1","role":"assistant","content":[{"type":"thinking","text":"Run them."},{"type":"text","text":"I will run them."},{"type":"tool_use","tool_id":"t1","tool_name":"Bash","input":{"command":"npm test"}},{"type":"tool_use","tool_id":"t2","tool_name":"Read","input":{"path":"a.js"}}],"metadata":{"model":{"name":"some-model"},"token_usage":{"input_tokens":10,"output_tokens":5,"cache_read_tokens":90}}}
{"role":"user","content":[{"type":"tool_result","tool_id":"t1","output":"1 failing","is_error":true},{"type":"tool_result","tool_id":"t2","output":"a"}]}
{"type":"gemini","content":"One fails.","model":"gemini-2.5-pro","extra":{"kept":1e2}}
"#;

#[test]
fn a_new_session_is_a_log_in_the_folder_of_its_project() {
    let w = World::new();
    let (id, path) = started(&w, &["--title", "Fix it"]);
    let project = w.project.to_str().unwrap();
    let store = w.home.join(".gemini/tmp/shop");
    assert_eq!(
        fs::read_to_string(store.join(".project_root")).unwrap(),
        project
    );
    let name = format!("chats/session-2026-11-15T12-00-{}.jsonl", &id[..8]);
    assert_eq!(path, store.join(name));
    let [header] = lines(&path).try_into().unwrap();
    let now = crate::world::NOW;
    let hash = rethread_formats::gemini::project_hash(project);
    let expected = serde_json::json!({
        "sessionId": id, "projectHash": hash, "startTime": now, "lastUpdated": now,
        "kind": "main", "summary": "Fix it",
    });
    assert_eq!(header, expected);
    // The same folder again, and another name for another project with the same one.
    let (_, second) = started(&w, &[]);
    assert_eq!(second.parent(), path.parent());
    let other = w.root.join("else/shop");
    fs::create_dir_all(&other).unwrap();
    let (_, third) = started(&w, &["--cwd", other.to_str().unwrap()]);
    assert!(
        third.starts_with(w.home.join(".gemini/tmp/shop-1/chats")),
        "{third:?}"
    );
    let again = w.run(&["new", "--format", "gemini", "--id", &id]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("exists already"), "{}", again.err);
    let bad = w.run(&["new", "--format", "gemini", "--id", "../x"]);
    assert!(bad.err.contains("cannot be a session's id"), "{}", bad.err);
    let unknown = w.run(&["new", "--format", "gemini", "--agent-id", "codex"]);
    assert!(unknown.err.contains("have no agent ids"), "{}", unknown.err);
}

#[test]
fn a_new_session_goes_where_the_client_looks() {
    let w = World::new();
    let project = w.project.to_str().unwrap();
    let store = w.home.join(".gemini");
    let hash = rethread_formats::gemini::project_hash(project);
    let in_hash = store.join("tmp").join(&hash);
    fs::create_dir_all(&in_hash).unwrap();
    // The client copies the folder with the hash as long as there is no other.
    assert!(started(&w, &[]).1.starts_with(&in_hash));
    fs::create_dir_all(store.join("tmp/adopted")).unwrap();
    fs::write(
        store.join("tmp/adopted/.project_root"),
        format!("{project}\n"),
    )
    .unwrap();
    assert!(started(&w, &[]).1.starts_with(store.join("tmp/adopted")));
    let registry = serde_json::json!({"projects": {project: "named", "/x": "../../evil"}});
    fs::write(store.join("projects.json"), registry.to_string()).unwrap();
    assert!(started(&w, &[]).1.starts_with(store.join("tmp/named")));
    let root = w.root.join("elsewhere");
    let made = started(&w, &["--output", root.to_str().unwrap()]).1;
    assert!(made.starts_with(root.join("tmp/shop/chats")), "{made:?}");
}

#[test]
fn messages_are_added_as_the_client_writes_them() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    let before = fs::read_to_string(&path).unwrap();
    // Read whole before anything is written: then they are written together.
    let answer = w.pipe(&["append", &id, "--message-json", "-", "--strict"], TALK);
    assert_eq!(answer.code, 0, "{answer:?}");
    let ids: Vec<&str> = answer.out.lines().collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(
        ids[1..3],
        ["answer-1", "answer-1"],
        "results are beside their calls"
    );
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(&before));
    let project = rethread_formats::gemini::project_hash(w.project.to_str().unwrap());
    assert_snapshot!("gemini_written", after.replace(&project, "[HASH]"));
    let shown = w.ok(&["show", &id, "--thinking"]);
    for said in ["Which tests fail?", "npm test", "1 failing", "One fails."] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert_lossless(&path);
    let checked = w.run(&["check", path.to_str().unwrap()]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn a_late_result_is_another_version_of_its_message() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    let mut given = TALK.lines();
    for line in given.by_ref().take(2) {
        assert_eq!(
            w.pipe(&["append", &id, "--message-json", "-"], line).code,
            0
        );
    }
    let before = lines(&path).len();
    let answer = w.pipe(
        &["append", &id, "--message-json", "-"],
        given.next().unwrap(),
    );
    assert_eq!(answer.out.trim(), "answer-1");
    let after = lines(&path);
    assert_eq!(after.len(), before + 2, "one message and the time");
    let calls = &after[before]["toolCalls"];
    assert_eq!(calls[0]["status"], "error");
    assert_eq!(
        calls[1]["result"][0]["functionResponse"]["response"]["output"],
        "a"
    );
    let orphan =
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"nowhere","output":"lost"}]}"#;
    assert_eq!(
        w.pipe(&["append", &id, "--message-json", "-"], orphan).code,
        0
    );
    assert!(w.ok(&["show", &id]).contains("lost"));
}

#[test]
fn what_the_client_cannot_take_is_refused() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    w.ok(&["append", &id, "Hello", "--json"]);
    let first = lines(&path)[1]["id"].as_str().unwrap().to_owned();
    let before = fs::read(&path).unwrap();
    for (message, why) in [
        (
            &*format!("{{\"id\":\"{first}\",\"type\":\"user\",\"content\":\"again\"}}"),
            "exists already",
        ),
        ("{\"type\":\"poll\",\"content\":\"x\"}", "`type` is `poll`"),
        ("{\"type\":\"user\"}", "`content` is missing"),
        (
            "{\"type\":\"user\",\"content\":\"x\",\"timestamp\":\"soon\"}",
            "`timestamp` is `soon`",
        ),
        (
            "{\"role\":\"system\",\"content\":\"x\"}",
            "no messages of the system",
        ),
        ("[]", "not a JSON object"),
        ("{", "not JSON"),
    ] {
        let answer = w.pipe(&["append", &id, "--message-json", "-"], message);
        assert_eq!(answer.code, 1, "{answer:?}");
        assert!(answer.err.contains(why), "{message}: {}", answer.err);
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    let home = lay_out(&w, "0.20/document");
    let checkpoint = home.join("tmp").join(HASH).join("checkpoint-old.json");
    for args in [&["append", "x"][..], &["rename", "x"], &["fork"]] {
        let mut args = args.to_vec();
        args.insert(1, checkpoint.to_str().unwrap());
        let answer = w.run(&args);
        assert!(answer.err.contains("checkpoint"), "{answer:?}");
    }
}

#[test]
fn rename_and_replace_add_records_to_a_log() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    let message = w.ok(&["append", &id, "Helo"]);
    let before = fs::read_to_string(&path).unwrap();
    w.ok(&["rename", &id, "A greeting"]);
    w.ok(&["append", &id, "Hello", "--replace", message.trim()]);
    assert!(fs::read_to_string(&path).unwrap().starts_with(&before));
    let listed = json(&w.ok(&["list", "--json"]));
    assert_eq!(listed["title"], "A greeting");
    assert_eq!(listed["message_count"], 1);
    assert!(w.ok(&["show", &id]).contains("Hello"));
}

#[test]
fn a_document_is_changed_in_place_and_keeps_its_other_bytes() {
    let w = World::new();
    let home = lay_out(&w, "0.20/document");
    let path = home
        .join("tmp")
        .join(HASH)
        .join("chats/session-2025-12-01T08-00-8a8a8a8a.json");
    let before = fs::read_to_string(&path).unwrap();
    w.ok(&["append", "8a8a8a8a", "And now?"]);
    w.ok(&["rename", "8a8a8a8a", "Hello"]);
    let after = fs::read_to_string(&path).unwrap();
    let stamp = "\"lastUpdated\": \"2025-12-01T08:01:00.000Z\"";
    let now = format!("\"lastUpdated\": \"{}\"", crate::world::NOW);
    let (head, _) = before.split_once("\n  ]\n}").unwrap();
    assert!(after.starts_with(&head.replace(stamp, &now)), "{after}");
    let document = json(&after);
    assert_eq!(document["summary"], "Hello");
    assert_eq!(document["messages"][5]["content"][0]["text"], "And now?");
    assert_lossless(&path);
}

#[test]
fn a_fork_copies_the_way_to_an_entry() {
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    let original = home.join("tmp/shop/chats/session-2026-11-14T09-00-5d0f6f1e.jsonl");
    let before = fs::read_to_string(&original).unwrap();
    let at = "a0000000-0000-4000-8000-000000000004";
    let made = json(&w.ok(&["fork", MAIN, "--at", at, "--json"]));
    let path = PathBuf::from(made["path"].as_str().unwrap());
    assert_eq!(path.parent(), original.parent());
    assert_eq!(fs::read_to_string(&original).unwrap(), before);
    let text = fs::read_to_string(&path).unwrap();
    let copied: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(copied.len(), 4);
    for line in &copied[1..] {
        assert!(before.contains(line), "each line keeps its bytes: {line}");
    }
    let c = assert_lossless(&path);
    let [fork, _] = c.session.head.links.as_slice() else {
        panic!("{:?}", c.session.head.links);
    };
    assert_eq!((fork.kind, fork.session.as_str()), (LinkKind::ForkOf, MAIN));
    assert_eq!(fork.entry.as_deref(), Some(at));
    assert!(c.session.entries().iter().all(|e| e.inherited));
    assert_eq!(
        c.session.head.title.as_ref().unwrap().text,
        "Fix the sign-in test"
    );
    // A document becomes a log, here in another project.
    lay_out(&w, "0.20/document");
    let made = json(&w.ok(&["fork", "8a8a8a8a", "--cwd", ".", "--title", "On", "--json"]));
    let path = PathBuf::from(made["path"].as_str().unwrap());
    assert!(path.starts_with(home.join("tmp/shop-1")), "{path:?}");
    assert_eq!(
        active(&assert_lossless(&path)),
        ["m1", "m2", "m3", "m4", "m5"]
    );
}

#[test]
fn check_says_what_the_client_stumbles_over() {
    let w = World::new();
    let home = lay_out(&w, "0.61/everything");
    let chats = home.join("tmp/shop/chats");
    let answer = w.run(&["check", chats.to_str().unwrap()]);
    assert_snapshot!("gemini_check", w.plain(&answer.out));
    let damaged = w.run(&["check", session("0.61/damaged").to_str().unwrap()]);
    assert_eq!(damaged.code, 1, "{damaged:?}");
}

#[test]
fn an_append_behind_a_torn_line_keeps_it_and_is_read() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    let mut torn = fs::read(&path).unwrap();
    torn.extend_from_slice(b"{\"id\":\"half\",\"type\":\"us");
    fs::write(&path, &torn).unwrap();
    w.run(&["append", &id, "Still there"]);
    let after = fs::read(&path).unwrap();
    assert!(after.starts_with(&torn) && after.ends_with(b"\n"));
    let c = assert_lossless(&path);
    assert_eq!(c.session.entries().len(), 1);
    assert_eq!(c.notes.len(), 1, "{:?}", c.notes);
}

#[test]
fn resume_is_the_clients_own_command_and_says_what_it_deletes() {
    let w = World::new();
    let (id, path) = started(&w, &[]);
    w.ok(&["append", &id, "Hello"]);
    let call = format!("cd {} && gemini --resume {id}\n", w.project.display());
    let fresh = w.run(&["resume", &id, "--print"]);
    assert_eq!((fresh.code, fresh.err.as_str()), (0, ""), "{fresh:?}");
    assert_eq!(fresh.out, call);
    let later = |args: &[&str]| {
        let mut command = w.command(args);
        command.env("RETHREAD_NOW", "2026-12-16T12:00:00.000Z");
        crate::world::run_with(command, b"")
    };
    let old = later(&["resume", &id, "--print"]);
    assert_eq!((old.code, old.out.as_str()), (0, call.as_str()), "{old:?}");
    assert_snapshot!(w.plain(&old.err), @"
    note: [ROOT]/home/.gemini/tmp/shop/chats/session-2026-11-15T12-00-5b7cfc0b.jsonl: nothing changed in this session for 30 days: Gemini CLI deletes it the next time it is started for anything else
    hint: go on with it, or `rename` it, which counts as a change
    ");
    // Another one is in danger as soon as the client is started for this one.
    let made = json(&later(&["new", "--format", "gemini", "--json"]).out);
    let new = made["id"].as_str().unwrap();
    assert_eq!(later(&["append", new, "Hello"]).code, 0);
    let other = later(&["resume", new, "--print"]);
    assert_snapshot!(w.plain(&other.err), @"note: [ROOT]/home/.gemini/tmp/shop/chats: 1 other file beside this session did not change for 30 days: Gemini CLI deletes it when it starts, unless `general.sessionRetention` in its settings says otherwise");
    // One that was just renamed is not old, whenever something was last said in it.
    assert_eq!(later(&["rename", &id, "Kept"]).code, 0);
    assert_eq!(later(&["resume", &id, "--print"]).err, "");
    assert!(path.is_file());
    lay_out(&w, "0.20/document");
    let checkpoint = w
        .home
        .join(".gemini/tmp")
        .join(HASH)
        .join("checkpoint-old.json");
    let refused = w.run(&["resume", checkpoint.to_str().unwrap(), "--print"]);
    assert_ne!(refused.code, 0, "{refused:?}");
}

#[test]
fn what_sub_agents_used_counts_once_with_their_parent() {
    let w = World::new();
    lay_out(&w, "0.61/everything");
    assert_counted_once(&w, MAIN, CHILD);
}

/// The turns of a conversation as we read it, in the words of the judge.
fn turns(c: &Conversation) -> Vec<Turn> {
    let mut turns = Vec::new();
    for ix in c.session.active_path() {
        let Body::Message(message) = c.body(ix) else {
            continue;
        };
        if c.session.entry(ix).visibility == Visibility::Injected {
            continue;
        }
        let role = message.role.unified().to_owned();
        // Results of several calls follow all of them.
        let mut results = Vec::new();
        for block in message.blocks {
            match block {
                Block::Text(text) => turns.push(Turn::Text(role.clone(), text.value)),
                Block::ToolCall(call) => {
                    let Some(rethread_model::ToolInput::Json(input)) = call.input else {
                        panic!("{call:?}");
                    };
                    turns.push(Turn::ToolCall(call.id, call.name, json(&input.to_text())));
                }
                Block::ToolResult(result) => results.push(result),
                Block::Image(_) => turns.push(Turn::Image(role.clone())),
                _ => {}
            }
        }
        for result in results {
            let texts = result.blocks.iter().filter_map(|b| match b {
                Block::Text(text) => Some(text.value.as_str()),
                _ => None,
            });
            turns.push(Turn::ToolResult(result.call_id, texts.collect()));
        }
    }
    turns
}

/// Whether two turns say the same. The client wraps results in an object, and puts the tool's name
/// before an id when it writes it down.
fn says(sent: &Turn, read: &Turn) -> bool {
    match (sent, read) {
        (Turn::ToolResult(id, sent), Turn::ToolResult(known, read)) => {
            let quoted = serde_json::to_string(read).unwrap();
            known.ends_with(id) && (sent.contains(read) || sent.contains(&quoted))
        }
        (Turn::ToolCall(id, name, input), Turn::ToolCall(known, called, given)) => {
            known.ends_with(id) && (name, input) == (called, given)
        }
        _ => sent == read,
    }
}

#[track_caller]
fn assert_same(sent: &[Turn], read: &[Turn]) {
    let same = sent.len() == read.len() && sent.iter().zip(read).all(|(s, r)| says(s, r));
    assert!(same, "sent: {sent:#?}\nread: {read:#?}");
}

#[test]
fn the_real_client_lists_and_resumes_what_we_wrote() {
    let w = World::new();
    let Some(desk) = Client::Gemini.at(&w.home, &w.project) else {
        return;
    };
    // The client deletes what is old by its own clock.
    let run = |args: &[&str], input: &str| {
        let mut command = w.command(args);
        command
            .env_remove("RETHREAD_NOW")
            .stdin(std::process::Stdio::piped());
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let made = json(&run(
        &[
            "new",
            "--format",
            "gemini",
            "--title",
            "Which tests",
            "--json",
        ],
        "",
    ));
    let id = made["id"].as_str().unwrap();
    run(&["append", id, "--message-json", "-"], TALK);
    run(&["append", id, "And a third turn?"], "");
    run(
        &[
            "append",
            id,
            "That was it.",
            "--role",
            "agent",
            "--model",
            "gemini-2.5-pro",
        ],
        "",
    );
    let listed = desk.list().unwrap();
    assert!(
        listed.contains("Which tests") && listed.contains(id),
        "{listed}"
    );
    let path = PathBuf::from(made["path"].as_str().unwrap());
    let mut expected = turns(&read(&path));
    assert_eq!(expected.len(), 11, "{expected:#?}");
    assert_same(&expected, &seen(&w, id));
    let sent = desk.resume(id, "NEW-PROMPT");
    expected.push(Turn::Text("user".to_owned(), "NEW-PROMPT".to_owned()));
    assert_same(&sent, &expected);
    // What the client made of it is the same conversation, gone on with.
    let after = turns(&assert_lossless(&path));
    assert_same(&after[..expected.len()], &expected);
    assert!(after.len() > expected.len());
    assert_same(&sent, &seen(&w, path.to_str().unwrap())[..sent.len()]);
}

#[test]
fn what_the_real_client_records_is_read() {
    let w = World::new();
    let Some(desk) = Client::Gemini.at(&w.home, &w.project) else {
        return;
    };
    fs::write(w.project.join("a.txt"), "one apple\n").unwrap();
    let call = r#"[[tool:read_file {"file_path":"a.txt"}]]"#;
    let sent = desk.begin(&format!("count the apples {call} {call}"));
    let listed = w.ok(&["list", "--json", "--agent", "gemini"]);
    let found = json(listed.lines().next().unwrap());
    assert_eq!(found["workspace"], w.project.to_str().unwrap());
    let path = PathBuf::from(found["source"]["path"].as_str().unwrap());
    let before = turns(&assert_lossless(&path));
    let calls = before.iter().filter(|t| matches!(t, Turn::ToolCall(..)));
    assert_eq!(calls.count(), 2, "{before:#?}");
    assert_same(&sent, &before[..sent.len()]);
    // It also stands when the client goes on with it, and writes the list anew.
    let sent = desk.resume(found["id"].as_str().unwrap(), "NEW-PROMPT");
    let after = turns(&assert_lossless(&path));
    assert_same(&after[..before.len()], &before);
    // Of its own sessions it sends results again that stand beside their calls and in a message.
    let mut once: Vec<Turn> = Vec::new();
    for turn in sent {
        if !matches!(turn, Turn::ToolResult(..)) || !once.contains(&turn) {
            once.push(turn);
        }
    }
    assert_same(&once, &seen(&w, path.to_str().unwrap())[..once.len()]);
}

#[test]
fn the_real_client_deletes_what_is_old_but_for_what_it_resumes() {
    let w = World::new();
    let Some(desk) = Client::Gemini.at(&w.home, &w.project) else {
        return;
    };
    let long_ago = |args: &[&str]| {
        let mut command = w.command(args);
        command.env("RETHREAD_NOW", "2024-01-01T12:00:00.000Z");
        crate::world::run_with(command, b"").out
    };
    let [(id, kept), (_, other)] = ["1", "2"].map(|seed| {
        let id = format!("{seed}a6f0c1e-0000-4000-8000-000000000000");
        let made = json(&long_ago(&[
            "new", "--format", "gemini", "--id", &id, "--json",
        ]));
        long_ago(&["append", &id, "Hello"]);
        (id, PathBuf::from(made["path"].as_str().unwrap()))
    });
    let warned = w.run(&["resume", &id, "--print"]).err;
    assert!(warned.contains("1 other file"), "{warned}");
    let sent = desk.resume(&id, "NEW-PROMPT");
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(kept.is_file() && !other.exists());
}
