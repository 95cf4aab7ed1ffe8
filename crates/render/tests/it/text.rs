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
    assert_eq!(shown, "(no title)\n0 messages\n");
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

/// What is shown of messages of a model, without the header, the headings and the margin.
fn shown(messages: Vec<Vec<Block>>) -> String {
    let mut s = Sample::new(Head::default());
    for blocks in messages {
        s.say("a", Role::Assistant, blocks);
    }
    let shown = s.text(ALL, false);
    let body = shown.split_once("\n\n#").map_or("", |(_, body)| body);
    let lines = body.lines().skip(1).filter(|l| !l.starts_with('#'));
    let lines: Vec<&str> = lines.map(|l| l.strip_prefix("    ").unwrap_or(l)).collect();
    lines.join("\n")
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
        "go\n\n· note 18 B\n  Today is\n  Monday.␛\n\n/clear\n\n· note 6 B\n  secret\n\nas usual\n\n· note 6 B\n  secret"
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
    let output =
        "✓ tool\n      │ x\n      │ cut\n      │ secret\n\n    · note 2 B\n      hm\n\n#2  You";
    assert!(shown.contains(output), "{shown}");
    assert!(!shown.contains("✓ c"), "no id stands for a tool: {shown}");
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
    let before = "✓ tool\n  │ 1\n  │ …\n";
    for (blob, line) in [
        (Blob::Text("1\n2\n".into()), "  │ 1\n  │ 2"),
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
        "✓ edit  a and 1 more                               +2 −2\n  a  +1 −1\n  1 - 1\n  1 + 2\n  b  +1 −1\n  1 - 3\n  1 + 4"
    );
}

#[test]
fn a_call_that_was_not_started_says_so() {
    let call = ToolCall::new("c", "edit");
    assert_eq!(
        shown(vec![vec![Block::ToolCall(call)]]),
        "… edit                                           pending"
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
        "#1  System  10:30\n    \
         · title: Login\n    \
         · usage (title, anthropic/haiku): 7 tokens in, 3 out\n    \
         · event: hook\n    \
         · result of call_1 in a replaced in the context\n\n\
         #5  Summary  10:34\n    \
         · compacted\n\n\
         #6  Summary  10:35\n    \
         · compacted\n"
    );
}

/// A call in one message, and its result in a later one.
fn apart(s: &mut Sample, calls: &[(&str, &str)], results: &[(&str, &str)]) {
    let calls = calls
        .iter()
        .map(|(id, path)| Block::ToolCall(call(id, "read", &format!("{{\"path\":\"{path}\"}}"))));
    s.say("a", Role::Assistant, calls.collect());
    for (id, text) in results {
        let answer = Block::ToolResult(result(id, vec![Block::text(*text)]));
        s.say("r", Role::Tool, vec![answer]);
    }
}

#[test]
fn parallel_calls_stand_with_their_results_in_the_order_of_the_calls() {
    let mut s = Sample::new(Head::default());
    let ids: Vec<String> = (0..40).map(|n| format!("c{n}")).collect();
    let calls: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), id.as_str())).collect();
    let mut results = calls.clone();
    results.reverse();
    // Only so many are looked at ahead that memory stays small; the first eight come in any order.
    let (first, rest) = (&calls[..8], &calls[8..]);
    apart(&mut s, first, &results[results.len() - 8..]);
    apart(&mut s, rest, rest);
    let shown = s.text(ALL, false);
    assert_eq!(shown.matches("\n#").count(), 1, "one turn: {shown}");
    let expected: Vec<String> = ids.iter().map(|id| format!("✓ read  {id} ")).collect();
    let mut from = 0;
    for line in &expected {
        let at = shown[from..].find(line.as_str());
        from += at.unwrap_or_else(|| panic!("{line} in {shown}"));
    }
    for id in &ids {
        let output = format!("✓ read  {id} ");
        let at = shown.find(&output).unwrap();
        let next = shown[at..].lines().nth(1).unwrap();
        assert_eq!(next.trim(), format!("│ {id}"), "{shown}");
    }
}

#[test]
fn a_result_without_its_call_is_under_the_name_of_its_tool() {
    let mut s = Sample::new(Head::default());
    s.say(
        "a",
        Role::Assistant,
        vec![Block::ToolCall(call("toolu_1", "deploy", "{}"))],
    );
    s.say("b", Role::User, vec![Block::text("meanwhile")]);
    let late = |id: &str| vec![Block::ToolResult(result(id, vec![Block::text("late")]))];
    s.say("c", Role::Tool, late("toolu_1"));
    s.say("d", Role::Tool, late("toolu_2"));
    let shown = s.text(ALL, false);
    assert!(shown.contains("✓ deploy\n      │ late"), "{shown}");
    assert!(shown.contains("✓ tool\n      │ late"), "{shown}");
    assert!(!shown.contains("toolu_"), "{shown}");
}

#[test]
fn markdown_is_set_and_no_line_is_wider() {
    let text = "# Title\n\nSome *words* with **weight** and `code`, that go on and on beyond the edge of it.\n\n\
        - one\n- two, which is so long that it must be continued on another line\n  1. deeper\n\n\
        > quoted\n\n```rust\nfn main() { println!(\"a line of code that is wider than the page is\"); }\n```\n\n\
        | name | what it is |\n| --- | --- |\n| a | short |\n| b | a long cell that has to be wrapped in its column |\n\n\
        [a link](https://example.org/x) and https://example.org/y\n\n日本語の長い文章は、どこでも折り返すことができます。そうでしょう。";
    let mut s = Sample::new(Head::default());
    s.say("a", Role::Assistant, vec![Block::text(text)]);
    let shown = s.text(ALL, false);
    for line in shown.lines() {
        let columns = unicode_width::UnicodeWidthStr::width(line);
        assert!(columns <= 60, "{columns}: {line}");
    }
    assert_snapshot!(shown);
}
