//! A real `sshd` on loopback, and a home of real conversations behind it where some are at hand.

use std::fs;
use std::path::Path;

use rethread_judges::Sshd;

use super::remote::{Machines, assert_no_half_file};
use super::{FIRST, MORE, claude, configure, furnish, listed, put, settle, without_home};
use crate::world::{json, tree};

/// Conversations beyond this size would make the test slow without showing more.
const LARGEST: u64 = 512 * 1024;

/// A machine behind `sshd`; none where that is not installed.
fn machine() -> Option<(Machines, Sshd)> {
    let m = Machines::new();
    furnish(&m.far);
    fill(&m.far);
    if let Some(corpus) = rethread_judges::corpus_if_any() {
        for (from, to) in [
            ("claude-code", ".claude/projects/corpus"),
            ("codex", ".codex/sessions/corpus"),
            ("pi", ".pi/agent/sessions/--corpus--"),
        ] {
            gather(&corpus.join(from), &m.far.join(to));
        }
    } else {
        eprintln!("RETHREAD_CORPUS names no folder of real conversations; fixtures do");
    }
    settle(&m.far);
    let sshd = Sshd::serve_home(&m.far, &m.w.root.join("keys"))?;
    let words: Vec<String> = sshd
        .ssh_command()
        .iter()
        .map(|w| format!("'{w}'"))
        .collect();
    configure(
        &m.w,
        &format!(
            "ssh = [{}]\nremotes = ['{}']\n",
            words.join(", "),
            sshd.host()
        ),
    );
    Some((m, sshd))
}

/// Puts sessions of a known length into a home, so that a copy of it takes as many bytes as a test
/// counts on, whatever else is there: 24 sessions of 16 KiB.
fn fill(home: &Path) {
    let long = "Where is the till? ".repeat(16 * 1024 / 19);
    for n in 0..24 {
        let id = format!("cccccccc-0000-4000-8000-{n:012}");
        let text = claude(&id, "/home/ada/shop").replace("Where is the till?", &long);
        let path = home.join(format!(".claude/projects/-home-ada-shop/{id}.jsonl"));
        put(&path, &text);
    }
}

/// Copies all logs below a folder into one.
fn gather(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for (path, bytes) in tree(from) {
        let is_log = path.extension().is_some_and(|e| e == "jsonl");
        if is_log && bytes.len() as u64 <= LARGEST {
            fs::write(to.join(path.file_name().unwrap()), bytes).unwrap();
        }
    }
}

#[test]
fn a_home_behind_sshd_is_listed_exported_and_copied_once() {
    let Some((m, sshd)) = machine() else { return };
    let far = listed(&m.w, &["--ah", "--home-name", "remote_vm01"]);
    assert_eq!(sshd.connection_count(), 1);
    let there = listed(&m.w, &["--home", m.far.to_str().unwrap()]);
    assert!(there.len() > 9, "{}", there.len());
    let (far, there) = (without_home(far), without_home(there));
    assert_eq!(far.len(), there.len());
    for (one, other) in far.iter().zip(&there) {
        assert_eq!(one, other);
    }
    assert_no_half_file(&m.copy(), &[tree(&m.far)], &m.far);
    let first = sshd.sent_bytes();
    // Nothing changed: nothing is copied.
    let answer =
        m.w.run(&["export", "--ah", "--aw", "--json", "-o", "all.ndjson"]);
    assert!([0, 3].contains(&answer.code), "{answer:?}");
    assert_eq!(sshd.connection_count(), 2);
    let second = sshd.sent_bytes() - first;
    let size: u64 = tree(&m.copy()).iter().map(|(_, b)| b.len() as u64).sum();
    assert!(first > size, "{first} bytes for {size}");
    assert!(second < size / 2, "{second} bytes for {size}");
    let text = fs::read_to_string(m.w.project.join("all.ndjson")).unwrap();
    let header = json(text.lines().next().unwrap());
    assert_eq!(header["homes"], json(r#"["remote_vm01"]"#));
    let checked = m.w.run(&["check", "all.ndjson"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    // One file changed: it alone is written anew here.
    let kept = m.copy().join(".codex/session_index.jsonl");
    let changed = m
        .copy()
        .join(format!(".claude/projects/-shop/{FIRST}.jsonl"));
    let id = |path: &Path| rethread_disk::file_id(path).unwrap();
    let before = (id(&kept), id(&changed));
    let log = m.session(FIRST);
    put(&log, &(fs::read_to_string(&log).unwrap() + MORE));
    listed(&m.w, &["--remote", sshd.host()]);
    assert_eq!(fs::read(&changed).unwrap(), fs::read(&log).unwrap());
    assert_eq!(id(&kept), before.0);
    assert_ne!(id(&changed), before.1);
}

#[test]
fn a_broken_connection_leaves_no_half_file() {
    let Some((m, sshd)) = machine() else { return };
    let all = tree(&m.far);
    let mut copied = 0;
    // The first bytes are those of the handshake, then comes the list.
    for cut in [1_000, 12_000, 40_000, 90_000, 200_000] {
        sshd.cut_connections_after(cut);
        let answer = m.w.run(&["list", "--remote", sshd.host(), "--json"]);
        assert!(answer.err.contains("remote_vm01"), "{cut}: {answer:?}");
        if m.w.home.join(".cache/rethread/remotes").is_dir() {
            assert_no_half_file(&m.copy(), std::slice::from_ref(&all), &m.far);
            let now = tree(&m.copy()).len();
            assert!(now >= copied, "what came stays: {now} after {copied}");
            copied = now;
        }
    }
    assert!(copied > 0);
    sshd.cut_connections_after(u64::MAX);
    listed(&m.w, &["--remote", sshd.host()]);
    let there = all
        .iter()
        .filter(|(p, _)| m.copy().join(p.strip_prefix(&m.far).unwrap()).exists());
    assert!(there.count() > copied);
    assert_no_half_file(&m.copy(), &[all], &m.far);
}
