//! Sessions of Claude Code: found, listed, read and shown.

mod damage;
mod family;
mod judged;
mod usage;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use rethread_formats::{Conversation, Source, Want, claude_code::FORMAT};
use rethread_model::{
    Blob, Block, Bodies, Body, EntryIx, Kept, Kind, LinkKind, Message, Role, TitleSource,
    Visibility,
};

use crate::world::{World, copy, json, tree};

const EVERYTHING: &str = "a1b2c3d4-0000-4000-8000-00000000aaaa";
const PROJECT: &str = ".claude/projects/-home-me-shop";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code")
}

/// The transcripts below a case.
fn transcripts(case: &str) -> Vec<PathBuf> {
    let files = tree(&fixtures().join(case)).into_iter();
    let paths = files.map(|(path, _)| path);
    paths
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .collect()
}

fn read_file(path: &Path) -> Conversation {
    let source = Source::new(
        rethread_formats::claude_code::FORMAT,
        String::new(),
        path.to_owned(),
    );
    FORMAT.reader().read(&source).unwrap()
}

/// The one session of a case, or the one whose path ends so.
fn read(case: &str, ends: &str) -> Conversation {
    let found = transcripts(case);
    let path = found.iter().find(|p| p.to_str().unwrap().ends_with(ends));
    read_file(path.unwrap())
}

fn lay_out(w: &World, cases: &[&str]) {
    for case in cases {
        copy(&fixtures().join(case), &w.home.join(PROJECT));
    }
}

/// What stands on the active path, in short: `user: Fix it`.
fn thread(conversation: &Conversation) -> Vec<String> {
    let path = conversation.session.active_path();
    path.iter().map(|ix| line(conversation, *ix)).collect()
}

fn line(conversation: &Conversation, ix: EntryIx) -> String {
    match conversation.body(ix) {
        Body::Message(message) => format!("{:?}: {}", message.role, words(&message)),
        Body::Compaction(_) => "compaction".to_owned(),
        Body::Event(event) => format!("event {}", event.name),
        other => format!("{other:?}"),
    }
}

fn words(message: &Message) -> String {
    let word = |block: &Block| match block {
        Block::Text(text) => text.value.clone(),
        Block::Aside { .. } => "(aside)".to_owned(),
        Block::Thinking(_) => "(thinking)".to_owned(),
        Block::ToolCall(call) => format!("▸{}", call.id),
        Block::ToolResult(result) => format!("◂{}", result.call_id),
        Block::Image(_) => "(image)".to_owned(),
        Block::File(_) => "(file)".to_owned(),
        Block::Unknown { type_name, .. } => format!("?{type_name}"),
    };
    let words: Vec<String> = message.blocks.iter().map(word).collect();
    words.join(" ")
}

fn message(conversation: &Conversation, id: &str) -> Message {
    let ix = conversation.session.find(id).unwrap();
    match conversation.body(ix) {
        Body::Message(message) => message,
        other => panic!("{other:?}"),
    }
}

/// The id of the n-th record that a fixture's session wrote.
fn id(session: &str, number: u32) -> String {
    format!("{}-0000-4000-8000-{number:012}", &session[..8])
}

#[test]
fn fixtures_are_read_and_saved_byte_for_byte() {
    let mut read = 0;
    for path in transcripts("") {
        if path.components().any(|c| c.as_os_str() == "no-session") {
            continue;
        }
        let conversation = read_file(&path);
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
        read += 1;
    }
    assert!(read >= 15, "{read}");
}

