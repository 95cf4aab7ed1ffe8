//! Who somebody is, where the messages are, and who may read them.

use std::fs;

use super::{Post, names};
use crate::world::json;

#[test]
fn flag_variable_file_and_folder_in_that_order() {
    let p = Post::new();
    let who = |args: &[&str], variable: Option<&str>| {
        let mut command = p.command("shop", args);
        command.args(["whoami", "--json"]);
        if let Some(alias) = variable {
            command.env("AGENT_MESSAGE_ALIAS", alias);
        }
        let answer = crate::world::run_with(command, b"");
        assert_eq!(answer.code, 0, "{answer:?}");
        let said = json(&answer.out);
        (
            said["alias"].as_str().unwrap().to_owned(),
            said["source"].as_str().unwrap().to_owned(),
        )
    };
    let is = |alias: &str, source: &str| (alias.to_owned(), source.to_owned());
    assert_eq!(who(&[], None), is("shop", "the folder's name"));
    fs::write(
        p.home_of("shop").join(".agent-message"),
        "# me\n  filed \r\nother\n",
    )
    .unwrap();
    assert_eq!(who(&[], None), is("filed", ".agent-message"));
    assert_eq!(
        who(&[], Some("varied")),
        is("varied", "AGENT_MESSAGE_ALIAS")
    );
    assert_eq!(
        who(&["--as", "flagged"], Some("varied")),
        is("flagged", "--as")
    );
    let text = p.ok("shop", &["whoami"]);
    assert_eq!(p.w.plain(&text), "filed\t.agent-message\t[ROOT]/messages\n");
}

#[test]
fn an_alias_that_is_none_is_wrong_usage_and_nobody_is_unknown() {
    let p = Post::new();
    for bad in ["../x", "a b", "-a", &"x".repeat(65)] {
        let answer = p.run("shop", &[&format!("--as={bad}"), "send", "bob", "x"]);
        assert_eq!(answer.code, 2, "{bad}: {answer:?}");
        let mut command = p.command("shop", &["inbox"]);
        command.env("AGENT_MESSAGE_ALIAS", bad);
        let answer = crate::world::run_with(command, b"");
        assert_eq!(answer.code, 2, "{bad}: {answer:?}");
        assert!(answer.err.contains("hint: an alias is"), "{answer:?}");
    }
    for args in [
        &["send", "bob", "x"][..],
        &["inbox"],
        &["reply", "x"],
        &["compact"],
    ] {
        let answer = p.run("a folder, with spaces", args);
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(
            answer.err.contains("say who you are with `--as`"),
            "{answer:?}"
        );
    }
    assert!(!p.dir.exists());
}

#[test]
fn a_folder_s_name_that_was_used_in_another_folder_is_warned_about() {
    let p = Post::new();
    p.ok("shop", &["send", "bob", "x"]);
    p.ok("shop", &["send", "bob", "y"]);
    let answer = p.run("elsewhere/shop", &["send", "bob", "z"]);
    assert_eq!(answer.code, 0);
    assert!(
        answer
            .err
            .contains("`shop` is the name of this folder, but was last used in"),
        "{answer:?}"
    );
    assert!(
        p.w.plain(&answer.err).contains("[ROOT]/agents/shop`"),
        "{answer:?}"
    );
    p.ok("elsewhere/shop", &["inbox"]);
    assert!(p.run("shop", &["whoami"]).err.contains("was last used in"));
    p.ok("shop", &["--as", "shop", "inbox"]);
}

#[test]
fn the_folder_is_a_flag_a_variable_or_the_state_folder() {
    let p = Post::new();
    let other = p.w.root.join("other");
    p.ok(
        "foo",
        &["--dir", other.to_str().unwrap(), "send", "bar", "x"],
    );
    assert_eq!(names(&other), ["log-foo.jsonl"]);
    let mut command = p.command("foo", &["send", "bar", "x"]);
    command.env_remove("AGENT_MESSAGE_DIR");
    assert_eq!(crate::world::run_with(command, b"").code, 0);
    assert_eq!(
        names(&p.w.home.join(".local/state/agent-message")),
        ["log-foo.jsonl"]
    );
    let state = p.w.root.join("state");
    let mut command = p.command("foo", &["send", "bar", "x"]);
    command
        .env_remove("AGENT_MESSAGE_DIR")
        .env("XDG_STATE_HOME", &state);
    assert_eq!(crate::world::run_with(command, b"").code, 0);
    assert_eq!(names(&state.join("agent-message")), ["log-foo.jsonl"]);
}

#[cfg(unix)]
#[test]
fn logs_are_private_unless_the_folder_was_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let p = Post::new();
    p.ok("foo", &["send", "bar", "x"]);
    assert_eq!(
        (mode(&p.dir), mode(&p.path("log-foo.jsonl"))),
        (0o700, 0o600)
    );
    for (folder, log) in [
        (0o750, 0o640),
        (0o755, 0o644),
        (0o2770, 0o660),
        (0o700, 0o600),
    ] {
        let p = Post::new();
        fs::create_dir(&p.dir).unwrap();
        fs::set_permissions(&p.dir, fs::Permissions::from_mode(folder)).unwrap();
        p.ok("foo", &["send", "bar", "x"]);
        p.ok("bar", &["inbox"]);
        assert_eq!(mode(&p.path("log-foo.jsonl")), log, "{folder:o}");
        assert_eq!(mode(&p.path(".seen-bar")), 0o600);
        assert_eq!(mode(&p.w.home.join(".cache/rethread/samp")), 0o700);
    }
}

#[test]
fn init_makes_the_folder_and_the_rules_for_sync_tools() {
    let p = Post::new();
    let answer = p.run("foo", &["init"]);
    assert_eq!(
        (answer.code, p.w.plain(&answer.out).as_str()),
        (0, "[ROOT]/messages\n")
    );
    let rules = ".seen-*\n.mtime-*\n.*.tmp\n.log-*.old\n";
    assert_eq!(p.read(".stignore"), rules);
    p.put(".stignore", "*.bak\n.seen-*\n.*.tmp");
    let answer = p.run("foo", &["init", "--json"]);
    let added = serde_json::json!([".mtime-*", ".log-*.old"]);
    assert_eq!(json(&answer.out)["added"], added);
    let all = "*.bak\n.seen-*\n.*.tmp\n.mtime-*\n.log-*.old\n";
    assert_eq!(p.read(".stignore"), all);
    p.run("foo", &["init"]);
    assert_eq!(p.read(".stignore"), all);
}
