//! `append`: every role, every field, pictures, many messages.

mod every_format;
mod other_programs;
mod pictures;

use std::fs;

use crate::world::{NOW, World, json};

#[test]
fn text_of_every_role_is_appended_and_counted() {
    let w = World::new();
    let id = w.thread("T");
    let first = w.ok(&["append", &id, "a question"]);
    w.ok(&["append", &id, "--role", "agent", "an answer"]);
    w.ok(&[
        "append",
        &id,
        "--role",
        "assistant",
        "another name for the same role",
    ]);
    w.ok(&["append", &id, "--role", "system", "context"]);
    let piped = w.pipe(&["append", &id], "from a pipe\nwith two lines\n");
    assert_eq!(piped.code, 0);
    let lines = w.lines(&id);
    assert_eq!(lines[0]["id"], first.trim());
    assert_eq!(lines[0]["timestamp"], NOW);
    let roles: Vec<_> = lines.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "agent", "agent", "system", "user"]);
    assert_eq!(
        lines[4]["content"][0]["text"],
        "from a pipe\nwith two lines\n"
    );
    let stats = &w.manifest(&id)["stats"];
    assert_eq!(stats["messageCount"], 5);
    assert_eq!(stats["userMessageCount"], 2);
    assert_eq!(stats["agentMessageCount"], 2);
    assert_eq!(stats["toolCallCount"], 0);
}

#[test]
fn a_whole_message_keeps_every_field_and_its_spelling() {
    let w = World::new();
    let id = w.thread("T");
    let message = concat!(
        r#"{"id":"m1","role":"agent","timestamp":"2026-01-02T03:04:05.678Z","content":["#,
        r#"{"type":"thinking","text":"hm"},{"type":"text","text":"a\/b \ud83d \u00e9"},"#,
        r#"{"type":"chart","n":1e400}],"toolCalls":[{"toolCallId":"t1","name":"bash","#,
        r#""title":"Run","status":"completed","input":"{\"a\":1}","output":"ok","duration":12.50,"#,
        r#""diff":{"path":"a","oldText":"x","newText":"y"},"kind":"execute","extra":-0}],"#,
        r#""stopReason":"end_turn","model":"m","tokens":{"input":1,"output":2,"cached":3},"#,
        r#""big":123456789012345678901234567890,"dup":1,"dup":2}"#,
    );
    assert_eq!(w.message(&id, message), "m1");
    assert_eq!(w.log(&id), format!("{message}\n"));
    let manifest = w.manifest(&id);
    assert_eq!(manifest["updatedAt"], "2026-01-02T03:04:05.678Z");
    assert_eq!(manifest["stats"]["toolCallCount"], 1);
}

#[test]
fn white_space_goes_and_what_is_missing_comes() {
    let w = World::new();
    let id = w.thread("T");
    let given = w.message(
        &id,
        "{ \"role\" : \"user\",\t\"content\" : \"plain\" , \"x\" : { } }",
    );
    assert_eq!(
        w.log(&id),
        format!(
            "{{\"id\":\"{given}\",\"role\":\"user\",\"timestamp\":\"{NOW}\",\"content\":[{{\"type\":\
             \"text\",\"text\":\"plain\"}}],\"x\":{{}}}}\n"
        )
    );
}

#[test]
fn the_role_flag_holds_for_messages_that_do_not_say() {
    let w = World::new();
    let id = w.thread("T");
    let answer = w.pipe(
        &["append", &id, "--role", "agent", "--message-json", "-"],
        "{\"content\":[]}\n{\"role\":\"user\",\"content\":[]}\n",
    );
    assert_eq!(answer.code, 0, "{answer:?}");
    let roles: Vec<_> = w.lines(&id).iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["agent", "user"]);
}

#[test]
fn many_messages_in_one_call_and_an_id_a_line() {
    let w = World::new();
    let id = w.thread("T");
    let input: String = (0..2500)
        .map(|i| {
            format!(
                "{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"{i}\"}}]}}\n\n"
            )
        })
        .collect();
    let answer = w.pipe(&["append", &id, "--message-json", "-"], input);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let printed: Vec<&str> = answer.out.lines().collect();
    let lines = w.lines(&id);
    assert_eq!((printed.len(), lines.len()), (2500, 2500));
    for (i, (id, line)) in printed.iter().zip(&lines).enumerate() {
        assert_eq!(line["id"], *id);
        assert_eq!(line["content"][0]["text"], i.to_string());
    }
    assert_eq!(w.manifest(&id)["stats"]["messageCount"], 2500);
}