#[test]
fn a_home_is_listed() {
    let w = World::new();
    lay_out(
        &w,
        &[
            "1.0/sidechain",
            "2.0/agents",
            "2.1/everything",
            "2.1/compaction",
        ],
    );
    assert_snapshot!("claude_list", w.plain(&w.ok(&["list"])));
    let home = w.home.to_str().unwrap();
    let listed = w.ok(&["list", "--home", home, "--agent", "claude", "--json"]);
    assert_snapshot!("claude_list_json", w.plain(&listed));
    let elsewhere = w.root.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let answer = w
        .command(&["list", "--tsv"])
        .env("CLAUDE_CONFIG_DIR", &elsewhere)
        .output()
        .unwrap();
    assert!(answer.stdout.is_empty(), "the variable replaces the home");
    copy(
        &fixtures().join("2.1/rewind"),
        &elsewhere.join("projects/-x"),
    );
    let answer = w
        .command(&["list", "--tsv"])
        .env("CLAUDE_CONFIG_DIR", &elsewhere)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(answer.stdout).unwrap().lines().count(), 1);
}

#[test]
fn show_and_tree() {
    let w = World::new();
    lay_out(&w, &["2.1/everything", "2.1/two-branches"]);
    assert_snapshot!(
        "claude_show",
        w.plain(&w.ok(&["show", EVERYTHING, "--thinking"]))
    );
    assert_snapshot!(
        "claude_json",
        w.plain(&w.ok(&["show", EVERYTHING, "--json"]))
    );
    assert_snapshot!("claude_tree", w.plain(&w.ok(&["tree", EVERYTHING])));
    assert_snapshot!(
        "claude_tree_branches",
        w.plain(&w.ok(&["tree", "c1b2c3d4-0000-4000-8000-00000000dddd"]))
    );
    let agent = format!("{PROJECT}/{EVERYTHING}/subagents/agent-a7.jsonl");
    let agent = w.home.join(agent);
    let shown = w.ok(&["show", agent.to_str().unwrap()]);
    assert_snapshot!("claude_show_agent", w.plain(&shown));
    let raw = w
        .command(&["show", EVERYTHING, "--to", "raw"])
        .output()
        .unwrap();
    let file = w.home.join(PROJECT).join(format!("{EVERYTHING}.jsonl"));
    assert!(raw.stdout.starts_with(&fs::read(file).unwrap()));
}

/// Results of parallel calls come in the order of time, and make no fork; nor does progress.
#[test]
fn parallel_calls_are_one_thread() {
    let conversation = read("2.1/everything", "aaaa.jsonl");
    assert_snapshot!(thread(&conversation).join("\n"));
    let session = &conversation.session;
    let children = session.children();
    assert!(session.indexed().all(|(ix, _)| children.of(ix).len() <= 1));
    assert_eq!(session.roots().count(), 1);
    // All records of a response find it.
    let response = session.find(&id(EVERYTHING, 4)).unwrap();
    for number in 5..=8 {
        assert_eq!(session.find(&id(EVERYTHING, number)), Some(response));
    }
    assert_eq!(session.origin(response).len(), 5);
}

/// Clients of 2025 write turns anew when they resume, with other ids: a copy, not more of the same.
#[test]
fn turns_that_were_written_anew_are_there_once() {
    let conversation = read("2.0/written-anew", ".jsonl");
    assert_eq!(
        thread(&conversation),
        [
            "User: Run both.",
            "Assistant: I run them. ▸toolu_81 ▸toolu_82",
            "Tool: ◂toolu_81",
            "Tool: ◂toolu_82",
            "Assistant: Both ran.",
            "User: And now?",
            "Assistant: Nothing more."
        ]
    );
    assert!(conversation.notes.is_empty(), "{:?}", conversation.notes);
    let session = &conversation.session;
    let old = session.find(&id("d2b2c3d4", 4)).unwrap();
    assert_eq!(session.path(old).len(), 4, "the old ones are a branch");
    let source = conversation.source.clone();
    let want = Want {
        usage: true,
        ..Want::default()
    };
    let used = FORMAT.reader().summarize(&source, want).counts.usage;
    assert_eq!(used.unwrap().output, 60, "three responses");
}

