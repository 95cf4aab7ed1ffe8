use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use rethread_model::{
    Blob, Block, Body, EntryIx, Head, Message, Role, Text, Thinking, Title, TitleSource,
    ToolResult, Visibility,
};
use rethread_render::{fit, neutral, one_line};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::sample::{ALL, Sample, call, media, result, title};

/// Text with a taste for trouble.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z<>/! ]{0,6}",
        2 => "[`~]{1,5}",
        2 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => prop::sample::select(vec![
            "<script>", "</a>", "<!--", "<?", "<b x=\"", "\\`", "|", "- ", "> ", "  ", "    ", "\t",
            "1. ", "# ", "## 2. User\n", "---\n", "===\n", "[a]: b\n", "\u{1b}]52;c;x\u{7}", "\u{9b}",
            "\u{202e}", "\u{feff}", "\r", "\0", "```\n", "  ```\n", "~~~~\n", "<a id=\"entry-999\"></a>\n", "</details>\n", "</summary>",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("{}".to_owned()),
        text().prop_map(|t| serde_json::json!({ "a": [t, 1, null] }).to_string()),
        text()
            .prop_map(|t| serde_json::to_string_pretty(&serde_json::json!({ "a": [t] })).unwrap()),
        text(),
    ]
}

/// Not `Hidden`: a message of nothing else is not shown.
fn visibility() -> impl Strategy<Value = Visibility> {
    prop::sample::select(vec![
        Visibility::Visible,
        Visibility::Injected,
        Visibility::UiOnly,
    ])
}

fn blob() -> impl Strategy<Value = Blob> {
    prop_oneof![
        text().prop_map(|t| Blob::Text(Text::new(t))),
        text().prop_map(|t| Blob::Outside(t.into())),
        text().prop_map(|t| Blob::File(t.into())),
        text().prop_map(Blob::Url),
        text().prop_map(Blob::Missing),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        3 => text().prop_map(Block::text),
        1 => text().prop_map(|t| Block::Thinking(Thinking { text: Text::new(t), ..Thinking::default() })),
        1 => ("[ab]", text(), json()).prop_map(|(id, name, input)| Block::ToolCall(call(&id, &name, &input))),
        1 => ("[ab]", vec(text().prop_map(Block::text), 0..3), of(blob())).prop_map(|(id, b, full_output)| {
            Block::ToolResult(ToolResult { full_output, ..result(&id, b) })
        }),
        1 => (text(), visibility()).prop_map(|(t, visibility)| Block::Aside { text: Text::new(t), visibility }),
        1 => (text(), blob()).prop_map(|(name, blob)| Block::File(media(&name, blob))),
        1 => (text(), json()).prop_map(|(type_name, raw)| Block::Unknown {
            type_name,
            raw: rethread_model::Json::new(raw.as_bytes()),
        }),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    let role = prop::sample::select(vec![Role::User, Role::Assistant, Role::System, Role::Tool]);
    prop_oneof![
        4 => (role, vec(block(), 0..4), of(json()), of(text())).prop_map(|(role, blocks, details, error)| {
            let mut message = Message::new(role, blocks);
            message.details = details.map(|d| rethread_model::Json::new(d.as_bytes()));
            message.error = error;
            Body::Message(message)
        }),
        1 => of(text()).prop_map(Body::Unknown),
        1 => of(text()).prop_map(|t| Body::Title(title(t.as_deref()))),
        1 => text().prop_map(|t| Body::Compaction(rethread_model::Compaction {
            summary: Some(Text::new(t)),
            ..rethread_model::Compaction::default()
        })),
    ]
}

/// What a session is made of: a title, and entries with their parents.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    title: Option<String>,
    entries: Vec<(Option<usize>, String, Body)>,
}

impl Plan {
    pub(crate) fn build(&self) -> Sample {
        let title = self.title.clone().map(|text| Title {
            text,
            source: TitleSource::User,
        });
        let mut s = Sample::new(Head {
            title,
            ..Head::default()
        });
        for (parent, id, body) in &self.entries {
            let parent = parent.filter(|p| *p < self.entries.len());
            s.add_below(parent.and_then(EntryIx::new), id, body.clone());
        }
        s
    }
}

pub(crate) fn plan() -> impl Strategy<Value = Plan> {
    let entry = (of(0_usize..8), "[a-c]{0,2}", body());
    (of(text()), vec(entry, 0..8)).prop_map(|(title, entries)| Plan { title, entries })
}

/// Lines that mean something in Markdown, in an order that nobody would write.
fn lines() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "",
        "x",
        "- x",
        "  x",
        "1. x",
        "   x",
        "> x",
        "```",
        "  ```",
        "   ```x",
        "    ```",
        "\t```",
        "````",
        "~~~",
        " ~~~~",
        "- ```",
        "> ```",
        "2. ~~~",
        "<b>",
        "  <b>",
        "> <b>",
        "- <b>",
        "    <b>",
        "`<b>`",
        "- `<b>`",
        "x ` y",
        "``<b>``",
        "x `` <b> ` <b> `` y",
        "\\`<b>`",
        "`a\\`<b>`",
        "| a | b |",
        "|-|-|",
        "| `a | <b>` | `<b>` |",
        "`a|b` `<b>`",
        "<!--",
        "-->",
        "<?",
        "<![CDATA[",
        "[a`]: <b>",
        "***",
        "===",
        "# `",
        "``` `<b>`",
        "[x]: y '",
        "'",
        "<b",
        ">",
        "a</b>",
    ]);
    vec(line, 1..9).prop_map(|lines| lines.join("\n"))
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

