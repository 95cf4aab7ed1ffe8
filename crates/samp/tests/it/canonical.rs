//! The canonical form, as the document has it in Python, against ours.

use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
};

use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use rethread_samp::LineReader;

/// The formula of the document, for each line.
const SCRIPT: &str = r#"
import hashlib, json, sys, unicodedata
for line in sys.stdin.buffer:
    record = json.loads(line)
    record.pop("id", None)
    record.pop("more", None)
    if "body" in record:
        record["body"] = unicodedata.normalize("NFC", record["body"])
    canonical = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    print(hashlib.sha256(canonical.encode("utf-8")).hexdigest()[:16])
"#;

const RECORDS: usize = 1000;

/// Runs Python. Without it the test is skipped, but not on a build machine.
fn python(input: &str) -> Option<String> {
    let started = Command::new("python3")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        rethread_judges::skip_without("python3");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Characters that are spelled, composed or escaped in some special way. All are old enough for
/// every Python.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => proptest::char::range(' ', '~'),
        2 => proptest::char::range('\0', '\u{1f}'),
        1 => proptest::char::range('\u{7f}', '\u{ff}'),
        2 => proptest::char::range('\u{300}', '\u{345}'),
        1 => proptest::char::range('\u{1100}', '\u{11ff}'),
        1 => proptest::char::range('\u{915}', '\u{95f}'),
        1 => proptest::char::range('\u{2000}', '\u{203f}'),
        1 => proptest::char::range('\u{2126}', '\u{212b}'),
        1 => proptest::char::range('\u{1f600}', '\u{1f64f}'),
        1 => proptest::char::range('\u{f900}', '\u{fa0d}'),
        1 => proptest::sample::select(vec!['"', '\\', '/', '\u{feff}', '\u{fb01}', 'e', 'A']),
    ];
    proptest::collection::vec(character, 0..16).prop_map(|chars| chars.into_iter().collect())
}

/// A string in one of the spellings that JSON allows.
fn spelled() -> impl Strategy<Value = String> {
    (text(), any::<bool>()).prop_map(|(text, escaped)| {
        let plain = serde_json::to_string(&text).unwrap();
        if !escaped {
            return plain;
        }
        let mut out = String::from("\"");
        for unit in text.encode_utf16() {
            write!(out, "\\u{unit:04X}").unwrap();
        }
        out + "\""
    })
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..4_102_444_800_i64).prop_map(|n| n.to_string()),
        1 => any::<i64>().prop_map(|n| n.to_string()),
        1 => Just("-0".to_owned()),
        1 => Just("170000000000000000000000000000".to_owned()),
        1 => any::<f64>().prop_filter("JSON has no others", |f| f.is_finite())
            .prop_map(|f| format!("{f:?}")),
        1 => (0..10_000_u32, 0..40_u32).prop_map(|(n, e)| format!("{n}E{e}")),
        1 => (0..10_000_u32, 0..30_u32).prop_map(|(n, e)| format!("{n}.50e-{e}")),
    ]
}

/// A record with members in any order and spacing, some missing, some unknown.
fn record() -> impl Strategy<Value = String> {
    let members = (
        number(),
        [spelled(), spelled(), spelled(), spelled(), spelled()],
    );
    let shape = (0..120_usize, 0..64_u8, any::<bool>());
    (members, shape).prop_map(
        |((ts, [from, to, thread, body, more]), (turn, left_out, wide))| {
            let (colon, comma) = if wide { (" : ", " ,\t") } else { (":", ",") };
            let mut all = [
                ("ts", ts),
                ("from", from),
                ("to", to),
                ("thread", thread),
                ("body", body),
                ("more", more),
            ];
            all.rotate_left(turn % 6);
            all.swap(turn % 5, 5);
            let members = all
                .iter()
                .enumerate()
                .filter(|(i, _)| left_out & (1 << i) == 0 || left_out > 15);
            let members: Vec<String> = members
                .map(|(_, (key, value))| format!("\"{key}\"{colon}{value}"))
                .collect();
            format!("{{{}}}", members.join(comma))
        },
    )
}

#[test]
fn random_records_have_the_id_that_python_gives_them() {
    let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), seed);
    let strategy = record();
    let lines: Vec<String> = (0..RECORDS)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect();
    let Some(answer) = python(&(lines.join("\n") + "\n")) else {
        return;
    };
    let expected: Vec<&str> = answer.lines().collect();
    assert_eq!(expected.len(), RECORDS);
    let mut reader = LineReader::default();
    for (line, expected) in lines.iter().zip(expected) {
        let id = reader.read(line.as_bytes()).unwrap().id();
        assert_eq!(id.to_string(), expected, "{line}");
    }
}
