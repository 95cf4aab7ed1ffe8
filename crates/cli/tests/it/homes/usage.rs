//! What is said when something is wrong with what was asked.

use super::configure;
use crate::world::World;

#[test]
fn what_is_no_machine_is_never_given_to_ssh() {
    let w = World::new();
    for name in [
        "-oProxyCommand=touch x",
        "ada@-x",
        "vm01:22",
        "a b",
        "vm01;x",
        "",
    ] {
        let answer = w.run(&["list", &format!("--remote={name}")]);
        assert_eq!(answer.code, 2, "{name}: {answer:?}");
        assert!(answer.err.contains("is no machine"), "{name}: {answer:?}");
        configure(&w, &format!("remotes = ['{name}']\n"));
        let answer = w.run(&["list", "--ah"]);
        assert_eq!(answer.code, 2, "{name}: {answer:?}");
        configure(&w, "");
    }
    assert!(!w.project.join("x").exists());
}

#[test]
fn wrong_settings_are_named_with_their_line() {
    let w = World::new();
    configure(&w, "# mine\nremote = ['vm01']\n");
    let answer = w.run(&["list", "--ah"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    insta::assert_snapshot!(w.plain(&answer.err), @"error: `[ROOT]/home/.config/rethread/config.toml`, line 2: unknown field `remote`, expected one of `ssh`, `ssh_timeout`, `remotes`, `wsl`, `windows`, `budget`, `prices`");
    let answer = w.run(&["list", "--ah", "--json"]);
    assert!(answer.err.contains(r#""line":2"#), "{answer:?}");
    // Who asks for nothing but the local home needs no settings.
    assert_eq!(w.run(&["list"]).code, 1);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let w = World::new();
    configure(&w, "ssh = ['no-such-ssh']\n");
    let answer = w.run(&["list", "--remote", "vm01"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer
            .err
            .contains("`remote_vm01` cannot be read: `no-such-ssh` cannot be started"),
        "{answer:?}"
    );
}
