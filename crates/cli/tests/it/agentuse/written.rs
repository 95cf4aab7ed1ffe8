//! Every type of part and every state of a tool, nested three sub-agents deep, by our own hand.

use std::fs;
use std::path::PathBuf;

use rethread_model::{Bodies, LinkKind};

use super::{assert_lossless, data};
use crate::world::{World, json};

/// One line for each type of part, and each state of a tool; with and without optional fields.
const PARTS: [&str; 27] = [
    r#"{"type":"text","text":"a"}"#,
    r#"{"type":"text","text":"b","synthetic":true,"time":{"start":1763200000001,"end":1763200000002}}"#,
    r#"{"type":"text","text":"c","role":"user","time":{"start":1763200000003}}"#,
    r#"{"type":"reasoning","text":"d","time":{"start":1763200000004}}"#,
    r#"{"type":"reasoning","text":"e","metadata":{"k":1},"time":{"start":1763200000005,"end":1763200000006}}"#,
    r#"{"type":"tool","callID":"p0","tool":"T","state":{"status":"pending"}}"#,
    r#"{"type":"tool","callID":"p1","tool":"T","state":{"status":"pending","input":1,"suspendedAt":1763200000007,"resumePayload":{"kind":"await_human"}}}"#,
    r#"{"type":"tool","callID":"r0","tool":"T","state":{"status":"running","input":null,"time":{"start":1763200000008}}}"#,
    r#"{"type":"tool","callID":"r1","tool":"T","state":{"status":"running","input":{},"title":"t","metadata":{"m":1},"time":{"start":1763200000009}}}"#,
    r#"{"type":"tool","callID":"d0","tool":"T","state":{"status":"completed","input":"i","output":"o","time":{"start":1763200000010,"end":1763200000020}}}"#,
    r#"{"type":"tool","callID":"d1","tool":"T","state":{"status":"completed","input":[],"output":{"x":[1]},"title":"t","metadata":{},"time":{"start":1763200000011,"end":1763200000021}}}"#,
    r#"{"type":"tool","callID":"e0","tool":"T","state":{"status":"error","input":{},"error":"no","time":{"start":1763200000012,"end":1763200000022}}}"#,
    r#"{"type":"tool","callID":"e1","tool":"T","state":{"status":"error","input":{},"error":"no","metadata":{"m":2},"time":{"start":1763200000013,"end":1763200000023}}}"#,
    r#"{"type":"file","mime":"image/png","url":"data:image/png;base64,iVBORw0KGgo="}"#,
    r#"{"type":"file","mime":"text/plain","filename":"f","url":"file:///f","source":{"type":"symbol","path":"/f","text":{"value":"v","start":0,"end":1}}}"#,
    r#"{"type":"agent","name":"n"}"#,
    r#"{"type":"agent","name":"n","source":{"value":"@n","start":0,"end":2}}"#,
    r#"{"type":"step-start"}"#,
    r#"{"type":"step-finish","cost":0.25,"tokens":{"input":4,"output":3,"reasoning":2,"cache":{"read":1,"write":0}}}"#,
    r#"{"type":"snapshot","snapshot":"s"}"#,
    r#"{"type":"patch","hash":"h","files":["/f"]}"#,
    r#"{"type":"compaction","reason":"limit","tokensBefore":9,"tokensAfter":1,"messagesBefore":3,"messagesAfter":1,"time":{"start":1763200000014}}"#,
    r#"{"type":"learning","status":"none","source":"auto","count":0,"time":{"start":1763200000015}}"#,
    r#"{"type":"learning","status":"captured","source":"approval","count":1,"titles":["t"],"detail":"d","time":{"start":1763200000016}}"#,
    r#"{"type":"error","source":"agent","code":"TIMEOUT","message":"late","time":{"start":1763200000017}}"#,
    r#"{"type":"log","level":"debug","message":"m","time":{"start":1763200000018}}"#,
    r#"{"type":"log","level":"info","message":"m","toolId":"d0","time":{"start":1763200000019}}"#,
];

fn new(w: &World, args: &[&str]) -> (String, PathBuf) {
    let mut all = vec!["new", "--format", "agentuse", "--json"];
    all.extend(args);
    let made = json(&w.ok(&all));
    (
        made["id"].as_str().unwrap().to_owned(),
        made["path"].as_str().unwrap().into(),
    )
}

#[test]
fn every_part_and_state_three_sub_agents_deep_passes_the_check_and_reads_back_equal() {
    let w = World::with_git();
    let mut sessions = vec![new(&w, &["--agent-name", "top"])];
    for name in ["one", "two", "three"] {
        let parent = sessions.last().unwrap().0.clone();
        sessions.push(new(&w, &["--agent-name", name, "--parent", &parent]));
    }
    for (id, path) in &sessions {
        let parts = PARTS.join(",");
        let message = format!(
            r#"{{"user":{{"prompt":{{"task":"{id}","user":"u"}}}},"time":{{"created":1763200000000,"completed":1763200001000}},"assistant":{{"system":["s1","s2"],"error":{{"message":"m","type":"t","stack":"s"}}}},"parts":[{parts}]}}"#
        );
        let answer = w.pipe(&["append", id, "--message-json", "-"], &message);
        assert_eq!(answer.code, 0, "{answer:?}");
        let folder = path.join(answer.out.trim()).join("part");
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        files.sort();
        assert_eq!(files.len(), PARTS.len());
        for (file, given) in files.iter().zip(PARTS) {
            let mut written = json(&fs::read_to_string(file).unwrap());
            let object = written.as_object_mut().unwrap();
            for key in ["id", "sessionID", "messageID"] {
                assert!(object.remove(key).is_some_and(|v| v.is_string()));
            }
            assert_eq!(written, json(given), "read back equal");
        }
    }
    let answer = w.run(&["check", data(&w).to_str().unwrap(), "--strict"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let mut before = None;
    for (depth, (id, path)) in sessions.iter().enumerate() {
        let conversation = assert_lossless(path);
        assert_eq!(conversation.notes, []);
        let links: Vec<(LinkKind, String)> = conversation
            .session
            .head
            .links
            .iter()
            .map(|l| (l.kind, l.session.clone()))
            .collect();
        let parent = depth
            .checked_sub(1)
            .map(|i| (LinkKind::Parent, sessions[i].0.clone()));
        let child = sessions
            .get(depth + 1)
            .map(|(id, _)| (LinkKind::SubAgent, id.clone()));
        assert_eq!(
            links,
            parent.into_iter().chain(child).collect::<Vec<_>>(),
            "{id}"
        );
        // All four say the same, but for their own ids.
        let said: Vec<String> = conversation
            .session
            .indexed()
            .map(|(ix, _)| format!("{:?}", conversation.body(ix)).replace(id.as_str(), "ID"))
            .map(|s| strip_ids(&s))
            .collect();
        assert!(said.len() > 10);
        assert_eq!(*before.get_or_insert_with(|| said.clone()), said);
    }
    let hidden = w.ok(&["list", "--tsv"]);
    assert_eq!(hidden.lines().count(), 1);
    assert_eq!(w.ok(&["list", "--tsv", "--subagents"]).lines().count(), 4);
}

/// Text without raw records, whose ids differ from session to session.
fn strip_ids(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("raw: Json(") {
        out.push_str(&rest[..at]);
        let end = rest[at..].find("])").map_or(rest.len(), |e| at + e);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