#[test]
fn a_bad_message_is_named_and_the_rest_is_saved() {
    let w = World::new();
    let id = w.thread("T");
    let input = "{\"role\":\"user\",\"content\":[]}\n{\"role\":\"robot\",\"content\":[]}\nnot json\n\
                 {\"role\":\"user\",\"content\":[]}\n";
    let answer = w.pipe(&["append", &id, "--message-json", "-"], input);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 2);
    assert!(
        answer.err.contains("error: message 2: `role` is `robot`"),
        "{}",
        answer.err
    );
    assert!(
        answer.err.contains("error: message 3: not JSON"),
        "{}",
        answer.err
    );
    assert_eq!(w.lines(&id).len(), 2);

    let strict = w.pipe(&["append", &id, "--message-json", "-", "--strict"], input);
    assert_eq!(strict.code, 1, "{strict:?}");
    assert_eq!(w.lines(&id).len(), 2, "with --strict nothing is written");
}

#[test]
fn messages_that_the_document_does_not_allow_are_refused() {
    let w = World::new();
    let id = w.thread("T");
    for (message, why) in [
        ("[]", "not a JSON object"),
        ("{\"content\":[]}", "`role` is missing"),
        ("{\"role\":\"user\"}", "`content` is missing"),
        (
            "{\"role\":\"user\",\"content\":5}",
            "`content` is not an array",
        ),
        (
            "{\"role\":\"user\",\"content\":[{}]}",
            "content block 1: `type` is missing",
        ),
        (
            "{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}",
            "content block 1: `text` is missing",
        ),
        (
            "{\"role\":\"user\",\"content\":[],\"id\":\"\"}",
            "`id` is not a text",
        ),
        (
            "{\"role\":\"user\",\"content\":[],\"timestamp\":\"soon\"}",
            "`timestamp` is `soon`",
        ),
        (
            "{\"role\":\"user\",\"content\":[],\"tokens\":3}",
            "`tokens` is not an object",
        ),
        (
            "{\"role\":\"agent\",\"content\":[],\"toolCalls\":[{}]}",
            "tool call 1: `toolCallId` is missing",
        ),
        (
            "{\"role\":\"agent\",\"content\":[],\"toolCalls\":[{\"toolCallId\":\"a\",\"name\":\"b\",\"status\":\"completed\",\"diff\":{\"path\":\"p\"}}]}",
            "tool call 1: `diff.oldText` is missing",
        ),
        (
            "{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"assetRef\":\"../../x\"}]}",
            "content block 1: `assetRef` is no file name",
        ),
        (
            "{\"role\":\"user\",\"content\":[{\"type\":\"image\"}]}",
            "content block 1: neither `assetRef` nor inline data",
        ),
    ] {
        let answer = w.pipe(&["append", &id, "--message-json", "-"], message);
        assert_eq!(answer.code, 1, "{message}: {answer:?}");
        assert!(answer.err.contains(why), "{message}: {}", answer.err);
    }
    assert_eq!(w.log(&id), "");
}

#[test]
fn an_id_that_exists_is_an_error() {
    let w = World::new();
    let id = w.thread("T");
    let message = r#"{"id":"m1","role":"user","content":[]}"#;
    w.message(&id, message);
    let again = w.pipe(&["append", &id, "--message-json", "-"], message);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(
        again.err.contains("the id `m1` exists already"),
        "{}",
        again.err
    );
    let twice = "{\"id\":\"m2\",\"role\":\"user\",\"content\":[]}\n".repeat(2);
    let answer = w.pipe(&["append", &id, "--message-json", "-"], twice);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(w.lines(&id).len(), 2);
}

#[test]
fn rename_changes_the_title_and_nothing_else() {
    let w = World::new();
    let id = w.thread("T");
    w.ok(&["append", &id, "one"]);
    let path = w.folder(&id).join("thread.json");
    let before = fs::read_to_string(&path).unwrap();
    let mut later = w.command(&["rename", &id, "A \"new\" name"]);
    assert!(
        later
            .env("RETHREAD_NOW", "2027-01-01T00:00:00Z")
            .status()
            .unwrap()
            .success()
    );
    let after = fs::read_to_string(&path).unwrap();
    assert_eq!(
        after,
        before.replace("\"title\": \"T\"", "\"title\": \"A \\\"new\\\" name\"")
    );
}

