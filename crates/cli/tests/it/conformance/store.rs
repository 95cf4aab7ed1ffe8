//! The store and its surroundings.

use std::fs;
use std::path::Path;

use super::{every_verb, example, head, new_id};
use crate::world::{World, copy, fixtures, json, tree};

#[test]
fn no_verb_changes_the_configuration() {
    let w = World::new();
    fs::create_dir(w.project.join(".agent")).unwrap();
    let path = w.project.join(".agent/config.json");
    let with_more = example("config.json").replace(
        "\"defaults\": {",
        "\"unknown\" : [1e2],\n  \"defaults\": {\n    \"more\":-0,",
    );
    assert!(with_more.contains("1e2"));
    for config in [example("config.json"), with_more] {
        fs::write(&path, &config).unwrap();
        w.ok(&["init"]);
        let id = w.thread("T");
        assert_eq!(w.manifest(&id)["agent"]["id"], "claude-code");
        w.ok(&["append", &id, "--role", "agent", "hello"]);
        assert_eq!(w.lines(&id)[0]["model"], "sonnet");
        every_verb(&w, &id);
        assert_eq!(fs::read_to_string(&path).unwrap(), config);
    }
}

#[test]
fn nothing_of_the_environment_is_written() {
    let w = World::new();
    let secret = "sk-0123456789-abcdef";
    let run = |args: &[&str]| {
        let mut command = w.command(args);
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN"] {
            command.env(name, secret);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    };
    run(&["init"]);
    run(&["new", "--format", "atsf", "--id", "my-thread"]);
    run(&["append", "my-thread", "--role", "agent", "hello"]);
    let files = tree(&w.root);
    assert!(files.len() >= 4);
    for (path, bytes) in files {
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains(secret), "{}", path.display());
    }
}

#[test]
fn both_drawn_trees_are_listed_and_read() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "feature", "../wt"]);
    w.fixture("1.1/project");
    copy(&fixtures().join("1.1/worktree"), &w.root.join("wt"));
    let listed = w.ok(&["list", "--tsv"]);
    for (id, title, image) in [
        (
            "f1d49ea9-d820-4b37-b87e-cf44dcff39d6",
            "Gross total is one cent short",
            "sha256-e20d17aa4c802580.png",
        ),
        (
            "4a85d9d9-09ce-483e-b373-1519aeea7e3c",
            "Icon for paid invoices",
            "sha256-7e00f31e1f9534a0.png",
        ),
    ] {
        assert!(listed.contains(&format!("\t{title}\n")), "{listed}");
        let answer = w.run(&["show", id]);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{id}");
        let shown = format!("[image {image} image/png]");
        assert!(answer.out.contains(&shown), "{}", answer.out);
    }
}

#[test]
fn a_worktree_s_store_is_complete_in_itself() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "feature", "../wt"]);
    let worktree = w.root.join("wt");
    let id = new_id(&w, &["--cwd", worktree.to_str().unwrap()]);
    w.message(
        &id,
        r#"{"role":"user","content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}"#,
    );
    let agent = worktree.join(".agent");
    let files: Vec<_> = tree(&agent)
        .into_iter()
        .map(|(path, _)| {
            path.strip_prefix(&agent)
                .unwrap()
                .to_str()
                .unwrap()
                .replace(&id, "ID")
        })
        .collect();
    assert_eq!(
        files,
        [
            ".gitignore",
            "config.json",
            "threads/ID/assets/sha256-b5d4045c3f466fa9.png",
            "threads/ID/messages.jsonl",
            "threads/ID/thread.json",
        ]
    );
    assert!(!w.project.join(".agent").exists());
}

#[test]
fn a_removed_worktree_takes_its_threads_along_and_the_rest_is_listed() {
    let w = World::with_git();
    w.git(&["worktree", "add", "-q", "-b", "feature", "../wt"]);
    w.thread("main");
    let worktree = w.root.join("wt");
    new_id(
        &w,
        &["--title=feature", "--cwd", worktree.to_str().unwrap()],
    );
    assert_eq!(w.ok(&["list", "--json"]).lines().count(), 2);
    fs::remove_dir_all(&worktree).unwrap();
    for forgotten in [false, true] {
        if forgotten {
            w.git(&["worktree", "prune"]);
        }
        let answer = w.run(&["list", "--json"]);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{answer:?}");
        let states: Vec<_> = answer
            .out
            .lines()
            .map(|l| json(l)["state"].clone())
            .collect();
        assert_eq!(states.len(), 2, "{answer:?}");
        assert!(
            states.contains(&"gone".into()),
            "its threads are known, and known to be gone"
        );
    }
}

