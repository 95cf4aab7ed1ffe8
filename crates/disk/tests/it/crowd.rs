//! Many writers at once, some of them killed, while another replaces the log again and again.

use std::{
    collections::BTreeMap,
    process::{Child, Stdio},
    time::Duration,
};

use crate::{
    child::{self, CROWD_LINES, Said, VICTIMS, crowd_line},
    place,
};

const WRITERS: usize = 6;

#[test]
fn every_acknowledged_line_is_there_once_and_whole() {
    let (_folder, path) = place();
    std::fs::write(&path, b"").unwrap();
    let start = |task, n| -> Child {
        let command = child::command(task, &path, None);
        child::numbered(command, n)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut rewriter = start("rewriter", 0);
    let mut writers: Vec<Child> = (0..WRITERS).map(|n| start("crowd", n)).collect();
    let mut snapshots = Vec::new();
    for victim in writers.iter_mut().take(VICTIMS) {
        std::thread::sleep(Duration::from_millis(200));
        // A reader, undisturbed.
        snapshots.push(std::fs::read(&path).unwrap());
        victim.kill().unwrap();
    }
    let mut acknowledged = Vec::new();
    for (n, writer) in writers.into_iter().enumerate() {
        let output = writer.wait_with_output().unwrap();
        let said = Said::new(output.status, &output.stdout);
        assert!(said.failed.is_empty(), "{said:?}");
        if n < VICTIMS {
            assert!(!said.status.success(), "{said:?}");
        } else {
            assert_eq!(said.done.len(), CROWD_LINES, "{said:?}");
        }
        acknowledged.push(said.done);
    }
    assert!(rewriter.wait().unwrap().success());
    snapshots.push(std::fs::read(&path).unwrap());
    for log in &snapshots {
        check_lines(log);
    }

    let log = String::from_utf8(snapshots.pop().unwrap()).unwrap();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for line in log.split_inclusive('\n') {
        *times.entry(line).or_default() += 1;
    }
    for (n, done) in acknowledged.iter().enumerate() {
        for &seq in done {
            assert_eq!(
                times.remove(crowd_line(n, seq).as_str()),
                Some(1),
                "{n} {seq}"
            );
        }
    }
    // What is left was written by the killed ones and not acknowledged any more.
    assert!(times.len() <= VICTIMS, "{times:?}");
}

/// Every line is whole, except for what a killed writer may have left.
fn check_lines(log: &[u8]) {
    let text = std::str::from_utf8(log).unwrap();
    let mut broken = 0;
    for line in text.split_inclusive('\n') {
        let mut words = line.splitn(3, ' ').map(str::parse::<usize>);
        let (n, seq) = (words.next(), words.next());
        match (n, seq) {
            (Some(Ok(n)), Some(Ok(seq))) if line == crowd_line(n, seq) => {}
            _ => broken += 1,
        }
    }
    assert!(broken <= VICTIMS, "{broken} broken lines");
}
