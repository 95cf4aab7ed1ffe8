//! Real sessions, where a folder of them is at hand: `RETHREAD_CORPUS`.

use super::{assert_lossless, sessions};
use crate::world::{World, json};

#[test]
fn all_sessions_of_the_corpus_are_read_listed_and_saved_byte_for_byte() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let corpus = corpus.join("agentuse/agentuse+agentuse/generated");
    let found = sessions(&corpus);
    assert_eq!(found.len(), 19);
    let w = World::new();
    for folder in &found {
        let conversation = assert_lossless(folder);
        assert_eq!(conversation.notes, [], "{}", folder.display());
        for args in [
            &["show"][..],
            &["show", "--to", "markdown"],
            &["show", "--json"],
            &["tree"],
        ] {
            let mut args = args.to_vec();
            args.insert(1, folder.to_str().unwrap());
            let answer = w.run(&args);
            assert_eq!(answer.code, 0, "{args:?}: {answer:?}");
            assert!(!answer.out.is_empty());
        }
    }
    let list = |args: &[&str]| {
        let mut command = w.command(args);
        command.env("XDG_DATA_HOME", &corpus);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let out = String::from_utf8(output.stdout).unwrap();
        out.lines().map(json).collect::<Vec<_>>()
    };
    let all = list(&["list", "--subagents", "--json", "--sort", "tokens"]);
    assert_eq!(all.len(), 19);
    let own = list(&["list", "--json", "--sort", "tokens"]);
    assert_eq!(own.len(), 14);
    let sum = |sessions: &[serde_json::Value], key: &str| {
        let numbers = sessions.iter().map(|s| s[key].as_u64().unwrap());
        numbers.sum::<u64>()
    };
    for key in ["message_count", "tool_call_count", "size"] {
        assert_eq!(
            sum(&all, key),
            sum(&own, key),
            "{key}: counted with their parents"
        );
    }
}