#[test]
fn git_ignores_logs_and_assets_and_tracks_descriptions() {
    let w = World::with_git();
    let id = w.thread("T");
    w.message(
        &id,
        r#"{"role":"user","content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}"#,
    );
    assert_eq!(tree(&w.folder(&id)).len(), 3);
    let seen = w.git(&["status", "--porcelain", "--untracked-files=all"]);
    let expected =
        format!("?? .agent/.gitignore\n?? .agent/config.json\n?? .agent/threads/{id}/thread.json");
    assert_eq!(seen, expected);
}

#[test]
fn the_relative_folder_is_found_where_the_project_was_moved_to() {
    let w = World::new();
    w.ok(&["init"]);
    fs::create_dir_all(w.project.join("a/b")).unwrap();
    let id = new_id(&w, &["--cwd", "a/b", "--agent-id", "claude-code"]);
    w.ok(&["append", &id, "hello"]);
    let moved = w.root.join("moved");
    fs::rename(&w.project, &moved).unwrap();
    let run = |args: &[&str]| {
        let output = w.command(args).current_dir(&moved).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let now = moved.join("a/b");
    let now = now.to_str().unwrap();
    for listed in [run(&["list", "--json"]), run(&["list", now, "--json"])] {
        assert_eq!(json(&listed)["workspace"], now, "{listed}");
    }
    let shown = json(&run(&["show", &id, "--json"]));
    assert_eq!(shown["session"]["workspace"], now);
    let exported = run(&["export", "-o", "-"]);
    let session = json(exported.lines().nth(1).unwrap());
    assert_eq!(session["session"]["workspace"], now, "{session}");
    // Its agent starts where the folder is, and knows the session there.
    let command = run(&["resume", &id, "--print"]);
    assert!(command.contains(now), "{command}");
    let file = w.home.join(".claude/projects");
    let written = tree(&file);
    assert!(!written.is_empty());
    for (path, bytes) in written {
        let text = String::from_utf8(bytes).unwrap();
        let cwd = format!("\"cwd\":\"{now}\"");
        assert!(text.contains(&cwd), "{}: {text}", path.display());
    }
    // What the thread says stays as it is.
    let place = head(&moved.join(".agent/threads").join(id)).workspace;
    assert!(!Path::new(&place.path.unwrap()).exists());
}

#[test]
fn a_relative_folder_that_leads_out_of_the_project_is_not_followed() {
    let w = World::new();
    let id = w.thread("T");
    fs::create_dir(w.root.join("outside")).unwrap();
    let manifest = w.folder(&id).join("thread.json");
    let text = fs::read_to_string(&manifest).unwrap();
    for (relative, leads_to) in [
        ("../outside", None),
        ("/", None),
        ("gone", None),
        ("./src", Some("src")),
    ] {
        fs::create_dir_all(w.project.join("src")).unwrap();
        let mut described = json(&text);
        described["context"]["workingDir"] = "/no/such/folder".into();
        described["context"]["relativeDir"] = relative.into();
        fs::write(&manifest, described.to_string()).unwrap();
        let listed = json(&w.ok(&["list", "--json"]));
        let expected = leads_to.map_or("/no/such/folder".to_owned(), |name| {
            w.project.join(name).to_str().unwrap().to_owned()
        });
        assert_eq!(listed["workspace"], *expected, "{relative}");
    }
}

#[test]
fn a_thread_s_folder_is_all_that_a_conversation_needs() {
    let w = World::new();
    w.fixture("1.1/project");
    let id = "f1d49ea9-d820-4b37-b87e-cf44dcff39d6";
    let other = World::new();
    copy(&w.folder(id), &other.folder(id));
    let shown = |w: &World| w.plain(&w.ok(&["show", id, "--json"]));
    assert_eq!(shown(&other), shown(&w));
    assert_eq!(json(&shown(&other))["session"]["message_count"], 6);
    other.ok(&["append", id, "on we go"]);
    assert_eq!(other.lines(id).len(), 7);
}
