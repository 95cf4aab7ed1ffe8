//! What users give is read by the same rules whatever the format: the same is taken, and the same is
//! refused with the same words.

use rethread_formats::FORMATS;

use crate::opencode;
use crate::world::{World, json, tree};

/// A world with a session of a format, in which something was asked.
fn started(format: &str) -> (World, String) {
    let w = World::new();
    if format == "opencode" {
        opencode::store::installed(&w, "1.18/everything");
    }
    let mut args = vec!["new", "--format", format, "--json"];
    if format == "agentuse" {
        args.extend(["--agent-name", "a"]);
    }
    let made = json(&w.ok(&args));
    let id = format!("{format}:{}", made["id"].as_str().unwrap());
    w.ok(&["append", &id, "Go", "--model", "acme/m-1"]);
    (w, id)
}

fn writing_formats() -> Vec<&'static str> {
    let writing = FORMATS.iter().filter(|format| format.writer().is_some());
    writing.map(|format| format.about().slug).collect()
}

/// What is refused, and why.
const REFUSED: [(&str, &str); 25] = [
    ("{", "not JSON: unexpected end at line 1, column 2"),
    ("7", "not a JSON object"),
    ("[]", "not a JSON object"),
    ("{}", "`role` is missing"),
    (r#"{"content":"x"}"#, "`role` is missing"),
    (
        r#"{"role":"robot","content":"x"}"#,
        "`role` is `robot`, not `user`, `assistant`, `system` or `tool`",
    ),
    (r#"{"role":"user"}"#, "`content` is missing"),
    (
        r#"{"role":"user","content":5}"#,
        "`content` is not an array",
    ),
    (
        r#"{"role":"user","content":[{}]}"#,
        "content block 1: `type` is missing",
    ),
    (
        r#"{"role":"user","content":[{"type":"text","text":"x"},{"type":"text"}]}"#,
        "content block 2: `text` is missing",
    ),
    (
        r#"{"role":"assistant","content":[{"type":"thinking"}]}"#,
        "content block 1: `text` is missing",
    ),
    (
        r#"{"role":"assistant","content":[{"type":"poem","text":"x"}]}"#,
        "content block 1: there is no place for a block of type `poem`",
    ),
    (
        r#"{"role":"user","content":"x","timestamp":"soon"}"#,
        "`timestamp` is `soon`: not an ISO 8601 date and time",
    ),
    (
        r#"{"role":"assistant","content":"x","timestamp":5}"#,
        "`timestamp` is not a text",
    ),
    (
        r#"{"role":"tool","content":"x"}"#,
        "a result belongs to a call: give it as a `tool_result` block",
    ),
    (
        r#"{"role":"user","content":[{"type":"tool_use","tool_id":"c","tool_name":"t"}]}"#,
        "content block 1: a `tool_use` block has no place in a message of role `user`",
    ),
    (
        r#"{"role":"system","content":[{"type":"tool_result","tool_id":"c","output":"o"}]}"#,
        "content block 1: a `tool_result` block has no place in a message of role `system`",
    ),
    (
        r#"{"role":"assistant","content":[{"type":"tool_use","tool_name":"t"}]}"#,
        "content block 1: `tool_id` is missing",
    ),
    (
        r#"{"role":"assistant","content":[{"type":"tool_use","tool_id":"c"}]}"#,
        "content block 1: `tool_name` is missing",
    ),
    (
        r#"{"role":"user","content":[{"type":"tool_result","output":"o"}]}"#,
        "content block 1: `tool_id` is missing",
    ),
    (
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"c","content":[{"type":"tool_use"}]}]}"#,
        "content block 1: a `tool_result` block holds a `tool_use` block",
    ),
    (
        r#"{"role":"assistant","content":[{"type":"image"}]}"#,
        "content block 1: neither `data` nor `url`: give base64 in `data`, or an address in `url`",
    ),
    (
        r#"{"role":"assistant","content":[{"type":"image","data":"*"}]}"#,
        "content block 1: image data that is not base64: Invalid symbol 42, offset 0.",
    ),
    (
        r#"{"role":"assistant","content":[]}"#,
        "nothing is said in it",
    ),
    (
        r#"{"role":"assistant","content":[{"type":"text","text":" "}]}"#,
        "nothing is said in it",
    ),
];

