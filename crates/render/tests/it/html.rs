use insta::assert_snapshot;
use proptest::prelude::*;
use rethread_model::{
    Blob, Block, Body, Compaction, Diff, Head, LabelChange, Link, LinkKind, Message, Role, Text,
    Thinking, ToolInput, Visibility,
};
use rethread_render::{Html, Options, SessionTarget, neutral};

use crate::properties::{is_harmless, plan, text};
use crate::sample::{ALL, Sample, aside, call, head, media, result, rich};

/// What stands in a message of a model.
fn shown(blocks: Vec<Block>) -> String {
    let mut s = Sample::new(Head::default());
    s.say("a", Role::Assistant, blocks);
    let page = s.html(ALL, false);
    let (_, article) = page.split_once("<article ").unwrap();
    let (_, body) = article.split_once("</header>\n").unwrap();
    let (body, _) = body.split_once("</article>").unwrap();
    body.to_owned()
}

/// What a text becomes.
fn prose(text: &str) -> String {
    let page = shown(vec![Block::text(text)]);
    let inside = page.strip_prefix("<div class=prose>\n").unwrap();
    inside.strip_suffix("</div>\n").unwrap().to_owned()
}

#[test]
fn everything() {
    assert_snapshot!(rich().html(ALL, false));
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
    let page = rich().html(options, false);
    assert!(!page.contains("<details class=tool"), "{page}");
    assert!(!page.contains("quiet thinking"), "{page}");
    assert!(
        page.contains("<p class=notice>2 tool calls · thinking 21 B</p>"),
        "{page}"
    );
}

#[test]
fn markdown_becomes_markup_and_markup_becomes_text() {
    for (text, page) in [
        (
            "a *b* **c** ~~d~~ `<e>`",
            "<p>a <em>b</em> <strong>c</strong> <s>d</s> <code>&lt;e&gt;</code></p>\n",
        ),
        (
            "<script>alert(1)</script>",
            "<p class=html>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n",
        ),
        (
            "a <img src=x onerror=alert(1)> b",
            "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n",
        ),
        (
            "# T\n\n- [x] a\n- b\n\n3. c",
            "<h3>T</h3>\n<ul>\n<li><span class=task>☑</span> a</li>\n<li>b</li>\n</ul>\n<ol start=\"3\">\n<li>c</li>\n</ol>\n",
        ),
        (
            "[a](https://b.example/?c&d=\"e)",
            "<p><a rel=\"noreferrer noopener\" href=\"https://b.example/?c&amp;d=&quot;e\">a</a></p>\n",
        ),
        (
            "[a](javascript:alert(1))",
            "<p>a <code class=to>javascript:alert(1)</code></p>\n",
        ),
        (
            "[a](JavaScript&#58;alert(1)) [b](data:text/html,x)",
            "<p>a <code class=to>JavaScript:alert(1)</code> b</p>\n",
        ),
        ("[a](src/b.rs)", "<p>a <code class=to>src/b.rs</code></p>\n"),
        (
            "![a](http://b.example/c.png)",
            "<p>▣ <a rel=\"noreferrer noopener\" href=\"http://b.example/c.png\">a</a></p>\n",
        ),
        (
            "[![a](http://b.example/c.png)](http://d.example)",
            "<p><a rel=\"noreferrer noopener\" href=\"http://d.example\">▣ a</a></p>\n",
        ),
        (
            "<https://a.example> <a@b.example>",
            "<p><a rel=\"noreferrer noopener\" href=\"https://a.example\">https://a.example</a> <a rel=\"noreferrer noopener\" href=\"mailto:a@b.example\">a@b.example</a></p>\n",
        ),
        (
            "|a|b|\n|-|-:|\n|1|`|`|",
            "<div class=wide><table>\n<tr><th>a</th><th class=right>b</th></tr>\n<tr><td>1</td><td class=right>`</td></tr>\n</table></div>\n",
        ),
        (
            "```rust\nfn a() {}\n```",
            "<pre class=code><b class=lang>rust</b><code><i class=k>fn</i> <i class=f>a</i>() {}</code></pre>\n",
        ),
        (
            "```diff\n-a\n+<b>\n```",
            "<pre class=diff><del>-a\n</del><ins>+&lt;b&gt;\n</ins></pre>\n",
        ),
        (
            "```\n</pre><script>\n",
            "<pre class=code><code>&lt;/pre&gt;&lt;script&gt;</code></pre>\n",
        ),
        ("a\r\nb\rc", "<p>a\nb␍c</p>\n"),
        ("\u{1b}[31m \u{202e}", "<p>␛[31m &lt;U+202E&gt;</p>\n"),
    ] {
        assert_eq!(prose(text), page, "{text:?}");
    }
}

