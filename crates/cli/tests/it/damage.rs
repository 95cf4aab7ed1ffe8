//! One damaged line, file or store never hides the rest.

use std::fs;

use insta::assert_snapshot;

use crate::world::{World, json, while_repeating};

#[test]
fn a_damaged_log_is_shown_with_every_loss_named() {
    let w = World::new();
    w.fixture("1.1/damaged");
    let answer = w.run(&["show", "latest", "--verbose"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_snapshot!("damaged_notes", w.plain(&answer.err));
    assert_snapshot!("damaged_text", w.plain(&answer.out));
    assert_eq!(w.run(&["show", "latest", "--strict"]).code, 1);
}

#[test]
fn byte_order_marks_and_carriage_returns_are_read() {
    let w = World::new();
    w.fixture("1.1/crlf-bom");
    let answer = w.run(&["show", "latest"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{answer:?}");
    let id = json(&w.ok(&["list", "--json"]))["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let before = fs::read(w.folder(&id).join("messages.jsonl")).unwrap();
    w.ok(&["append", &id, "x"]);
    assert!(
        fs::read(w.folder(&id).join("messages.jsonl"))
            .unwrap()
            .starts_with(&before)
    );
}

#[test]
fn each_file_damaged_in_turn_and_the_other_threads_still_listed() {
    for file in ["thread.json", "messages.jsonl", "config"] {
        for bytes in [
            &b""[..],
            b"{",
            b"null",
            b"[]",
            b"\"x\"",
            b"\xff\xfe\x00",
            b"{}",
        ] {
            let w = World::new();
            let (broken, whole) = (w.thread("broken"), w.thread("whole"));
            w.ok(&["append", &whole, "still here"]);
            let path = match file {
                "config" => w.project.join(".agent/config.json"),
                _ => w.folder(&broken).join(file),
            };
            fs::write(&path, bytes).unwrap();
            let listed = w.run(&["list", "--json"]);
            assert_eq!(
                listed.out.lines().count(),
                2,
                "{file} {bytes:?}: {listed:?}"
            );
            let shown = w.run(&["show", &whole]);
            assert!(
                shown.out.contains("still here"),
                "{file} {bytes:?}: {shown:?}"
            );
            let answer = w.run(&["show", &broken]);
            assert!(
                [0, 1, 3].contains(&answer.code),
                "{file} {bytes:?}: {answer:?}"
            );
            assert!(!answer.err.contains("panicked"), "{answer:?}");
            let raw = w.run(&["show", &broken, "--to", "raw"]);
            assert_eq!(raw.code, 0, "{file} {bytes:?}: {raw:?}");
            let appended = w.run(&["append", &broken, "x"]);
            let readable = file != "thread.json" || bytes == b"{}";
            assert_eq!(
                appended.code != 1,
                readable,
                "{file} {bytes:?}: {appended:?}"
            );
        }
    }
}

#[test]
fn a_damaged_description_is_listed_by_its_folder() {
    let w = World::new();
    let id = w.thread("T");
    fs::write(w.folder(&id).join("thread.json"), "{\n\"title\": oops").unwrap();
    let listed = w.run(&["list", "--json"]);
    assert_eq!(listed.code, 3, "{listed:?}");
    let object = json(&listed.out);
    assert_eq!(
        (object["id"].as_str(), object["state"].as_str()),
        (Some(id.as_str()), Some("damaged"))
    );
    let shown = w.run(&["show", &id]);
    assert_eq!(shown.code, 1);
    assert!(
        shown.err.contains("thread.json` is damaged"),
        "{}",
        shown.err
    );
    assert!(shown.err.contains("line 2"), "{}", shown.err);
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_link_loops_are_no_files() {
    use std::os::unix::fs::symlink;
    let w = World::new();
    let names = ["thread.json", "messages.jsonl"];
    for name in names {
        let id = w.thread(name);
        let path = w.folder(&id).join(name);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap();
        assert!(made.success());
        for args in [
            &["show", &id][..],
            &["append", &id, "x"],
            &["rename", &id, "x"],
            &["fork", &id],
        ] {
            let answer = w.run(args);
            assert_eq!(answer.code, 1, "{name} {args:?}: {answer:?}");
        }
    }
    symlink("loop", w.project.join(".agent/threads/loop")).unwrap();
    symlink("/", w.project.join(".agent/threads/root")).unwrap();
    assert_eq!(w.run(&["list", "--json"]).out.lines().count(), 2);
}

#[cfg(unix)]
#[test]
fn a_log_that_is_a_link_is_never_written_through() {
    use std::os::unix::fs::symlink;
    let w = World::new();
    let id = w.thread("T");
    let target = w.root.join("precious.txt");
    fs::write(&target, "do not touch").unwrap();
    for name in ["messages.jsonl", "thread.json"] {
        let path = w.folder(&id).join(name);
        let original = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&target, &path).unwrap();
        for args in [&["append", &id, "x"][..], &["rename", &id, "x"]] {
            w.run(args);
            assert_eq!(
                fs::read_to_string(&target).unwrap(),
                "do not touch",
                "{name} {args:?}"
            );
        }
        fs::remove_file(&path).unwrap();
        fs::write(&path, original).unwrap();
    }
}

#[test]
fn names_that_lead_out_of_the_store_are_never_followed() {
    let w = World::new();
    let secret = w.root.join("secret.png");
    fs::write(&secret, "secret").unwrap();
    let id = w.thread("T");
    let log = w.folder(&id).join("messages.jsonl");
    for name in [
        "../../../../secret.png",
        "..",
        "/etc/passwd",
        "a\\b",
        "C:x",
        "",
        "\u{0}",
    ] {
        let name = serde_json::to_string(name).unwrap();
        fs::write(
            &log,
            format!(
                "{{\"role\":\"user\",\"content\":[{{\"type\":\"image\",\"assetRef\":{name}}}]}}\n"
            ),
        )
        .unwrap();
        let answer = w.run(&["show", &id]);
        assert!(answer.out.contains("[missing image"), "{name}: {answer:?}");
        let fork = w.run(&["fork", &id, "--json"]);
        let new = json(&fork.out)["id"].as_str().unwrap().to_owned();
        assert!(!w.folder(&new).join("assets").exists(), "{name}");
    }
}

#[test]
fn bombs_are_survived() {
    let w = World::new();
    let id = w.thread("T");
    let log = w.folder(&id).join("messages.jsonl");
    let deep = "[".repeat(200_000);
    let close = "]".repeat(200_000);
    let nested = format!("{{\"id\":\"deep\",\"role\":\"user\",\"content\":{deep}{close}}}\n");
    let torn = format!("{{\"id\":\"torn\",\"content\":{deep}\n");
    let last = "{\"id\":\"last\",\"role\":\"user\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"content\":[{\"type\":\"text\",\"text\":\"the end\"}]}\n";
    fs::write(&log, format!("{nested}{torn}{last}")).unwrap();
    let answer = w.run(&["show", &id]);
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert!(answer.out.contains("the end"));
    let appended = w.pipe(&["append", &id, "--message-json", "-"], nested);
    assert_eq!(appended.code, 1, "{}", appended.err);
    assert_eq!(w.run(&["append", &id, "x"]).code, 0);
}

#[test]
fn a_line_of_200_megabytes_is_survived() {
    use std::io::Write;
    let w = World::new();
    let id = w.thread("T");
    let log = w.folder(&id).join("messages.jsonl");
    let mut file = fs::File::create(&log).unwrap();
    file.write_all(b"{\"id\":\"giant\",\"role\":\"agent\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"content\":[{\"type\":\"text\",\"text\":\"").unwrap();
    let chunk = vec![b'a'; 1 << 20];
    for _ in 0..200 {
        file.write_all(&chunk).unwrap();
    }
    file.write_all(b"\"}]}\n{\"id\":\"last\",\"role\":\"user\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"content\":[{\"type\":\"text\",\"text\":\"the end\"}]}\n").unwrap();
    drop(file);
    let answer = w.run(&["show", &id]);
    assert_eq!(answer.code, 3, "{}", answer.err);
    assert!(answer.out.contains("the end") && answer.out.len() < 10_000);
    assert!(
        answer.err.contains("too long to be shown"),
        "{}",
        answer.err
    );
    assert_eq!(w.run(&["append", &id, "x"]).code, 0);
    assert_eq!(w.manifest(&id)["stats"]["messageCount"], 3);
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_does_not_hide_the_rest() {
    use std::os::unix::fs::PermissionsExt;
    let w = World::new();
    w.thread("here");
    let other = w.root.join("other");
    fs::create_dir(&other).unwrap();
    w.ok(&[
        "new",
        "--format",
        "atsf",
        "--title",
        "locked",
        "--cwd",
        other.to_str().unwrap(),
    ]);
    fs::set_permissions(
        other.join(".agent/threads"),
        fs::Permissions::from_mode(0o000),
    )
    .unwrap();
    // Root may read everything; then there is nothing to report.
    let answer = w.run(&["list", "--json"]);
    let is_root = fs::read_dir(other.join(".agent/threads")).is_ok();
    fs::set_permissions(
        other.join(".agent/threads"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    assert!(answer.out.contains("\"here\""), "{answer:?}");
    assert_eq!(answer.code, if is_root { 0 } else { 3 }, "{answer:?}");
}

#[cfg(unix)]
#[test]
fn folders_that_are_links_out_of_the_store_are_not_followed() {
    use std::os::unix::fs::symlink;
    let w = World::new();
    let id = w.thread("T");
    let outside = w.root.join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.png"), "secret").unwrap();
    symlink(&outside, w.folder(&id).join("assets")).unwrap();
    let picture =
        r#"{"role":"user","content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}"#;
    let written = w.pipe(&["append", &id, "--message-json", "-"], picture);
    assert_eq!(written.code, 1, "{written:?}");
    let secret = r#"{"role":"user","content":[{"type":"image","assetRef":"secret.png","mimeType":"image/png"}]}"#;
    w.message(&id, secret);
    let shown = w.run(&["show", &id]);
    assert!(
        shown.out.contains("[missing image: secret.png]"),
        "{}",
        shown.out
    );
    let fork = json(&w.run(&["fork", &id, "--json"]).out);
    assert!(
        !w.folder(fork["id"].as_str().unwrap())
            .join("assets")
            .exists()
    );
    assert_eq!(
        fs::read_dir(&outside).unwrap().count(),
        1,
        "nothing was written there"
    );

    let other = World::new();
    fs::create_dir(other.project.join(".agent")).unwrap();
    symlink(
        other.root.join("home"),
        other.project.join(".agent/threads"),
    )
    .unwrap();
    let answer = other.run(&["new", "--format", "atsf"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer.err.contains("leads out of the project"),
        "{}",
        answer.err
    );
    assert_eq!(fs::read_dir(&other.home).unwrap().count(), 0);
}

#[test]
fn copies_that_sync_tools_leave_are_named() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "the original"]);
    for name in [
        "messages.sync-conflict-20261115-120000-ABCDEFG.jsonl",
        "thread (Ann's conflicted copy 2026-11-15).json",
    ] {
        fs::write(
            w.folder(&id).join(name),
            "{\"role\":\"user\",\"content\":[]}\n",
        )
        .unwrap();
    }
    let answer = w.run(&["show", &id]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.out.contains("the original"));
    assert_eq!(
        answer.err.matches("a copy that a sync tool left").count(),
        2,
        "{}",
        answer.err
    );
}

#[test]
fn a_log_that_is_written_to_while_it_is_read_is_read_as_it_was() {
    use std::io::Write;
    let w = World::new();
    let id = w.thread("T");
    let line =
        "{\"id\":\"m\",\"role\":\"user\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"content\":[]}\n";
    let log = w.folder(&id).join("messages.jsonl");
    fs::write(&log, line.repeat(2000)).unwrap();
    // Grows, shrinks and vanishes, again and again.
    let write = || {
        let mut file = fs::File::options()
            .append(true)
            .create(true)
            .open(&log)
            .unwrap();
        file.write_all(line.repeat(500).as_bytes()).unwrap();
        file.set_len(line.len() as u64 * 100).unwrap();
        fs::remove_file(&log).unwrap();
    };
    while_repeating(write, || {
        for _ in 0..30 {
            let answer = w.run(&["show", &id, "--json"]);
            assert!([0, 3].contains(&answer.code), "{answer:?}");
            let record = json(&answer.out);
            assert!(record["messages"].is_array());
        }
    });
}
