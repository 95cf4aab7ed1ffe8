//! Conversations made by hand.

use std::path::Path;

use jiff::tz::{TimeZone, offset};
use rethread_model::{
    Agent, Blob, Block, Bodies, Body, BranchSummary, Compaction, ContextEdit, Cost, Diff, EntryIx,
    Event, Head, Json, Kept, Kind, LabelChange, Level, Location, Media, Message, ModelRef, Moment,
    NewEntry, Place, Role, Session, SessionBuilder, Summary, Text, Thinking, Title, TitleChange,
    TitleSource, ToolCall, ToolInput, ToolResult, ToolStatus, Usage, UsageRecord, Visibility,
    Workspace,
};
use rethread_render::{
    Html, Options, PageContext, SessionTarget, SourceInfo, Style, View, session_record, write_html,
    write_markdown, write_text,
};

/// A session with its bodies in memory.
pub(crate) struct Sample {
    builder: SessionBuilder,
    bodies: Vec<Body>,
}

struct InMemory(Vec<Body>);

impl Bodies for InMemory {
    fn body(&self, ix: EntryIx) -> Body {
        self.0[ix.get()].clone()
    }
}

pub(crate) const ALL: Options = Options {
    tools: true,
    thinking: true,
    injected: true,
    events: true,
    full: true,
};

impl Sample {
    pub(crate) fn new(head: Head) -> Self {
        Self {
            builder: SessionBuilder::new(head),
            bodies: Vec::new(),
        }
    }

    /// Adds an entry behind the last one, a minute later.
    pub(crate) fn add(&mut self, id: &str, body: Body) -> EntryIx {
        let parent = self.builder.len().checked_sub(1).and_then(EntryIx::new);
        self.add_below(parent, id, body)
    }

    pub(crate) fn add_below(&mut self, parent: Option<EntryIx>, id: &str, body: Body) -> EntryIx {
        let minute = i64::try_from(self.bodies.len()).unwrap() * 60_000;
        let ix = self.builder.add(&NewEntry {
            id,
            parent,
            kind: kind(&body),
            time: Moment::from_millis(1_739_525_400_000 + minute),
            visibility: Visibility::Visible,
            origin: &[],
        });
        self.bodies.push(body);
        ix.unwrap()
    }

    pub(crate) fn say(&mut self, id: &str, role: Role, blocks: Vec<Block>) -> EntryIx {
        self.add(id, Body::Message(Message::new(role, blocks)))
    }

    pub(crate) fn builder(&mut self) -> &mut SessionBuilder {
        &mut self.builder
    }

    pub(crate) fn text(self, options: Options, colour: bool) -> String {
        let style = Style {
            colour,
            width: 60,
            now: None,
            zone: TimeZone::fixed(offset(1)),
        };
        self.write(None, |out, view| write_text(out, view, &options, &style))
    }

    pub(crate) fn markdown(self, options: Options) -> String {
        self.write(None, |out, view| write_markdown(out, view, &options))
    }

    /// The page, without its style. Branches are what is beside the way to the leaf.
    pub(crate) fn html(self, options: Options, branches: bool) -> String {
        let around = PageContext {
            branches,
            ..PageContext::NOTHING
        };
        let page = self.write(None, |out, view| {
            let view = View {
                entries: if branches {
                    view.session.active_path()
                } else {
                    view.entries.clone()
                },
                source: view.source.clone(),
                ..*view
            };
            write_html(out, &view, &options, &around)
        });
        let (head, rest) = page.split_once("<style>").unwrap();
        let (_, body) = rest.split_once("</style>").unwrap();
        format!("{head}<style>…</style>{body}")
    }

    /// Writes the session onto a page of several.
    pub(crate) fn onto(
        self,
        page: &mut Html<'_>,
        number: u64,
        find: &dyn Fn(&str) -> Option<SessionTarget>,
    ) {
        let around = PageContext {
            branches: true,
            index: None,
            find,
        };
        let page = std::cell::RefCell::new(page);
        self.write(None, |_, view| {
            page.borrow_mut().write_session(number, view, &ALL, &around)
        });
    }

