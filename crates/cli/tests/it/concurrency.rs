//! Many writers at once, some of them killed: nothing lost, nothing torn.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use crate::world::World;

const WRITERS: usize = 16;
const MESSAGES: usize = 1000;

/// Starts a writer; gives it and a thread that collects the ids it acknowledges.
fn writer(w: &World, thread_id: &str, number: usize) -> (Child, thread::JoinHandle<Vec<String>>) {
    let mut child = w
        .command(&[
            "append",
            thread_id,
            "--message-json",
            "-",
            "--durability",
            "none",
            "--lock-timeout",
            "300",
        ])
        .env_remove("RETHREAD_SEED")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let stdout = child.stdout.take().unwrap();
    thread::spawn(move || {
        for i in 0..MESSAGES {
            let role = if i % 2 == 0 { "user" } else { "agent" };
            let text = "x".repeat(i % 97);
            let line = format!(
                "{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{number}-{i} {text}\"}}],\"toolCalls\":[{{\"toolCallId\":\"{number}-{i}\",\"name\":\"n\",\"status\":\"completed\"}}]}}\n"
            );
            // In bursts, so that batches of all sizes occur.
            if i % 50 == 0 {
                thread::sleep(Duration::from_millis(u64::try_from(number % 5).unwrap()));
            }
            if stdin.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    let ids = thread::spawn(move || {
        // A killed writer may leave half an id at the end: only whole lines are acknowledged.
        let mut ids = Vec::new();
        let mut out = BufReader::new(stdout);
        let mut line = String::new();
        while out.read_line(&mut line).is_ok_and(|n| n > 0) {
            if let Some(id) = line.strip_suffix('\n') {
                ids.push(id.to_owned());
            }
            line.clear();
        }
        ids
    });
    (child, ids)
}

#[test]
fn sixteen_writers_some_killed_lose_nothing_that_was_acknowledged() {
    let w = World::new();
    let id = w.thread("T");
    let mut running: Vec<_> = (0..WRITERS).map(|n| writer(&w, &id, n)).collect();
    // Every fourth writer is killed at some moment of its work.
    for (n, (child, _)) in running.iter_mut().enumerate().filter(|(n, _)| n % 4 == 3) {
        thread::sleep(Duration::from_millis(40 + 90 * u64::try_from(n).unwrap()));
        let _ = child.kill();
    }
    let mut acknowledged = Vec::new();
    for (n, (mut child, ids)) in running.into_iter().enumerate() {
        let status = child.wait().unwrap();
        let ids = ids.join().unwrap();
        if n % 4 != 3 {
            assert!(status.success(), "writer {n}: {status}");
            assert_eq!(ids.len(), MESSAGES, "writer {n}");
        }
        acknowledged.extend(ids);
    }
    let lines = w.lines(&id);
    let ids: Vec<&str> = lines.iter().map(|m| m["id"].as_str().unwrap()).collect();
    let present: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(present.len(), ids.len(), "no message is there twice");
    for id in &acknowledged {
        assert!(present.contains(id.as_str()), "{id} was acknowledged");
    }
    // The next append finds whatever a killed writer left uncounted.
    w.ok(&["append", &id, "the end"]);
    let lines = w.lines(&id);
    let count = |role: &str| lines.iter().filter(|m| m["role"] == role).count();
    let stats = &w.manifest(&id)["stats"];
    assert_eq!(stats["messageCount"], lines.len());
    assert_eq!(stats["userMessageCount"], count("user"));
    assert_eq!(stats["agentMessageCount"], count("agent"));
    assert_eq!(stats["toolCallCount"], lines.len() - 1);
    let leftovers: Vec<_> = fs::read_dir(w.folder(&id))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n != "thread.json" && n != "messages.jsonl")
        .collect();
    assert!(
        leftovers
            .iter()
            .all(|n| n.starts_with(".thread.json.") && n.ends_with(".tmp")),
        "{leftovers:?}"
    );
}

#[test]
fn appends_and_replacements_at_once() {
    let w = World::new();
    let id = w.thread("T");
    for i in 0..10 {
        w.message(&id, &format!(r#"{{"id":"m{i}","role":"agent","content":[],"toolCalls":[{{"toolCallId":"t{i}","name":"n","status":"running"}}]}}"#));
    }
    thread::scope(|s| {
        for writer in 0..4 {
            let (w, id) = (&w, &id);
            s.spawn(move || {
                for i in 0..10 {
                    w.ok(&["append", id, &format!("{writer}-{i}")]);
                }
            });
        }
        let (w, id) = (&w, &id);
        s.spawn(move || {
            for i in 0..10 {
                let done = format!(r#"{{"role":"agent","content":[],"toolCalls":[{{"toolCallId":"t{i}","name":"n","status":"completed"}}]}}"#);
                let answer = w.pipe(&["append", id, "--replace", &format!("m{i}"), "--message-json", "-"], done);
                assert_eq!(answer.code, 0, "{answer:?}");
            }
        });
    });
    let lines = w.lines(&id);
    assert_eq!(lines.len(), 50);
    for line in &lines[..10] {
        assert_eq!(line["toolCalls"][0]["status"], "completed");
    }
    let texts: BTreeSet<_> = lines[10..]
        .iter()
        .map(|m| m["content"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts.len(), 40);
    assert_eq!(w.manifest(&id)["stats"]["messageCount"], 50);
}
