//! What is no message, as the target's own records.

use rethread_engine::{FormatRef, Source, by_name};
use rethread_formats::Agents;
use rethread_model::{Block, Bodies as _, Body, Context, Kind, Role, Visibility};

use super::Desk;
use super::matrix::fixture_sessions;

/// What the model of a session would be told by people and models, with summaries.
pub(super) fn context(source: &Source) -> Vec<String> {
    let conversation = source.format.reader().read(source).unwrap();
    let path = conversation.session.active_path();
    let context = Context::new(&conversation.session, &conversation, &path);
    let mut seen = Vec::new();
    for (ix, entry) in context.session.indexed() {
        let Body::Message(message) = context.body(ix) else {
            continue;
        };
        let is_question = message.extension.as_deref() == Some("compaction_question");
        let is_made = context.comes_from(ix).is_some_and(|from| {
            let kind = conversation.session.entry(from).kind;
            matches!(kind, Kind::Compaction | Kind::BranchSummary)
        });
        // What the client told the model counts, but for what each tells by itself.
        let is_frame = |block: &Block| match block {
            Block::Text(text) => source
                .format
                .reader()
                .is_own_frame(message.role, &text.value),
            _ => false,
        };
        let is_told = entry.visibility == Visibility::Injected
            && message.role == Role::User
            && !message.blocks.iter().any(is_frame);
        let is_said = entry.visibility == Visibility::Visible || is_told || is_made;
        if message.role == Role::System || is_question || !is_said {
            continue;
        }
        seen.extend(message.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.value.trim().to_owned()),
            Block::ToolCall(call) => Some(format!("call {}", call.name)),
            Block::ToolResult(_) => Some("result".to_owned()),
            _ => None,
        }));
    }
    seen.retain(|text| !text.is_empty());
    seen
}

pub(super) fn named<'a>(all: &'a [Source], name: &str) -> &'a Source {
    let path = |source: &&Source| source.path.to_string_lossy().replace('\\', "/");
    all.iter().find(|s| path(s).contains(name)).unwrap()
}

/// How many of a kind of thing there are, and how many of them are the target's own.
fn fate(desk: &Desk, source: &Source, to: &str, what: &str) -> (usize, usize, Source) {
    let to: FormatRef = by_name(to).unwrap();
    let (done, made) = desk.convert(source, to).unwrap();
    let fate = done.fates.iter().find(|fate| fate.what == what);
    let (count, native) = fate.map_or((0, 0), |fate| (fate.count, fate.native));
    (count, native, made)
}

#[test]
fn branches_are_branches() {
    let temp = tempfile::tempdir().unwrap();
    let all = fixture_sessions(temp.path());
    let desk = Desk::new();
    for (name, targets) in [
        ("claude-code/2.1/two-branches/", ["pi", "atomic"]),
        ("pi/3/everything/", ["atomic", "claude-code"]),
    ] {
        let source = named(&all, name);
        for to in targets {
            let (count, native, made) = fate(&desk, source, to, "branches");
            assert!(count > 0, "{name}");
            assert_eq!(native, count, "{name} -> {to}");
            assert_eq!(context(&made), context(source), "{name} -> {to}");
        }
    }
}

#[test]
fn a_compaction_is_one() {
    let temp = tempfile::tempdir().unwrap();
    let all = fixture_sessions(temp.path());
    let desk = Desk::new();
    for name in [
        "claude-code/2.1/compaction/",
        "claude-code/2.1/kept/",
        "opencode.db",
    ] {
        let source = named(&all, name);
        for to in ["claude-code", "codex", "gemini", "opencode", "pi", "atomic"] {
            if to == source.format.slug() {
                continue;
            }
            let (count, native, made) = fate(&desk, source, to, "compactions");
            assert!(count > 0, "{name}");
            assert_eq!(native, count, "{name} -> {to}");
            assert_eq!(context(&made), context(source), "{name} -> {to}");
        }
    }
}

/// Records of what was said have all of it, with the summary where the past was summed up.
#[test]
fn what_was_summed_up_is_there_where_nothing_takes_it_from_the_model() {
    let temp = tempfile::tempdir().unwrap();
    let all = fixture_sessions(temp.path());
    let desk = Desk::new();
    let source = named(&all, "claude-code/2.1/compaction/");
    for to in ["atsf", "agentuse"] {
        for what in ["text", "tool calls", "tool results"] {
            let (count, native, _) = fate(&desk, source, to, what);
            assert_eq!(native, count, "{what} -> {to}");
        }
        let (_, _, made) = fate(&desk, source, to, "text");
        let said = context(&made);
        let place = |text: &str| said.iter().position(|said| said.contains(text)).unwrap();
        let summary = place("This session is being continued");
        assert!(place("Add a cart.") < summary, "{to}: {said:?}");
        assert!(summary < place("Now the checkout."), "{to}: {said:?}");
    }
}

