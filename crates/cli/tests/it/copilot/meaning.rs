//! What events mean.

use insta::assert_snapshot;
use rethread_formats::FORMATS;
use rethread_model::{Block, Bodies, Body, Kept, Level};

use super::{EVERYTHING, MINIMAL, fixtures, read, world};
use crate::opencode;
use crate::world::json;

/// Each entry in one line.
fn outline() -> String {
    let c = read(&fixtures().join("1.0/everything"));
    let line = |block: &Block| match block {
        Block::Text(text) => format!("{:?}", text.value),
        Block::Thinking(thought) => format!("thinking {:?}", thought.text.value),
        Block::ToolCall(call) => format!("call {} {}", call.id, call.name),
        Block::ToolResult(r) => format!(
            "result of {} error={} {:?} {}",
            r.call_id,
            r.is_error,
            r.exit_code,
            r.blocks.len()
        ),
        Block::Image(media) => format!("image {:?}", media.name),
        Block::File(media) => format!("file {:?}", media.name),
        Block::Unknown { type_name, .. } => format!("unknown {type_name}"),
        Block::Aside { .. } => "aside".to_owned(),
    };
    let mut lines = Vec::new();
    for (ix, entry) in c.session.indexed() {
        let said = match c.body(ix) {
            Body::Message(message) => message
                .blocks
                .iter()
                .map(line)
                .collect::<Vec<_>>()
                .join(" | "),
            Body::Event(event) => format!("{} {:?}", event.name, event.text.map(|t| t.value)),
            Body::ModelChange(model) => model.id,
            Body::Usage(record) => format!(
                "{} in, {} out",
                record.usage.all_input(),
                record.usage.output
            ),
            Body::Compaction(c) => {
                format!("{:?} {:?}", c.summary.map(|t| t.value), c.tokens_before)
            }
            other => format!("{other:?}"),
        };
        let side = if entry.side { " side" } else { "" };
        lines.push(format!(
            "{:?} {:?}{side}: {said}",
            entry.kind, entry.visibility
        ));
    }
    lines.join("\n")
}

#[test]
fn every_event_is_what_it_says() {
    assert_snapshot!("copilot_entries", outline());
}

#[test]
fn the_model_is_sent_more_than_the_person_typed() {
    let c = read(&fixtures().join("1.0/everything"));
    let prompt = c
        .session
        .indexed()
        .find(|(_, e)| e.visibility == rethread_model::Visibility::Visible);
    let (prompt, _) = prompt.unwrap();
    let Body::Message(message) = c.sent().body(prompt) else {
        panic!("no message");
    };
    assert!(
        matches!(&message.blocks[0], Block::Text(t) if t.value.starts_with("<current_datetime>"))
    );
    let errors = c
        .session
        .indexed()
        .filter(|(ix, _)| matches!(c.body(*ix), Body::Event(e) if e.level == Level::Error));
    assert_eq!(errors.count(), 1);
    let kept = c.session.indexed().find_map(|(ix, _)| match c.body(ix) {
        Body::Compaction(c) => Some(c.kept),
        _ => None,
    });
    assert_eq!(kept, Some(Kept::Nothing));
}

#[test]
fn a_session_is_shown() {
    let w = world();
    assert_snapshot!(
        "copilot_show",
        w.plain(&w.ok(&["show", EVERYTHING, "--events"]))
    );
}

/// Into every format that is written, with the originals along.
#[test]
fn sessions_are_converted_into_every_format() {
    let w = world();
    opencode::store::installed(&w, "1.18/everything");
    for to in FORMATS.iter().filter(|format| format.writer().is_some()) {
        let to = to.slug();
        for id in [EVERYTHING, MINIMAL] {
            let id = format!("copilot:{id}");
            let answer = w.run(&[
                "convert",
                &id,
                "--to",
                to,
                "--cwd",
                w.project.to_str().unwrap(),
                "--json",
            ]);
            assert_eq!(answer.code, 0, "{to}: {answer:?}");
            let made = json(answer.out.lines().next().unwrap());
            assert!(made["path"].is_string(), "{to}: {made}");
        }
        let shown = w.ok(&["show", &format!("{to}:latest"), "--json"]);
        assert!(
            shown.contains("2+2") || shown.contains("eggs"),
            "{to}: {shown}"
        );
    }
}
