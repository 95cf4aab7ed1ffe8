//! What the real program writes, we read, and go on with.

use std::path::PathBuf;

use rethread_formats::Source;
use rethread_formats::pi::{FORMAT, SessionManager};
use rethread_json::{Array, Object, quote};
use rethread_judges::PiVersion;

use super::super::world::user;
use super::{World, agree, ask, read, world};

const ANSWER: &str = r#"{"role":"assistant","content":[{"type":"text","text":"two"}],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":2}"#;

/// Lets the judge make calls, each a JSON array, with the ids `e1`, `e2` and so on. Gives its file.
fn written(pi: PiVersion, w: &World, calls: &[String]) -> Option<PathBuf> {
    let ids: Vec<String> = (1..=calls.len()).map(|n| format!("e{n}")).collect();
    let calls = calls
        .iter()
        .fold(Array::new(), |all, call| all.raw(call.as_bytes()));
    let question = Object::new()
        .str("home", w.path("agent").to_str().unwrap())
        .raw("ids", &super::strings(ids.iter().map(String::as_str)))
        .raw("calls", &calls.finish());
    let answer = ask(pi, question)?;
    let gave = String::from_utf8_lossy(answer.get("gave").raw()).into_owned();
    assert!(!gave.contains("error"), "{gave}");
    answer.text("file").map(PathBuf::from)
}