#[test]
fn depth_ends_somewhere() {
    let page = prose(&format!("{}x", ">".repeat(50_000)));
    assert_eq!(page.matches("<blockquote>").count(), 24);
    assert_eq!(page.matches("</blockquote>").count(), 24);
    let page = prose(&format!("{}x", "- ".repeat(2_000)));
    assert_eq!(page.matches("<li>").count(), 12);
}

#[test]
fn a_very_long_text_is_shown_as_it_is() {
    let page = prose(&"*a* ".repeat(300_000));
    assert!(
        page.starts_with("<pre class=long>\n*a* *a*"),
        "{}",
        &page[..40]
    );
}

#[test]
fn changes_are_shown_line_by_line() {
    let edit = |input: &str| shown(vec![Block::ToolCall(call("c", "Edit", input))]);
    let one = edit(r#"{"file_path":"a.rs","old_string":"a\nb\nc","new_string":"a\nB\nc"}"#);
    assert_snapshot!(one, @"
    <details class=tool open><summary><span class=sign>✓</span> <b>Edit</b> <code class=what>a.rs</code> <span class=counts><ins>+1</ins><del>−1</del></span></summary>
    <pre class=diff><span> a
    </span><del>-b
    </del><ins>+B
    </ins><span> c
    </span></pre>
    </details>
    ");
    for input in [
        r#"{"path":"a.rs","edits":[{"oldText":"a","newText":"b"}]}"#,
        r#"{"filePath":"a.rs","oldString":"a","newString":"b"}"#,
        r#"{"path":"a.rs","old_str":"a","new_str":"b"}"#,
    ] {
        let page = edit(input);
        let change = "<pre class=diff><del>-a\n</del><ins>+b\n</ins></pre>";
        assert!(page.contains(change), "{page}");
        assert!(page.contains("<ins>+1</ins><del>−1</del>"), "{page}");
        assert!(!page.contains("old"), "{page}");
    }
    let mut known = call("c", "edit", r#"{"old_string":"x","new_string":"y"}"#);
    known.diffs = vec![Diff {
        path: "<p>".to_owned(),
        old: None,
        new: Some(Text::new("new\n")),
    }];
    let page = shown(vec![Block::ToolCall(known)]);
    assert!(page.contains("<code>&lt;p&gt;</code>"), "{page}");
    assert_eq!(page.matches("<pre class=diff>").count(), 1);
}

#[test]
fn patches_are_shown_as_changes() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-b\n+c\n*** End Patch";
    let mut apply = call("c", "apply_patch", "{}");
    apply.input = Some(ToolInput::Text(Text::new(patch)));
    let page = shown(vec![
        Block::ToolCall(apply),
        Block::ToolResult(result(
            "c",
            vec![Block::text("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y")],
        )),
    ]);
    assert_snapshot!(page, @"
    <details class=tool open><summary><span class=sign>✓</span> <b>apply_patch</b> <code class=what>a</code> <span class=counts><ins>+1</ins><del>−1</del></span></summary>
    <p class=media><code>a</code></p>
    <pre class=diff><del>-b
    </del><ins>+c
    </ins></pre>
    <details class=quiet><summary>output</summary>
    <pre class=diff><span class=file>--- a
    </span><span class=file>+++ b
    </span><span class=gap>@@ -1 +1 @@
    </span><del>-x
    </del><ins>+y
    </ins></pre>
    </details>
    </details>
    ");
}

#[test]
fn input_is_shown_by_its_members() {
    let input = r#"{"command":"ls | wc -l","timeout":5e3,"content":"fn a() {}\nb","file_path":"x.rs","list":[1,{"a":"<b>"}],"<k>":"<v>"}"#;
    assert_snapshot!(shown(vec![Block::ToolCall(call("c", "<Bash>", input))]), @"
    <details class=tool><summary><span class=sign>✓</span> <b>&lt;Bash&gt;</b> <code class=what>ls | wc -l</code></summary>
    <div class=arg><b>command</b> <pre class=code><b class=lang>sh</b><code><i class=f>ls</i> | wc -l</code></pre>
    </div>
    <div class=arg><b>timeout</b> <code>5e3</code></div>
    <div class=arg><b>content</b> <pre class=code><b class=lang>rs</b><code><i class=k>fn</i> <i class=f>a</i>() {}
    b</code></pre>
    </div>
    <div class=arg><b>file_path</b> <code>x.rs</code></div>
    <div class=arg><b>list</b> <pre class=code><b class=lang>json</b><code>[
      <i class=n>1</i>,
      {
        <i class=a>&quot;a&quot;</i>: <i class=s>&quot;&lt;b&gt;&quot;</i>
      }
    ]</code></pre>
    </div>
    <div class=arg><b>&lt;k&gt;</b> <code>&lt;v&gt;</code></div>
    </details>
    ");
}

#[test]
fn a_call_is_shown_with_its_result_from_a_later_message() {
    let mut s = Sample::new(Head::default());
    let calls = ["1", "2", "3"].map(|id| Block::ToolCall(call(id, "Bash", "{}")));
    s.say("a", Role::Assistant, calls.to_vec());
    let answer = |id: &str, text: &str| Block::ToolResult(result(id, vec![Block::text(text)]));
    s.say(
        "b",
        Role::User,
        vec![answer("2", "two"), answer("1", "one")],
    );
    s.say("c", Role::User, vec![Block::text("Go on")]);
    s.say(
        "d",
        Role::User,
        vec![answer("3", "late"), Block::text("and this")],
    );
    let page = s.html(ALL, false);
    let at = |words: &str| {
        page.find(words)
            .unwrap_or_else(|| panic!("{words}: {page}"))
    };
    assert!(at("one</pre>") < at("two</pre>"));
    assert!(at("two</pre>") < at("id=\"3\""));
    assert!(!page.contains("id=\"2\""), "nothing is left of it: {page}");
    assert!(
        at("id=\"4\"") < at("late</pre>"),
        "what the person says ends the search"
    );
    assert!(at("late</pre>") < at("and this"));
}

#[test]
fn pictures_are_part_of_the_page_if_they_are_pictures() {
    let image = |mime: Option<&str>, blob: Blob| {
        let mut picture = media("a.bin", blob);
        picture.mime = mime.map(str::to_owned);
        shown(vec![Block::Image(picture)])
    };
    let url = |url: &str| Blob::Url(url.to_owned());
    let page = image(None, url("data:image/png;base64,iVBORw0KGgo="));
    assert_eq!(
        page,
        "<figure><img alt=\"a.bin\" src=\"data:image/png;base64,iVBORw0KGgo=\"><figcaption>a.bin</figcaption></figure>\n"
    );
    for (mime, blob) in [
        (Some("image/png"), url("data:image/svg+xml;base64,PHN2Zz4=")),
        (
            Some("image/png"),
            url("data:image/png;base64,a\"onload=\"b"),
        ),
        (Some("image/png"), url("data:text/html;base64,PHN2Zz4=")),
        (Some("image/png"), url("https://a.example/b.png")),
        (Some("image/png"), Blob::File("/etc/passwd".into())),
        (Some("image/png"), Blob::Outside("/etc/passwd".into())),
        (Some("image/png"), Blob::Missing("x".to_owned())),
    ] {
        let page = image(mime, blob.clone());
        assert!(!page.contains("<img"), "{blob:?}: {page}");
    }
    let page = image(None, url("https://a.example/b.png"));
    assert!(page.contains("href=\"https://a.example/b.png\""), "{page}");
}

#[test]
fn what_only_some_saw_is_folded() {
    assert_snapshot!(shown(vec![
        aside("Today is\n```\n<b>\n", Visibility::Injected),
        aside("secret", Visibility::Hidden),
        aside("as usual", Visibility::Visible),
        Block::Thinking(Thinking { redacted: true, ..Thinking::default() }),
    ]), @r#"
    <details class="quiet injected"><summary>note 16 B</summary>
    <div class=prose>
    <p>Today is</p>
    <pre class=code><code>&lt;b&gt;</code></pre>
    </div>
    </details>
    <details class="quiet injected"><summary>note 6 B</summary>
    <div class=prose>
    <p>secret</p>
    </div>
    </details>
    <div class=prose>
    <p>as usual</p>
    </div>
    "#);
}

#[test]
fn branches_labels_and_compactions_are_shown() {
    let mut s = Sample::new(Head {
        links: vec![Link {
            kind: LinkKind::SubAgent,
            session: "<child>".to_owned(),
            entry: None,
            tool_call: None,
        }],
        ..head()
    });
    let first = s.say("e1", Role::User, vec![Block::text("Start")]);
    s.say("e2", Role::Assistant, vec![Block::text("One way")]);
    s.add_below(
        Some(first),
        "e3",
        Body::Message(Message::new(
            Role::Assistant,
            vec![Block::text("Another way")],
        )),
    );
    s.add(
        "l",
        Body::Label(LabelChange {
            target: "e1".to_owned(),
            label: Some("<here>".to_owned()),
        }),
    );
    s.add(
        "c",
        Body::Compaction(Compaction {
            summary: Some(Text::new("**All** of it")),
            ..Compaction::default()
        }),
    );
    let page = s.html(ALL, true);
    let (_, body) = page.split_once("<body>").unwrap();
    assert_snapshot!(body);
}

#[test]
fn sessions_on_one_page_lead_to_each_other() {
    let mut out = Vec::new();
    let mut page = Html::begin_page(&mut out, "<2> sessions", true).unwrap();
    let find = |id: &str| match id {
        "here" => Some(SessionTarget::Here(2)),
        "there" => Some(SessionTarget::File("a b\"<.html".to_owned())),
        _ => None,
    };
    for number in 1..=2 {
        let mut s = Sample::new(Head::default());
        let child = |id: &str| {
            let mut task = call("c", "Task", "{}");
            task.child_session = Some(id.to_owned());
            Block::ToolCall(task)
        };
        s.say("a", Role::User, vec![Block::text("Do it")]);
        s.say(
            "b",
            Role::Assistant,
            vec![child("here"), child("there"), child("nowhere")],
        );
        s.onto(&mut page, number, &find);
    }
    page.end_page().unwrap();
    let page = String::from_utf8(out).unwrap();
    for part in [
        "<title>&lt;2&gt; sessions</title>",
        "<a href=\"#s2\"><code>here</code></a>",
        "<a href=\"./a%20b%22%3C.html\"><code>there</code></a>",
        "Sub-agent: <code>nowhere</code>",
        "<main id=\"s2\">",
        "id=\"s2-1\"",
        "<li><a href=\"#s2-1\">Do it</a></li>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// What a page may be made of.
const TAGS: &str = " a article b body blockquote br code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 head header hr html i img input ins label li main meta nav ol p pre s span strong style summary table td th time title tr ul !doctype ";

/// Tags that nothing ends.
const VOID: &str = " br hr img input meta !doctype ";

/// Walks over the tags of a page; panics where one is not ours, or does not end where it should.
fn assert_ours(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').unwrap();
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag.split([' ', '\n']).next().unwrap();
        let bare = name.trim_start_matches('/');
        let padded = format!(" {bare} ");
        assert!(TAGS.contains(&padded), "<{tag}>: {page}");
        assert!(!tag.contains('<'), "<{tag}>: {page}");
        assert!(!tag.contains(" on"), "<{tag}>");
        for (mark, allowed) in [
            ("href=\"", &["#", "./", "http:", "https:", "mailto:"][..]),
            ("src=\"", &["data:image/"]),
        ] {
            for value in tag.split(mark).skip(1) {
                let value = value.to_ascii_lowercase();
                assert!(allowed.iter().any(|a| value.starts_with(a)), "<{tag}>");
            }
        }
        if name.starts_with('/') {
            assert_eq!(open.pop(), Some(bare), "{page}");
        } else if !VOID.contains(&padded) {
            open.push(bare);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let mut ids: Vec<&str> = page.split(" id=\"").skip(1).collect();
    for id in &mut ids {
        *id = id.split('"').next().unwrap();
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "a number stands twice: {page}");
}

proptest! {
    #[test]
    fn nothing_leaves_its_place_on_a_page(plan in plan(), branches: bool) {
        let page = plan.build().html(ALL, branches);
        prop_assert!(is_harmless(&page), "{page:?}");
        assert_ours(&page);
    }

    #[test]
    fn what_a_tool_printed_is_there_word_for_word(output in text()) {
        prop_assume!(!output.contains("\u{1b}["), "colours are no text");
        let answer = result("c", vec![Block::text(format!("x{output}"))]);
        let page = shown(vec![Block::ToolResult(answer)]);
        let (_, inside) = page.split_once("<pre class=out>\n").unwrap();
        let (inside, _) = inside.split_once("</pre>").unwrap();
        let mut back = inside.to_owned();
        for (entity, c) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
            back = back.replace(entity, c);
        }
        let whole = format!("x{output}");
        prop_assert_eq!(back, neutral(whole.trim_end_matches(['\n', '\r'])));
    }
}
