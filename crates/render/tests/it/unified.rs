use insta::assert_snapshot;
use rethread_model::{
    Blob, Block, Body, Counts, Head, Json, Link, LinkKind, Message, Place, Provenance, Role, State,
    Status, Summary, Thinking, ToolCall, Visibility, Workspace,
};
use rethread_render::{Envelope, message_object, session_object};
use serde_json::Value;

use crate::sample::{
    ALL, Sample, aside, call, change, detailed, files, head, result, rich, source, title,
};

fn parsed(record: &str) -> Value {
    assert!(record.ends_with('\n'));
    assert_eq!(record.matches('\n').count(), 1);
    serde_json::from_str(record).unwrap()
}

#[test]
fn everything() {
    let record = parsed(&rich().record());
    let shown = serde_json::to_string_pretty(&record).unwrap();
    // The snapshot is a file that people read.
    assert_snapshot!(shown.replace('\u{202e}', "\\u202e"));
}

#[test]
fn a_message_in_the_document_s_own_words() {
    let mut out = Vec::new();
    let head = Head::default();
    let message = Message::new(
        Role::Assistant,
        vec![
            Block::text("I'll list the files."),
            Block::ToolCall(call("tool_001", "Bash", r#"{"command":"ls -la"}"#)),
        ],
    );
    let envelope = Envelope {
        parent_uuid: Some("msg-001"),
        time: "2025-12-27T09:00:05Z".parse().ok(),
        ..Envelope::new(2, "msg-002", &head)
    };
    let written = message_object(&mut out, &envelope, &message).unwrap();
    assert_eq!((written.count, written.last_uuid.as_str()), (1, "msg-002"));
    assert_eq!(
        String::from_utf8(out).unwrap(),
        r#"{"index":2,"uuid":"msg-002","parent_uuid":"msg-001","id":"msg-002","parent_id":"msg-001","role":"assistant","timestamp":"2025-12-27T09:00:05.000Z","content":[{"type":"text","text":"I'll list the files."},{"type":"tool_use","tool_id":"tool_001","tool_name":"Bash","input":{"command":"ls -la"}}]}"#
    );
}

#[test]
fn calls_with_results_become_two_messages() {
    let mut s = Sample::new(Head::default());
    s.say("a", Role::User, vec![Block::text("go")]);
    s.say(
        "b",
        Role::Assistant,
        vec![
            Block::ToolCall(call("c", "ls", "{}")),
            Block::ToolResult(result("c", vec![Block::text("x"), Block::text("y")])),
            Block::text("fine"),
        ],
    );
    s.add("hook", Body::Unknown(None));
    s.say("d", Role::User, vec![Block::text("thanks")]);
    let record = parsed(&s.record());
    let links: Vec<String> = record["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| {
            format!(
                "{} {} {} {}",
                m["index"], m["uuid"], m["parent_uuid"], m["role"]
            )
        })
        .collect();
    assert_eq!(
        links,
        [
            r#"1 "a" null "user""#,
            r#"2 "b" "a" "assistant""#,
            r#"3 "b-results" "b" "user""#,
            r#"4 "d" "b-results" "user""#,
        ]
    );
    let answer = &record["messages"][2];
    assert_eq!(
        answer["content"].to_string(),
        r#"[{"type":"tool_result","tool_id":"c","tool_name":"ls","output":"x\ny","is_error":false}]"#
    );
    assert_eq!(
        answer["metadata"]["extensions"]["followed_by"][0]["uuid"],
        "hook"
    );
}

#[test]
fn raw_values_keep_their_spelling() {
    let mut s = Sample::new(Head::default());
    let deep = "[".repeat(200) + &"]".repeat(200);
    let blocks = [
        r#"{"a":1e5, "a":-0,"b":"\u00e9\ud800"}"#.to_owned(),
        "{\n  \"k\": \"a  \\\" b\"\n}".to_owned(),
        "{\"torn\":".to_owned(),
        String::new(),
        deep.clone(),
    ];
    let calls = blocks
        .iter()
        .map(|input| Block::ToolCall(call("c", "t", input)));
    s.say("a", Role::Assistant, calls.collect());
    let record = s.record();
    for kept in [
        r#""input":{"a":1e5, "a":-0,"b":"\u00e9\ud800"}}"#.to_owned(),
        r#""input":{"k":"a  \" b"}}"#.to_owned(),
        r#""input":"{\"torn\":"}"#.to_owned(),
        r#""input":""}"#.to_owned(),
        format!(r#""input":"{deep}"}}"#),
    ] {
        assert!(record.contains(&kept), "{kept} in {record}");
    }
    assert_eq!(record.matches('\n').count(), 1);
}

#[test]
fn bytes_that_are_no_text_are_replaced_inside_of_a_value() {
    let mut s = Sample::new(Head::default());
    let raw = Json::new(b"{\"a\":\"\xff\"}");
    s.say(
        "a",
        Role::User,
        vec![Block::Unknown {
            type_name: "x".to_owned(),
            raw,
        }],
    );
    let record = parsed(&s.record());
    let block = &record["messages"][0]["metadata"]["extensions"]["blocks"][0];
    assert_eq!(block["raw"]["a"], "\u{fffd}");
}

#[test]
fn parents_are_the_nearest_that_are_shown() {
    let mut s = Sample::new(Head::default());
    let said = |text: &str| vec![Block::text(text)];
    let first = s.say("a", Role::User, said("1"));
    s.say("b", Role::Assistant, said("2"));
    s.add("m", Body::ThinkingChange("low".to_owned()));
    let mut shown = vec![first];
    shown.push(s.say("c", Role::User, said("3")));
    shown.push(s.say("", Role::Assistant, said("4")));
    shown.push(s.say("e", Role::User, said("5")));
    let record = parsed(&s.record_of(shown));
    let messages = record["messages"].as_array().unwrap();
    assert_eq!(messages[1]["parent_uuid"], "a");
    assert_eq!(messages[2].get("uuid"), None);
    assert_eq!(messages[2]["parent_uuid"], "c");
    assert_eq!(messages[3].get("parent_uuid"), None);
    assert_eq!(messages[3]["index"], 4);
    assert_eq!(record.get("graph"), None);
}

#[test]
fn circles_of_parents_end() {
    let mut s = Sample::new(Head::default());
    let a = s.say("a", Role::User, vec![]);
    let m = s.add("m", Body::Title(title(None)));
    let b = s.say("b", Role::User, vec![]);
    s.builder().entry(a).parent = Some(b);
    s.builder().entry(m).parent = Some(m);
    s.builder().entry(b).parent = Some(m);
    let record = parsed(&s.record());
    assert_eq!(record["messages"][0]["parent_uuid"], "b");
    assert_eq!(record["messages"][1]["parent_uuid"], Value::Null);
}

#[test]
fn forks_have_a_graph_and_parallel_results_are_none() {
    let said = |role, text: &str| Body::Message(Message::new(role, vec![Block::text(text)]));
    let mut s = Sample::new(Head::default());
    let a = s.add("a", said(Role::User, "1"));
    let b = s.add("b", said(Role::Assistant, "2"));
    for id in ["r1", "r2"] {
        let answer = Block::ToolResult(result(id, vec![]));
        s.add_below(
            Some(b),
            id,
            Body::Message(Message::new(Role::User, vec![answer])),
        );
    }
    s.add_below(Some(b), "c", said(Role::User, "3"));
    s.add_below(Some(a), "b2", said(Role::Assistant, "2, again"));
    let record = parsed(&s.record());
    assert_eq!(
        record["graph"].to_string(),
        r#"{"is_linear":false,"fork_points":[{"uuid":"a","index":1,"branches":[{"uuid":"b","index":2},{"uuid":"b2","index":6}]}],"active_path":["a","b2"]}"#
    );
}

#[test]
fn a_session_object_in_the_document_s_own_words() {
    let summary = Summary {
        head: Head {
            links: vec![Link {
                kind: LinkKind::Parent,
                session: "s0".to_owned(),
                entry: None,
                tool_call: Some("t9".to_owned()),
            }],
            ..head()
        },
        counts: Counts {
            messages: 4,
            tool_calls: 2,
            ..Counts::default()
        },
        size: 1234,
        state: State::Damaged,
        ..Summary::default()
    };
    assert_snapshot!(serde_json::to_string_pretty(&session_object(&summary, &source())).unwrap());
}

#[test]
fn a_session_that_nothing_is_known_about() {
    let object = session_object(&Summary::default(), &source());
    assert_eq!(
        Value::Object(object).to_string(),
        r#"{"id":"","agent":"","workspace":"","workspace_encoded":"","started_at":null,"ended_at":null,"source":{"type":"local","host":null,"path":"/store/s1.jsonl"},"is_agent_session":false,"parent_session_id":null,"agent_id":null,"title":null,"message_count":0,"updated_at":null,"size":0,"tool_call_count":0,"token_usage":null,"cost_usd":null,"title_source":null,"subagents":null,"home":"local","agent_name":null,"agent_version":null,"agent_role":null,"model":null,"git_branch":null,"format_version":null,"status":null,"status_error":null,"duration_ms":null,"archived":false,"hidden":false,"links":[],"converted_from":null,"state":null,"unsupported_version":null}"#
    );
}

#[test]
fn the_source_s_name_for_a_workspace_comes_first() {
    let mut summary = Summary::default();
    summary.head.workspace = Workspace {
        path: Some("/a/b".to_owned()),
        encoded: Some("0123abcd".to_owned()),
        ..Workspace::default()
    };
    let object = session_object(&summary, &source());
    assert_eq!(object["workspace"], "/a/b");
    assert_eq!(object["workspace_encoded"], "0123abcd");
}

#[test]
fn results_inside_results_are_opened_without_recursion() {
    let mut inner = vec![Block::text("deep")];
    for _ in 0..100 {
        inner = vec![Block::ToolResult(result("c", inner))];
    }
    let build = |blocks: Vec<Block>| {
        let mut s = Sample::new(Head::default());
        s.say("a", Role::Tool, blocks);
        s
    };
    let record = parsed(&build(inner.clone()).record());
    assert_eq!(record["messages"][0]["content"][0]["output"], "deep");
    assert!(build(inner.clone()).text(ALL, false).contains("│ deep"));
    assert!(build(inner).markdown(ALL).contains("```text\ndeep\n"));
}

/// The only message of a session.
fn only(message: Message) -> Value {
    let mut s = Sample::new(head());
    s.add("a", Body::Message(message));
    parsed(&s.record())["messages"][0].clone()
}

#[test]
fn asides_are_no_content() {
    let message = only(Message::new(
        Role::User,
        vec![
            Block::text("go"),
            aside("Monday", Visibility::Injected),
            aside("shown", Visibility::UiOnly),
            aside("secret", Visibility::Hidden),
            Block::text("on"),
            aside("plain", Visibility::Visible),
        ],
    ));
    assert_eq!(
        message["content"].to_string(),
        r#"[{"type":"text","text":"go"},{"type":"text","text":"on"}]"#
    );
    assert_eq!(
        message["metadata"]["extensions"]["blocks"].to_string(),
        [
            r#"[{"at":1,"type":"aside","text":"Monday","visibility":"injected"}"#,
            r#"{"at":1,"type":"aside","text":"shown","visibility":"ui_only"}"#,
            r#"{"at":1,"type":"aside","text":"secret","visibility":"hidden"}"#,
            r#"{"at":2,"type":"aside","text":"plain"}]"#,
        ]
        .join(",")
    );
}

#[test]
fn results_with_a_reminder_are_no_fork() {
    let mut s = Sample::new(Head::default());
    let a = s.say("a", Role::Assistant, vec![Block::text("go")]);
    for id in ["r1", "r2"] {
        let blocks = vec![
            Block::ToolResult(result(id, vec![])),
            aside("hm", Visibility::Injected),
        ];
        s.add_below(Some(a), id, Body::Message(Message::new(Role::Tool, blocks)));
    }
    assert_eq!(parsed(&s.record()).get("graph"), None);
}

#[test]
fn thoughts_and_files_say_all_they_know() {
    let thought = Thinking {
        text: "Hm.".into(),
        summary: true,
        ..Thinking::default()
    };
    let mut blocks = vec![Block::Thinking(thought)];
    blocks.extend(files());
    let mut answer = result("c", vec![aside("cut", Visibility::Injected)]);
    answer.full_output = Some(Blob::Text("all".into()));
    blocks.push(Block::ToolResult(answer));
    let message = only(Message::new(Role::Assistant, blocks));
    let extensions = &message["metadata"]["extensions"];
    assert_eq!(
        extensions["blocks"].to_string(),
        [
            r#"[{"at":0,"type":"thinking","text":"Hm.","summary":true}"#,
            r##"{"at":0,"type":"file","mime":"text/markdown","name":"notes.md","text":"# Notes\n```\n\u001b[1m\n"}"##,
            r#"{"at":0,"type":"file","uri":"file:///a.txt","text":"hi"}"#,
            r#"{"at":0,"type":"file","mime":"text/csv","outside_path":"/tmp/a.csv"}"#,
            r#"{"at":0,"type":"file","name":"a.csv","outside_path":"/tmp/a.csv"}]"#,
        ]
        .join(",")
    );
    assert_eq!(
        extensions["results"].to_string(),
        r#"[{"tool_id":"c","blocks":[{"type":"aside","text":"cut","visibility":"injected"}],"full_output":{"text":"all"}}]"#
    );
}

#[test]
fn calls_say_all_they_know() {
    let mut signed = call("c1", "edit", "{}");
    signed.signature = Some("sig".to_owned());
    signed.diffs = vec![change("a", "1", "2"), change("b", "3", "4")];
    let mut typed = call("c2", "bash", "{}");
    typed.by_user = true;
    let calls = [
        signed,
        typed,
        call("c3", "ls", "{}"),
        ToolCall::new("c4", "ls"),
    ];
    let calls = calls.map(Block::ToolCall).to_vec();
    let message = only(Message::new(Role::Assistant, calls));
    assert_eq!(
        message["metadata"]["extensions"]["tools"].to_string(),
        [
            r#"[{"tool_id":"c1","status":"completed","diffs":[{"path":"a","old":"1","new":"2"},{"path":"b","old":"3","new":"4"}],"signature":"sig"}"#,
            r#"{"tool_id":"c2","status":"completed","by_user":true}"#,
            r#"{"tool_id":"c4","status":"pending"}]"#,
        ]
        .join(",")
    );
}

#[test]
fn entries_say_all_they_know() {
    let mut s = Sample::new(Head::default());
    s.say("a", Role::User, vec![]);
    detailed(&mut s);
    let record = parsed(&s.record());
    let entries = record["messages"][0]["metadata"]["extensions"]["followed_by"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| {
            let mut e = e.clone();
            e.as_object_mut().unwrap().shift_remove("timestamp");
            e.to_string()
        });
    assert_eq!(
        entries.collect::<Vec<_>>(),
        [
            r#"{"type":"title","uuid":"t","title":"Login","source":"model"}"#,
            r#"{"type":"usage","uuid":"u","provider":"anthropic","model":"haiku","purpose":"title","token_usage":{"input_tokens":7,"output_tokens":3,"cache_creation_tokens":0,"cache_read_tokens":0}}"#,
            r#"{"type":"event","uuid":"v","name":"hook","level":"info","details":{"exit":1.0}}"#,
            r#"{"type":"context_edit","uuid":"c","target":"a","tool_id":"call_1","replacement":"(cleared)"}"#,
            r#"{"type":"compaction","uuid":"k1","kept_from":"a","kept_to":"b","system":"Be brief.","duration_ms":1500}"#,
            r#"{"type":"compaction","uuid":"k2","kept_user_messages":true,"system":"Be brief.","duration_ms":1500}"#,
        ]
    );
}

#[test]
fn where_it_was_said_comes_from_the_message_then_from_the_session() {
    let mut message = Message::new(Role::User, vec![]);
    message.details = Some(Json::new(
        br#"{"cwd":"/no","gitBranch":"no","version":"no","userType":"no","isMeta":true,"stop_sequence":"no"}"#,
    ));
    let facts = |message: &Message| {
        let mut shown = only(message.clone())["metadata"].take();
        shown.as_object_mut().unwrap().shift_remove("extensions");
        shown.to_string()
    };
    assert_eq!(
        facts(&message),
        r#"{"cwd":"/home/user/my.project","git_branch":"main","agent_version":"1.0.29"}"#
    );
    message.place = Some(Box::new(Place {
        cwd: Some("/web".to_owned()),
        agent_version: Some("2".to_owned()),
        user_type: Some("external".to_owned()),
        branch: None,
    }));
    assert_eq!(
        facts(&message),
        r#"{"cwd":"/web","git_branch":"main","agent_version":"2","user_type":"external"}"#
    );
}

#[test]
fn what_stopped_the_model_is_with_the_model() {
    let mut message = Message::new(Role::Assistant, vec![]);
    message.stop_sequence = Some("END".to_owned());
    assert_eq!(
        only(message)["metadata"]["model"].to_string(),
        r#"{"name":null,"stop_reason":null,"stop_sequence":"END"}"#
    );
}

#[test]
fn what_sub_agents_say_is_marked() {
    let mut s = Sample::new(Head::default());
    let a = s.say("a", Role::Assistant, vec![]);
    let b = s.add("b", Body::Unknown(None));
    let c = s.say("c", Role::User, vec![]);
    for ix in [a, b] {
        s.builder().entry(ix).side = true;
    }
    for ix in [a, c] {
        s.builder().set_usage_key(ix, "msg_1");
    }
    let record = parsed(&s.record());
    let extensions = |at: usize| &record["messages"][at]["metadata"]["extensions"];
    assert_eq!(extensions(0)["side"], true);
    assert_eq!(extensions(0)["followed_by"][0]["side"], true);
    assert_eq!(extensions(1).to_string(), r#"{"usage_key":"msg_1"}"#);
}

#[test]
fn what_stands_beside_the_tree_is_nobody_s_parent() {
    let mut s = Sample::new(Head::default());
    let a = s.say("a", Role::User, vec![]);
    let t = s.add("t", Body::Title(title(None)));
    let entry = s.builder().entry(t);
    entry.parent = None;
    entry.beside = true;
    s.add_below(
        Some(a),
        "b",
        Body::Message(Message::new(Role::Assistant, vec![])),
    );
    let record = parsed(&s.record());
    assert_eq!(record["messages"][1]["parent_uuid"], "a");
    let before = &record["messages"][0]["metadata"]["extensions"]["followed_by"];
    assert_eq!(before[0]["uuid"], "t");
    assert_eq!(record.get("graph"), None);
}

#[test]
fn an_imported_session_says_where_it_was_first_found() {
    let mut summary = Summary::default();
    let mut source_of = |provenance: Provenance| {
        summary.head.provenance = Some(provenance);
        session_object(&summary, &source())["source"].to_string()
    };
    assert_eq!(
        source_of(Provenance {
            kind: "remote".to_owned(),
            host: Some("vm1".to_owned()),
            path: Some("/home/u/s.jsonl".to_owned()),
            agent: "codex".to_owned(),
            file_time: None,
        }),
        r#"{"type":"remote","host":"vm1","path":"/home/u/s.jsonl"}"#
    );
    assert_eq!(
        source_of(Provenance {
            kind: "wsl".to_owned(),
            ..Provenance::default()
        }),
        r#"{"type":"wsl","host":null,"path":"/store/s1.jsonl"}"#
    );
}

#[test]
fn a_session_says_its_role_and_how_far_it_got() {
    let mut summary = Summary::default();
    summary.head.agent.role = Some("reviewer".to_owned());
    summary.head.hidden = true;
    for (status, shown) in [
        (None, r#""status":null,"status_error":null"#),
        (
            Some(Status::Running),
            r#""status":"running","status_error":null"#,
        ),
        (
            Some(Status::Completed),
            r#""status":"completed","status_error":null"#,
        ),
        (
            Some(Status::Failed(None)),
            r#""status":"failed","status_error":null"#,
        ),
        (
            Some(Status::Failed(Some("lost".to_owned()))),
            r#""status":"failed","status_error":"lost""#,
        ),
        (
            Some(Status::Suspended),
            r#""status":"suspended","status_error":null"#,
        ),
        (
            Some(Status::Other("odd".to_owned())),
            r#""status":"odd","status_error":null"#,
        ),
    ] {
        summary.head.status = status;
        let object = Value::Object(session_object(&summary, &source())).to_string();
        assert!(object.contains(shown), "{object}");
        assert!(object.contains(r#""agent_role":"reviewer""#), "{object}");
        assert!(object.contains(r#""hidden":true"#), "{object}");
        assert!(object.contains(r#""agent_id":null"#));
    }
}
