//! Lines of every kind: read, skipped and named, never a crash.

use rethread_samp::{Alias, StoredId, What, messages};

use crate::post::{NOW, Post, alias, line, show};

#[test]
fn spelling_order_and_space_do_not_change_an_id() {
    let p = Post::new();
    let sent = p.send("amy", "bob", "caf\u{e9} /\u{1f600}", NOW);
    let thread = &sent.thread;
    let other = format!(
        "{{ \"body\" : \"cafe\\u0301 \\/\\ud83d\\ude00\" , \"to\":\"b\\u006fb\", \"x\": [[1]],\
         \"from\":\"amy\",\t\"thread\":\"{thread}\",\"id\":\"{}\", \"ts\":{NOW} }}\r\n",
        sent.id
    );
    let text = p.read("log-amy.jsonl");
    p.put("log-amy.jsonl", format!("\n  \n{text}{other}"));
    let shown = p.inbox("bob", NOW);
    assert_eq!((shown.ids, shown.troubles), (vec![sent.id], vec![]));
}

#[test]
fn a_record_with_another_s_id_is_shown_flagged_and_hides_none() {
    let p = Post::new();
    let real = line("zoe", "bob", "real", NOW);
    let id = &real[7..23];
    p.put("log-zoe.jsonl", &real);
    p.put(
        "log-amy.jsonl",
        line("amy", "bob", "thief", NOW).replace(&line("amy", "bob", "thief", NOW)[7..23], id),
    );
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies, ["thief", "real"]);
    let [trouble] = shown.troubles.as_slice() else {
        panic!("{shown:?}")
    };
    assert!(matches!(&trouble.what, What::WrongId { stored, .. } if stored == id));
    assert_eq!((trouble.line, trouble.what.is_damage()), (Some(1), false));
}

#[test]
fn records_of_old_have_no_id_and_may_have_no_thread() {
    let p = Post::new();
    let old = format!("{{\"ts\":{NOW},\"from\":\"amy\",\"to\":\"bob\",\"body\":\"old\"}}\n");
    let newer = format!(
        "{{\"id\":null,\"ts\":{NOW},\"from\":\"amy\",\"to\":\"bob\",\"thread\":\"t\",\"body\":\"null\"}}\n"
    );
    p.put("log-amy.jsonl", format!("{old}{newer}{old}"));
    let shown = p.inbox("bob", NOW);
    assert_eq!(
        (shown.bodies, shown.troubles),
        (vec!["old".to_owned(), "null".to_owned()], vec![])
    );
    let mut batch = messages(&p.folder, None, false, NOW).unwrap();
    batch
        .each(|m| {
            assert_eq!(m.record.stored_id(), StoredId::Missing);
            Ok::<(), ()>(())
        })
        .unwrap();
}

#[test]
fn strange_lines_are_skipped_and_named_and_what_can_be_shown_is() {
    let p = Post::new();
    let good = line("amy", "bob", "good", NOW);
    let lines = [
        "[1]",
        "7",
        "\"text\"",
        "null",
        "{",
        "}{",
        "\u{0}\u{0}",
        "{}",
        "{\"from\":\"amy\"}",
        "{\"from\":1,\"to\":\"bob\"}",
        "{\"from\":\"amy\",\"to\":[\"bob\"]}",
    ];
    p.put("log-amy.jsonl", format!("{}\n{good}", lines.join("\n")));
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies, ["good"]);
    assert_eq!(shown.troubles.len(), lines.len());
    assert!(shown.troubles.iter().all(|t| t.what.is_damage()));
    let numbers: Vec<_> = shown.troubles.iter().map(|t| t.line.unwrap()).collect();
    assert_eq!(numbers, (1..=11).collect::<Vec<u64>>());
}

