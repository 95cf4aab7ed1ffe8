//! The test vectors of the protocol, which another implementation made.

use std::{fs, path::Path};

use rethread_samp::{Alias, LineReader, Written, slug};
use serde_json::Value;

fn vectors(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/samp");
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn all_ids_and_canonical_forms() {
    let vectors = vectors("ids.json");
    assert_eq!(vectors.len(), 31);
    let mut reader = LineReader::default();
    for vector in vectors {
        let line = vector["record"].to_string();
        let record = reader.read(line.as_bytes()).unwrap();
        let canonical = String::from_utf8(record.canonical()).unwrap();
        assert_eq!(canonical, vector["canonical"], "{}", vector["name"]);
        assert_eq!(record.id().to_string(), vector["id"], "{}", vector["name"]);
    }
}

#[test]
fn all_threads_and_slugs() {
    let vectors = vectors("threads.json");
    assert_eq!(vectors.len(), 41);
    let alice = Alias::new("alice").unwrap();
    for vector in vectors {
        let input = vector["input"].as_str().unwrap();
        let written = Written::new(input, &alice, 1_777_180_000);
        if let Some(expected) = vector["slug"].as_str() {
            assert_eq!(slug(input), expected, "{input:?}");
            assert_eq!(written.thread, format!("2026-04-26-alice-{expected}"));
        } else {
            assert_eq!(written.thread, vector["thread"], "{input:?}");
            assert_eq!(written.body, vector["body"], "{input:?}");
        }
    }
}

#[test]
fn the_body_is_normalised_before_its_slug_is_made() {
    let alice = Alias::new("alice").unwrap();
    let written = Written::new("cafe\u{301}", &alice, 1_777_180_000);
    assert_eq!(written.thread, "2026-04-26-alice-caf");
    assert_eq!(written.body, "caf\u{e9}");
}
