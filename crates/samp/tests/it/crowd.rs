//! Many writers, some killed at random, many readers, and one who compacts: processes, not threads.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rethread_samp::{Alias, Draft, Durability, Folder, Inbox, compact, cursor_folder};

use crate::post::{NOW, alias, line};

const TASK: &str = "SAMP_TEST_TASK";
const NAME: &str = "SAMP_TEST_NAME";
const ROOT: &str = "SAMP_TEST_ROOT";
const FROM: &str = "SAMP_TEST_FROM";

const WRITERS: usize = 8;
const READERS: usize = 4;
const MESSAGES: usize = 10_000;

/// Not a test: what the other process does.
#[test]
fn worker() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let root = PathBuf::from(std::env::var(ROOT).unwrap());
    let me = alias(&std::env::var(NAME).unwrap());
    let folder = Folder::new(root.join("messages"));
    match task.as_str() {
        "write" => write(&folder, &me, std::env::var(FROM).unwrap().parse().unwrap()),
        "read" => read(&root, &folder, &me),
        "compact" => keep_compacting(&root, &folder, &me),
        other => panic!("{other}"),
    }
}

fn say(line: &str) {
    std::io::stdout()
        .write_all(format!("\n>{line}\n").as_bytes())
        .unwrap();
}

/// Whether this writer is killed now and then.
fn is_killed(writer: usize) -> bool {
    writer.is_multiple_of(2)
}

fn is_over(root: &Path) -> bool {
    root.join("over").exists()
}

/// Sends messages in order to all readers in turn, and says which are sent.
fn write(folder: &Folder, me: &Alias, from: usize) {
    let readers: Vec<Alias> = (0..READERS).map(|n| alias(&format!("reader{n}"))).collect();
    for n in from..MESSAGES {
        let text = format!("{me} {n} from {from}");
        let to = &readers[n % READERS];
        let draft = Draft {
            from: me,
            to,
            text: &text,
        };
        // The clocks of the writers have nothing to do with each other.
        let ts = NOW + i64::try_from(n / 100 + me.as_str().len()).unwrap();
        draft.send(folder, ts, Durability::None).unwrap();
        say(&n.to_string());
    }
}

/// Shows what is new again and again, until it is over and nothing is.
fn read(root: &Path, folder: &Folder, me: &Alias) {
    let cursor = cursor_folder(&root.join("cache"), folder, me);
    loop {
        let last = is_over(root);
        let inbox = Inbox {
            folder,
            me,
            now: NOW + 1000,
            lenient: false,
        };
        let mut new = inbox.new_messages(&cursor).unwrap();
        new.batch
            .each(|message| {
                say(&message.record.body());
                Ok::<(), ()>(())
            })
            .unwrap();
        // A torn line of a killed writer is all that may be noticed.
        let of_killed: Vec<PathBuf> = (0..WRITERS)
            .filter(|n| is_killed(*n))
            .map(|n| folder.log_of(&alias(&format!("writer{n}"))))
            .collect();
        let troubles = new.batch.troubles().iter();
        let other = troubles.filter(|t| {
            !matches!(t.what, rethread_samp::What::Unreadable(_)) || !of_killed.contains(&t.path)
        });
        assert_eq!(other.count(), 0, "{:?}", new.batch.troubles());
        assert_eq!(new.note(), []);
        if last {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn keep_compacting(root: &Path, folder: &Folder, me: &Alias) {
    let own = folder.log_of(me);
    while !is_over(root) {
        let mut file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(&own)
            .unwrap();
        file.write_all(line(me.as_str(), "nobody", "again", NOW).as_bytes())
            .unwrap();
        compact(folder, me, Durability::None).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    say("compacted");
}

/// Starts a worker; gives it and what it says.
fn start(
    root: &Path,
    task: &str,
    name: &str,
    from: usize,
) -> (Child, thread::JoinHandle<Vec<String>>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "crowd::worker",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(TASK, task)
        .env(NAME, name)
        .env(ROOT, root)
        .env(FROM, from.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let said = thread::spawn(move || {
        let lines = out.split(b'\n').map_while(Result::ok);
        let lines = lines.map(|line| String::from_utf8(line).unwrap());
        lines
            .filter_map(|line| Some(line.strip_prefix('>')?.to_owned()))
            .collect()
    });
    (child, said)
}

/// A writer that is killed now and then, and goes on behind what it had said; gives what was
/// acknowledged.
fn killed_now_and_then(root: &Path, name: &str, seed: usize) -> BTreeSet<usize> {
    let mut acknowledged = BTreeSet::new();
    for round in 0.. {
        let from = acknowledged.last().map_or(0, |last| last + 1);
        let (mut child, said) = start(root, "write", name, from);
        if round < 3 {
            let pause = 100 + (seed * 131 + round * 397) % 700;
            thread::sleep(Duration::from_millis(u64::try_from(pause).unwrap()));
            let _ = child.kill();
        }
        let status = child.wait().unwrap();
        let said = said.join().unwrap();
        // Half a number may be the last word of one who was killed.
        let whole = said.len().saturating_sub(usize::from(!status.success()));
        acknowledged.extend(said.iter().take(whole).map(|n| n.parse::<usize>().unwrap()));
        if status.success() {
            break;
        }
    }
    acknowledged
}

#[test]
fn each_reader_sees_each_acknowledged_message_once_and_in_order() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    Folder::new(root.join("messages"))
        .create(Durability::None)
        .unwrap();
    let readers: Vec<_> = (0..READERS)
        .map(|n| start(root, "read", &format!("reader{n}"), 0))
        .collect();
    let compactor = start(root, "compact", "ninth", 0);
    let writers: Vec<_> = (0..WRITERS)
        .map(|n| {
            let root = root.to_owned();
            thread::spawn(move || {
                let name = format!("writer{n}");
                if is_killed(n) {
                    return (name.clone(), killed_now_and_then(&root, &name, n));
                }
                let (mut child, said) = start(&root, "write", &name, 0);
                assert!(child.wait().unwrap().success());
                let said = said.join().unwrap();
                (name, said.iter().map(|n| n.parse().unwrap()).collect())
            })
        })
        .collect();
    let acknowledged: BTreeMap<String, BTreeSet<usize>> =
        writers.into_iter().map(|w| w.join().unwrap()).collect();
    std::fs::write(root.join("over"), "").unwrap();
    for (name, numbers) in &acknowledged {
        assert!(
            numbers.contains(&(MESSAGES - 1)) && numbers.len() > MESSAGES - 10,
            "{name}"
        );
    }
    let (mut child, said) = compactor;
    assert!(child.wait().unwrap().success());
    assert_eq!(said.join().unwrap(), ["compacted"]);
    for (reader, (mut child, said)) in readers.into_iter().enumerate() {
        assert!(child.wait().unwrap().success(), "reader {reader}");
        let said = said.join().unwrap();
        let once: BTreeSet<&String> = said.iter().collect();
        assert_eq!(once.len(), said.len(), "reader {reader} sees each once");
        let mut seen: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for body in &said {
            let mut words = body.split(' ');
            let (writer, n) = (words.next().unwrap(), words.next().unwrap());
            seen.entry(writer).or_default().push(n.parse().unwrap());
        }
        for (writer, numbers) in &acknowledged {
            let seen = &seen[writer.as_str()];
            assert!(seen.is_sorted(), "{writer} in order");
            let all: BTreeSet<usize> = seen.iter().copied().collect();
            let missing = numbers
                .iter()
                .find(|n| *n % READERS == reader && !all.contains(n));
            assert_eq!(missing, None, "{writer} to reader {reader}");
        }
    }
}
