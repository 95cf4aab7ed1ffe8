//! When the file appears, and how it grows.

use std::fs::OpenOptions;
use std::io::Write as _;

use rethread_formats::pi::{NewPiMessage, SessionManager};

use super::world::{HEADER, assistant, messages, read, said, session, user, world};

#[test]
fn the_file_appears_with_the_first_message_of_the_user() {
    let w = world();
    let mut s = w.create();
    let file = s.session_file().unwrap().to_owned();
    s.append_thinking_level_change("high").unwrap();
    s.append_model_change("a", "b").unwrap();
    s.append_custom_entry("x", None).unwrap();
    s.append_message(NewPiMessage::bash("ls", "")).unwrap();
    assert!(!file.exists());
    user(&mut s, "a");
    assert_eq!(read(&file).lines().count(), 6);
    s.append_session_info("n").unwrap();
    assert_eq!(read(&file).lines().count(), 7);
}

#[test]
fn the_file_appears_with_the_first_answer() {
    let w = world();
    let mut s = w.create();
    assistant(&mut s, "a");
    assert_eq!(read(s.session_file().unwrap()).lines().count(), 2);
}

#[test]
fn a_session_without_answers_grows_when_it_is_opened_again() {
    let w = world();
    let path = w.put("s.jsonl", &format!("{HEADER}\n"));
    let mut s = w.open(&path);
    s.append_model_change("a", "b").unwrap();
    assert_eq!(read(&path).lines().count(), 2);
    user(&mut s, "a");
    assistant(&mut s, "b");
    assert_eq!(read(&path).lines().count(), 4, "nothing is written twice");
}

#[test]
fn a_new_file_never_replaces_another() {
    let w = world();
    let path = w.path("s.jsonl");
    let mut s = w.open(&path);
    w.put("s.jsonl", "somebody was faster\n");
    let error = s.append_message(NewPiMessage::user("a")).unwrap_err();
    assert_eq!(error.kind(), "exists");
    assert_eq!(read(&path), "somebody was faster\n");
    assert!(
        s.entries().is_empty(),
        "what was not written is not in memory"
    );
    assert_eq!(s.leaf_id(), None);
}

#[test]
fn a_file_that_vanished_is_not_made_again_without_its_header() {
    let w = world();
    let mut s = w.create();
    user(&mut s, "a");
    let (file, leaf) = (
        s.session_file().unwrap().to_owned(),
        s.leaf_id().map(str::to_owned),
    );
    std::fs::remove_file(&file).unwrap();
    assert!(s.append_message(NewPiMessage::user("b")).is_err());
    assert!(!file.exists());
    assert_eq!(s.leaf_id(), leaf.as_deref());
}

#[test]
fn a_torn_line_is_ended_before_the_next_entry() {
    let w = world();
    let text = messages(&[("a", "")]) + "{\"type\":\"mess";
    let path = w.put("s.jsonl", &text);
    let mut s = w.open(&path);
    assert_eq!(read(&path), text, "opening writes nothing");
    user(&mut s, "b");
    assert!(read(&path).starts_with(&format!("{text}\n{{\"type\":\"message\"")));
    assert_eq!(said(&w.open(&path)), ["user: a", "user: b"]);
}

#[test]
fn a_last_line_without_its_line_break_is_an_entry() {
    let w = world();
    let text = messages(&[("a", "")]);
    let path = w.put("s.jsonl", text.trim_end());
    let mut s = w.open(&path);
    assert_eq!(said(&s), ["user: a"]);
    user(&mut s, "b");
    assert!(read(&path).starts_with(&text));
}

#[test]
fn what_others_append_stays() {
    let w = world();
    let path = w.put("s.jsonl", &messages(&[("a", "")]));
    let mut s = w.open(&path);
    let mut other = OpenOptions::new().append(true).open(&path).unwrap();
    other.write_all(b"{\"type\":\"mystery\"}\n").unwrap();
    user(&mut s, "b");
    assert_eq!(read(&path).lines().count(), 4);
}

#[test]
fn a_later_version_is_read_and_not_written() {
    let w = world();
    let text = messages(&[("a", "")]).replace("\"version\":3", "\"version\":4");
    let path = w.put("s.jsonl", &text);
    let mut s = w.open(&path);
    assert_eq!(said(&s), ["user: a"]);
    let error = s.append_message(NewPiMessage::user("b")).unwrap_err();
    assert_eq!(error.kind(), "unsupported_version");
    assert!(s.create_branched_session("a").is_err());
    assert!(SessionManager::fork_from(&w.host, &path, "/q", None).is_err());
    assert_eq!(read(&path), text);
}

