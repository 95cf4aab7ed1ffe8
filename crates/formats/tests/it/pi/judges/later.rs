//! What only later versions know: missing content, instructions, edits of the context.

use rethread_judges::PiVersion;

use super::super::world::session;
use super::grammar::{entry, message};
use super::{agree, world};

/// The new judge and we see the same; the old one does not know all of it.
#[track_caller]
fn new_agrees(lines: &[String]) {
    let w = world();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let path = w.put("s.jsonl", &session(&lines));
    agree(PiVersion::V0_87, &w, &path);
}

#[test]
fn missing_content() {
    for role in [
        "user",
        "assistant",
        "toolResult",
        "system",
        "custom",
        "bashExecution",
    ] {
        let nothing = entry(
            "message",
            "b",
            "a",
            &format!(r#""message":{{"role":"{role}","x":1}}"#),
        );
        new_agrees(&[message("a", "", role, "null"), nothing]);
    }
    let custom = |content| {
        entry(
            "custom_message",
            "a",
            "",
            &format!(r#""customType":"t",{content}"display":true"#),
        )
    };
    new_agrees(&[custom("")]);
    new_agrees(&[custom(r#""content":null,"#)]);
}

#[test]
fn usage_and_instructions() {
    let usage = r#""kind":"title","provider":"p","model":"m","usage":{"input":1}"#;
    new_agrees(&[
        message("a", "", "system", "\"be brief\""),
        message("b", "a", "user", "\"hello\""),
        entry("usage", "u", "b", usage),
        message("c", "u", "system", r#"[{"type":"text","text":"be nice"}]"#),
        message("d", "c", "assistant", "[]"),
    ]);
    // Instructions are not kept by a compaction, except in its own message.
    for more in [
        "",
        r#","systemMessage":{"role":"system","content":"all","timestamp":3}"#,
    ] {
        let compaction = format!(r#""summary":"s","firstKeptEntryId":"a","tokensBefore":1{more}"#);
        new_agrees(&[
            message("a", "", "system", "\"be brief\""),
            message("b", "a", "user", "\"hello\""),
            entry("compaction", "c", "b", &compaction),
            message("d", "c", "system", "\"be nice\""),
        ]);
    }
}

#[test]
fn edits_of_the_context() {
    let edit = |target: &str, to: &str| {
        entry(
            "context_edit",
            "e",
            "d",
            &format!(r#""targetId":"{target}","replacement":{to}"#),
        )
    };
    for role in [
        "user",
        "assistant",
        "toolResult",
        "custom",
        "system",
        "bashExecution",
    ] {
        for to in [
            "null",
            r#"{"content":"new"}"#,
            r#"{"content":[{"type":"text","text":"new"}]}"#,
        ] {
            new_agrees(&[
                message("a", "", role, "\"old\""),
                message("d", "a", "user", "\"d\""),
                edit("a", to),
                message("f", "e", "user", "\"f\""),
            ]);
        }
    }
    for to in ["null", r#"{"content":"new"}"#] {
        let middles = [
            entry(
                "custom_message",
                "b",
                "a",
                r#""customType":"t","content":"c","display":true"#,
            ),
            entry("branch_summary", "b", "a", r#""fromId":"a","summary":"s""#),
            entry(
                "compaction",
                "b",
                "a",
                r#""summary":"s","firstKeptEntryId":"a","tokensBefore":1,"systemMessage":{"role":"system","content":"x"}"#,
            ),
        ];
        for middle in middles {
            for target in ["a", "b", "d", "gone"] {
                new_agrees(&[
                    message("a", "", "user", "\"a\""),
                    middle.clone(),
                    message("d", "b", "user", "\"d\""),
                    edit(target, to),
                    entry(
                        "context_edit",
                        "g",
                        "e",
                        r#""targetId":"d","replacement":{"content":"last"}"#,
                    ),
                ]);
            }
        }
    }
    // An edit that a compaction leaves behind counts no more.
    new_agrees(&[
        message("d", "", "user", "\"d\""),
        edit("f", r#"{"content":"new"}"#),
        message("f", "e", "user", "\"f\""),
        entry(
            "compaction",
            "c",
            "f",
            r#""summary":"s","firstKeptEntryId":"f","tokensBefore":1"#,
        ),
    ]);
}