    pub(crate) fn tree(self) -> String {
        let style = Style {
            colour: false,
            width: 90,
            now: None,
            zone: TimeZone::UTC,
        };
        self.write(None, |out, view| {
            rethread_render::draw_tree(out, view, &style)
        })
    }

    pub(crate) fn tree_json(self) -> String {
        self.write(None, |out, view| rethread_render::tree_json(out, view))
    }

    pub(crate) fn record(self) -> String {
        self.write(None, |out, view| {
            session_record(out, view, &Summary::default())
        })
    }

    pub(crate) fn record_of(self, entries: Vec<EntryIx>) -> String {
        self.write(Some(entries), |out, view| {
            session_record(out, view, &Summary::default())
        })
    }

    fn write(
        self,
        entries: Option<Vec<EntryIx>>,
        how: impl Fn(&mut Vec<u8>, &View<'_>) -> std::io::Result<()>,
    ) -> String {
        let session: Session = self.builder.finish();
        let all = || session.indexed().map(|(ix, _)| ix).collect();
        let view = View {
            session: &session,
            bodies: &InMemory(self.bodies),
            entries: entries.unwrap_or_else(all),
            path: Path::new("/store/s1.jsonl"),
            source: source(),
            agent: None,
            summary: None,
        };
        let mut out = Vec::new();
        how(&mut out, &view).unwrap();
        String::from_utf8(out).unwrap()
    }
}

fn kind(body: &Body) -> Kind {
    match body {
        Body::Message(m) => Kind::Message(m.role),
        Body::ModelChange(_) => Kind::ModelChange,
        Body::ThinkingChange(_) => Kind::ThinkingChange,
        Body::Compaction(_) => Kind::Compaction,
        Body::BranchSummary(_) => Kind::BranchSummary,
        Body::Label(_) => Kind::Label,
        Body::Title(_) => Kind::Title,
        Body::ContextEdit(_) => Kind::ContextEdit,
        Body::Usage(_) => Kind::Usage,
        Body::Event(_) => Kind::Event,
        Body::Unknown(_) => Kind::Unknown,
    }
}

pub(crate) fn source() -> SourceInfo {
    SourceInfo {
        kind: "local",
        host: None,
        path: "/store/s1.jsonl".to_owned(),
    }
}

pub(crate) fn head() -> Head {
    Head {
        id: "s1".to_owned(),
        format: "claude-code",
        title: Some(Title {
            text: "Fix the login\nform".to_owned(),
            source: TitleSource::User,
        }),
        agent: Agent {
            name: Some("Claude Code".to_owned()),
            version: Some("1.0.29".to_owned()),
            ..Agent::default()
        },
        workspace: Workspace {
            path: Some("/home/user/my.project".to_owned()),
            branch: Some("main".to_owned()),
            ..Workspace::default()
        },
        created: Moment::from_millis(1_739_525_400_000),
        updated: Moment::from_millis(1_739_529_000_000),
        model: Some(model("sonnet")),
        ..Head::default()
    }
}

/// The user names the conversation, or clears its name.
pub(crate) fn title(text: Option<&str>) -> TitleChange {
    TitleChange {
        text: text.map(str::to_owned),
        source: TitleSource::User,
    }
}

pub(crate) fn model(id: &str) -> ModelRef {
    ModelRef {
        provider: Some("anthropic".to_owned()),
        id: id.to_owned(),
    }
}

pub(crate) fn result(id: &str, blocks: Vec<Block>) -> ToolResult {
    ToolResult {
        call_id: id.to_owned(),
        name: None,
        blocks,
        is_error: false,
        structured: None,
        exit_code: None,
        full_output: None,
    }
}

/// A call that was done.
pub(crate) fn call(id: &str, name: &str, input: &str) -> ToolCall {
    ToolCall {
        input: Some(ToolInput::Json(Json::new(input.as_bytes()))),
        status: ToolStatus::Completed,
        ..ToolCall::new(id, name)
    }
}

/// A conversation with a bit of everything.
pub(crate) fn rich() -> Sample {
    let mut s = Sample::new(head());
    let reminder = s.say("e0", Role::System, vec![Block::text("Be brief.")]);
    s.builder().entry(reminder).visibility = Visibility::Injected;
    s.say(
        "e1",
        Role::User,
        vec![
            Block::text("The login fails:\r\n\n\tsee \u{1b}]52;c;aGk=\u{7} the picture"),
            Block::Image(media(
                "shot 1.png",
                Blob::File("/store/a/sha256-ab.png".into()),
            )),
            Block::Image(media("lost.png", Blob::Missing("lost.png".to_owned()))),
        ],
    );
    s.add("e2", Body::Message(answer()));
    s.add("e3", Body::ModelChange(model("opus")));
    s.add("e4", Body::ThinkingChange("high".to_owned()));
    s.say("e5", Role::Assistant, vec![failing_call()]);
    let mut failed = result("call_2", vec![Block::text("1 failed\n")]);
    failed.name = Some("bash".to_owned());
    failed.is_error = true;
    failed.exit_code = Some(1);
    s.say("e6", Role::Tool, vec![Block::ToolResult(failed)]);
    for _ in 0..3 {
        s.add("", Body::Unknown(Some("snapshot".to_owned())));
    }
    s.add("e7", Body::Compaction(compaction()));
    others(&mut s);
    let mut last = Message::new(
        Role::Assistant,
        vec![
            Block::text("Done, but"),
            Block::Unknown {
                type_name: "chart".to_owned(),
                raw: Json::new(br#"{"type":"chart", "n":1e5}"#),
            },
        ],
    );
    last.model = Some(model("opus"));
    last.error = Some("overloaded".to_owned());
    s.add("e9", Body::Message(last));
    s
}

fn answer() -> Message {
    let mut read = call(
        "call_1",
        "file_read",
        r#"{"path": "src/auth.ts", "limit": 1e2}"#,
    );
    read.title = Some("Read auth.ts".to_owned());
    read.duration_ms = Some(120.0);
    read.locations = vec![Location {
        path: "src/auth.ts".to_owned(),
        line: Some(3),
    }];
    let lines: Vec<String> = (1..=25).map(|n| format!("line {n}")).collect();
    let mut edit = call("call_3", "edit", "{}");
    edit.diffs.push(Diff {
        path: "src/auth.ts".to_owned(),
        old: Some(Text::new("a\nold\nz\n")),
        new: Some(Text::new("a\nnew 1\nnew 2\nz\n")),
    });
    let mut message = Message::new(
        Role::Assistant,
        vec![
            Block::Thinking(Thinking {
                text: Text::new("Where is it?\nIn auth."),
                signature: Some("sig==".to_owned()),
                ..Thinking::default()
            }),
            Block::text("Let me look at `Vec<String>` and <b>that</b>."),
            Block::ToolCall(read),
            Block::ToolResult(result("call_1", vec![Block::text(lines.join("\n"))])),
            Block::text("Now I change it."),
            Block::ToolCall(edit),
            Block::ToolResult(result("call_3", vec![Block::text("ok")])),
        ],
    );
    message.model = Some(model("sonnet"));
    message.stop_reason = Some("tool_use".to_owned());
    message.request_id = Some("req_1".to_owned());
    message.usage = Some(Usage {
        input: 10,
        output: 20,
        cache_read: 5,
        cache_write: 2,
        cache_write_1h: 1,
        cost: Some(Cost { usd: 0.25 }),
        ..Usage::default()
    });
    message.place = Some(Box::new(Place {
        cwd: Some("/home/user/my.project/web".to_owned()),
        user_type: Some("external".to_owned()),
        ..Place::default()
    }));
    message.details = Some(Json::new(br#"{"cwd":"/elsewhere","slug":"calm-fox"}"#));
    message
}

fn failing_call() -> Block {
    Block::ToolCall(ToolCall {
        input: Some(ToolInput::Text(Text::new("make test"))),
        status: ToolStatus::Failed,
        duration_ms: Some(65_000.0),
        ..ToolCall::new("call_2", "bash")
    })
}

fn compaction() -> Compaction {
    Compaction {
        summary: Some(Text::new("The user wants\nthe login fixed.")),
        trigger: Some("auto".to_owned()),
        tokens_before: Some(150_000),
        tokens_after: Some(20_000),
        ..Compaction::default()
    }
}

fn others(s: &mut Sample) {
    s.add(
        "e8",
        Body::BranchSummary(BranchSummary {
            summary: Text::new("tried Redis"),
            ..BranchSummary::default()
        }),
    );
    let label = |label: Option<&str>| LabelChange {
        target: "e1".to_owned(),
        label: label.map(str::to_owned),
    };
    s.add("l1", Body::Label(label(Some("start"))));
    s.add("l2", Body::Label(label(None)));
    s.add("t1", Body::Title(title(Some("Login"))));
    s.add("t2", Body::Title(title(None)));
    s.add(
        "c1",
        Body::ContextEdit(ContextEdit {
            target: "e6".to_owned(),
            tool_call: None,
            replacement: None,
        }),
    );
    s.add(
        "u1",
        Body::Usage(UsageRecord {
            usage: Usage {
                input: 7,
                output: 3,
                ..Usage::default()
            },
            ..UsageRecord::default()
        }),
    );
    s.add(
        "v1",
        Body::Event(Event {
            name: "abort".to_owned(),
            text: Some(Text::new("stopped\nby \u{202e}user")),
            level: Level::Error,
            details: None,
        }),
    );
}

pub(crate) fn aside(text: &str, visibility: Visibility) -> Block {
    Block::Aside {
        text: Text::new(text),
        visibility,
    }
}

/// A change of a file of one line.
pub(crate) fn change(path: &str, old: &str, new: &str) -> Diff {
    Diff {
        path: path.to_owned(),
        old: Some(Text::new(old)),
        new: Some(Text::new(new)),
    }
}

/// Files that are neither in the session nor at an address.
pub(crate) fn files() -> Vec<Block> {
    let mime = |mime: Option<&str>| mime.map(str::to_owned);
    let file = |name: Option<&str>, uri: Option<&str>, kind, blob| {
        Block::File(Media {
            mime: mime(kind),
            name: name.map(str::to_owned),
            uri: uri.map(str::to_owned),
            blob,
        })
    };
    let notes = Blob::Text(Text::new("# Notes\n```\n\u{1b}[1m\n"));
    vec![
        file(Some("notes.md"), None, Some("text/markdown"), notes),
        file(None, Some("file:///a.txt"), None, Blob::Text("hi".into())),
        file(
            None,
            None,
            Some("text/csv"),
            Blob::Outside("/tmp/a.csv".into()),
        ),
        file(
            Some("a.csv"),
            None,
            None,
            Blob::Outside("/tmp/a.csv".into()),
        ),
    ]
}

/// Entries with everything that they can say.
pub(crate) fn detailed(s: &mut Sample) {
    s.add(
        "t",
        Body::Title(TitleChange {
            text: Some("Login".to_owned()),
            source: TitleSource::Model,
        }),
    );
    s.add(
        "u",
        Body::Usage(UsageRecord {
            usage: Usage {
                input: 7,
                output: 3,
                ..Usage::default()
            },
            model: Some(model("haiku")),
            purpose: Some("title".to_owned()),
        }),
    );
    s.add(
        "v",
        Body::Event(Event {
            name: "hook".to_owned(),
            text: None,
            level: Level::Info,
            details: Some(Json::new(br#"{"exit":1e0}"#)),
        }),
    );
    s.add(
        "c",
        Body::ContextEdit(ContextEdit {
            target: "a".to_owned(),
            tool_call: Some("call_1".to_owned()),
            replacement: Some(vec![Block::text("(cleared)")]),
        }),
    );
    let range = Kept::Range {
        first: "a".to_owned(),
        last: "b".to_owned(),
    };
    for (id, kept) in [("k1", range), ("k2", Kept::UserMessages)] {
        s.add(
            id,
            Body::Compaction(Compaction {
                kept,
                system: Some(Text::new("Be brief.")),
                duration_ms: Some(1500.0),
                ..Compaction::default()
            }),
        );
    }
}

pub(crate) fn media(name: &str, blob: Blob) -> Media {
    Media {
        mime: Some("image/png".to_owned()),
        name: Some(name.to_owned()),
        uri: None,
        blob,
    }
}
