//! What is different where somebody sits at a terminal: pagers and questions.

use std::path::Path;
use std::process::Command;

use crate::world::{Answer, World, run_with};

/// Runs the binary on a terminal of its own, where somebody types `input`. Both outputs are what stands
/// on the screen. Nothing, where there is no program that makes terminals.
pub(crate) fn on_terminal(
    w: &World,
    args: &[&str],
    input: &str,
    variables: &[(&str, &str)],
) -> Option<Answer> {
    let script = Path::new("/usr/bin/script");
    if !cfg!(target_os = "linux") || !script.is_file() {
        rethread_judges::skip_without("script");
        return None;
    }
    let quoted = |word: &&str| format!("'{}'", word.replace('\'', "'\\''"));
    let words: Vec<String> = args.iter().map(quoted).collect();
    let line = format!("rethread {}", words.join(" "));
    let plain = w.command(args);
    let mut command = Command::new(script);
    command
        .args(["-qefc", &line, "/dev/null"])
        .current_dir(&w.project)
        .env_clear();
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap());
    }
    let beside = Path::new(env!("CARGO_BIN_EXE_rethread")).parent().unwrap();
    command.envs(variables.iter().copied());
    let own = std::env::var_os("PATH").unwrap();
    let asked = variables.iter().find(|(name, _)| *name == "PATH");
    let path = asked.map_or(own, |(_, path)| path.into());
    let path = std::iter::once(beside.to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(path).unwrap());
    let mut shown = run_with(command, input.as_bytes());
    shown.out = shown.out.replace("\r\n", "\n");
    Some(shown)
}

#[test]
fn a_named_home_does_not_silence_the_pager() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "Hello"]);
    let path = w.folder(&id);
    let home = w.home.to_str().unwrap();
    let pager = [("PAGER", "sed s/^/paged:/")];
    for args in [
        &["show", path.to_str().unwrap()][..],
        &["--home", home, "show", path.to_str().unwrap()],
    ] {
        let Some(shown) = on_terminal(&w, args, "", &pager) else {
            return;
        };
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(shown.out.contains("paged:"), "{args:?}: {shown:?}");
    }
    let args = ["show", path.to_str().unwrap(), "--no-pager"];
    let shown = on_terminal(&w, &args, "", &pager).unwrap();
    assert!(!shown.out.contains("paged:"), "{shown:?}");
}