pub(crate) fn is_harmless(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t' || is_bidi(c))
}

/// The raw HTML and the headings of the first two levels that a reader of Markdown sees outside of
/// lists and quotes.
fn structure(page: &str, dialect: Options) -> (Vec<String>, usize) {
    let mut html = Vec::new();
    let mut headings = 0;
    for event in Parser::new_ext(page, dialect) {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => html.push(text.to_string()),
            Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H2 => headings += 1,
            _ => {}
        }
    }
    (html, headings)
}

/// How many turns begin, if there is no HTML but ours: the anchors of turns, in order, and folds that
/// are closed.
fn turns_of(html: &str) -> Option<usize> {
    let mut numbers: Vec<usize> = Vec::new();
    let mut folds = 0_usize;
    for tag in html.split('<').skip(1) {
        let (tag, _) = tag.split_once('>')?;
        match tag {
            "details" => folds += 1,
            "/details" => folds = folds.checked_sub(1)?,
            "summary" | "/summary" | "b" | "/b" | "code" | "/code" | "/a" => {}
            anchor => {
                let number = anchor.strip_prefix("a id=\"entry-")?.strip_suffix('"')?;
                numbers.push(number.parse().ok().filter(|n| *n < 999)?);
            }
        }
    }
    (folds == 0 && numbers.is_sorted()).then_some(numbers.len())
}

proptest! {
    #[test]
    fn neutral_text_is_harmless(text in prop_oneof![text(), any::<String>()]) {
        let shown = neutral(&text);
        prop_assert!(is_harmless(&shown), "{shown:?}");
        prop_assert_eq!(neutral(&shown), shown.clone());
        let line = one_line(&text);
        prop_assert!(is_harmless(&line) && !line.contains(['\n', '\t']), "{line:?}");
        prop_assert_eq!(one_line(&line), line.clone());
    }

    #[test]
    fn what_was_fitted_fits(text in prop_oneof![text(), any::<String>()], width in 0_usize..20) {
        let shown = fit(&text, width);
        prop_assert!(shown.width() <= width, "{shown:?}");
        prop_assert!(is_harmless(&shown));
    }

    #[test]
    fn no_view_steers_a_terminal(plan in plan()) {
        let shown = plan.build().text(ALL, false);
        prop_assert!(is_harmless(&shown), "{shown:?}");
        let page = plan.build().markdown(ALL);
        prop_assert!(is_harmless(&page), "{page:?}");
    }

    #[test]
    fn a_record_is_one_line_of_json(plan in plan()) {
        let record = plan.build().record();
        prop_assert_eq!(record.matches('\n').count(), 1);
        let value: Result<Value, _> = serde_json::from_str(&record);
        prop_assert!(value.is_ok(), "{value:?}: {record}");
    }

    #[test]
    fn nothing_leaves_its_place_in_a_document(plan in plan()) {
        let page = plan.build().markdown(ALL);
        let tables = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for dialect in [Options::empty(), tables] {
            let (html, headings) = structure(&page, dialect);
            let turns = turns_of(&html.concat());
            prop_assert!(turns.is_some_and(|turns| headings > turns), "{}", page);
        }
    }

    #[test]
    fn no_order_of_lines_makes_html(first in lines(), thought in lines()) {
        let mut s = Sample::new(Head::default());
        let thought = Thinking { text: Text::new(thought), ..Thinking::default() };
        s.say("a", Role::User, vec![Block::text(first), Block::Thinking(thought)]);
        s.say("b", Role::Assistant, vec![]);
        let page = s.markdown(ALL);
        for dialect in [Options::empty(), Options::ENABLE_TABLES] {
            let (html, _) = structure(&page, dialect);
            prop_assert_eq!(turns_of(&html.concat()), Some(2), "{}", page);
        }
    }

    #[test]
    fn code_blocks_hold_what_they_are_given(output in text()) {
        let mut s = Sample::new(Head::default());
        s.say("a", Role::Tool, vec![Block::ToolResult(result("c", vec![Block::text(output.clone())]))]);
        let page = s.markdown(ALL);
        let mut inside = false;
        let mut held = String::new();
        let mut blocks = 0;
        for event in Parser::new(&page) {
            match event {
                Event::Start(Tag::CodeBlock(_)) => { inside = true; blocks += 1; }
                Event::End(pulldown_cmark::TagEnd::CodeBlock) => inside = false,
                Event::Text(text) if inside => held.push_str(&text),
                _ => {}
            }
        }
        prop_assert_eq!(blocks, 1);
        let whole = neutral(&output).into_owned();
        prop_assert_eq!(held.trim_end_matches('\n'), whole.trim_end_matches(['\n', '␍']), "{}", page);
    }
}
