//! Found, listed, and looked up by id.

use std::fs;

use insta::assert_snapshot;

use super::{CODER, LATER, MINIMAL, PLANNER, TESTER, data, folder, world};
use crate::world::{World, json};

fn ids(out: &str) -> Vec<String> {
    out.lines()
        .map(|l| l.split('\t').next().unwrap().to_owned())
        .collect()
}

#[test]
fn sessions_are_listed_newest_first_and_sub_agents_count_with_their_parents() {
    let w = world(&["document/full", "document/minimal", "0.30/everything"]);
    assert_snapshot!(w.plain(&w.ok(&["list"])), @r"
    01KA3J10..0007  agentuse  2025-11-15 09:46  3  proj   plain
    01KA3J10..0005  agentuse  2025-11-15 09:46  7  proj   Quote Maker
    01KA3J10..0004  agentuse  2025-11-15 09:46  2  loose  default
    01KA3J10..0001  agentuse  2025-11-15 09:46  9  src    Daily Planner
    ");
    assert_snapshot!(w.plain(&w.ok(&["list", "--subagents"])), @r"
    01KA3J10..0007  agentuse  2025-11-15 09:46  3  proj   plain
    01KA3J10..0006  agentuse  2025-11-15 09:46  2  proj   Reviewer
    01KA3J10..0005  agentuse  2025-11-15 09:46  5  proj   Quote Maker
    01KA3J10..0004  agentuse  2025-11-15 09:46  2  loose  default
    01KA3J10..0003  agentuse  2025-11-15 09:46  2  proj   Tester
    01KA3J10..0002  agentuse  2025-11-15 09:46  3  proj   Coder
    01KA3J10..0001  agentuse  2025-11-15 09:46  4  src    Daily Planner
    ");
}

#[test]
fn nested_sub_agents_are_hidden_or_shown_with_their_parents() {
    let w = world(&["document/full"]);
    let hidden = w.ok(&["list", "--tsv"]);
    assert_eq!(ids(&hidden), [PLANNER]);
    let shown = w.ok(&["list", "--tsv", "--subagents"]);
    assert_eq!(ids(&shown), [TESTER, CODER, PLANNER]);
    let all: Vec<_> = w
        .ok(&["list", "--json", "--subagents"])
        .lines()
        .map(json)
        .collect();
    let parent = |id: &str| {
        let session = all.iter().find(|s| s["id"] == id).unwrap();
        (
            session["is_agent_session"].clone(),
            session["parent_session_id"].clone(),
        )
    };
    assert_eq!(parent(TESTER), (true.into(), CODER.into()));
    assert_eq!(parent(CODER), (true.into(), PLANNER.into()));
    assert_eq!(parent(PLANNER), (false.into(), serde_json::Value::Null));
    let sum = |out: &str, column: usize| -> u64 {
        let cell = |l: &str| l.split('\t').nth(column).unwrap().parse::<u64>().unwrap();
        out.lines().map(cell).sum()
    };
    for column in [4, 5] {
        assert_eq!(sum(&hidden, column), sum(&shown, column), "column {column}");
    }
}

#[test]
fn tokens_cost_and_duration_are_summed_as_the_program_does() {
    let w = world(&["document/full", "document/minimal", "0.30/everything"]);
    let all = w.ok(&["list", "--json", "--subagents", "--sort", "tokens"]);
    let all: Vec<_> = all.lines().map(json).collect();
    let sums = |id: &str| {
        let s = all.iter().find(|s| s["id"] == id).unwrap();
        format!(
            "{} {} {}",
            s["token_usage"], s["cost_usd"], s["duration_ms"]
        )
    };
    // What the message says, less what a cache answered; the steps are not added to it.
    assert_snapshot!(sums(PLANNER), @r#"{"input_tokens":400,"output_tokens":340,"cache_creation_tokens":64,"cache_read_tokens":800} 0.0125 12300"#);
    // The message says nothing, so its steps are added up.
    assert_snapshot!(sums(MINIMAL), @r#"{"input_tokens":40,"output_tokens":10,"cache_creation_tokens":1,"cache_read_tokens":10} 0.75 null"#);
    assert_snapshot!(sums(LATER), @r#"{"input_tokens":400,"output_tokens":60,"cache_creation_tokens":0,"cache_read_tokens":100} 0.0 3000"#);
}

#[test]
fn ids_are_found_by_their_beginning_whatever_their_case() {
    let w = world(&["document/full", "document/minimal"]);
    let shown = |name: &str| json(&w.ok(&["show", name, "--json"]))["session"]["id"].clone();
    assert_eq!(shown(PLANNER), PLANNER);
    assert_eq!(shown(&TESTER.to_lowercase()), TESTER);
    assert_eq!(shown(&format!("agentuse:{CODER}")), CODER);
    let answer = w.run(&["show", "01ka3j1000s0000000000000"]);
    assert_eq!(answer.code, 1);
    for id in [PLANNER, CODER, TESTER, MINIMAL] {
        assert!(answer.err.contains(id), "{}", answer.err);
    }
    assert_eq!(
        shown("latest"),
        MINIMAL,
        "sub-agents count with their parents"
    );
}

#[test]
fn stores_are_found_in_every_place_that_the_program_uses() {
    let w = World::new();
    let put = |case: &str, to: &std::path::Path| {
        crate::world::copy(&super::fixtures().join(case), &to.join("agentuse"));
    };
    put("document/full", &w.home.join(".local/share"));
    put("document/minimal", &w.root.join("xdg"));
    assert_eq!(ids(&w.ok(&["list", "--tsv"])), [PLANNER]);
    let mut command = w.command(&["list", "--tsv"]);
    command.env("XDG_DATA_HOME", w.root.join("xdg"));
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert_eq!(ids(&out), [MINIMAL], "the project `global` is read");
    let other = w.root.join("other-home");
    put("0.30/everything", &other.join(".local/share"));
    let mut command = w.command(&["list", "--tsv", "--home", other.to_str().unwrap()]);
    command.env("XDG_DATA_HOME", w.root.join("xdg"));
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(ids(&out).contains(&LATER.to_owned()), "{out}");
    assert_eq!(ids(&out).len(), 2);
}

#[test]
fn a_path_names_a_session_whichever_of_its_files_it_is() {
    let w = world(&["document/full"]);
    let session = folder(&data(&w), PLANNER);
    let own = crate::world::tree(&session)
        .into_iter()
        .map(|(path, _)| path);
    let own = own.filter(|p| !p.strip_prefix(&session).unwrap().starts_with("subagent"));
    for path in own.chain([session.clone()]) {
        let out = w.ok(&["show", path.to_str().unwrap(), "--json"]);
        assert_eq!(json(&out)["session"]["id"], PLANNER, "{}", path.display());
    }
    let folder = |names: &str| w.run(&["show", data(&w).join(names).to_str().unwrap()]);
    for names in [
        "",
        "project",
        "project/6b9af143446a411a",
        "project/6b9af143446a411a/session",
    ] {
        let answer = folder(names);
        assert_eq!(answer.code, 1, "{names}");
        assert!(answer.err.contains("could be 3 sessions"), "{}", answer.err);
    }
}

#[test]
fn links_and_half_written_files_are_no_parts() {
    let w = world(&["document/minimal"]);
    let session = folder(&data(&w), MINIMAL);
    let before = w.ok(&["show", MINIMAL]);
    let tmp = session.join("session.json.4711.6f1e.tmp");
    fs::write(tmp, "{").unwrap();
    assert_eq!(w.ok(&["show", MINIMAL]), before);
    #[cfg(unix)]
    {
        let secret = w.root.join("secret.json");
        fs::write(&secret, r#"{"type":"text","text":"a secret"}"#).unwrap();
        let part = session.join("01KA3J1000M000000000000004/part/01KA3J1000P000000000000099.json");
        std::os::unix::fs::symlink(&secret, part).unwrap();
        let answer = w.run(&["show", MINIMAL]);
        assert_eq!(answer.code, 3);
        assert!(answer.err.contains("0099.json"), "{}", answer.err);
        assert!(!answer.out.contains("a secret"));
    }
}
