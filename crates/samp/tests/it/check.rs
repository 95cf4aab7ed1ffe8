//! What a checker says of good and bad folders.

use rethread_samp::{Checked, Reply, check};

use crate::post::{NOW, Post, alias, line};

fn rules(p: &Post) -> (Checked, Vec<String>) {
    let mut found = Vec::new();
    let checked = check(&p.folder, &mut |v| {
        let name = v.path.file_name().unwrap().to_str().unwrap();
        let line = v.line.map_or_else(String::new, |n| format!(":{n}"));
        let weight = if v.is_error { "" } else { " warning" };
        found.push(format!("{name}{line} {} {}{weight}", v.rule, v.section));
    })
    .unwrap();
    (checked, found)
}

#[test]
fn what_we_write_is_as_it_should_be() {
    let p = Post::new();
    p.send("amy", "bob", "hi\n\u{1f600} cafe\u{301}", NOW);
    let (me, id) = (alias("bob"), None);
    let reply = Reply {
        me: &me,
        text: "[thread:x] yo",
        to_id: id,
    };
    reply
        .send(&p.folder, NOW, rethread_samp::Durability::None)
        .unwrap();
    p.inbox("bob", NOW);
    let (checked, found) = rules(&p);
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(
        checked,
        Checked {
            files: 2,
            records: 2,
            errors: 0,
            warnings: 0
        }
    );
}

#[test]
fn every_rule_is_noticed_with_its_line_and_section() {
    let p = Post::new();
    let good = line("amy", "bob", "good", NOW);
    let tampered = good.replace("good", "evil");
    let lines = [
        good.trim_end(),
        "",
        tampered.trim_end(),
        "[1]",
        "{",
        "{}",
        r#"{"id":"X","ts":-1,"from":"a b","to":7,"thread":null,"body":["x"]}"#,
        r#"{"ts":1.5,"from":"amy","to":"bob","thread":"t","body":"\ud800"}"#,
        r#"{"id":7,"ts":true,"from":"zoe","to":"bob\n","thread":"t","body":"b"}"#,
        "{\"torn",
    ];
    p.put("log-amy.jsonl", lines.join("\n"));
    p.put("log-a b.jsonl", b"\xff\n");
    p.put(".seen-bob", "[]");
    p.put(".seen-eve", "{\"ts\": 1, \"ids\": []}");
    let (checked, found) = rules(&p);
    assert_eq!(
        found,
        [
            "log-a b.jsonl file-alias §1",
            "log-a b.jsonl:1 utf-8 §2",
            "log-a b.jsonl:1 json §2",
            "log-amy.jsonl:3 id §3",
            "log-amy.jsonl:4 object §2",
            "log-amy.jsonl:5 json §2",
            "log-amy.jsonl:6 required §2",
            "log-amy.jsonl:6 required §2",
            "log-amy.jsonl:6 required §2",
            "log-amy.jsonl:6 required §2",
            "log-amy.jsonl:6 required §2",
            "log-amy.jsonl:6 id-missing §3 warning",
            "log-amy.jsonl:7 ts §2",
            "log-amy.jsonl:7 alias §1",
            "log-amy.jsonl:7 alias §1",
            "log-amy.jsonl:7 string §2",
            "log-amy.jsonl:7 string §2",
            "log-amy.jsonl:7 id-form §2",
            "log-amy.jsonl:7 single-writer §5",
            "log-amy.jsonl:8 ts §2",
            "log-amy.jsonl:8 text §3",
            "log-amy.jsonl:8 id-missing §3 warning",
            "log-amy.jsonl:9 ts §2",
            "log-amy.jsonl:9 alias §1",
            "log-amy.jsonl:9 id-form §2",
            "log-amy.jsonl:9 single-writer §5",
            "log-amy.jsonl:10 line §2",
            "log-amy.jsonl:10 json §2",
            ".seen-bob watermark §6",
        ]
    );
    assert_eq!(
        (checked.files, checked.records, checked.warnings),
        (2, 10, 2)
    );
}

#[test]
fn a_folder_that_is_not_there_cannot_be_checked() {
    let folder = rethread_samp::Folder::new("/nowhere/at/all");
    assert!(check(&folder, &mut |_| {}).is_err());
}
