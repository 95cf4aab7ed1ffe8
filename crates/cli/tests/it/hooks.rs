//! `worktreeHooks`: nothing before trust, everything in order, nothing that outlives its time.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::world::{Answer, World, fixtures, json};

/// A project with these hooks.
fn project(hooks: &str) -> World {
    let w = World::with_git();
    set_hooks(&w, hooks);
    w
}

fn set_hooks(w: &World, hooks: &str) {
    fs::create_dir_all(w.project.join(".agent")).unwrap();
    let config = format!("{{\"specVersion\":\"1.1\",\"worktreeHooks\":{hooks}}}");
    fs::write(w.project.join(".agent/config.json"), config).unwrap();
}

fn add(w: &World, args: &[&str]) -> (Answer, serde_json::Value) {
    let mut all = vec!["worktree", "add", "--json"];
    all.extend(args);
    let answer = w.run(&all);
    assert!(answer.code == 0 || answer.code == 3, "{answer:?}");
    let value = json(&answer.out);
    (answer, value)
}

fn worktree(added: &serde_json::Value) -> PathBuf {
    PathBuf::from(added["worktree"].as_str().unwrap())
}

fn statuses(added: &serde_json::Value) -> Vec<String> {
    let hooks = added["hooks"].as_array().unwrap();
    hooks
        .iter()
        .map(|h| {
            format!(
                "{} {}",
                h["step"].as_str().unwrap(),
                h["status"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn the_document_s_example_runs_in_order() {
    let w = World::with_git();
    fs::create_dir_all(w.project.join(".agent")).unwrap();
    let document = fs::read_to_string(fixtures().join("1.1/document/config.json")).unwrap();
    fs::write(w.project.join(".agent/config.json"), document).unwrap();
    fs::write(w.project.join(".env.local"), "KEY=1").unwrap();
    fs::create_dir(w.project.join("node_modules")).unwrap();
    // A stand-in for npm that notes what it saw.
    let bin = w.root.join("bin");
    fs::create_dir(&bin).unwrap();
    let npm = bin.join("npm");
    fs::write(&npm, "#!/bin/sh\necho \"npm $* in $(pwd)\" > npm.log; ls -l .env.local node_modules >> npm.log\n").unwrap();
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).unwrap();
    let search = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = w
        .command(&["worktree", "add", "--trust", "--json"])
        .env("PATH", search)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let added = json(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(
        statuses(&added),
        [
            "symlink done",
            "symlink done",
            "command done",
            "initialPrompt done"
        ]
    );
    let worktree = worktree(&added);
    for name in [".env.local", "node_modules"] {
        let leads = fs::read_link(worktree.join(name)).unwrap();
        assert_eq!(leads, w.project.join(name));
    }
    let log = fs::read_to_string(worktree.join("npm.log")).unwrap();
    assert!(
        log.starts_with(&format!("npm install in {}", worktree.display())),
        "{log}"
    );
    assert!(
        log.contains(".env.local ->"),
        "links come before commands: {log}"
    );
    let thread = PathBuf::from(added["path"].as_str().unwrap());
    let first = fs::read_to_string(thread.join("messages.jsonl")).unwrap();
    let message = json(first.lines().next().unwrap());
    assert_eq!(message["role"], "user");
    assert_eq!(
        message["content"][0]["text"],
        "Read CONTRIBUTING.md and suggest what to work on next."
    );
    let manifest = json(&fs::read_to_string(thread.join("thread.json")).unwrap());
    assert_eq!(manifest["stats"]["userMessageCount"], 1);
    assert_eq!(manifest["agent"]["id"], "claude-code");
}

#[test]
fn nothing_happens_before_trust_and_the_thread_is_there_all_the_same() {
    let w = project(
        r#"{"symlinks":[{"source":"README.md","target":"link"}],"postSetupCommands":[{"command":"touch ran"}],"initialPrompt":"hello"}"#,
    );
    let (answer, added) = add(&w, &[]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(statuses(&added), ["all skipped"]);
    assert!(
        answer.err.contains("they are not trusted"),
        "{}",
        answer.err
    );
    assert!(answer.err.contains("rethread trust"), "{}", answer.err);
    assert!(!worktree(&added).join("ran").exists());
    assert!(fs::symlink_metadata(worktree(&added).join("link")).is_err());
    let thread = PathBuf::from(added["path"].as_str().unwrap());
    assert_eq!(
        fs::read_to_string(thread.join("messages.jsonl")).unwrap(),
        ""
    );
    assert!(thread.join("thread.json").is_file());
}

#[test]
fn trust_is_for_exactly_this_content_in_this_place() {
    let hooks = r#"{"postSetupCommands":[{"command":"touch ran"}]}"#;
    let w = project(hooks);
    let shown = w.run(&["trust", "--yes"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(
        shown.err.contains("command  touch ran"),
        "what would run is shown: {}",
        shown.err
    );
    let (answer, added) = add(&w, &[]);
    assert_eq!(
        (answer.code, statuses(&added)),
        (0, vec!["command done".to_owned()])
    );
    assert!(worktree(&added).join("ran").is_file());
    // Any change ends it: a space is enough.
    set_hooks(&w, &hooks.replace("touch ran", "touch ran "));
    assert_eq!(add(&w, &[]).0.code, 3);
    set_hooks(&w, &hooks.replace(":[", ": ["));
    assert_eq!(add(&w, &[]).0.code, 3);
    // The same content again is what was trusted; another place is not.
    set_hooks(&w, hooks);
    assert_eq!(add(&w, &[]).0.code, 0);
    let elsewhere = w.root.join("copy");
    let copied = std::process::Command::new("cp")
        .args(["-r"])
        .arg(&w.project)
        .arg(&elsewhere)
        .status()
        .unwrap();
    assert!(copied.success());
    let mut other = w.command(&["worktree", "add", "copied", "--json"]);
    assert_eq!(
        other
            .current_dir(&elsewhere)
            .output()
            .unwrap()
            .status
            .code(),
        Some(3)
    );
    // It can be listed and taken back.
    assert_eq!(w.ok(&["trust", "--list", "--json"]).lines().count(), 1);
    w.ok(&["trust", "--revoke"]);
    assert_eq!(w.ok(&["trust", "--list"]), "");
    assert_eq!(add(&w, &[]).0.code, 3);
    // With the flag it is remembered too.
    assert_eq!(add(&w, &["--trust"]).0.code, 0);
    assert_eq!(add(&w, &[]).0.code, 0);
}

#[test]
fn a_worktree_s_own_configuration_has_no_say() {
    let w = project(r#"{"postSetupCommands":[{"command":"touch ran"}]}"#);
    w.git(&["add", "-f", "."]);
    w.git(&["commit", "-q", "-m", "hooks"]);
    let (_, first) = add(&w, &["--trust"]);
    let evil = "{\"specVersion\":\"1.1\",\"worktreeHooks\":{\"postSetupCommands\":[{\"command\":\"touch evil\"}]}}";
    fs::write(worktree(&first).join(".agent/config.json"), evil).unwrap();
    let output = w
        .command(&["worktree", "add", "second", "--json"])
        .current_dir(worktree(&first))
        .output()
        .unwrap();
    let added = json(&String::from_utf8(output.stdout).unwrap());
    assert!(worktree(&added).join("ran").is_file());
    assert!(!worktree(&added).join("evil").exists());
}

#[test]
fn failures_skip_what_follows_but_not_the_prompt() {
    let w = project(
        r#"{"symlinks":[{"source":"missing"},{"source":"README.md","target":"docs/link"}],
            "postSetupCommands":[
              {"command":"echo oops >&2; exit 7","continueOnError":true},
              {"command":"touch second"},
              {"command":"exit 1","label":"Break"},
              {"command":"touch never"}],
            "initialPrompt":"go"}"#,
    );
    let (answer, added) = add(&w, &["--trust"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(
        statuses(&added),
        [
            "symlink failed",
            "symlink done",
            "command failed",
            "command done",
            "command failed",
            "command skipped",
            "initialPrompt done"
        ]
    );
    assert_eq!(added["hooks"][2]["message"], "exited with code 7: oops");
    let worktree = worktree(&added);
    assert!(worktree.join("second").exists() && !worktree.join("never").exists());
    assert_eq!(
        fs::read_link(worktree.join("docs/link")).unwrap(),
        w.project.join("README.md")
    );
    let people = w.run(&["worktree", "add", "again"]);
    assert_eq!(people.code, 3);
    assert!(
        people.err.contains("Break …"),
        "labels are shown: {}",
        people.err
    );
    assert!(
        people
            .err
            .contains("warning: Break: failed: exited with code 1"),
        "{}",
        people.err
    );
}

#[test]
fn platforms_and_time_limits() {
    let here = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    };
    let hooks = format!(
        r#"{{"postSetupCommands":[
            {{"command":"touch here","platforms":["{here}"]}},
            {{"command":"touch there","platforms":["win32"]}},
            {{"command":"touch nowhere","platforms":[]}},
            {{"command":"sleep 0.3; touch slow","timeout":0}},
            {{"command":"(setsid sh -c 'sleep 4; touch late' &); sh -c 'sleep 4; touch late' & sleep 900","timeout":200,"continueOnError":true}},
            {{"command":"touch last"}}]}}"#
    );
    let w = project(&hooks);
    let start = Instant::now();
    let (_, added) = add(&w, &["--trust"]);
    assert!(start.elapsed() < Duration::from_mins(15));
    assert_eq!(
        statuses(&added),
        [
            "command done",
            "command done",
            "command failed",
            "command done"
        ]
    );
    assert!(
        added["hooks"][2]["message"]
            .as_str()
            .unwrap()
            .contains("timed out after 0.2 s")
    );
    std::thread::sleep(Duration::from_millis(4500));
    let there = |name: &str| worktree(&added).join(name).exists();
    assert!(there("here") && there("slow") && there("last"));
    assert!(!there("there") && !there("nowhere"));
    assert!(!there("late"), "nothing outlives its time");
}

#[test]
fn an_existing_file_is_never_removed_for_a_link() {
    let w = project(r#"{"symlinks":[{"source":"other.txt","target":"README.md"}]}"#);
    fs::write(w.project.join("other.txt"), "other").unwrap();
    let (answer, added) = add(&w, &["--trust"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(
        fs::read_to_string(worktree(&added).join("README.md")).unwrap(),
        "# Shop\n"
    );
}

#[test]
fn links_stay_inside_the_repository_and_the_worktree() {
    let w = World::with_git();
    let secret = w.root.join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("key"), "secret").unwrap();
    symlink(&secret, w.project.join("out")).unwrap();
    symlink("out", w.project.join("out2")).unwrap();
    symlink(".git", w.project.join("gitlink")).unwrap();
    symlink(".", w.project.join("itself")).unwrap();
    symlink("itself", w.project.join("itself2")).unwrap();
    w.git(&["add", "out", "out2"]);
    w.git(&["commit", "-q", "-m", "links"]);
    let names = [
        ("../secret/key", "a"),
        ("/etc/passwd", "b"),
        ("out/key", "c"),
        ("out2/key", "d"),
        (".git/config", "e"),
        (".GIT/config", "f"),
        ("gitlink/config", "g"),
        ("README.md", "../escaped"),
        ("README.md", "/tmp/escaped"),
        ("README.md", "out/escaped"),
        ("README.md", "out2/deep/escaped"),
        ("README.md", ".git"),
        ("README.md", ".git/x"),
        ("README.md", "a/../../escaped"),
        ("", "h"),
        (".", "i"),
        ("README.md", ""),
        ("README.md", "j\nk"),
        ("a\\b", "l"),
        ("itself", "m"),
        ("itself2", "n"),
        ("itself2/itself", "o"),
    ];
    let links: Vec<String> = names
        .iter()
        .map(|(s, t)| serde_json::json!({ "source": s, "target": t }).to_string())
        .collect();
    set_hooks(&w, &format!("{{\"symlinks\":[{}]}}", links.join(",")));
    let before = crate::world::tree(&secret);
    let (_, added) = add(&w, &["--trust"]);
    for (hook, (source, target)) in added["hooks"].as_array().unwrap().iter().zip(names) {
        assert_eq!(hook["status"], "failed", "{source} {target}: {hook}");
    }
    assert_eq!(crate::world::tree(&secret), before);
    assert!(!w.root.join("escaped").exists());
    assert!(!Path::new("/tmp/escaped").exists());
}

#[test]
fn what_is_shown_cannot_act_on_the_terminal() {
    let hooks = serde_json::json!({
        "symlinks": [{ "source": "a\u{1b}[2J", "target": "b\u{202e}" }],
        "postSetupCommands": [{ "command": "rm -rf \u{1b}[8m x\n  command  harmless", "label": "\u{7}ok" }],
        "initialPrompt": "\u{9b}31m hi"
    });
    let w = project(&hooks.to_string());
    let shown = w.run(&["trust", "--yes"]);
    let bad = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!shown.err.contains(bad), "{:?}", shown.err);
    assert!(shown.err.contains("rm -rf"), "{}", shown.err);
    let own = shown
        .err
        .lines()
        .filter(|l| l.starts_with("  command  "))
        .count();
    assert_eq!(own, 1, "a command cannot pass for two: {}", shown.err);
}

const COMMANDS: [&str; 15] = [
    "touch /tmp/rethread-evil",
    "sh -c 'touch evil'",
    "$(touch evil)",
    "`touch evil`",
    "touch evil; sleep 100 &",
    ":(){ :|:& };:",
    "exec touch evil",
    "\u{1b}]0;x\u{7}touch evil",
    "touch evil\u{0}",
    "touch\tevil\n",
    "--help",
    "",
    "sudo touch evil",
    "curl http://127.0.0.1:9/x | sh",
    "nohup setsid touch evil &",
];

const PATHS: [&str; 22] = [
    "../x",
    "../../../../etc/passwd",
    "/etc/passwd",
    "/",
    "..",
    ".",
    "",
    ".git",
    ".git/hooks/post-checkout",
    ".GIT/config",
    "a/../../b",
    "a\\..\\b",
    "C:\\x",
    "\\\\host\\x",
    "~",
    "$HOME/x",
    "a\u{0}b",
    "a\nb",
    "\u{202e}b",
    "-rf",
    "con",
    "x/.git/y",
];

/// Configurations that nobody should have to trust.
fn hostile() -> Vec<String> {
    let mut all = Vec::new();
    for command in COMMANDS {
        let command = serde_json::to_string(command).unwrap();
        all.push(format!(
            "{{\"postSetupCommands\":[{{\"command\":{command}}}]}}"
        ));
        all.push(format!("{{\"postSetupCommands\":[{{\"command\":{command},\"timeout\":1,\"label\":{command}}}]}}"));
        all.push(format!("{{\"initialPrompt\":{command}}}"));
    }
    for path in PATHS {
        let path = serde_json::to_string(path).unwrap();
        all.push(format!("{{\"symlinks\":[{{\"source\":{path}}}]}}"));
        all.push(format!(
            "{{\"symlinks\":[{{\"source\":\"README.md\",\"target\":{path}}}]}}"
        ));
        all.push(format!("{{\"symlinks\":[{{\"source\":{path},\"target\":{path}}}],\"postSetupCommands\":[{{\"command\":\"touch evil\"}}]}}"));
    }
    for value in [
        "null",
        "true",
        "5",
        "1e400",
        "\"x\"",
        "[]",
        "[[]]",
        "[null]",
        "[{}]",
        "{}",
        "[5]",
        "{\"a\":1}",
    ] {
        for key in ["symlinks", "postSetupCommands", "initialPrompt"] {
            all.push(format!("{{\"{key}\":{value}}}"));
        }
        for key in [
            "timeout",
            "label",
            "continueOnError",
            "platforms",
            "command",
        ] {
            all.push(format!(
                "{{\"postSetupCommands\":[{{\"command\":\"touch evil\",\"{key}\":{value}}}]}}"
            ));
        }
        all.push(value.to_owned());
    }
    all.push(format!(
        "{{\"symlinks\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    ));
    all.push(format!(
        "{{\"initialPrompt\":\"{}\"}}",
        "x".repeat(1_000_000)
    ));
    let many = vec!["{\"command\":\"touch evil\"}"; 10_000].join(",");
    all.push(format!("{{\"postSetupCommands\":[{many}]}}"));
    all.push("{\"postSetupCommands\":[{\"command\":\"touch evil\"}".to_owned());
    all
}

#[test]
fn two_hundred_hostile_configurations_do_nothing_without_trust() {
    let all = hostile();
    assert!(all.len() >= 200, "{}", all.len());
    let w = World::with_git();
    let strace = crate::world::strace();
    for (n, hooks) in all.iter().enumerate() {
        set_hooks(&w, hooks);
        let name = format!("w{n}");
        let args = ["worktree", "add", &name, "--json", "--durability", "none"];
        // No program but git is started.
        if let Some(strace) = &strace {
            let trace = w.root.join("trace");
            let command = w.command(&args);
            let mut traced = std::process::Command::new(strace);
            traced
                .args([
                    "-f",
                    "--seccomp-bpf",
                    "-qq",
                    "-e",
                    "trace=execve,symlink,symlinkat",
                    "-o",
                ])
                .arg(&trace)
                .arg(command.get_program());
            traced
                .args(command.get_args())
                .current_dir(&w.project)
                .env_clear();
            traced.envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
            traced.stdin(std::process::Stdio::null());
            let code = traced.output().unwrap().status.code();
            assert!([Some(0), Some(3)].contains(&code), "{hooks:.200}: {code:?}");
            let trace = fs::read_to_string(&trace).unwrap();
            for line in trace
                .lines()
                .filter(|l| l.contains("execve(") && l.contains("= 0"))
            {
                let ours = line.contains("/rethread\"")
                    || line.contains("/git\"")
                    || line.contains("git-core/");
                assert!(ours, "{hooks:.200}: {line}");
            }
            assert!(!trace.contains("symlink"), "{hooks:.200}");
        } else {
            let answer = w.run(&args);
            assert!([0, 3].contains(&answer.code), "{hooks:.200}: {answer:?}");
            assert!(!answer.err.contains("panicked"), "{answer:?}");
        }
        let worktree = w
            .home
            .join(".local/share/rethread/worktrees/shop")
            .join(&name);
        assert!(!worktree.join("evil").exists(), "{hooks:.200}");
        let threads = fs::read_dir(worktree.join(".agent/threads"))
            .unwrap()
            .count();
        assert_eq!(threads, 1, "the thread is there: {hooks:.200}");
        let log = fs::read_dir(worktree.join(".agent/threads"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        assert_eq!(
            fs::read_to_string(log.join("messages.jsonl")).unwrap(),
            "",
            "no prompt: {hooks:.200}"
        );
    }
    assert!(!Path::new("/tmp/rethread-evil").exists());
}

#[test]
fn trust_says_in_json_what_the_hooks_would_do() {
    let w = World::with_git();
    fs::create_dir_all(w.project.join(".agent")).unwrap();
    let none = w.run(&["trust", "--json"]);
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    assert_eq!(
        json(&none.err)["note"]["message"],
        "there are no hooks here"
    );
    let hooks = r#"{"symlinks":[{"source":"a","target":"b"}],
        "postSetupCommands":[{"command":"make","platforms":["linux"]},{"label":"nothing"}],"initialPrompt":"Begin"}"#;
    set_hooks(&w, hooks);
    // Nobody is there to answer: what they would do is told, and trusted is nothing.
    let asked = w.run(&["trust", "--json"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    let shown = json(&asked.out);
    assert_eq!(shown["trusted"], false);
    assert_eq!(
        shown["hooks"]["symlinks"],
        json(r#"[{"source":"a","target":"b"}]"#)
    );
    let make = json(r#"[{"command":"make","label":null,"platforms":["linux"]}]"#);
    assert_eq!(shown["hooks"]["commands"], make);
    assert_eq!(shown["hooks"]["initial_prompt"], "Begin");
    assert_eq!(shown["hooks"]["invalid"].as_array().unwrap().len(), 1);
    let errors: Vec<_> = asked.err.lines().map(json).collect();
    assert!(
        errors.iter().any(|e| e["error"]["kind"] == "refused"),
        "{errors:?}"
    );
    assert_eq!(w.ok(&["trust", "--list", "--json"]), "");
    let given = json(&w.run(&["trust", "--yes", "--json"]).out);
    assert_eq!(given["trusted"], true);
    assert_eq!(given["hooks"], shown["hooks"]);
    let listed = json(&w.ok(&["trust", "--list", "--json"]));
    for field in ["hash", "path", "repository", "identity"] {
        assert_eq!(listed[field], given[field], "{field}");
    }
    let revoked = json(&w.ok(&["trust", "--revoke", "--json"]));
    assert_eq!(revoked["path"], given["path"]);
    assert_eq!(revoked["revoked"], 1);
}
