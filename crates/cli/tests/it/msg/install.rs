//! Links and prompts.
#![cfg(unix)]

use std::fs;

use super::{Post, names};

#[test]
fn links_and_prompts_come_once_and_go_again() {
    let p = Post::new();
    let (bin, commands) = (p.w.root.join("bin"), p.w.root.join("commands"));
    let args = [
        "install",
        "--bin-dir",
        bin.to_str().unwrap(),
        "--commands",
        commands.to_str().unwrap(),
    ];
    let out = p.ok("foo", &args);
    assert_eq!(
        out.lines().filter(|l| l.starts_with("made\t")).count(),
        5,
        "{out}"
    );
    assert_eq!(names(&bin), ["agent-message-cmd", "msg"]);
    assert_eq!(
        names(&commands),
        ["message-inbox.md", "message-reply.md", "message-send.md"]
    );
    let version = std::process::Command::new(bin.join("msg"))
        .arg("--version")
        .output()
        .unwrap();
    assert!(
        String::from_utf8(version.stdout)
            .unwrap()
            .contains("SAMP v1")
    );
    let again = p.ok("foo", &args);
    assert_eq!(
        again.lines().filter(|l| l.starts_with("kept\t")).count(),
        5,
        "{again}"
    );

    fs::write(commands.join("message-send.md"), "my own").unwrap();
    fs::remove_file(bin.join("msg")).unwrap();
    fs::write(bin.join("msg"), "my own").unwrap();
    for more in [&[][..], &["--uninstall"]] {
        let args: Vec<&str> = args.iter().chain(more).copied().collect();
        let answer = p.run("foo", &args);
        assert_eq!(answer.code, 3, "{answer:?}");
        assert_eq!(
            answer.err.matches("left alone: it is not ours").count(),
            2,
            "{answer:?}"
        );
    }
    assert_eq!(
        (names(&bin), names(&commands)),
        (vec!["msg".to_owned()], vec!["message-send.md".to_owned()])
    );
    assert_eq!(fs::read_to_string(bin.join("msg")).unwrap(), "my own");
}

#[test]
fn by_default_it_installs_below_the_home_folder() {
    let p = Post::new();
    p.ok("foo", &["install"]);
    assert_eq!(names(&p.w.home.join(".local/bin")).len(), 2);
    assert_eq!(names(&p.w.home.join(".claude/commands")).len(), 3);
    let out = p.ok("foo", &["install", "--uninstall", "--json"]);
    assert_eq!(out.matches("\"removed\"").count(), 5, "{out}");
}
