//! Real conversations, where a folder of them is at hand: `RETHREAD_CORPUS`.

use rethread_judges::corpus;

use super::{assert_header_fits, lines};
use crate::world::World;

#[test]
fn golden_sessions_have_so_many_messages() {
    let Some(corpus) = corpus() else { return };
    let w = World::new();
    let of = |name: &str| {
        let path = corpus.join(name).to_str().unwrap().to_owned();
        let all = lines(&w, &[&path]);
        assert_header_fits(&all);
        all[1].clone()
    };
    let claude = of("claude-code/kvsankar+agent-history/tests/fixtures/v1/claude_golden.jsonl");
    assert_eq!(claude["messages"].as_array().unwrap().len(), 6);
    assert_eq!(claude["messages"][2]["content"][0]["tool_name"], "Read");
    assert_eq!(
        claude["session"]["workspace"],
        "/home/testuser/golden-project"
    );
    let codex = of("codex/kvsankar+agent-history/tests/fixtures/v1/codex_golden.jsonl");
    assert_eq!(codex["messages"].as_array().unwrap().len(), 5);
    let gemini = of("gemini/kvsankar+agent-history/tests/fixtures/v1/gemini_golden.json");
    assert_eq!(gemini["messages"].as_array().unwrap().len(), 5);
    let forked =
        of("claude-code/kvsankar+agent-history/tests/fixtures/forks/claude_forked_session.jsonl");
    let fork = &forked["graph"]["fork_points"][0];
    assert_eq!(fork["uuid"], "fa1-fork");
    assert_eq!(fork["branches"].as_array().unwrap().len(), 2);
    let last = forked["messages"].as_array().unwrap().last().unwrap()["uuid"].clone();
    assert_eq!(
        forked["graph"]["active_path"]
            .as_array()
            .unwrap()
            .last()
            .unwrap(),
        &last
    );
    for name in [
        "claude-code/kvsankar+agent-history/tests/fixtures/compaction/claude/session_with_compaction.jsonl",
        "claude-code/kvsankar+agent-history/tests/fixtures/rejections/claude_with_rejection.jsonl",
        "codex/kvsankar+agent-history/tests/fixtures/compaction/codex/session_with_compaction.jsonl",
        "codex/kvsankar+agent-history/tests/fixtures/rejections/codex_with_escalation.jsonl",
    ] {
        assert!(
            !of(name)["messages"].as_array().unwrap().is_empty(),
            "{name}"
        );
    }
}