fn create(w: &World) -> String {
    let folder = quote(w.path("theirs").to_str().unwrap());
    format!(r#"["create","/p",{}]"#, String::from_utf8(folder).unwrap())
}

fn message(json: &str) -> String {
    format!(r#"["appendMessage",{json}]"#)
}

fn say(role: &str, text: &str) -> String {
    message(&format!(
        r#"{{"role":"{role}","content":"{text}","timestamp":1}}"#
    ))
}

/// We read it, go on with it, and they read that.
#[track_caller]
fn read_and_continued(pi: PiVersion, w: &World, path: &std::path::Path) {
    agree(pi, w, path);
    reads_the_same(w, path);
    let before = read(path);
    let mut s = w.open(path);
    let first = s.entries()[0].id().to_owned();
    s.branch(&first).unwrap();
    s.append_compaction("SUM", Some(&first), 7, None, None)
        .unwrap();
    user(&mut s, "and now?");
    assert!(read(path).starts_with(&before), "what was there stays");
    agree(pi, w, path);
    let fork = SessionManager::fork_from(&w.host, path, "/y", Some(&w.path("fork"))).unwrap();
    agree(pi, w, fork.session_file().unwrap());
    let leaf = s.leaf_id().unwrap().to_owned();
    s.create_branched_session(&leaf).unwrap();
    agree(pi, w, s.session_file().unwrap());
}

/// The session that every command shows has the same entries, parents and leaf.
#[track_caller]
fn reads_the_same(w: &World, path: &std::path::Path) {
    let sources: Vec<Source> = FORMAT.store().at_path(path);
    let conversation = FORMAT.reader().read(&sources[0]).unwrap();
    let (session, manager) = (&conversation.session, w.open(path));
    assert!(conversation.notes.is_empty(), "{:?}", conversation.notes);
    let id = |ix| session.id(ix).to_owned();
    let shown: Vec<_> = session
        .indexed()
        .map(|(ix, entry)| (id(ix), entry.parent.map(id)))
        .collect();
    let managed: Vec<_> = manager
        .entries()
        .iter()
        .map(|e| (e.id().to_owned(), e.parent_id().map(str::to_owned)))
        .collect();
    assert_eq!(shown, managed);
    assert_eq!(session.leaf().map(id).as_deref(), manager.leaf_id());
}

#[test]
fn every_method_of_both() {
    for pi in PiVersion::ALL {
        let w = world();
        let calls = [
            create(&w),
            r#"["appendThinkingLevelChange","high"]"#.to_owned(),
            r#"["appendModelChange","p","m"]"#.to_owned(),
            say("user", "one"),
            message(ANSWER),
            message(
                r#"{"role":"toolResult","toolCallId":"c","toolName":"t","content":[],"isError":false,"timestamp":3}"#,
            ),
            message(
                r#"{"role":"bashExecution","command":"ls","output":"","exitCode":0,"cancelled":false,"truncated":false,"timestamp":3}"#,
            ),
            r#"["appendCustomEntry","ext",{"a":1}]"#.to_owned(),
            r#"["appendCustomMessageEntry","ext","c",true]"#.to_owned(),
            r#"["appendLabelChange","e3","mark"]"#.to_owned(),
            r#"["appendSessionInfo"," my name "]"#.to_owned(),
            r#"["appendCompaction","SUM","e3",12,{"readFiles":[]},true]"#.to_owned(),
            r#"["branchWithSummary","e4","left"]"#.to_owned(),
            say("user", "two"),
            r#"["resetLeaf"]"#.to_owned(),
            say("user", "another root"),
            r#"["branch","e3"]"#.to_owned(),
            message(ANSWER),
        ];
        let Some(path) = written(pi, &w, &calls) else {
            return;
        };
        read_and_continued(pi, &w, &path);

        let w = world();
        let mut calls = Vec::from(calls);
        calls[0] = create(&w);
        calls.push(r#"["createBranchedSession","e12"]"#.to_owned());
        calls.push(say("user", "and on"));
        let path = written(pi, &w, &calls).unwrap();
        agree(pi, &w, &path);
        let from = String::from_utf8(quote(path.to_str().unwrap())).unwrap();
        let to = String::from_utf8(quote(w.path("fork").to_str().unwrap())).unwrap();
        let fork = format!(r#"["forkFrom",{from},"/y",{to}]"#);
        let path = written(pi, &w, &[fork, say("user", "elsewhere")]).unwrap();
        read_and_continued(pi, &w, &path);
    }
}

#[test]
fn what_only_the_new_one_writes() {
    let w = world();
    let system = r#"{"role":"system","content":"be brief","sections":{"cwd":"/p","b":"x"},"toolsAdded":[{"name":"t","description":"d","parameters":{}},{"name":"u"}],"timestamp":1}"#;
    let change = r#"{"role":"system","content":[{"type":"text","text":"be"},{"type":"text","text":"nice"}],"sections":{"b":null,"c":"y","cwd":"/q"},"toolsAdded":[{"name":"v"}],"toolsRemoved":[{"name":"t"}],"timestamp":2}"#;
    let calls = [
        create(&w),
        message(system),
        say("user", "one"),
        message(ANSWER),
        message(change),
        r#"["appendUsage","title","p","m",{"input":1},"note"]"#.to_owned(),
        say("user", "two"),
        r#"["appendContextEdit","e2",{"content":"uno"}]"#.to_owned(),
        r#"["appendContextEdit","e3",{"content":"due"}]"#.to_owned(),
        r#"["appendContextEdit","e6",null]"#.to_owned(),
    ];
    let Some(path) = written(PiVersion::V0_87, &w, &calls) else {
        return;
    };
    agree(PiVersion::V0_87, &w, &path);
    reads_the_same(&w, &path);

    // Both compact it, and the instructions stay.
    let mut s = w.open(&path);
    s.append_compaction("SUM", Some("e3"), 9, None, None)
        .unwrap();
    let ours = s.leaf_entry().unwrap().field("systemMessage").unwrap();
    let mut calls = Vec::from(calls);
    calls.push(r#"["appendCompaction","SUM","e3",9]"#.to_owned());
    let theirs = w.open(&written(PiVersion::V0_87, &w, &calls).unwrap());
    let theirs = theirs.leaf_entry().unwrap().field("systemMessage").unwrap();
    assert_eq!(
        String::from_utf8(ours).unwrap(),
        String::from_utf8(theirs).unwrap()
    );
    agree(PiVersion::V0_87, &w, &path);

    read_and_continued(PiVersion::V0_87, &w, &path);
}
