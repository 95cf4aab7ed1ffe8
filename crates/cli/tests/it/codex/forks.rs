//! Turns that were taken back, forks, and sub-agents.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use rethread_model::{Kind, LinkKind};

use super::{
    BASE, CHILD, COPY, FORK, LOST, ROLLED_BACK, assert_lossless, home, listed_usage, read, session,
    usage,
};
use crate::world::{World, json, tree};

#[test]
fn a_tree_with_turns_that_were_taken_back() {
    let w = home(&["0.140/rolled-back"]);
    assert_snapshot!(w.ok(&["tree", ROLLED_BACK]), @r"
    One
    Codex CLI · shop · 18 Jun 09:00 · 8 messages
    019ed917-1cf7-72a3-92f5-000000000002

    ● #1  You  One
    ● #2  Codex  1
    ├─ ○ #3  You  Two
    │  ○ #4  Codex  2
    │  ○ #5  You  Three
    │  ○ #6  Codex  3
    ● #8  You  Four
    ● #9  Codex  4  ◀ leaf
    ");
    let listed = json(w.ok(&["list", "--json"]).trim());
    assert_eq!(listed["archived"], true);
}

#[test]
fn more_turns_than_there_are_leave_what_came_before_the_first() {
    let w = home(&["0.140/rolled-back"]);
    let path = tree(&w.home.join(".codex")).remove(0).0;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"num_turns\":2", "\"num_turns\":9")).unwrap();
    let c = read(&path);
    let leaf = c.session.active_path();
    assert_eq!(leaf.len(), 3, "the event, a question and an answer");
}

#[test]
fn a_fork_by_pointer_has_its_past_from_another_file() {
    let w = home(&["0.166/forks"]);
    assert_snapshot!("codex_fork", w.plain(&w.ok(&["show", FORK])));
    let c = session("0.166/forks", FORK);
    assert_eq!(c.notes, []);
    assert_eq!(c.native.parts.len(), 2);
    assert!(c.native.parts[1].borrowed);
    let inherited: Vec<bool> = c.session.entries().iter().map(|e| e.inherited).collect();
    assert_eq!(inherited, [true, true, true, false, false]);
    let link = &c.session.head.links[0];
    assert_eq!((link.kind, link.session.as_str()), (LinkKind::ForkOf, BASE));
    assert_eq!(link.entry.as_deref(), Some("msg_2"));
    assert_eq!(usage(&c).total(), 14, "what the base cost is counted there");
}

#[test]
fn a_fork_whose_base_is_gone_shows_what_is_left() {
    let w = home(&["0.166/lost-base"]);
    let answer = w.run(&["show", LOST]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.out.contains("Alone"), "{answer:?}");
    assert!(
        answer.err.contains("what it was forked from is missing"),
        "{answer:?}"
    );
}

#[test]
fn a_base_that_is_too_short_is_named() {
    let w = home(&["0.166/forks"]);
    let path = |id: &str| {
        let files = tree(&w.home.join(".codex")).into_iter().map(|(p, _)| p);
        files
            .into_iter()
            .find(|p| p.to_str().unwrap().ends_with(&format!("{id}.jsonl")))
            .unwrap()
    };
    let text = fs::read_to_string(path(BASE)).unwrap();
    let start: String = text.split_inclusive('\n').take(5).collect();
    fs::write(path(BASE), start).unwrap();
    let c = read(&path(FORK));
    assert_eq!(c.notes.len(), 1, "{:?}", c.notes);
    assert!(c.notes[0].message.contains("ends before"), "{:?}", c.notes);
    assert_lossless(&c);
    // Two that go on from each other are no endless tale.
    let circle = fs::read_to_string(path(FORK)).unwrap();
    fs::write(
        path(BASE),
        circle
            .replace(FORK, "x")
            .replace(BASE, FORK)
            .replace('x', BASE),
    )
    .unwrap();
    let c = read(&path(FORK));
    assert!(
        c.notes.iter().any(|n| n.message.contains("circle")),
        "{:?}",
        c.notes
    );
}