#[test]
fn every_line_of_a_session_as_it_is_written() {
    let w = world();
    let mut s = w.create();
    s.append_thinking_level_change("high").unwrap();
    s.append_model_change("anthropic", "claude-x").unwrap();
    let hello = user(&mut s, "hello");
    let hi = assistant(&mut s, "hi");
    s.append_label_change(&hello, Some("mark")).unwrap();
    s.append_session_info("my name   x").unwrap();
    let left = s
        .append_compaction("SUM", Some(&hi), 123, Some(b"{\"readFiles\": []}"), None)
        .unwrap();
    s.branch_with_summary(Some(&hi), "branch sum", None, Some(true))
        .unwrap();
    s.append_custom_message("ext", "c", true, None).unwrap();
    s.append_custom_entry("ext", Some(b"{\"a\":1}")).unwrap();
    s.append_label_change(&hello, None).unwrap();
    let ids: Vec<String> = s.entries().iter().map(|e| e.id().to_owned()).collect();
    let time = "\"timestamp\":\"2026-11-15T17:50:28.602Z\"";
    let place = |at: usize| {
        let parent = match at {
            0 => "null".to_owned(),
            7 => format!("\"{hi}\""),
            at => format!("\"{}\"", ids[at - 1]),
        };
        format!("\"id\":\"{}\",\"parentId\":{parent},{time}", ids[at])
    };
    let expected = [
        format!(
            r#"{{"type":"session","version":3,"id":"{}",{time},"cwd":"/p"}}"#,
            s.session_id()
        ),
        format!(
            r#"{{"type":"thinking_level_change",{},"thinkingLevel":"high"}}"#,
            place(0)
        ),
        format!(
            r#"{{"type":"model_change",{},"provider":"anthropic","modelId":"claude-x"}}"#,
            place(1)
        ),
        format!(
            r#"{{"type":"message",{},"message":{{"role":"user","content":"hello","timestamp":1}}}}"#,
            place(2)
        ),
        format!(
            r#"{{"type":"message",{},"message":{{"role":"assistant","content":[{{"type":"text","text":"hi"}}],"api":"anthropic-messages","provider":"anthropic","model":"claude-test","usage":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}},"stopReason":"stop","timestamp":2}}}}"#,
            place(3)
        ),
        format!(
            r#"{{"type":"label",{},"targetId":"{hello}","label":"mark"}}"#,
            place(4)
        ),
        format!(
            r#"{{"type":"session_info",{},"name":"my name   x"}}"#,
            place(5)
        ),
        format!(
            r#"{{"type":"compaction",{},"summary":"SUM","firstKeptEntryId":"{hi}","tokensBefore":123,"details":{{"readFiles":[]}}}}"#,
            place(6)
        ),
        format!(
            r#"{{"type":"branch_summary",{},"fromId":"{left}","summary":"branch sum","fromHook":true}}"#,
            place(7)
        ),
        format!(
            r#"{{"type":"custom_message","customType":"ext","content":"c","display":true,{}}}"#,
            place(8)
        ),
        format!(
            r#"{{"type":"custom","customType":"ext","data":{{"a":1}},{}}}"#,
            place(9)
        ),
        format!(r#"{{"type":"label",{},"targetId":"{hello}"}}"#, place(10)),
    ];
    assert_eq!(read(s.session_file().unwrap()), expected.join("\n") + "\n");
    let again = w.open(s.session_file().unwrap());
    assert_eq!(again.entries(), s.entries());
}

#[test]
fn unknown_fields_stay_when_the_session_goes_on() {
    let w = world();
    let odd = r#"{ "type":"message","id":"a","parentId":null,"n":1e2,"message":{"role":"user","content":"\u00e9\ud800","x":-0} }"#;
    let text = session(&[odd]);
    let path = w.put("s.jsonl", &text);
    let mut s = w.open(&path);
    assert_eq!(s.entry("a").unwrap().raw(), odd.as_bytes());
    assert_eq!(s.entry("a").unwrap().field("n").unwrap(), b"1e2");
    user(&mut s, "b");
    assert!(read(&path).starts_with(&text));
}