#[test]
fn sub_agents_know_the_call_that_started_them() {
    let parent = read("2.1/everything", "aaaa.jsonl");
    let call = message(&parent, &id(EVERYTHING, 4));
    let child = call.blocks.iter().find_map(|b| match b {
        Block::ToolCall(call) if call.id == "toolu_03" => call.child_session.clone(),
        _ => None,
    });
    assert_eq!(child.as_deref(), Some("a7"));
    let started: Vec<(&str, Option<&str>)> = parent
        .session
        .head
        .links
        .iter()
        .filter(|l| l.kind == LinkKind::SubAgent)
        .map(|l| (l.session.as_str(), l.tool_call.as_deref()))
        .collect();
    assert_eq!(started, [("a7", Some("toolu_03")), ("b3", None)]);
    let agent = read("2.1/everything", "agent-a7.jsonl");
    let head = &agent.session.head;
    assert_eq!(head.id, "a7");
    assert_eq!(head.agent.role.as_deref(), Some("Explore"));
    assert_eq!(head.title.as_ref().unwrap().text, "Find the tests");
    assert_eq!(head.links[0].kind, LinkKind::Parent);
    assert_eq!(head.links[0].session, EVERYTHING);
    assert_eq!(head.links[0].tool_call.as_deref(), Some("toolu_03"));
    assert!(head.hidden);
    assert!(agent.session.entries().iter().all(|e| !e.side));
    let old = read("2.0/agents", "agent-c9.jsonl");
    assert_eq!(
        old.session.head.links[0].session,
        "e1b2c3d4-0000-4000-8000-000000000001"
    );
    let starter = read("2.0/agents", "0001.jsonl");
    let link = &starter.session.head.links[0];
    assert_eq!(
        (link.session.as_str(), link.kind),
        ("c9", LinkKind::SubAgent)
    );
    assert_eq!(link.tool_call.as_deref(), Some("toolu_51"));
}

#[test]
fn sub_agents_in_the_same_file_stand_aside() {
    let conversation = read("1.0/sidechain", ".jsonl");
    assert_eq!(
        thread(&conversation),
        [
            "User: Review the change.",
            "Assistant: ▸toolu_61",
            "Tool: ◂toolu_61",
            "Assistant: It is fine."
        ]
    );
    let side = conversation.session.entries().iter().filter(|e| e.side);
    assert_eq!(side.count(), 3);
}

#[test]
fn the_leaf_is_where_the_client_goes_on() {
    let last = |case: &str| thread(&read(case, ".jsonl")).pop().unwrap();
    assert_eq!(last("2.1/two-branches"), "Assistant: Cat, dog, owl.");
    assert_eq!(last("2.1/two-branches-old"), "Assistant: Fern, oak, rose.");
    assert_eq!(last("2.1/rewind"), "Assistant: Red, green, blue.");
}

#[test]
fn a_compaction_is_one_entry_in_the_thread() {
    let conversation = read("2.1/compaction", ".jsonl");
    assert_eq!(
        thread(&conversation),
        [
            "User: Start the shop.",
            "Assistant: Started.",
            "User: Add a cart.",
            "Assistant: Added.",
            "compaction",
            "User: Now the checkout.",
            "Assistant: The checkout is there."
        ]
    );
    let session = &conversation.session;
    let (ix, entry) = session
        .indexed()
        .find(|(_, e)| e.kind == Kind::Compaction)
        .unwrap();
    assert_eq!(entry.logical_parent, entry.parent);
    let Body::Compaction(compaction) = conversation.body(ix) else {
        panic!()
    };
    assert!(compaction.summary.unwrap().value.contains("was started"));
    assert_eq!(compaction.trigger.as_deref(), Some("manual"));
    assert_eq!(compaction.tokens_before, Some(5000));
    let kept = vec![id("b1b2c3d4", 3), id("b1b2c3d4", 4)];
    assert_eq!(compaction.kept, Kept::Entries(kept));
}

