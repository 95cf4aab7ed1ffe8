//! Stores made to do harm: no panic, no waiting, and no more memory than others need.

use std::fs;
use std::io::Write;

use super::good::{Good, LOG};

#[test]
fn deep_nesting_is_survived() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let good = Good::new();
    good.edit(
        "thread.json",
        "\"metadata\": {}",
        &format!("\"metadata\": {{\"x\": {deep}}}"),
    );
    good.edit(
        "config.json",
        "\"model\": \"m\"",
        &format!("\"model\": {deep}"),
    );
    good.edit(
        "messages.jsonl",
        "\"rules\"",
        &format!("\"rules\",\"x\":{deep}"),
    );
    let found = good.check();
    let expected = [
        "warning[nesting] config.json:14",
        "warning[nesting] messages.jsonl:1",
        "warning[nesting] thread.json:30",
    ];
    assert_eq!(found.found, expected);
    assert_eq!(found.code, 0);
    // Not closed, and where an object should be.
    good.put("thread.json", "[".repeat(200_000));
    good.put("config.json", "{\"a\":".repeat(200_000));
    let found = good.check();
    assert_eq!(found.code, 1);
    assert!(
        found
            .found
            .contains(&"error[json] thread.json:1".to_owned()),
        "{found:?}"
    );
}

#[cfg(unix)]
#[test]
fn pipes_folders_and_link_loops_are_no_files() {
    use std::os::unix::fs::symlink;
    for name in [
        "config.json",
        "thread.json",
        "messages.jsonl",
        super::good::ASSET,
    ] {
        let good = Good::new();
        let path = good.path(name);
        let file = name.rsplit('/').next().unwrap();
        for kind in 0..3 {
            if path.is_dir() {
                fs::remove_dir(&path).unwrap();
            } else {
                fs::remove_file(&path).unwrap();
            }
            match kind {
                0 => {
                    let made = std::process::Command::new("mkfifo").arg(&path).status();
                    assert!(made.unwrap().success());
                }
                1 => symlink(&path, &path).unwrap(),
                _ => fs::create_dir(&path).unwrap(),
            }
            let found = good.check();
            let told = format!("error[unreadable] {file}");
            assert!(found.found.contains(&told), "{name} {kind}: {found:?}");
            assert_eq!(found.code, 1);
            let stats = found.found.iter().find(|f| f.contains("stats"));
            assert_eq!(stats, None, "{name}: what cannot be counted is not judged");
        }
    }
}

#[test]
fn a_line_of_100_megabytes_is_passed_over_and_told() {
    let good = Good::new();
    let mut file = fs::File::create(good.path("messages.jsonl")).unwrap();
    file.write_all(LOG.as_bytes()).unwrap();
    file.write_all(b"{\"id\":\"m4\",\"role\":\"agent\",\"timestamp\":\"2026-01-01T00:00:05.000Z\",\"content\":[{\"type\":\"text\",\"text\":\"").unwrap();
    for _ in 0..100 {
        file.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    file.write_all(b"\"}]}\n").unwrap();
    drop(file);
    good.edit("thread.json", "\"messageCount\": 3", "\"messageCount\": 4");
    good.edit(
        "thread.json",
        "\"agentMessageCount\": 1",
        "\"agentMessageCount\": 2",
    );
    good.edit("thread.json", "00:00:04.000Z", "00:00:05.000Z");
    let found = good.check();
    assert_eq!(found.found, ["warning[giant-line] messages.jsonl:4"]);
    assert_eq!(found.code, 0);
}

#[test]
fn a_file_full_of_faults_is_told_up_to_a_point() {
    let good = Good::new();
    let twice = "\"a\":1,".repeat(20_001);
    good.edit(
        "thread.json",
        "\"metadata\": {}",
        &format!("\"metadata\": {{{twice}\"a\":1}}"),
    );
    let found = good.check();
    assert_eq!(found.found.len(), 10_001);
    assert_eq!(found.found.last().unwrap(), "warning[more] thread.json:30");
    // A log is told line by line, however many there are.
    let good = Good::new();
    good.put("messages.jsonl", "{}\n".repeat(5_000));
    let found = good.check();
    assert!(found.found.len() == 20_000, "{}", found.found.len());
}

#[test]
fn noise_is_never_a_panic() {
    let noise: [&[u8]; 9] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\"x\"",
        b"\xff\xfe\x00",
        b"{}",
        b"\0\0\0\n\0",
        b"\xef\xbb\xbf",
    ];
    for name in ["config.json", "thread.json", "messages.jsonl"] {
        for bytes in noise {
            let good = Good::new();
            good.put(name, bytes);
            let found = good.check();
            assert!([0, 1].contains(&found.code), "{name} {bytes:?}: {found:?}");
            let is_told = found
                .found
                .iter()
                .any(|f| f.contains(name) || f.contains("thread.json"));
            assert!(is_told, "{name} {bytes:?}: {found:?}");
        }
    }
}

#[test]
fn a_log_cut_at_every_byte_has_at_most_a_torn_tail() {
    let good = Good::new();
    let folder = good.w.folder("t-1");
    let check = |log: &[u8]| {
        good.put("messages.jsonl", log);
        let mut found = Vec::new();
        let format = rethread_formats::by_name("atsf").unwrap();
        let path = folder.join("messages.jsonl");
        format
            .rules()
            .unwrap()
            .check(&path, &mut |v| found.push(v))
            .unwrap();
        found
    };
    for cut in 0..LOG.len() {
        let found = check(&LOG.as_bytes()[..cut]);
        assert!(found.len() <= 1, "{cut}: {found:?}");
        assert!(
            found.iter().all(|v| v.rule == "torn-line"),
            "{cut}: {found:?}"
        );
    }
}