/// What Codex encrypts is a line that says so, and what came before is history.
#[test]
fn a_summary_that_cannot_be_read_is_said_to_be_one() {
    let w = crate::world::World::new();
    let made = crate::world::json(&w.ok(&["new", "--format", "codex", "--json"]));
    let path = made["path"].as_str().unwrap();
    w.ok(&["append", path, "What does it cost?"]);
    w.ok(&["append", path, "Three.", "--role", "agent"]);
    let item = r#"{"type":"compaction","encrypted_content":"AAAA"}"#;
    let record = format!(
        r#"{{"timestamp":"2026-11-15T12:00:00.000Z","type":"compacted","payload":{{"message":"","replacement_history":[{item}]}}}}"#
    );
    let log = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, format!("{log}{record}\n")).unwrap();
    w.ok(&["append", path, "And for two?"]);
    for to in ["claude-code", "gemini", "pi"] {
        let there = w.root.join(to);
        let there = there.to_str().unwrap();
        let made = w.ok(&["convert", path, "--to", to, "-o", there, "--json"]);
        let made = crate::world::json(&made);
        let made = made["path"].as_str().unwrap();
        let context = w.ok(&["context", made]);
        assert!(context.contains("the summary cannot be read"), "{context}");
        assert!(!context.contains("Three."), "{context}");
        let all = w.ok(&["show", made, "--all-branches"]);
        assert!(all.contains("Three."), "{all}");
    }
}

#[test]
fn labels_are_set_again() {
    let w = crate::world::World::new();
    let made = crate::world::json(&w.ok(&["new", "--format", "pi", "--json"]));
    let path = made["path"].as_str().unwrap();
    let asked = w.ok(&["append", path, "What does it cost?"]);
    w.ok(&["label", path, asked.trim(), "price"]);
    let there = w.root.join("there/.atomic/agent");
    let there = there.to_str().unwrap();
    let made = w.ok(&["convert", path, "--to", "atomic", "-o", there, "--json"]);
    let made = crate::world::json(&made);
    let tree = w.ok(&["tree", made["path"].as_str().unwrap()]);
    assert!(tree.contains("[price]"), "{tree}");
}

/// Gives the last call a result if it has none: to Gemini none goes without.
fn answered(texts: &mut Vec<String>) {
    if texts.last().is_some_and(|text| text.starts_with("call ")) {
        texts.push("result".to_owned());
    }
}

#[test]
fn sub_agents_are_sessions_of_their_own() {
    let temp = tempfile::tempdir().unwrap();
    let all = fixture_sessions(temp.path());
    let desk = Desk::new();
    let agents_of = |source: &Source| {
        let conversation = source.format.reader().read(source).unwrap();
        let agents = Agents::of(&conversation).read;
        agents.into_iter().map(|a| a.source).collect::<Vec<_>>()
    };
    let has_agents = |source: &&Source| !agents_of(source).is_empty();
    let mut tried = Vec::new();
    for source in all.iter().filter(has_agents) {
        for to in ["claude-code", "agentuse", "codex", "gemini", "opencode"] {
            if to == source.format.slug() {
                continue;
            }
            let (_, _, made) = fate(&desk, source, to, "sub-agents");
            let agents = agents_of(&made);
            let texts = |source: &Source, agents: &[Source]| {
                let mut texts: Vec<Vec<String>> = agents.iter().map(context).collect();
                texts.retain(|texts| !texts.is_empty());
                assert!(!texts.is_empty(), "{}", source.path.display());
                texts.sort();
                texts
            };
            let mut expected = texts(source, &agents_of(source));
            if to == "gemini" {
                expected.iter_mut().for_each(answered);
            }
            assert_eq!(
                texts(&made, &agents),
                expected,
                "{} -> {to}",
                source.path.display()
            );
            tried.push((source.format.slug(), to));
        }
    }
    for wanted in [
        ("claude-code", "agentuse"),
        ("agentuse", "claude-code"),
        ("gemini", "claude-code"),
    ] {
        assert!(tried.contains(&wanted), "{wanted:?}: {tried:?}");
    }
}
