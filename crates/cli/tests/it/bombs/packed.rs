//! Packed files that hold next to nothing, very often.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{bounded, exported};
use crate::world::World;

const DAY: &str = ".codex/sessions/2026/11/15";

fn name(n: u32) -> String {
    format!("rollout-2026-11-15T10-00-00-00000000-0000-7000-8000-{n:012}.jsonl.zst")
}

/// The first lines of a session of Codex.
fn session(n: u32) -> String {
    let id = format!("00000000-0000-7000-8000-{n:012}");
    [
        format!(
            r#"{{"timestamp":"2026-11-15T10:00:00.000Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-15T10:00:00.000Z","cwd":"/home/me/shop","originator":"codex_cli_rs","cli_version":"0.166.0","source":"cli","model_provider":"openai"}}}}"#
        ),
        r#"{"timestamp":"2026-11-15T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Before the bomb"}]}}"#.to_owned(),
        String::new(),
    ]
    .join("\n")
}

/// A stream of this text, again and again: what makes it long is packed once.
fn zstd_bomb(start: &str, text: &[u8], times: usize) -> Vec<u8> {
    let chunk = text.repeat((32 << 20) / text.len());
    let frame = zstd::encode_all(&chunk[..], 1).unwrap();
    let mut all = zstd::encode_all(start.as_bytes(), 1).unwrap();
    for _ in 0..times {
        all.extend_from_slice(&frame);
    }
    all
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn bombs_of_codex_hold_up_nobody() {
    let w = World::new();
    w.thread("A good thread");
    let good = zstd::encode_all(session(9).as_bytes(), 1).unwrap();
    put(&w.home.join(DAY).join(name(9)), &good);
    // Four thousand million line breaks each, in some hundred kilobytes.
    let lines = zstd_bomb("", b"\n", 120);
    assert!(lines.len() < 1 << 20, "{}", lines.len());
    put(&w.home.join(DAY).join(name(1)), &lines);
    put(
        &w.home.join(DAY).join(name(2)),
        &zstd_bomb(&session(2), b"\n", 120),
    );
    put(
        &w.home.join(DAY).join(name(3)),
        &zstd_bomb(&session(3), b"a", 30),
    );
    put(
        &w.home.join(DAY).join(name(4)),
        &zstd_bomb(&session(4), b"{}\n", 30),
    );
    let list = bounded(&w, &["list", "--tsv"]);
    assert_eq!(list.code, 3, "{list:?}");
    assert!(list.out.contains("A good thread"), "{list:?}");
    assert_eq!(list.out.matches("Before the bomb").count(), 4, "{list:?}");
    for n in 1..=4 {
        let note = list.err.lines().find(|line| line.contains(&name(n)));
        assert!(
            note.unwrap()
                .contains("packed content is not read to its end"),
            "{list:?}"
        );
    }
    assert!(!list.err.contains(&name(9)), "{list:?}");
    for n in 2..=4 {
        let id = format!("00000000-0000-7000-8000-{n:012}");
        for command in [&["show"][..], &["tree"], &["export", "-o", "-", "--lean"]] {
            let shown = bounded(&w, &[command, &[id.as_str()][..]].concat());
            assert_eq!(shown.code, 3, "{command:?} {}", shown.err);
            assert!(
                shown.err.contains("not read to its end"),
                "{command:?} {}",
                shown.err
            );
            assert!(
                shown.out.contains("Before the bomb"),
                "{command:?} {}",
                shown.err
            );
        }
    }
    // What is packed is copied as it is.
    let path = w.home.join(DAY).join(name(2));
    let raw = bounded(
        &w,
        &["export", path.to_str().unwrap(), "--source", "-o", "copy"],
    );
    assert_eq!(raw.code, 0, "{raw:?}");
    let copied = crate::world::tree(&w.project.join("copy"));
    assert!(
        copied
            .iter()
            .any(|(_, bytes)| *bytes == fs::read(&path).unwrap())
    );
}

#[test]
fn a_window_of_gigabytes_is_refused() {
    let w = World::new();
    w.thread("A good thread");
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(31).unwrap();
    encoder.write_all(session(1).as_bytes()).unwrap();
    encoder.flush().unwrap();
    put(&w.home.join(DAY).join(name(1)), &encoder.finish().unwrap());
    let list = bounded(&w, &["list", "--tsv"]);
    assert_eq!(list.code, 3, "{list:?}");
    assert!(list.out.contains("A good thread"), "{list:?}");
    assert!(list.err.contains("packed content is damaged"), "{list:?}");
}

#[test]
fn bombs_of_exports_hold_up_nobody() {
    let w = World::new();
    let good = exported(&w);
    let header = good.lines().next().unwrap();
    let pack = |text: &[u8], len: u64| {
        let mut out = GzEncoder::new(Vec::new(), Compression::best());
        out.write_all(good.as_bytes()).unwrap();
        let chunk = text.repeat(1 << 16);
        let mut content = io::repeat(0).take(len / chunk.len() as u64 * chunk.len() as u64);
        let mut buffer = vec![0; chunk.len()];
        while content.read_exact(&mut buffer).is_ok() {
            out.write_all(&chunk).unwrap();
        }
        out.finish().unwrap()
    };
    for (name, text) in [
        ("lines", &b"\n"[..]),
        ("objects", b"{}\n"),
        ("flat", b"{\"role\":1}\n"),
    ] {
        let file = format!("{name}.ndjson.gz");
        let mut bytes = pack(text, 8 << 20);
        if name == "flat" {
            let flat = header.replace("\"1.0\"", "\"2.0\"");
            let line = format!("{flat}\n{{\"role\":\"user\",\"content\":\"hi\"}}\n");
            let mut out = GzEncoder::new(Vec::new(), Compression::best());
            out.write_all(line.as_bytes()).unwrap();
            bytes = [out.finish().unwrap(), bytes].concat();
        }
        fs::write(w.project.join(&file), bytes).unwrap();
        for command in [&["list", "--tsv"][..], &["show"], &["check"]] {
            if (name, command) == ("flat", &["check"]) {
                // There is no document for it.
                continue;
            }
            let args = [command, &[file.as_str()][..]].concat();
            let shown = bounded(&w, &args);
            assert_ne!(shown.code, 0, "{args:?} {}", shown.err);
            let said = format!("{}{}", shown.out, shown.err);
            assert!(
                said.contains("not read to its end"),
                "{args:?} {}",
                shown.err
            );
        }
    }
    let good = w.ok(&["list", "--tsv"]);
    assert!(good.contains("A good thread"), "{good}");
}

/// Originals that travel in an export are unpacked by the same rules.
#[test]
fn bombs_among_originals_are_not_unpacked() {
    let w = World::new();
    let good = exported(&w);
    let pieces = r#""zstd_base64":["#;
    let from = good.find(pieces).unwrap() + pieces.len();
    let to = from + good[from..].find(']').unwrap();
    let bomb = STANDARD.encode(zstd_bomb("", b"a", 30));
    let size = good[to..].find(r#""size":"#).unwrap() + to + r#""size":"#.len();
    let end = size + good[size..].find(',').unwrap();
    let text = format!(
        "{}\"{bomb}\"{}{}{}",
        &good[..from],
        &good[to..size],
        30_u64 << 25,
        &good[end..]
    );
    fs::write(w.project.join("bomb.ndjson"), text).unwrap();
    fs::remove_dir_all(w.project.join(".agent")).unwrap();
    let back = bounded(
        &w,
        &["convert", "bomb.ndjson", "--to", "atsf", "-o", "made"],
    );
    assert_ne!(back.code, 0, "{back:?}");
    let said = format!("{}{}", back.out, back.err);
    assert!(said.contains("unpacks to more than"), "{back:?}");
}
