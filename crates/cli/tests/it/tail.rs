//! A last line that somebody did not finish.

use std::fs::{self, FileTimes};
use std::time::{Duration, SystemTime};

use crate::world::World;

fn thread_with(w: &World, tail: &[u8]) -> (String, Vec<u8>) {
    let id = w.thread("T");
    w.message(&id, r#"{"id":"first","role":"user","content":[]}"#);
    let log = w.folder(&id).join("messages.jsonl");
    let whole = fs::read(&log).unwrap();
    let mut bytes = whole.clone();
    bytes.extend_from_slice(tail);
    fs::write(&log, bytes).unwrap();
    (id, whole)
}

fn set_age(w: &World, id: &str, age: Duration) {
    let file = fs::File::options()
        .append(true)
        .open(w.folder(id).join("messages.jsonl"))
        .unwrap();
    let time = SystemTime::now() - age;
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

#[test]
fn readers_ignore_it_with_a_note() {
    let w = World::new();
    let (id, _) = thread_with(&w, b"{\"id\":\"torn\",\"role\":\"us");
    let answer = w.run(&["show", &id, "--json"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    let record = crate::world::json(&answer.out);
    assert_eq!(record["messages"].as_array().unwrap().len(), 1);
    assert!(answer.err.contains("\"line\":2"), "{}", answer.err);
    let people = w.run(&["show", &id]);
    assert!(
        people
            .err
            .contains("messages.jsonl:2: the last line is not finished; ignored"),
        "{}",
        people.err
    );
}

#[test]
fn the_next_append_moves_an_old_fragment_out() {
    let w = World::new();
    let fragment = b"{\"id\":\"torn\",\"role\":\"us\xff";
    let (id, whole) = thread_with(&w, fragment);
    set_age(&w, &id, Duration::from_mins(1));
    let answer = w.run(&["append", &id, "next"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(
        answer
            .err
            .contains("an unfinished last line of 24 bytes was moved to"),
        "{}",
        answer.err
    );
    let log = w.log(&id);
    assert!(log.as_bytes().starts_with(&whole));
    assert_eq!(w.lines(&id).len(), 2, "every line is JSON again");
    assert_eq!(w.manifest(&id)["stats"]["messageCount"], 2);
    let salvage = w.home.join(".local/share/rethread/salvage");
    let saved: Vec<_> = fs::read_dir(&salvage)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(saved.len(), 1);
    assert_eq!(fs::read(&saved[0]).unwrap(), fragment, "nothing is lost");
}

#[test]
fn a_complete_last_value_only_gets_its_line_break() {
    let w = World::new();
    let tail = br#"{"id":"second","role":"agent","timestamp":"2026-11-15T12:00:00Z","content":[]}"#;
    let (id, _) = thread_with(&w, tail);
    let answer = w.run(&["append", &id, "next"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{answer:?}");
    let ids: Vec<_> = w.lines(&id).iter().map(|m| m["id"].clone()).collect();
    assert_eq!(ids[1], "second");
    assert_eq!(ids.len(), 3);
    assert_eq!(w.manifest(&id)["stats"]["agentMessageCount"], 1);
    assert!(!w.home.join(".local/share/rethread/salvage").exists());
}

#[test]
fn a_young_fragment_is_given_time_to_be_finished() {
    use std::io::Write;
    let w = World::new();
    let (id, _) = thread_with(&w, b"{\"id\":\"slow\",\"role\":\"user\",\"content\":[");
    let log = w.folder(&id).join("messages.jsonl");
    let slow_writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        let mut file = fs::File::options().append(true).open(log).unwrap();
        file.write_all(b"]}\n").unwrap();
    });
    let answer = w.run(&["append", &id, "next"]);
    slow_writer.join().unwrap();
    assert_eq!(answer.code, 0, "{answer:?}");
    let ids: Vec<_> = w.lines(&id).iter().map(|m| m["id"].clone()).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(ids[1], "slow");
}

#[test]
fn a_clock_that_jumped_does_not_hold_anybody_up() {
    let w = World::new();
    let (id, _) = thread_with(&w, b"{\"id\":\"torn");
    let file = fs::File::options()
        .append(true)
        .open(w.folder(&id).join("messages.jsonl"))
        .unwrap();
    let future = SystemTime::now() + Duration::from_hours(1);
    file.set_times(FileTimes::new().set_modified(future))
        .unwrap();
    let answer = w.run(&["append", &id, "next"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(w.lines(&id).len(), 2);
}

#[test]
fn cut_at_every_byte_of_the_last_record() {
    let w = World::new();
    let (id, whole) = thread_with(&w, b"");
    let log = w.folder(&id).join("messages.jsonl");
    let record = "{\"id\":\"é\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\\\"x\\u00e9\"}]}\n".as_bytes();
    for cut in 0..=record.len() {
        let mut bytes = whole.clone();
        bytes.extend_from_slice(&record[..cut]);
        fs::write(&log, &bytes).unwrap();
        set_age(&w, &id, Duration::from_mins(1));
        let shown = w.run(&["show", &id, "--json"]);
        let read = crate::world::json(&shown.out)["messages"]
            .as_array()
            .unwrap()
            .len();
        let complete = cut >= record.len() - 1;
        assert_eq!(read, 1 + usize::from(complete), "cut {cut}");
        assert_eq!(
            shown.code,
            if cut == 0 || complete { 0 } else { 3 },
            "cut {cut}: {shown:?}"
        );
        let answer = w.run(&["append", &id, "next"]);
        assert_eq!(answer.code, 0, "cut {cut}: {answer:?}");
        let lines = w.lines(&id);
        assert_eq!(lines.len(), 2 + usize::from(complete), "cut {cut}");
        assert_eq!(lines[0]["id"], "first", "cut {cut}");
        assert_eq!(
            lines.last().unwrap()["content"][0]["text"],
            "next",
            "cut {cut}"
        );
        assert_eq!(
            w.manifest(&id)["stats"]["messageCount"],
            lines.len(),
            "cut {cut}"
        );
    }
}

#[test]
fn nuls_and_noise_at_the_end() {
    let noise: Vec<u8> = (0..512_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .filter(|b| *b != b'\n')
        .collect();
    for tail in [vec![0; 4096], noise] {
        let w = World::new();
        let (id, whole) = thread_with(&w, &tail);
        set_age(&w, &id, Duration::from_mins(1));
        assert_eq!(w.run(&["show", &id]).code, 3);
        assert_eq!(w.run(&["append", &id, "next"]).code, 0);
        assert!(w.log(&id).as_bytes().starts_with(&whole));
        assert_eq!(w.lines(&id).len(), 2);
    }
}
