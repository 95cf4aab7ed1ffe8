//! Starting sessions.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use sha2::{Digest, Sha256};

use super::{data, folder};
use crate::world::{World, json};

fn made(out: &str) -> (String, PathBuf) {
    let made = json(out);
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("id"), text("path").into())
}

fn new(w: &World, args: &[&str]) -> (String, PathBuf) {
    let mut all = vec!["new", "--format", "agentuse", "--json"];
    all.extend(args);
    made(&w.ok(&all))
}

/// The first 16 digits of a path's hash, by somebody else's hand.
fn hash(path: &str) -> String {
    let digest = Sha256::digest(path.as_bytes());
    let hex: String = digest.iter().map(|b| format!("{b:02x}")).collect();
    hex[..16].to_owned()
}

/// The names below the data folder on the way to a session.
fn way(w: &World, path: &std::path::Path) -> Vec<String> {
    let inner = path.strip_prefix(data(w)).unwrap();
    inner
        .iter()
        .map(|n| n.to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_new_session_is_written_as_the_program_does() {
    let w = World::new();
    let (id, path) = new(&w, &["--agent-name", "Daily Planner"]);
    let text = fs::read_to_string(path.join("session.json")).unwrap();
    assert_snapshot!(w.plain(&text).replace(&id, "[ID]"), @r#"
    {
      "agent": {
        "name": "Daily Planner",
        "isSubAgent": false
      },
      "model": "unknown",
      "version": "rethread-0.1.0",
      "config": {},
      "project": {
        "root": "[ROOT]/shop",
        "cwd": "[ROOT]/shop"
      },
      "id": "[ID]",
      "time": {
        "created": 1794744000000,
        "updated": 1794744000000
      }
    }
    "#);
    assert!(!text.ends_with('\n'), "no line break at the end");
    assert_eq!(
        way(&w, &path),
        [
            "project",
            "global",
            "session",
            &format!("{id}-daily-planner")
        ]
    );
    assert_eq!(
        w.run(&["check", path.to_str().unwrap(), "--strict"]).code,
        0
    );
}

#[test]
fn the_key_is_the_hash_of_the_git_root_as_git_prints_it() {
    let w = World::with_git();
    let root = w.git(&["rev-parse", "--show-toplevel"]);
    let inner = w.project.join("src/deep");
    fs::create_dir_all(&inner).unwrap();
    for args in [&[][..], &["--cwd", "src/deep"], &["--project-key", "hash"]] {
        let (_, path) = new(&w, args);
        assert_eq!(way(&w, &path)[1], hash(&root), "{args:?}");
    }
}

#[test]
fn outside_of_git_the_key_is_global_or_the_hash_of_the_project() {
    let w = World::new();
    let (_, path) = new(&w, &[]);
    assert_eq!(way(&w, &path)[1], "global");
    let (_, path) = new(&w, &["--project-key", "hash"]);
    assert_eq!(way(&w, &path)[1], hash(w.project.to_str().unwrap()));
    // A project's root is marked; what is below it belongs to it.
    fs::write(w.project.join("package.json"), "{}").unwrap();
    fs::create_dir(w.project.join("src")).unwrap();
    let (_, path) = new(&w, &["--project-key", "hash", "--cwd", "src"]);
    assert_eq!(way(&w, &path)[1], hash(w.project.to_str().unwrap()));
    let written = json(&fs::read_to_string(path.join("session.json")).unwrap());
    assert_eq!(written["project"]["root"], w.project.to_str().unwrap());
    assert_eq!(
        written["project"]["cwd"],
        w.project.join("src").to_str().unwrap()
    );
}

#[test]
fn the_folder_is_named_by_the_agent_s_name_or_its_id() {
    let w = World::new();
    let named = |args: &[&str]| {
        let (id, path) = new(&w, args);
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        name.strip_prefix(&format!("{id}-")).unwrap().to_owned()
    };
    for (name, part) in [
        ("Daily Reporter", "daily-reporter"),
        ("a__b--C", "a__b-c"),
        ("Ünïcode!", "n-code"),
        ("--x--", "x"),
        ("_x_", "_x_"),
        ("---", "default"),
        ("../../etc", "etc"),
    ] {
        assert_eq!(named(&[&format!("--agent-name={name}")]), part, "{name}");
    }
    let both = [
        "--agent-id",
        "social/quotes/1-create",
        "--agent-name",
        "Quotes",
    ];
    assert_eq!(named(&both), "quotes");
    let mut by_id = both.to_vec();
    by_id.extend(["--agent-key", "id"]);
    assert_eq!(named(&by_id), "social-quotes-1-create");
    let answer = w.run(&["new", "--format", "agentuse", "--agent-key", "id"]);
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("--agent-id"), "{}", answer.err);
    assert_eq!(
        w.run(&["check", data(&w).to_str().unwrap()]).code,
        0,
        "both habits are right"
    );
}

#[test]
fn session_json_takes_every_field() {
    let w = World::new();
    let given = r#"{"later": {"kept": 1e2}, "agent": {"name": "Quotes", "id": "q/1", "filePath": "/p/q.agentuse", "description": "d", "mood": "wet"},
        "model": "openai:gpt-5", "version": "0.30.0", "mock": true, "config": {"timeout": 3, "mcpServers": ["a"]},
        "trigger": "api", "status": "completed", "id": "01KA3J1000S000000000000001",
        "time": {"created": 5}, "channels": {"slack": []}}"#;
    let args = [
        "new",
        "--format",
        "agentuse",
        "--json",
        "--session-json",
        "-",
    ];
    let answer = w.pipe(&args, given);
    assert_eq!(answer.code, 0, "{answer:?}");
    let (id, path) = made(&answer.out);
    assert_eq!(id, "01KA3J1000S000000000000001");
    let text = fs::read_to_string(path.join("session.json")).unwrap();
    assert_snapshot!(w.plain(&text), @r#"
    {
      "agent": {
        "id": "q/1",
        "name": "Quotes",
        "filePath": "/p/q.agentuse",
        "description": "d",
        "isSubAgent": false,
        "mood": "wet"
      },
      "model": "openai:gpt-5",
      "version": "0.30.0",
      "mock": true,
      "config": {
        "timeout": 3,
        "mcpServers": [
          "a"
        ]
      },
      "project": {
        "root": "[ROOT]/shop",
        "cwd": "[ROOT]/shop"
      },
      "trigger": "api",
      "id": "01KA3J1000S000000000000001",
      "status": "completed",
      "time": {
        "created": 5,
        "updated": 1794744000000
      },
      "later": {
        "kept": 1e2
      },
      "channels": {
        "slack": []
      }
    }
    "#);
    let again = w.pipe(&args, given);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("exists already"), "{}", again.err);
    for (wrong, why) in [
        ("[]", "not a JSON object"),
        ("{", "not JSON"),
        (r#"{"id":"x"}"#, "no ULID"),
        (r#"{"agent":[]}"#, "`agent` is not an object"),
        (r#"{"model":7}"#, "`model` is a number, not a string"),
        (r#"{"parentSessionID":"x"}"#, "nested in no session"),
        (
            r#"{"time":{"created":"now"}}"#,
            "`time.created` is a string, not a number",
        ),
    ] {
        let answer = w.pipe(&args, wrong);
        assert_eq!(answer.code, 2, "{wrong}: {answer:?}");
        assert!(answer.err.contains(why), "{wrong}: {}", answer.err);
    }
}

#[test]
fn a_sub_agent_s_session_lies_in_its_parent_s() {
    let w = World::new();
    let (parent, parent_path) = new(&w, &["--agent-name", "planner"]);
    let (id, path) = new(&w, &["--agent-name", "coder", "--parent", &parent]);
    assert_eq!(path, parent_path.join(format!("subagent/{id}-coder")));
    let text = fs::read_to_string(path.join("session.json")).unwrap();
    let text = text.replace(&id, "[ID]").replace(&parent, "[PARENT]");
    assert_snapshot!(w.plain(&text), @r#"
    {
      "parentSessionID": "[PARENT]",
      "agent": {
        "name": "coder",
        "isSubAgent": true
      },
      "model": "unknown",
      "version": "rethread-0.1.0",
      "config": {},
      "project": {
        "root": "[ROOT]/shop",
        "cwd": "[ROOT]/shop"
      },
      "id": "[ID]",
      "time": {
        "created": 1794744000000,
        "updated": 1794744000000
      }
    }
    "#);
    let inner = new(&w, &["--parent", &id]).1;
    assert!(inner.starts_with(&path));
    assert_eq!(
        w.run(&["check", data(&w).to_str().unwrap(), "--strict"])
            .code,
        0
    );
    for args in [&["--project-key", "hash"][..], &["-o", "elsewhere"]] {
        let mut all = vec!["new", "--format", "agentuse", "--parent", &parent];
        all.extend(args);
        assert_eq!(w.run(&all).code, 2, "{args:?}");
    }
}

#[test]
fn what_a_format_has_no_use_for_is_refused() {
    let w = World::new();
    let (id, _) = new(&w, &[]);
    let refused = |args: &[&str]| {
        let answer = w.run(args);
        assert_eq!(answer.code, 2, "{args:?}: {answer:?}");
        answer.err.lines().next().unwrap().to_owned()
    };
    fs::write(w.project.join("s.json"), "{}").unwrap();
    let errors = [
        refused(&["rename", &id, "x"]),
        refused(&["fork", &id]),
        refused(&["new", "--format", "agentuse", "--title", "x"]),
        refused(&["new", "--format", "agentuse", "--protocol", "acp"]),
        refused(&["new", "--format", "atsf", "--parent", &id]),
        refused(&["new", "--format", "atsf", "--session-json", "s.json"]),
        refused(&["new", "--format", "atsf", "--project-key", "hash"]),
        refused(&["new", "--format", "atsf", "--agent-key", "id"]),
    ];
    assert_snapshot!(errors.join("\n"), @r"
    error: agentuse sessions have no titles
    error: agentuse sessions have no forks
    error: agentuse sessions have no titles
    error: agentuse sessions have no protocol
    error: atsf sessions have no sub-agents
    error: atsf sessions have no description that can be given
    error: atsf sessions have no project keys
    error: atsf sessions have no agent keys
    ");
}

#[test]
fn other_places_to_write_to() {
    let w = World::new();
    let (_, path) = new(&w, &["-o", "out"]);
    assert!(
        path.starts_with(w.project.join("out/project/global/session")),
        "{path:?}"
    );
    let mut command = w.command(&["new", "--format", "agentuse", "--json"]);
    command.env("XDG_DATA_HOME", w.root.join("xdg"));
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(
        made(&out)
            .1
            .starts_with(w.root.join("xdg/agentuse/project"))
    );
    let home = w.root.join("other");
    fs::create_dir(&home).unwrap();
    let (_, path) = new(&w, &["--home", home.to_str().unwrap()]);
    assert!(path.starts_with(home.join(".local/share/agentuse")));
}

#[test]
fn rm_takes_a_session_with_its_sub_agents() {
    let w = super::world(&["document/full"]);
    w.ok(&["rm", super::CODER, "--force"]);
    assert_eq!(super::sessions(&data(&w)).len(), 1);
    let path = folder(&data(&w), super::PLANNER);
    w.ok(&["rm", super::PLANNER, "--force"]);
    assert!(!path.exists());
}
