//! Trust is for one project, and cannot be borrowed or inherited.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::trap::has_terminals;
use crate::world::{Answer, World, json, run_with};

const HOOKS: &str = r#"{"specVersion":"1.1","worktreeHooks":{"symlinks":[{"source":"README.md","target":"link"}],"postSetupCommands":[{"command":"touch ran"}]}}"#;

/// A project with hooks that the user trusts.
fn trusted() -> World {
    let w = World::with_git();
    with_hooks(&w.project);
    w.ok(&["trust", "--yes"]);
    let answer = add(&w, &w.project, "mine");
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(w.root.join("mine/ran").exists());
    w
}

fn with_hooks(project: &Path) {
    fs::create_dir_all(project.join(".agent")).unwrap();
    fs::write(project.join(".agent/config.json"), HOOKS).unwrap();
}

/// Makes a worktree from a folder.
fn add(w: &World, from: &Path, name: &str) -> Answer {
    let path = w.root.join(name);
    let args = ["worktree", "add", name, "--path", path.to_str().unwrap()];
    let mut command = w.command(&args);
    command.current_dir(from);
    run_with(command, b"")
}

fn assert_not_carried_out(w: &World, answer: &Answer, name: &str) {
    assert!([0, 3].contains(&answer.code), "{answer:?}");
    assert!(w.root.join(name).is_dir(), "{answer:?}");
    for made in ["ran", "link"] {
        assert!(!w.root.join(name).join(made).exists(), "{name}: {answer:?}");
    }
}

/// A folder beside the trusted project.
fn beside(w: &World) -> std::path::PathBuf {
    let folder = w.root.join("hostile");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("README.md"), "hostile").unwrap();
    folder
}

#[test]
fn a_folder_that_points_at_a_trusted_project_is_not_trusted() {
    let w = trusted();
    let hostile = beside(&w);
    let pointer = format!("gitdir: {}\n", w.project.join(".git").display());
    fs::write(hostile.join(".git"), pointer).unwrap();
    symlink(w.project.join(".agent"), hostile.join(".agent")).unwrap();
    let answer = add(&w, &hostile, "linked");
    assert_not_carried_out(&w, &answer, "linked");
    assert!(answer.err.contains("is a link"), "{answer:?}");
    // Only the file is a link.
    fs::remove_file(hostile.join(".agent")).unwrap();
    fs::create_dir(hostile.join(".agent")).unwrap();
    let config = w.project.join(".agent/config.json");
    symlink(&config, hostile.join(".agent/config.json")).unwrap();
    let answer = add(&w, &hostile, "file");
    assert_not_carried_out(&w, &answer, "file");
    // The same content.
    fs::remove_file(hostile.join(".agent/config.json")).unwrap();
    with_hooks(&hostile);
    let answer = add(&w, &hostile, "same");
    assert_not_carried_out(&w, &answer, "same");
    assert!(answer.err.contains("they are not trusted"), "{answer:?}");
    // The whole git folder is a link.
    fs::remove_file(hostile.join(".git")).unwrap();
    symlink(w.project.join(".git"), hostile.join(".git")).unwrap();
    let answer = add(&w, &hostile, "link");
    assert_not_carried_out(&w, &answer, "link");
}

#[test]
fn a_folder_that_calls_itself_a_worktree_of_a_trusted_project_is_none() {
    let w = trusted();
    let hostile = beside(&w);
    let git = hostile.join(".git");
    fs::create_dir(&git).unwrap();
    let common = format!("{}\n", w.project.join(".git").display());
    fs::write(git.join("commondir"), common).unwrap();
    fs::copy(w.project.join(".git/HEAD"), git.join("HEAD")).unwrap();
    fs::write(git.join("gitdir"), "/elsewhere/.git\n").unwrap();
    let answer = add(&w, &hostile, "said");
    assert_not_carried_out(&w, &answer, "said");
    assert!(
        answer.err.contains("does not know this folder"),
        "{answer:?}"
    );
    // One that the repository knows goes by the project's trust.
    let answer = add(&w, &w.root.join("mine"), "known");
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(w.root.join("known/ran").exists());
}

