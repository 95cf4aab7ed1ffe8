use insta::assert_snapshot;
use rethread_model::{Blob, Block, Body, Head, Message, Role, ToolCall, Visibility};
use rethread_render::Options;

use crate::sample::{ALL, Sample, aside, call, change, detailed, files, result, rich};

#[test]
fn everything() {
    assert_snapshot!(rich().text(ALL, false));
}

#[test]
fn without_tools_and_thinking() {
    let options = Options {
        tools: false,
        thinking: false,
        injected: true,
        events: true,
        full: true,
    };
    assert_snapshot!(rich().text(options, false));
}

#[test]
fn in_colour() {
    let mut s = Sample::new(Head::default());
    s.say("a", Role::User, vec![Block::text("hi")]);
    let mut message = Message::new(
        Role::Assistant,
        vec![
            Block::ToolCall(call("c", "ls", "{\"path\":\".\"}")),
            Block::ToolResult(result("c", vec![Block::text("a\nb")])),
        ],
    );
    message.error = Some("gone".to_owned());
    s.add("b", Body::Message(message));
    let shown = s.text(ALL, true).replace('\u{1b}', "␛");
    assert_snapshot!(shown);
}

#[test]
fn an_empty_session_has_a_header_only() {
    let shown = Sample::new(Head::default()).text(ALL, false);
    assert_eq!(
        shown,
        "(no title)\nmessages   0\nfile       /store/s1.jsonl\n"
    );
}

#[test]
fn escapes_never_reach_the_terminal() {
    let bad = "x\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}y\r";
    let mut head = crate::sample::head();
    head.id = bad.to_owned();
    head.workspace.path = Some(bad.to_owned());
    head.workspace.branch = Some(bad.to_owned());
    let mut s = Sample::new(head);
    let mut tool = call("c", bad, &format!("{{\"a\":{}}}", serde_json::json!(bad)));
    tool.title = Some(bad.to_owned());
    tool.namespace = Some(bad.to_owned());
    tool.child_session = Some(bad.to_owned());
    let mut message = Message::new(
        Role::Assistant,
        vec![
            Block::text(bad),
            Block::ToolCall(tool),
            Block::ToolResult(result("c", vec![Block::text(bad)])),
        ],
    );
    message.error = Some(bad.to_owned());
    message.extension = Some(bad.to_owned());
    s.add(bad, Body::Message(message));
    s.add("u", Body::Unknown(Some(bad.to_owned())));
    let shown = s.text(ALL, false);
    assert!(
        !shown.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'),
        "{shown:?}"
    );
}

/// What is shown of messages of a model, without the header and the headings.
fn shown(messages: Vec<Vec<Block>>) -> String {
    let mut s = Sample::new(Head::default());
    for blocks in messages {
        s.say("a", Role::Assistant, blocks);
    }
    let shown = s.text(ALL, false);
    let body = shown.split_once("\n\n──").map_or("", |(_, body)| body);
    let lines = body.lines().skip(1).filter(|l| !l.starts_with("──"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn asides_say_who_saw_them() {
    let blocks = vec![
        Block::text("go"),
        aside("Today is\nMonday.\u{1b}\n", Visibility::Injected),
        aside("/clear", Visibility::UiOnly),
        aside("secret", Visibility::Hidden),
        aside("as usual", Visibility::Visible),
        aside("", Visibility::Injected),
    ];
    assert_eq!(
        shown(vec![blocks, vec![aside("secret", Visibility::Hidden)]]),
        "go\n\n(injected) Today is\nMonday.␛\n\n(not seen by the model) /clear\n\nas usual\n\n(injected)"
    );
}

#[test]
fn results_with_a_reminder_are_of_the_tool() {
    let mut s = Sample::new(Head::default());
    let answer = Block::ToolResult(result(
        "c",
        vec![
            Block::text("x"),
            aside("cut", Visibility::Injected),
            aside("secret", Visibility::Hidden),
        ],
    ));
    s.say(
        "a",
        Role::User,
        vec![answer, aside("hm", Visibility::Injected)],
    );
    s.say("b", Role::User, vec![aside("hm", Visibility::Injected)]);
    let shown = s.text(ALL, false);
    assert!(shown.contains("── tool · "), "{shown}");
    assert!(shown.contains("── user · "), "{shown}");
    let output = "◂ c  ✓\n  │ x\n  │ (injected)\n  │ cut\n\n(injected) hm\n";
    assert!(shown.contains(output), "{shown}");
}

#[test]
fn files_are_named_and_their_text_is_shown() {
    assert_snapshot!(shown(vec![
        files(),
        vec![Block::ToolResult(result("c", files()))]
    ]));
}

#[test]
fn the_whole_output_is_shown_or_named() {
    let whole = |blob| {
        let mut answer = result("c", vec![Block::text("1\n…")]);
        answer.full_output = Some(blob);
        shown(vec![vec![Block::ToolResult(answer)]])
    };
    let before = "◂ c  ✓\n  │ 1\n  │ …\n";
    for (blob, line) in [
        (
            Blob::Text("1\n2\n".into()),
            "  │ [full output]\n  │ 1\n  │ 2",
        ),
        (Blob::Outside("/tmp/o".into()), "  │ [full output: /tmp/o]"),
        (
            Blob::File("/tmp/o/shell_1.txt".into()),
            "  │ [full output: shell_1.txt]",
        ),
    ] {
        assert_eq!(whole(blob), format!("{before}{line}"));
    }
}

#[test]
fn every_change_of_a_call_is_shown() {
    let mut edit = call("c", "edit", "{}");
    edit.diffs = vec![change("a", "1", "2"), change("b", "3", "4")];
    assert_eq!(
        shown(vec![vec![Block::ToolCall(edit)]]),
        "▸ edit  ✓\n  a\n  -1\n  +2\n  b\n  -3\n  +4"
    );
}

#[test]
fn a_call_that_was_not_started_says_so() {
    let call = ToolCall::new("c", "edit");
    assert_eq!(
        shown(vec![vec![Block::ToolCall(call)]]),
        "▸ edit  … pending"
    );
}

#[test]
fn entries_say_what_they_are_about() {
    let mut s = Sample::new(Head::default());
    detailed(&mut s);
    let shown = s.text(ALL, false);
    let (_, notices) = shown.split_once("\n\n").unwrap();
    assert_eq!(
        notices,
        "· title: Login\n\
         · usage (title, anthropic/haiku): 7 tokens in, 3 out\n\
         · event: hook\n\
         · result of call_1 in a replaced in the context\n\
         · compacted × 2\n"
    );
}