#[test]
fn what_is_refused_is_refused_by_every_format_with_the_same_words() {
    for format in writing_formats() {
        let (w, id) = started(format);
        let before = tree(&w.root);
        for (input, why) in REFUSED {
            let answer = w.pipe(&["append", &id, "--message-json", "-"], input);
            assert_eq!(answer.code, 1, "{format}: {input}: {answer:?}");
            let expected = format!("error: message 1: {why}\n");
            assert_eq!(answer.err, expected, "{format}: {input}");
        }
        let bytes = b"{\"role\":\"user\",\"content\":\"\xff\"}";
        let answer = w.pipe(&["append", &id, "--message-json", "-"], bytes);
        assert_eq!(
            answer.err, "error: message 1: not UTF-8 at byte 26\n",
            "{format}"
        );
        let blank = w.run(&["append", &id, " "]);
        assert_eq!(blank.err, "error: nothing is said in it\n", "{format}");
        let file = w.root.join("notes.txt");
        std::fs::write(&file, "x").unwrap();
        let text = w.run(&["append", &id, "x", "--image", file.to_str().unwrap()]);
        std::fs::remove_file(&file).unwrap();
        let why = "notes.txt` is no PNG, JPEG, GIF, WebP or SVG picture\n";
        assert!(text.err.ends_with(why), "{format}: {}", text.err);
        assert_eq!(tree(&w.root), before, "{format}: nothing was written");
    }
}

/// Where a format's own words or rules say otherwise.
#[test]
fn where_a_format_differs_is_known() {
    // A message without content is one in the words of ATSF itself: its document allows it.
    for format in writing_formats() {
        let (w, id) = started(format);
        let empty = r#"{"role":"user","content":[]}"#;
        let answer = w.pipe(&["append", &id, "--message-json", "-"], empty);
        if format == "atsf" {
            assert_eq!(answer.code, 0, "{answer:?}");
        } else {
            assert_eq!(
                answer.err, "error: message 1: nothing is said in it\n",
                "{format}"
            );
        }
        // Gemini CLI has no messages of the system.
        let system = w.run(&["append", &id, "--role", "system", "Be brief."]);
        assert_eq!(system.code == 0, format != "gemini", "{format}: {system:?}");
        // AgentUse has no pictures in prompts.
        let picture = r#"{"role":"user","content":[{"type":"image","data":"iVBORw0KGgo="}]}"#;
        let answer = w.pipe(&["append", &id, "--message-json", "-"], picture);
        assert_eq!(
            answer.code == 0,
            format != "agentuse",
            "{format}: {answer:?}"
        );
    }
}

#[test]
fn what_is_taken_is_taken_by_every_format() {
    let taken = [
        // Calls and results of the unified vocabulary, and of the vendor that it has them from.
        r#"{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","tool_id":"c1","tool_name":"ls","input":{"path":"here"}}]}"#,
        r#"{"role":"tool","content":[{"type":"tool_result","tool_id":"c1","output":"one file"}]}"#,
        r#"{"role":"agent","model":"m-2","content":[{"type":"tool_use","id":"c2","name":"cat","input":"notes"}],"timestamp":"2026-11-15T12:00:01Z"}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"two lines","is_error":true}]}"#,
        // A call with its result, in one message.
        r#"{"role":"assistant","content":[{"type":"tool_use","tool_id":"c3","tool_name":"pwd"},{"type":"tool_result","tool_id":"c3","output":{"folder":"shop"}}]}"#,
        // What is thought and shown elsewhere.
        r#"{"role":"assistant","content":[{"type":"text","text":"It is done."}],"metadata":{"extensions":{"blocks":[{"type":"thinking","at":0,"text":"Almost."}]}}}"#,
    ];
    for format in writing_formats() {
        let (w, id) = started(format);
        let input = taken.join("\n");
        let answer = w.pipe(&["append", &id, "--message-json", "-"], input);
        assert_eq!(answer.code, 0, "{format}: {answer:?}");
        assert_eq!(answer.out.lines().count(), taken.len(), "{format}");
        let unnamed = r#"{"content":"Thank you."}"#;
        let answer = w.pipe(
            &["append", &id, "--message-json", "-", "--role", "user"],
            unnamed,
        );
        assert_eq!(answer.code, 0, "{format}: {answer:?}");
        let shown = w.ok(&["show", &id, "--json"]);
        for said in [
            "Go",
            "I look.",
            "one file",
            "notes",
            "two lines",
            "shop",
            "Almost.",
            "It is done.",
            "Thank you.",
        ] {
            assert!(shown.contains(said), "{format}: {said}: {shown}");
        }
    }
}
