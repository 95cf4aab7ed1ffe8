//! What makes text harmless: for a terminal, for one line of it, for JSON, Markdown and HTML.

use std::io::Write as _;
use std::path::Path;

use rethread_model::{
    Block, Bodies, Body, EntryIx, Head, Kind, Message, NewEntry, Role, Session, SessionBuilder,
    Visibility,
};
use rethread_render::{
    InertJson, Options, PageContext, SourceInfo, View, cell, fit, neutral, one_line, width,
    write_html, write_markdown,
};

/// How wide a column is.
const WIDTH: usize = 12;

const EVERYTHING: Options = Options {
    tools: true,
    thinking: true,
    injected: true,
    events: true,
    full: true,
};

/// Nothing of a text acts on a terminal or a page, and what is shown of it in a column fits there.
pub fn escapers(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    assert!(
        neutral(&text)
            .chars()
            .all(|c| c == '\n' || c == '\t' || is_harmless(c))
    );
    assert!(one_line(&text).chars().all(is_harmless));
    assert!(cell(&text).chars().all(is_harmless));
    let fitted = fit(&text, WIDTH);
    assert!(width(&fitted) <= WIDTH && fitted.chars().all(is_harmless));
    assert_inert_json(&text);
    let session = Said::new(&text);
    assert_page(&session.page());
    let page = session.write(|out, view| write_markdown(out, view, &EVERYTHING));
    let is_shown = |c: char| c == '\n' || c == '\t' || is_harmless(c);
    assert!(page.chars().all(is_shown));
}

/// JSON that is printed means the same, and acts on no terminal.
fn assert_inert_json(text: &str) {
    let json = serde_json::to_string(text).unwrap();
    let mut out = Vec::new();
    let mut inert = InertJson::new(&mut out);
    inert.write_all(json.as_bytes()).unwrap();
    inert.flush().unwrap();
    drop(inert);
    let printed = String::from_utf8(out).unwrap();
    assert!(printed.chars().all(is_harmless), "{printed:?}");
    let read: String = serde_json::from_str(&printed).unwrap();
    assert_eq!(read, text);
}

/// Whatever is said, the page has the tags and attributes of our own, and no others.
fn assert_page(page: &str) {
    let body = page.split_once("</style>").unwrap().1;
    let mut rest = body;
    while let Some((_, tag)) = rest.split_once('<') {
        let (tag, after) = tag.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/');
        let name = name.split([' ', '\n']).next().unwrap_or_default();
        assert!(
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()),
            "<{tag}>"
        );
        assert!(
            ![
                "script", "iframe", "object", "embed", "form", "base", "link"
            ]
            .contains(&name)
        );
        for attribute in tag.split([' ', '\n']).skip(1) {
            let event = attribute.len() > 2 && attribute.to_ascii_lowercase().starts_with("on");
            assert!(!event || !attribute.contains('='), "<{tag}>");
        }
        rest = after;
    }
}

/// Neither a control character nor one that changes the direction of what follows.
fn is_harmless(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    !c.is_control() && !turns
}

/// A session in which a text is said.
struct Said {
    session: Session,
    body: Body,
}

impl Bodies for Said {
    fn body(&self, _: EntryIx) -> Body {
        self.body.clone()
    }
}

impl Said {
    fn new(text: &str) -> Self {
        let mut builder = SessionBuilder::new(Head::default());
        let entry = NewEntry {
            id: text,
            parent: None,
            kind: Kind::Message(Role::Assistant),
            time: None,
            visibility: Visibility::Visible,
            origin: &[],
        };
        let _ = builder.add(&entry);
        let message = Message::new(Role::Assistant, vec![Block::text(text)]);
        Self {
            session: builder.finish(),
            body: Body::Message(message),
        }
    }

    fn page(&self) -> String {
        self.write(|out, view| write_html(out, view, &EVERYTHING, &PageContext::NOTHING))
    }

    fn write(&self, how: impl Fn(&mut Vec<u8>, &View<'_>) -> std::io::Result<()>) -> String {
        let view = View {
            session: &self.session,
            bodies: self,
            entries: self.session.indexed().map(|(ix, _)| ix).collect(),
            path: Path::new("/store/session.jsonl"),
            source: SourceInfo {
                kind: "local",
                host: None,
                path: "/store/session.jsonl".to_owned(),
            },
            agent: None,
            summary: None,
        };
        let mut out = Vec::new();
        how(&mut out, &view).unwrap();
        String::from_utf8(out).unwrap()
    }
}