#[test]
fn a_fork_that_copied_its_past_counts_only_its_own() {
    let c = session("0.140/copied-fork", COPY);
    let said: Vec<(Kind, bool)> = c
        .session
        .entries()
        .iter()
        .map(|e| (e.kind, e.inherited))
        .collect();
    let messages: Vec<bool> = said
        .iter()
        .filter(|(k, _)| k.is_message())
        .map(|(_, i)| *i)
        .collect();
    assert_eq!(messages, [true, true, false, false]);
    let own = usage(&c);
    assert_eq!((own.input, own.cache_read, own.output), (200, 500, 4));
    assert_eq!(listed_usage(&c), own);
    let recorded = &c.session.head.recorded_usage[0].usage;
    assert_eq!(
        recorded.total(),
        1209,
        "the client's own total is cumulative"
    );
}

#[test]
fn sub_agents_are_linked_with_the_call_that_started_them() {
    let parent = session("0.166/forks", BASE);
    let link = &parent.session.head.links[0];
    assert_eq!(
        (link.kind, link.session.as_str()),
        (LinkKind::SubAgent, CHILD)
    );
    assert_eq!(link.tool_call.as_deref(), Some("call_1"));
    let child = session("0.166/forks", CHILD);
    let link = &child.session.head.links[0];
    assert_eq!((link.kind, link.session.as_str()), (LinkKind::Parent, BASE));
    assert_eq!(child.session.head.agent.role.as_deref(), Some("Laplace"));
    assert!(child.session.head.hidden);
    let shown = home(&["0.166/forks"]).ok(&["show", BASE]);
    assert!(shown.contains(&format!("sub-agent {CHILD}")), "{shown}");
}

#[test]
fn sub_agents_count_once_with_the_sessions_that_started_them() {
    let counted = |w: &World, args: &[&str]| {
        let mut all = vec!["list", "--json", "--sort", "tokens"];
        all.extend(args);
        let listed = w.ok(&all);
        let one = |line| {
            let session = json(line);
            let tokens = &session["token_usage"];
            let number = |value: &serde_json::Value| value.as_u64().unwrap();
            let tokens = [
                number(&tokens["input_tokens"]),
                number(&tokens["cache_read_tokens"]),
                number(&tokens["output_tokens"]),
            ];
            let id = session["id"].as_str().unwrap();
            let last = id.chars().last().unwrap();
            (last, number(&session["message_count"]), tokens)
        };
        listed.lines().map(one).collect::<Vec<_>>()
    };
    // The fork is made a sub-agent: older ones had a copy of all that was said before.
    let w = home(&["0.140/copied-fork"]);
    let is_fork = |(p, _): &(PathBuf, Vec<u8>)| p.to_str().unwrap().contains(COPY);
    let (path, bytes) = tree(&w.home.join(".codex"))
        .into_iter()
        .find(is_fork)
        .unwrap();
    let of = "\"forked_from_id\":\"019ed917-1cf7-72a3-92f5-000000000003\"";
    let as_agent = of.replace("forked_from_id", "parent_thread_id");
    let source = "\"source\":{\"subagent\":{\"thread_spawn\":{\"depth\":1}}}";
    let text = String::from_utf8(bytes).unwrap().replace(of, &as_agent);
    fs::write(&path, text.replacen("\"source\":\"cli\"", source, 1)).unwrap();
    assert_eq!(counted(&w, &[]), [('3', 4, [700, 500, 9])]);
    assert_eq!(
        counted(&w, &["--subagents"]),
        [('4', 2, [200, 500, 4]), ('3', 2, [500, 0, 5])]
    );
    // The last total, which the client itself counted, is that of both.
    let text = fs::read_to_string(&path).unwrap();
    let total = json(text.lines().last().unwrap());
    let total = &total["payload"]["info"]["total_token_usage"];
    assert_eq!(
        (&total["input_tokens"], &total["output_tokens"]),
        (&1200.into(), &9.into())
    );
    let w = home(&["0.166/forks"]);
    let all = counted(&w, &["--subagents"]);
    let with_parents = counted(&w, &[]);
    let sum = |all: &[(char, u64, [u64; 3])]| {
        all.iter().fold((0, 0), |sum, (_, messages, tokens)| {
            (sum.0 + messages, sum.1 + tokens.iter().sum::<u64>())
        })
    };
    assert_eq!((all.len(), with_parents.len()), (3, 2));
    assert_eq!(sum(&all), sum(&with_parents));
}
