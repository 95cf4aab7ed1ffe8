//! What becomes of messages and parts.

use std::fs;

use rethread_formats::Conversation;
use rethread_model::{
    Blob, Block, Bodies, Body, EntryIx, Kind, LinkKind, Message, Role, Status, ToolCall, ToolInput,
    ToolStatus, Visibility,
};

use super::{LATER, MINIMAL, PLANNER, fixtures, folder, read};

fn session(case: &str, id: &str) -> Conversation {
    read(&folder(&fixtures().join(case), id))
}

fn bodies(c: &Conversation) -> Vec<(EntryIx, Body)> {
    c.session
        .indexed()
        .map(|(ix, _)| (ix, c.body(ix)))
        .collect()
}

fn answers(c: &Conversation) -> Vec<Message> {
    let is_answer = |m: &Message| m.role == Role::Assistant;
    let messages = bodies(c).into_iter().filter_map(|(_, body)| match body {
        Body::Message(message) => Some(message),
        _ => None,
    });
    messages.filter(is_answer).collect()
}

fn calls(message: &Message) -> Vec<&ToolCall> {
    let mut calls = Vec::new();
    for block in &message.blocks {
        if let Block::ToolCall(call) = block {
            calls.push(call);
        }
    }
    calls
}

#[test]
fn an_exchange_is_system_prompts_a_prompt_and_an_answer() {
    let c = session("document/full", PLANNER);
    let kinds: Vec<(Kind, Visibility)> = c
        .session
        .entries()
        .iter()
        .map(|e| (e.kind, e.visibility))
        .collect();
    assert_eq!(
        kinds,
        [
            (Kind::Message(Role::System), Visibility::Hidden),
            (Kind::Message(Role::System), Visibility::Hidden),
            (Kind::Message(Role::User), Visibility::Visible),
            (Kind::Message(Role::Assistant), Visibility::Visible),
            (Kind::Event, Visibility::UiOnly),
        ]
    );
    let said: Vec<Vec<Block>> = bodies(&c)
        .into_iter()
        .take(3)
        .map(|(_, body)| match body {
            Body::Message(message) => message.blocks,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(said[0], [Block::text("You are a planner.")]);
    assert_eq!(said[1], [Block::text("Be brief.")]);
    assert_eq!(
        said[2],
        [
            Block::text("Plan the day."),
            Block::text("Only the morning.")
        ]
    );
    let Some((_, Body::Event(event))) = bodies(&c).pop() else {
        panic!("no event");
    };
    assert_eq!(event.name, "OverloadedError");
    assert_eq!(event.text.unwrap().value, "the model was overloaded");
    let leaf = c.session.leaf().unwrap();
    assert_eq!(c.session.path(leaf).len(), 5, "one line of entries");
}

#[test]
fn every_type_of_part_has_its_block() {
    let c = session("document/full", PLANNER);
    let [answer] = &answers(&c)[..] else {
        panic!("one answer");
    };
    let words: Vec<String> = answer
        .blocks
        .iter()
        .map(|b| match b {
            Block::Text(text) => format!("text {}", text.value),
            Block::Aside { visibility, .. } => format!("aside {visibility:?}"),
            Block::Thinking(t) => format!("thinking {}", t.text.value),
            Block::ToolCall(call) => format!("call {}", call.id),
            Block::ToolResult(result) => format!("result {}", result.call_id),
            Block::Image(media) => format!("image {}", media.name.as_ref().unwrap()),
            Block::File(_) => "file".to_owned(),
            Block::Unknown { type_name, .. } => format!("unknown {type_name}"),
        })
        .collect();
    assert_eq!(
        words,
        [
            "thinking First the calendar.",
            "text Let me look.",
            "call call_done",
            "result call_done",
            "call call_failed",
            "result call_failed",
            "call call_running",
            "aside Injected",
            "call call_pending",
            "image dot.png",
            "unknown agent",
        ],
        "by when they start, then by id; those without a time come last"
    );
    assert_eq!(answer.duration_ms, Some(12_300.0));
    let model = answer.model.as_ref().unwrap();
    assert_eq!(
        (model.provider.as_deref(), model.id.as_str()),
        (Some("anthropic"), "claude-sonnet-4-5")
    );
}

#[test]
fn all_four_states_of_a_tool() {
    let c = session("document/full", PLANNER);
    let answers = answers(&c);
    let states: Vec<(&ToolStatus, Option<f64>, Option<&str>)> = calls(&answers[0])
        .into_iter()
        .map(|c| (&c.status, c.duration_ms, c.title.as_deref()))
        .collect();
    assert_eq!(
        states,
        [
            (
                &ToolStatus::Completed,
                Some(800.0),
                Some("Look at the calendar")
            ),
            (&ToolStatus::Failed, Some(100.0), None),
            (&ToolStatus::Running, None, Some("Wait")),
            (&ToolStatus::Pending, None, None),
        ]
    );
    let c = session("document/minimal", MINIMAL);
    let answers = super::meaning::answers(&c);
    let inputs: Vec<Option<&ToolInput>> = calls(&answers[0])
        .into_iter()
        .map(|c| c.input.as_ref())
        .collect();
    assert_eq!(inputs.len(), 3);
    assert!(matches!(inputs[1], Some(ToolInput::Text(text)) if text.value == "ls"));
}

#[test]
fn a_picture_inside_an_address_is_where_the_model_says() {
    let c = session("document/full", PLANNER);
    let answers = answers(&c);
    let image = answers[0].blocks.iter().find_map(|b| match b {
        Block::Image(media) => Some(media),
        _ => None,
    });
    let Blob::Inline { record, start, len } = image.unwrap().blob else {
        panic!("{image:?}");
    };
    let bytes = c.native.read(record).unwrap();
    let start = usize::try_from(start).unwrap();
    let len = usize::try_from(len).unwrap();
    assert_eq!(&bytes[start..start + len], b"iVBORw0KGgo=");
}

#[test]
fn compactions_and_texts_of_the_user_cut_an_answer_and_its_usage_counts_once() {
    let c = session("0.30/everything", LATER);
    let kinds: Vec<Kind> = c.session.entries().iter().map(|e| e.kind).collect();
    let (user, assistant) = (Kind::Message(Role::User), Kind::Message(Role::Assistant));
    assert_eq!(
        kinds,
        [
            Kind::Message(Role::System),
            user,
            assistant,
            Kind::Event,
            Kind::Compaction,
            user,
            assistant,
            Kind::Event,
            Kind::Event,
        ]
    );
    let answers = answers(&c);
    let input: Vec<Option<u64>> = answers.iter().map(|m| m.usage.map(|u| u.input)).collect();
    assert_eq!(input, [Some(400), None]);
    let keys = c.session.indexed().filter(|(_, e)| e.kind == assistant);
    let keys: Vec<&str> = keys
        .map(|(ix, _)| c.session.usage_key(ix).unwrap())
        .collect();
    assert_eq!(keys, ["01KA3J1000M000000000000005"; 2]);
    let unknown: Vec<&str> = answers[1]
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::Unknown { type_name, .. } => Some(type_name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        unknown,
        ["hologram", "snapshot", "patch"],
        "kept, and shown as unknown"
    );
}

#[test]
fn a_call_shows_where_its_whole_answer_is() {
    let c = session("0.30/everything", LATER);
    let answers = answers(&c);
    let result = answers[0].blocks.iter().find_map(|b| match b {
        Block::ToolResult(result) => Some(result),
        _ => None,
    });
    let result = result.unwrap();
    assert_eq!(result.blocks, [Block::text("drop\ndrop")]);
    let Some(Blob::File(path)) = &result.full_output else {
        panic!("{result:?}");
    };
    let bytes = fs::read(path).unwrap();
    assert!(bytes.starts_with(b"{\n  \"kind\": \"tool-output\""));
}

#[test]
fn sub_agents_are_sessions_of_their_own_linked_to_the_call_where_it_is_known() {
    let links = |case: &str, id: &str| {
        let head = session(case, id).session.head;
        let link = |l: rethread_model::Link| (l.kind, l.session, l.tool_call);
        head.links.into_iter().map(link).collect::<Vec<_>>()
    };
    let id = |n: u8| format!("01KA3J1000S00000000000000{n}");
    assert_eq!(
        links("document/full", &id(2)),
        [
            (LinkKind::Parent, id(1), None),
            (LinkKind::SubAgent, id(3), None)
        ]
    );
    let call = Some("call_wait".to_owned());
    assert_eq!(
        links("0.30/everything", LATER),
        [(LinkKind::SubAgent, id(6), call)]
    );
    let c = session("0.30/everything", LATER);
    let answers = answers(&c);
    assert_eq!(calls(&answers[1])[0].child_session, Some(id(6)));
}

#[test]
fn the_description_fills_the_head() {
    let head = session("0.30/everything", LATER).session.head;
    assert_eq!(head.agent.id.as_deref(), Some("social/quotes/1-create"));
    assert_eq!(head.agent.version.as_deref(), Some("0.30.0"));
    assert_eq!(
        head.status,
        Some(Status::Failed(Some("stopped by user".to_owned())))
    );
    assert_eq!(head.workspace.encoded.as_deref(), Some("6b9af143446a411a"));
    let head = session("document/full", PLANNER).session.head;
    assert_eq!(
        head.agent.id.as_deref(),
        Some("agents/planner"),
        "from the agent's file"
    );
    assert_eq!(head.workspace.path.as_deref(), Some("/srv/proj/src"));
    assert_eq!(head.workspace.root.as_deref(), Some("/srv/proj"));
    assert_eq!(head.status, None);
    let head = session("document/minimal", MINIMAL).session.head;
    assert_eq!(
        head.agent.id.as_deref(),
        Some("default"),
        "from the folder's name"
    );
}

#[test]
fn parts_are_ordered_by_start_then_id_and_messages_by_time_then_id() {
    let temp = tempfile::tempdir().unwrap();
    let session = temp.path().join("session/01KA3J1000S000000000000001-x");
    let id = |kind: char, n: u32| format!("01KA3J1000{kind}{n:015}");
    let put = |path: &str, text: &str| {
        let path = session.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("session.json", "{}");
    for (message, created) in [(1, 300), (2, 100), (3, 100)] {
        let m = id('M', message);
        let text = format!(
            r#"{{"id":"{m}","time":{{"created":{created}}},"user":{{"prompt":{{"task":"{message}"}}}}}}"#
        );
        put(&format!("{m}/message.json"), &text);
    }
    for (part, time) in [
        (1, r#","time":{"start":50}"#),
        (2, ""),
        (3, r#","time":{"start":20}"#),
        (4, r#","time":{"start":20}"#),
    ] {
        let text = format!(r#"{{"type":"text","text":"{part}"{time}}}"#);
        put(
            &format!("{}/part/{}.json", id('M', 1), id('P', part)),
            &text,
        );
    }
    let c = read(&session);
    let said: Vec<String> = bodies(&c)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::Message(message) => Some(message),
            _ => None,
        })
        .flat_map(|m| m.blocks)
        .filter_map(|b| match b {
            Block::Text(text) => Some(text.value),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["2", "3", "1", "3", "4", "1", "2"]);
}