#[test]
fn what_the_client_put_there_is_not_what_the_person_said() {
    let conversation = read("2.1/everything", "aaaa.jsonl");
    let session = &conversation.session;
    let said: Vec<String> = session
        .indexed()
        .filter(|(_, e)| e.kind == Kind::Message(Role::User) && e.visibility == Visibility::Visible)
        .map(|(ix, _)| line(&conversation, ix))
        .collect();
    assert_eq!(
        said,
        [
            "User: (aside) Look at the sign-in page and the picture. (image) (file)",
            "User: And keep the old tests.",
            "User: Thanks. What about the cookie?"
        ]
    );
    let count = |v: Visibility| {
        let seen = session.entries().iter().filter(|e| e.visibility == v);
        seen.filter(|e| e.kind.is_message()).count()
    };
    assert_eq!(
        count(Visibility::Injected),
        4,
        "a date, a reminder, two echoes"
    );
    assert_eq!(count(Visibility::UiOnly), 1, "an error");
}

#[test]
fn a_long_output_is_in_a_file_of_the_session() {
    let conversation = read("2.1/everything", "aaaa.jsonl");
    let result = message(&conversation, &id(EVERYTHING, 13));
    let Block::ToolResult(result) = &result.blocks[0] else {
        panic!("{result:?}")
    };
    let Some(Blob::File(path)) = &result.full_output else {
        panic!("{result:?}")
    };
    assert!(path.ends_with(format!("{EVERYTHING}/tool-results/b3.txt")));
    let source = &conversation.source;
    let files = FORMAT.store().files(source).unwrap();
    assert_eq!(files, [source.path.clone(), path.clone()]);
}

#[test]
fn titles_say_where_they_came_from() {
    let title = |case: &str, ends: &str| {
        let title = read(case, ends).session.head.title.unwrap();
        (title.text, title.source)
    };
    let is = |text: &str, source| (text.to_owned(), source);
    assert_eq!(
        title("2.1/everything", "aaaa.jsonl"),
        is("The sign-in page", TitleSource::User)
    );
    assert_eq!(
        title("2.0/agents", "0001.jsonl"),
        is("Counting files", TitleSource::Summary)
    );
    assert_eq!(
        title("2.1/compaction", ".jsonl"),
        is("Start the shop.", TitleSource::FirstPrompt)
    );
    assert_eq!(
        title("2.1/links", ".jsonl"),
        is("One.", TitleSource::FirstPrompt)
    );
}

/// What is said behind a compaction hangs from what it kept, in records of some versions.
#[test]
fn what_follows_a_compaction_comes_behind_its_summary() {
    let w = World::new();
    lay_out(&w, &["2.1/kept"]);
    let id = "b2b2c3d4-0000-4000-8000-00000000cc01";
    let context = json(&w.ok(&["context", id, "--json"]));
    let messages = context["messages"].as_array().unwrap();
    let texts: Vec<&str> = messages
        .iter()
        .map(|m| m["content"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "This session is being continued from a previous conversation. We sell beans and peas.",
            "How many of each?",
            "Forty beans, twelve peas.",
            "Order more peas.",
            "Ordered: fifty peas.",
        ]
    );
    let tree = w.ok(&["tree", id]);
    let found =
        ["twelve peas", "compacted (manual", "You  Order more peas"].map(|text| tree.find(text));
    assert!(
        found.is_sorted() && found.iter().all(Option::is_some),
        "{tree}"
    );
    let session = read("2.1/kept", ".jsonl").session;
    assert_eq!(session.active_path().len(), session.entries().len());
}

/// The text of a skill between two calls of one response, and commands that ran locally.
#[test]
fn what_the_client_told_the_model_is_in_the_thread() {
    let conversation = read("2.1/told", ".jsonl");
    let thread = thread(&conversation);
    let at = |text: &str| thread.iter().position(|line| line.contains(text));
    let order = [
        at("◂toolu_t1"),
        at("◂toolu_t2"),
        at("Run the linter over each file"),
        at("Two warnings in the cart"),
        at("/status"),
        at("All is well"),
    ];
    assert!(
        order.is_sorted() && order.iter().all(Option::is_some),
        "{thread:#?}"
    );
}