#[test]
fn odd_values_are_shown_as_far_as_they_go() {
    let p = Post::new();
    let odd = |rest: &str| format!("{{\"from\":\"amy\",\"to\":\"bob\"{rest}}}\n");
    p.put(
        "log-amy.jsonl",
        [
            odd(""),
            odd(",\"ts\":\"1777180000\",\"body\":\"a string\""),
            odd(",\"ts\":1777180000.9,\"body\":\"a fraction\""),
            odd(",\"ts\":1e400,\"body\":{\"not\":\"text\"}"),
            odd(",\"ts\":true,\"thread\":7,\"body\":null"),
            odd(",\"ts\":99999999999999999999999,\"body\":\"far\""),
            odd(",\"ts\":-99999999999999999999999,\"body\":\"long ago\""),
            odd(",\"ts\":1,\"body\":\"half \\ud800\""),
        ]
        .concat(),
    );
    let shown = p.inbox("bob", NOW);
    assert_eq!(
        shown.bodies,
        [
            "long ago",
            "",
            "a string",
            "{\"not\":\"text\"}",
            "null",
            "half \u{fffd}",
            "a fraction",
            "far"
        ]
    );
    assert!(p.inbox("bob", NOW).bodies.is_empty());
}

#[test]
fn bytes_that_are_not_utf_8_and_deep_nesting_stop_nobody() {
    let p = Post::new();
    let mut bytes =
        b"{\"ts\":1,\"from\":\"amy\",\"to\":\"bob\",\"thread\":\"t\",\"body\":\"a\xff\"}\n"
            .to_vec();
    let deep = "[".repeat(300_000) + &"]".repeat(300_000);
    bytes.extend_from_slice(
        format!("{{\"ts\":2,\"from\":\"amy\",\"to\":\"bob\",\"x\":{deep},\"body\":\"deep\"}}\n")
            .as_bytes(),
    );
    bytes.extend_from_slice("[".repeat(1_000_000).as_bytes());
    bytes.extend_from_slice(b"\n\xff\xfe\n");
    bytes.extend_from_slice(line("amy", "bob", "good", NOW).as_bytes());
    p.put("log-amy.jsonl", bytes);
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies, ["a\u{fffd}", "deep", "good"]);
    assert_eq!(shown.troubles.len(), 2);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_passed_over_and_named() {
    let p = Post::new();
    let long = "x".repeat(100 * 1024 * 1024);
    let giant = format!("{{\"ts\":1,\"from\":\"amy\",\"to\":\"bob\",\"body\":\"{long}\"}}\n");
    p.put("log-amy.jsonl", giant + &line("amy", "bob", "good", NOW));
    let shown = p.inbox("bob", NOW);
    assert_eq!(shown.bodies, ["good"]);
    let [trouble] = shown.troubles.as_slice() else {
        panic!("{:?}", shown.troubles)
    };
    assert!(matches!(trouble.what, What::TooLong(n) if n > 100 * 1024 * 1024));
    assert_eq!(trouble.line, Some(1));
    let (amy, bob) = (alias("amy"), alias("bob"));
    let draft = rethread_samp::Draft {
        from: &amy,
        to: &bob,
        text: &long,
    };
    let before = std::fs::metadata(p.path("log-amy.jsonl")).unwrap().len();
    let error = draft
        .send(&p.folder, NOW, rethread_samp::Durability::None)
        .unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(
        std::fs::metadata(p.path("log-amy.jsonl")).unwrap().len(),
        before
    );
}

#[test]
fn aliases() {
    for good in ["a", "Z9", "a.b-c_d", "0", &"x".repeat(64)] {
        assert!(Alias::new(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        ".a",
        "-a",
        "_a",
        "a b",
        "a/b",
        "../x",
        "a\n",
        "é",
        "a\0",
        &"x".repeat(65),
    ] {
        let error = Alias::new(bad).unwrap_err();
        assert!(!error.to_string().contains(['\n', '\0']), "{error}");
    }
}

#[test]
fn sending_says_exactly_what_the_reference_writes() {
    let p = Post::new();
    let sent = p.send("amy", "bob", "[thread:t] a \"b\" \u{1}\u{7f}é", NOW);
    assert_eq!(
        p.read("log-amy.jsonl"),
        format!(
            "{{\"id\": \"{}\", \"ts\": {NOW}, \"from\": \"amy\", \"to\": \"bob\", \"thread\": \"t\", \"body\": \"a \\\"b\\\" \\u0001\u{7f}é\"}}\n",
            sent.id
        )
    );
    let mut batch = messages(&p.folder, Some(&alias("bob")), false, NOW).unwrap();
    assert_eq!(show(&mut batch).ids, [sent.id]);
}