#[test]
fn an_interactive_writer_gets_its_ids_as_it_goes() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let w = World::new();
    let id = w.thread("T");
    let mut child = w
        .command(&["append", &id, "--message-json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for i in 1..=3 {
        writeln!(stdin, "{{\"role\":\"user\",\"content\":\"{i}\"}}").unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(w.lines(&id).len(), i);
        assert_eq!(w.lines(&id)[i - 1]["id"], line.trim());
        assert_eq!(w.manifest(&id)["stats"]["messageCount"], i);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn only_utf_8_is_written() {
    let w = World::new();
    let id = w.thread("T");
    let message = b"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\xffb\"}]}";
    let answer = w.pipe(&["append", &id, "--message-json", "-"], message);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer.err.contains("message 1: not UTF-8 at byte"),
        "{}",
        answer.err
    );
    assert_eq!(w.log(&id), "");
}

#[test]
fn two_calls_with_one_id_are_refused() {
    let w = World::new();
    let id = w.thread("T");
    let call = r#"{"toolCallId":"t","name":"n","status":"completed"}"#;
    let message = format!("{{\"role\":\"agent\",\"content\":[],\"toolCalls\":[{call},{call}]}}");
    let answer = w.pipe(&["append", &id, "--message-json", "-"], message);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(
        answer
            .err
            .contains("tool call 2: the `toolCallId` `t` is there twice"),
        "{}",
        answer.err
    );
}

#[test]
fn a_tool_call_s_id_is_there_once_in_a_thread() {
    let w = World::new();
    let id = w.thread("T");
    let message = |calls: &str| {
        format!(r#"{{"role":"agent","content":[],"toolCalls":[{calls}]}}"#).replace('\n', "")
    };
    let call = |id: &str| format!(r#"{{"toolCallId":"{id}","name":"n","status":"pending"}}"#);
    let first = w.message(&id, &message(&call("t1")));
    let before = w.log(&id);
    let again = format!("{}\n{}\n", message(&call("t2")), message(&call("t1")));
    let answer = w.pipe(
        &["append", &id, "--strict", "--message-json", "-"],
        again.clone(),
    );
    assert_eq!(answer.code, 1, "{answer:?}");
    let why = "message 2: the `toolCallId` `t1` is in the thread already";
    assert!(answer.err.contains(why), "{}", answer.err);
    assert_eq!(w.log(&id), before, "nothing was written");
    // Without `--strict` what can be taken is, and what cannot is named.
    let answer = w.pipe(&["append", &id, "--message-json", "-"], again);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.err.contains(why), "{}", answer.err);
    assert_eq!(w.lines(&id).len(), 2);
    // Two messages of one batch.
    let batch = format!("{0}\n{0}\n", message(&call("t3")));
    let answer = w.pipe(&["append", &id, "--strict", "--message-json", "-"], batch);
    assert_eq!(answer.code, 1, "{answer:?}");
    // The unified vocabulary is no way around it; a result of that call is welcome.
    let unified =
        r#"{"role":"assistant","content":[{"type":"tool_use","tool_id":"t1","name":"n"}]}"#;
    let answer = w.pipe(&["append", &id, "--message-json", "-"], unified);
    assert_eq!(answer.code, 1, "{answer:?}");
    let result =
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"t1","output":"done"}]}"#;
    assert_eq!(w.message(&id, result), first);
    // A message that is written anew keeps its own calls, and takes nobody else's.
    let replace = |calls: &str| {
        let args = ["append", &id, "--replace", &first, "--message-json", "-"];
        w.pipe(&args, message(calls)).code
    };
    assert_eq!(replace(&call("t1")), 0);
    assert_eq!(replace(&call("t2")), 1);
    assert_eq!(w.ok(&["check", "--strict"]), "");
}

/// Runs a command that can write no file longer than that, as on a disk that is full; none where
/// that cannot be done.
#[cfg(target_os = "linux")]
pub(crate) fn with_short_files(
    w: &World,
    most: u64,
    args: &[&str],
) -> Option<crate::world::Answer> {
    if !crate::every_call::is_there("prlimit") {
        return None;
    }
    let limited = format!("trap '' XFSZ; exec prlimit --fsize={most} \"$0\" \"$@\"");
    let output = crate::every_call::wrapped(w, &["sh", "-c", &limited], args).output();
    let output = output.unwrap();
    Some(crate::world::Answer {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    })
}

/// The id is there, and a warning that keeps a person or a program from saving it again.
#[cfg(target_os = "linux")]
pub(crate) fn assert_saved_with_a_warning(answer: &crate::world::Answer) {
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 1, "{answer:?}");
    let said = "what was given is saved, but the description is not up to date";
    assert!(answer.err.starts_with("warning: "), "{answer:?}");
    assert!(answer.err.contains(said), "{answer:?}");
    assert!(
        answer.err.contains("hint: do not add it again"),
        "{answer:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_the_log_is_a_warning_and_the_id_is_told() {
    let w = World::new();
    let long = format!("{{\"note\":\"{}\"}}", "x".repeat(100_000));
    let made = w.ok(&["new", "--format", "atsf", "--metadata", &long, "--json"]);
    let id = json(&made)["id"].as_str().unwrap().to_owned();
    let Some(answer) = with_short_files(&w, 50_000, &["append", &id, "hello"]) else {
        return;
    };
    assert_saved_with_a_warning(&answer);
    let [message] = &w.lines(&id)[..] else {
        panic!("once: {}", w.log(&id))
    };
    assert_eq!(message["id"], answer.out.trim());
    // Written anew, the same holds.
    let replaced = ["append", &id, "--replace", "#1", "hello again"];
    let answer = with_short_files(&w, 50_000, &replaced).unwrap();
    assert_saved_with_a_warning(&answer);
    assert_eq!(w.lines(&id)[0]["content"][0]["text"], "hello again");
    // The next message brings the description up to date.
    w.ok(&["append", &id, "and more"]);
    assert_eq!(w.manifest(&id)["stats"]["messageCount"], 2);
}