#[test]
fn another_repository_at_the_same_path_is_not_trusted() {
    let w = trusted();
    fs::remove_dir_all(&w.project).unwrap();
    fs::create_dir(&w.project).unwrap();
    w.git(&["init", "-q", "-b", "main"]);
    fs::write(w.project.join("README.md"), "# Shop\n").unwrap();
    w.git(&["add", "."]);
    w.git(&["commit", "-q", "-m", "start"]);
    with_hooks(&w.project);
    let answer = add(&w, &w.project, "other");
    assert_not_carried_out(&w, &answer, "other");
    assert!(answer.err.contains("they are not trusted"), "{answer:?}");
}

#[test]
fn without_a_terminal_the_answer_is_no() {
    let w = World::with_git();
    with_hooks(&w.project);
    for input in ["", "y\n"] {
        let plain = w.pipe(&["trust"], input);
        assert!(plain.err.contains("command  touch ran"), "{plain:?}");
        let told = w.pipe(&["trust", "--json"], input);
        assert!(
            told.out.contains(r#""command":"touch ran""#)
                && told.out.contains(r#""trusted":false"#),
            "{told:?}"
        );
        for answer in [plain, told] {
            assert_eq!(answer.code, 1, "{answer:?}");
            assert!(answer.err.contains("`--yes` trusts"), "{answer:?}");
        }
    }
    assert_eq!(w.ok(&["trust", "--list"]), "");
    w.ok(&["trust", "--yes"]);
    assert_eq!(w.ok(&["trust", "--list"]).lines().count(), 1);
}

#[test]
fn on_a_terminal_the_answer_counts_and_the_question_says_how_much_there_is() {
    if !has_terminals() {
        return;
    }
    let w = World::with_git();
    let long = "echo\n".repeat(40) + "touch ran";
    let hooks = serde_json::json!({ "specVersion": "1.1", "worktreeHooks": {
        "symlinks": [{ "source": "README.md", "target": "link" }],
        "postSetupCommands": [{ "command": long }, { "command": "true" }],
        "initialPrompt": "go\non",
    }});
    fs::create_dir(w.project.join(".agent")).unwrap();
    fs::write(w.project.join(".agent/config.json"), hooks.to_string()).unwrap();
    let ask = |input: &str| {
        let plain = w.command(&["trust"]);
        let mut script = Command::new("script");
        let line = format!("{} trust", plain.get_program().to_str().unwrap());
        script.args(["-qec", &line, "/dev/null"]).env_clear();
        script.envs(plain.get_envs().filter_map(|(k, v)| Some((k, v?))));
        script.current_dir(&w.project);
        run_with(script, input.as_bytes())
    };
    let said = ask("n\n");
    let question =
        "Trust exactly this (1 link, 2 commands of 42 lines, a prompt of 2 lines)? [y/N]";
    assert!(said.out.contains(question), "{said:?}");
    assert_eq!(w.ok(&["trust", "--list"]), "");
    let said = ask("y\n");
    assert!(said.out.contains("trusted "), "{said:?}");
    assert_eq!(w.ok(&["trust", "--list"]).lines().count(), 1);
}

#[test]
fn hooks_are_given_some_variables_only() {
    let w = World::with_git();
    fs::create_dir(w.project.join(".agent")).unwrap();
    let config = r#"{"specVersion":"1.1","worktreeHooks":{"postSetupCommands":[{"command":"env > given"}]}}"#;
    fs::write(w.project.join(".agent/config.json"), config).unwrap();
    let mut command = w.command(&["worktree", "add", "--trust", "--json"]);
    for name in [
        "SECRET_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_AUTH_SOCK",
        "GIT_DIR",
        "GIT_SSH_COMMAND",
        "NODE_OPTIONS",
        "RETHREAD_HOME_OF_OTHERS",
    ] {
        command.env(name, "secret");
    }
    command.env("LANG", "C.UTF-8").env("LC_TIME", "C");
    let answer = run_with(command, b"");
    assert_eq!(answer.code, 0, "{answer:?}");
    let worktree = json(&answer.out)["worktree"].as_str().unwrap().to_owned();
    let given = fs::read_to_string(Path::new(&worktree).join("given")).unwrap();
    assert!(!given.contains("secret"), "{given}");
    let mut names: Vec<&str> = given
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        // The shell's own.
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "LC_TIME", "PATH", "TMPDIR", "TZ"]);
}
