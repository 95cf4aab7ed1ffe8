//! What to add to the settings of clients.

use crate::world::{World, json};

#[test]
fn each_client_is_told_in_its_own_words() {
    let w = World::new();
    let mut all = String::new();
    for client in [
        "claude",
        "codex",
        "gemini",
        "opencode",
        "copilot",
        "cursor",
        "claude-desktop",
    ] {
        let answer = w.run(&[
            "mcp",
            "--print-config",
            client,
            "--allow-messages",
            "--as",
            "me",
        ]);
        assert_eq!(answer.code, 0, "{answer:?}");
        let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_rethread")).unwrap();
        let text = answer.out.replace(program.to_str().unwrap(), "[RETHREAD]");
        all.push_str(&format!("{}{text}\n", answer.err));
        if !["claude", "codex"].contains(&client) {
            json(&answer.out);
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn homes_and_the_sample_stay_the_ones_that_are_looked_at() {
    let w = World::new();
    let out = w.ok(&[
        "--home",
        "other",
        "mcp",
        "--print-config",
        "claude",
        "--json",
    ]);
    let words = json(&out)["command"].clone();
    let home = w.project.join("other");
    assert_eq!(words[1], "--home");
    assert_eq!(words[2], home.to_str().unwrap());
    assert_eq!(words[3], "mcp");
    let answer = w.run(&["mcp", "--print-config", "clade"]);
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("claude"), "{answer:?}");
}
