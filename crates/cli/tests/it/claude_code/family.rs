//! Sessions of Claude Code with their sub-agents: counted together, removed together, and continued
//! by their own client.

use super::{EVERYTHING, PROJECT, lay_out};
use crate::world::{World, json, tree};

#[test]
fn sub_agents_count_with_their_session() {
    let w = World::new();
    lay_out(&w, &["2.1/everything"]);
    let lines = |args: &[&str]| {
        let out = w.ok(args);
        out.lines().map(json).collect::<Vec<_>>()
    };
    let together = lines(&["list", "--json", "--sort", "tokens"]);
    assert_eq!(together.len(), 1, "{together:?}");
    let apart = lines(&["list", "--json", "--sort", "tokens", "--subagents"]);
    let ids: Vec<&str> = apart.iter().map(|s| s["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [EVERYTHING, "a7", "b3"]);
    let counts = |of: &[serde_json::Value], key: &str| {
        of.iter().map(|s| s[key].as_u64().unwrap()).sum::<u64>()
    };
    let messages = counts(&together, "message_count");
    assert_eq!(messages, counts(&apart, "message_count"));
    assert!(messages > counts(&apart[..1], "message_count"));
    // The client counts its sub-agents itself.
    let tokens = |s: &serde_json::Value| s["token_usage"]["output_tokens"].as_u64().unwrap();
    assert_eq!((tokens(&together[0]), tokens(&apart[0])), (171, 171));
    assert!(tokens(&apart[1]) > 0);
}

#[test]
fn a_session_goes_with_its_own_folder() {
    let w = World::new();
    lay_out(&w, &["2.1/everything", "2.1/compaction"]);
    let project = w.home.join(PROJECT);
    let others = |w: &World| {
        let files = tree(&w.home.join(PROJECT))
            .into_iter()
            .map(|(path, _)| path);
        files
            .filter(|p| p.to_str().unwrap().contains(EVERYTHING))
            .count()
    };
    // A sub-agent goes alone, with what describes it.
    let agent = project.join(EVERYTHING).join("subagents/agent-a7.jsonl");
    let before = others(&w);
    w.ok(&["rm", agent.to_str().unwrap(), "--force"]);
    assert_eq!(others(&w), before - 2);
    w.ok(&["rm", EVERYTHING, "--force"]);
    assert_eq!(others(&w), 0);
    assert!(!project.join(EVERYTHING).exists());
    assert_eq!(w.ok(&["list", "--tsv"]).lines().count(), 1, "the other one");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_its_folder_is_left_alone() {
    let w = World::new();
    lay_out(&w, &["2.1/everything"]);
    let own = w.home.join(PROJECT).join(EVERYTHING);
    let elsewhere = w.root.join("elsewhere");
    std::fs::rename(&own, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &own).unwrap();
    w.ok(&["rm", EVERYTHING, "--force"]);
    assert!(elsewhere.join("subagents").is_dir());
    assert!(!own.with_extension("jsonl").exists());
}

#[test]
fn the_client_continues_a_session_but_no_sub_agent() {
    let w = World::new();
    lay_out(&w, &["2.1/everything"]);
    let how = json(&w.ok(&["resume", EVERYTHING, "--json"]));
    let command = serde_json::json!(["claude", "--resume", EVERYTHING]);
    assert_eq!(
        (&how["command"], &how["cwd"]),
        (&command, &"/home/me/shop".into())
    );
    let agent = format!("{PROJECT}/{EVERYTHING}/subagents/agent-a7.jsonl");
    let answer = w.run(&["resume", w.home.join(agent).to_str().unwrap(), "--print"]);
    assert_eq!(answer.code, 2);
    let says =
        format!("error: `a7` is a sub-agent, which only its session `{EVERYTHING}` continues\n");
    assert_eq!(answer.err, says);
    let agents = w.ok(&["agents", "--json"]);
    let ours = agents
        .lines()
        .map(json)
        .find(|a| a["agent"] == "claude-code");
    let can = serde_json::json!(["read", "write", "resume"]);
    assert_eq!(ours.unwrap()["can"], can);
}

#[test]
fn what_a_session_has_no_place_for_is_refused() {
    let w = World::new();
    for (option, given, what) in [
        ("--session-json", "-", "description that can be given"),
        ("--project-key", "hash", "project keys"),
        ("--agent-key", "name", "agent keys"),
        ("--agent-id", "x", "agent ids"),
        ("--protocol", "acp", "protocol"),
    ] {
        let answer = w.pipe(&["new", "--format", "claude", option, given], "{}");
        assert_eq!(answer.code, 2, "{option}: {answer:?}");
        let says = format!("error: claude-code sessions have no {what}\n");
        assert_eq!(answer.err, says, "{option}");
    }
    assert!(!w.home.join(".claude").exists());
}
