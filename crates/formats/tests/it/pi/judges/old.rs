//! Sessions of older versions: seen alike, and brought to today's version alike.

use rethread_formats::pi::{SessionEntry, SessionManager};
use rethread_judges::PiVersion;

use super::super::world::user;
use super::{agree, agree_on, read, same_text, world};

/// A session of the first version: a list, in which a compaction counts from the header on.
pub(super) const V1: &str = r#"{"type":"session","id":"s","timestamp":"2025-11-01T00:00:00.000Z","cwd":"/x","provider":"p","modelId":"m","thinkingLevel":"low","branchedFrom":"/old.jsonl"}
{"type":"message","timestamp":"2025-11-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1}}
{"type":"message","timestamp":"2025-11-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"provider":"p","model":"m","timestamp":2}}
{"type":"model_change","timestamp":"2025-11-01T00:00:03.000Z","provider":"p","modelId":"m2"}
{"type":"message","timestamp":"2025-11-01T00:00:04.000Z","message":{"role":"hookMessage","content":"hook","timestamp":3}}
{"type":"compaction","timestamp":"2025-11-01T00:00:05.000Z","summary":"S","firstKeptEntryIndex":2,"tokensBefore":5}
{"type":"message","timestamp":"2025-11-01T00:00:06.000Z","message":{"role":"user","content":"three","timestamp":4}}
{"type":"thinking_level_change","timestamp":"2025-11-01T00:00:07.000Z","thinkingLevel":"high"}
"#;

/// The second version names the messages of extensions differently.
const V2: &str = r#"{"type":"session","version":2,"id":"s","timestamp":"2025-12-01T00:00:00.000Z","cwd":"/x"}
{"type":"message","id":"a","parentId":null,"timestamp":"2025-12-01T00:00:01.000Z","message":{"role":"user","content":"one","timestamp":1}}
{"type":"message","id":"b","parentId":"a","timestamp":"2025-12-01T00:00:02.000Z","message":{"role":"hookMessage","content":"hook","timestamp":3}}
{"type":"hookMessage","id":"c","parentId":"b","timestamp":"2025-12-01T00:00:03.000Z","message":{"role":"hookMessage"}}
"#;

#[test]
fn old_sessions_are_migrated_alike() {
    let places = ["2", "0", "1", "6", "99", "-1", "2.5", "null", "\"2\""];
    let places = places.map(|place| V1.replace("Index\":2", &format!("Index\":{place}")));
    for text in places.iter().map(String::as_str).chain([V2]) {
        let w = world();
        let path = w.put("old.jsonl", text);
        let mut s = w.open(&path);
        for pi in PiVersion::ALL {
            let Some(theirs) = agree_on(pi, &path, &s) else {
                return;
            };
            // In memory as they see it, and written as they write it.
            let copy = w.put("copy.jsonl", text);
            let mut again = s.clone();
            again.set_session_file(&copy).unwrap();
            let ids = s.entries().iter().map(SessionEntry::id);
            let others = again.entries().iter().map(SessionEntry::id);
            let pairs: Vec<_> = others
                .zip(ids)
                .map(|(a, b)| (a.to_owned(), b.to_owned()))
                .collect();
            again.migrate().unwrap().unwrap();
            let mut ours = read(&copy);
            for (other, id) in pairs {
                ours = ours.replace(&format!("\"{other}\""), &format!("\"{id}\""));
            }
            same_text("the migrated file", &theirs, &ours);
        }
        user(&mut s, "four");
        assert!(
            read(&path)
                .lines()
                .next()
                .unwrap()
                .contains("\"version\":3")
        );
        for pi in PiVersion::ALL {
            assert_eq!(agree(pi, &w, &path), None, "nothing is left to migrate");
        }
    }
}

#[test]
fn a_fork_of_an_old_session() {
    let w = world();
    let fork = SessionManager::fork_from(&w.host, w.put("v1.jsonl", V1), "/y", None).unwrap();
    for pi in PiVersion::ALL {
        agree(pi, &w, fork.session_file().unwrap());
    }
}
