//! Where OpenCode has no database yet, a session is the document that `opencode import` takes.

use std::fs;
use std::path::PathBuf;

use rethread_judges::ClientKind;
use serde_json::json as value;

use super::judges::{line, now};
use crate::world::{World, json};

/// A pi session with a call, its result, and an answer; its path.
fn session(w: &World) -> String {
    let made = json(&now(
        w,
        &["new", "--format", "pi", "--title", "Tests", "--json"],
        "",
    ));
    let path = made["path"].as_str().unwrap().to_owned();
    let lines: String = [
        value!({"role": "user", "content": [{"type": "text", "text": "Which tests fail?"}]}),
        value!({"role": "assistant", "content": [
            {"type": "tool_use", "tool_id": "c1", "tool_name": "bash", "input": {"command": "npm test"}}]}),
        value!({"role": "user", "content": [
            {"type": "tool_result", "tool_id": "c1", "output": "1 failing"}]}),
        value!({"role": "assistant", "content": [{"type": "text", "text": "One fails."}]}),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    let append = [
        "append",
        &path,
        "--model",
        "acme/m-1",
        "--message-json",
        "-",
    ];
    now(w, &append, &lines);
    path
}

#[test]
fn without_a_database_it_is_a_document_and_says_so() {
    let w = World::new();
    let original = session(&w);
    for place in [&[][..], &["-o", "out"]] {
        let args = [&["convert", &original, "--to", "opencode"], place].concat();
        let answer = w.run(&args);
        assert_eq!(answer.code, 0, "{answer:?}");
        let path = PathBuf::from(answer.out.trim().rsplit('\t').next().unwrap());
        assert!(
            path.is_file() && path.extension().unwrap() == "json",
            "{answer:?}"
        );
        let told = format!("`opencode import {}` takes it in", path.display());
        assert!(answer.err.contains(&told), "{}", answer.err);
        let document = json(&fs::read_to_string(&path).unwrap());
        assert_eq!(document["info"]["title"], "Tests");
        assert_eq!(document["messages"].as_array().unwrap().len(), 3);
        // It can be read, it comes back as it was, and nothing is written over it.
        let path = path.to_str().unwrap();
        let context = w.ok(&["context", path]);
        for text in ["Which tests fail?", "1 failing", "One fails."] {
            assert!(context.contains(text), "{context}");
        }
        let back = json(&w.ok(&["convert", path, "--to", "pi", "--json", "-o", "back"]));
        let back = back["path"].as_str().unwrap();
        assert_eq!(fs::read(back).unwrap(), fs::read(&original).unwrap());
        fs::remove_dir_all(w.project.join("back")).unwrap();
        let refused = w.run(&["resume", path, "--print"]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.err.contains("opencode import"), "{}", refused.err);
    }
    // No database appears from it.
    assert!(!w.home.join(".local/share/opencode/opencode.db").exists());
}

#[test]
fn opencode_imports_the_document_and_goes_on() {
    let w = World::new();
    let Some(desk) = ClientKind::OpenCode.set_up(&w.home, &w.project) else {
        return;
    };
    let original = session(&w);
    let convert = [
        "convert", &original, "--to", "opencode", "--json", "-o", "out",
    ];
    let made = json(&now(&w, &convert, ""));
    let (id, path) = (made["id"].as_str().unwrap(), made["path"].as_str().unwrap());
    desk.run_client(&["import", path].map(Into::into));
    let lines: Vec<String> = desk.resume_by_server(id, "NEXT").iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "user: Which tests fail?",
            r#"call bash {"command":"npm test"}"#,
            "result 1 failing",
            "assistant: One fails.",
            "user: NEXT",
        ]
    );
    // What was said since comes back into the original.
    let database = w.home.join(".local/share/opencode/opencode.db");
    let name = format!("{}#{id}", database.display());
    let back = json(&now(
        &w,
        &["convert", &name, "--to", "pi", "--json", "-o", "back"],
        "",
    ));
    let back = fs::read_to_string(back["path"].as_str().unwrap()).unwrap();
    assert!(back.contains("NEXT"), "{back}");
    assert!(
        back.starts_with(&fs::read_to_string(&original).unwrap()),
        "{back}"
    );
}
