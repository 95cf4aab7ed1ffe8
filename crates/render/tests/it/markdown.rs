use insta::assert_snapshot;
use rethread_model::{Blob, Block, Head, Role, Thinking, ToolCall, Visibility};
use rethread_render::Options;

use crate::sample::{ALL, Sample, aside, call, change, files, result, rich};

/// The document of one message, behind its heading.
pub(crate) fn body(text: &str) -> String {
    let mut s = Sample::new(Head::default());
    s.say("a", Role::User, vec![Block::text(text)]);
    let page = s.markdown(ALL);
    let (_, body) = page
        .split_once("\n\n*2025-02-14T09:30:00.000Z*\n\n")
        .unwrap();
    body.to_owned()
}

#[test]
fn everything() {
    assert_snapshot!(rich().markdown(ALL));
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
    assert_snapshot!(rich().markdown(options));
}

#[test]
fn html_becomes_text_outside_of_code() {
    for (text, shown) in [
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("a < b <3 <!-- <?x", "a < b <3 &lt;!-- &lt;?x"),
        ("`Vec<T>` and Vec<T>", "`Vec<T>` and Vec&lt;T>"),
        ("``a`<b>``", "``a`<b>``"),
        ("open ` then\n`<b>`", "open ` then\n`&lt;b>`"),
        ("open `\n\n`<b>`", "open `\n\n`<b>`"),
        ("| `a | <b>` |", "| `a | &lt;b>` |"),
        ("\\`<b>`", "\\`&lt;b>`"),
        ("```html\n<b>\n```\n<b>", "```html\n<b>\n```\n&lt;b>"),
        ("~~~\n```\n<b>", "~~~\n```\n<b>\n~~~"),
        ("````\n```\n<b>", "````\n```\n<b>\n````"),
        ("- a\n  ```\n  <b>\n<b>", "- a\n```\n  <b>\n<b>\n```"),
        ("    ```\n<b>", "    ```\n&lt;b>"),
        ("``` a`b\n<b>", "``` a`b\n&lt;b>"),
        ("a\rb\r\n<b>", "a␍b\n&lt;b>"),
    ] {
        assert_eq!(body(text), format!("{shown}\n"), "{text:?}");
    }
}

#[test]
fn fences_are_longer_than_what_they_hold() {
    let mut s = Sample::new(Head::default());
    s.say(
        "a",
        Role::Assistant,
        vec![
            Block::ToolCall(call("c", "**x**", "{\"a\":[1,{}],\"b\":\"`````\"}")),
            Block::ToolResult(result(
                "c",
                vec![Block::text("```\n# not a heading\n````\n")],
            )),
        ],
    );
    assert_snapshot!(s.markdown(ALL));
}

/// The document of a message of a model, behind its heading.
fn shown(blocks: Vec<Block>) -> String {
    let mut s = Sample::new(Head::default());
    s.say("a", Role::Assistant, blocks);
    let page = s.markdown(ALL);
    let (_, body) = page
        .split_once("\n\n*2025-02-14T09:30:00.000Z*\n\n")
        .unwrap_or_default();
    body.to_owned()
}

#[test]
fn asides_say_who_saw_them() {
    assert_eq!(
        shown(vec![
            Block::text("go"),
            aside("Today is\n```\n<b>\n", Visibility::Injected),
            aside("/clear <b>", Visibility::UiOnly),
            aside("secret", Visibility::Hidden),
            aside("as usual", Visibility::Visible),
        ]),
        "go\n\n<details><summary>note 17 B</summary>\n\n> Today is\n> ```\n> <b>\n> ```\n\n</details>\n\n\
         /clear &lt;b>\n\n<details><summary>note 6 B</summary>\n\n> secret\n\n</details>\n\nas usual\n"
    );
}

#[test]
fn files_are_named_and_their_text_is_shown() {
    let mut answer = result("c", files());
    answer.full_output = Some(Blob::Text("all\n".into()));
    let mut blocks = files();
    blocks.push(Block::ToolResult(answer));
    assert_snapshot!(shown(blocks));
}

#[test]
fn a_summary_of_thoughts_says_so() {
    let thought = Thinking {
        text: "Hm.".into(),
        summary: true,
        ..Thinking::default()
    };
    assert_eq!(
        shown(vec![Block::Thinking(thought)]),
        "<details><summary>Thinking (summary)</summary>\n\n> Hm.\n\n</details>\n"
    );
}

#[test]
fn every_change_of_a_call_is_shown() {
    let mut edit = ToolCall::new("c", "edit");
    edit.diffs = vec![change("a", "1", "2"), change("b", "3", "4")];
    assert_eq!(
        shown(vec![Block::ToolCall(edit)]),
        "<details><summary>… <b>edit</b> <code>a and 1 more</code> — +2 −2, pending</summary>\n\n`a`\n\n```diff\n-1\n+2\n```\n\n`b`\n\n```diff\n-3\n+4\n```\n\n</details>\n"
    );
}
