//! Reading an inbox of a million messages: the first time, and when one is new.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use rethread_samp::Id;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::process::{Used, run};
use crate::program::Desk;

pub(crate) static COLD: Benchmark = Benchmark {
    name: "msg-inbox-cold",
    subject: "first inbox over 1,000,000 messages",
    peer: "json.loads on every line of every log",
    aim: Aim::SpeedAtLeast(4.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: make_cold,
};

pub(crate) static WARM: Benchmark = Benchmark {
    name: "msg-inbox-warm",
    subject: "inbox with one new in 1,000,000 messages",
    peer: "json.loads on every line of every log",
    aim: Aim::SpeedAtLeast(1000.0),
    clock: Clock::ProcessCpu,
    runs: 1,
    make: make_warm,
};

/// As the document has it, and no id is looked at twice: Python trusts those that are stored.
const SCRIPT: &str = r#"
import glob, json, os, sys, time
me = sys.argv[1]
folder = os.environ["AGENT_MESSAGE_DIR"]
state = os.path.join(folder, ".python-" + me)
since, known = 0, set()
if os.path.exists(state):
    with open(state) as f:
        saved = json.load(f)
    since, known = saved["ts"], set(saved["ids"])
found, met = [], set()
for path in sorted(glob.glob(os.path.join(folder, "log-*.jsonl"))):
    owner = os.path.basename(path)[4:-6]
    with open(path, encoding="utf-8") as log:
        for line in log:
            m = json.loads(line)
            if m.get("from") != owner or m.get("to") != me:
                continue
            i = m["id"]
            if i in met:
                continue
            met.add(i)
            if m["ts"] < since or (m["ts"] == since and i in known):
                continue
            found.append(m)
found.sort(key=lambda m: m["ts"])
for m in found:
    t = time.strftime("%Y-%m-%d %H:%M", time.localtime(m["ts"]))
    print(m["id"], "", t, "", m["from"], "", m["thread"])
    for line in m["body"].splitlines():
        print("    " + line)
    print()
print(len(found), "new from:", ", ".join(sorted({m["from"] for m in found})))
if found:
    newest = max(m["ts"] for m in found)
    ids = {m["id"] for m in found if m["ts"] == newest}
    if newest == since:
        ids |= known
    with open(state, "w") as f:
        json.dump({"ts": newest, "ids": sorted(ids)}, f)
"#;

const MESSAGES: u32 = 1_000_000;
const WRITERS: u32 = 8;

fn line(writer: u32, n: u32) -> String {
    let (from, ts) = (format!("writer{writer}"), 1_700_000_000 + i64::from(n / 4));
    let thread = format!("2023-11-14-{from}-topic-{}", n % 97);
    let body = format!(
        "Message {n}: the tests of part {} are {} again, see the log for what changed.",
        n % 31,
        if n.is_multiple_of(3) { "red" } else { "green" }
    );
    let id = Id::of(ts, &from, "bob", &thread, &body);
    format!(
        "{{\"id\": \"{id}\", \"ts\": {ts}, \"from\": \"{from}\", \"to\": \"bob\", \"thread\": \"{thread}\", \"body\": \"{body}\"}}\n"
    )
}

fn history(folder: &Path) -> Outcome<Desk> {
    let desk = Desk::new(folder)?;
    fs::create_dir(desk.messages())?;
    for writer in 0..WRITERS {
        let path = desk.messages().join(format!("log-writer{writer}.jsonl"));
        let mut log = BufWriter::new(File::create(path)?);
        for n in (writer..MESSAGES).step_by(WRITERS as usize) {
            log.write_all(line(writer, n).as_bytes())?;
        }
        log.flush()?;
    }
    Ok(desk)
}

fn make_cold(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let desk = history(folder)?;
    Ok(Box::new(Cold { desk, used: None }))
}

fn make_warm(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let desk = history(folder)?;
    for side in [Side::Subject, Side::Peer] {
        read(&desk, side, MESSAGES)?;
    }
    Ok(Box::new(Warm {
        used: None,
        desk,
        sent: MESSAGES,
        unread: [0; 2],
    }))
}

/// Reads what is new, which must be so many.
fn read(desk: &Desk, side: Side, expected: u32) -> Outcome<Used> {
    let mut command = match side {
        Side::Subject => desk.rethread(&["--as", "bob", "inbox"]),
        Side::Peer => desk.python(SCRIPT, &["bob"]),
    };
    let (used, said) = run(&mut command, b"")?;
    let last = said.lines().last().unwrap_or_default();
    if last.starts_with(&format!("{expected} new from: ")) {
        Ok(used)
    } else {
        Err(format!("{side:?}: expected {expected} new messages: {last}").into())
    }
}

struct Cold {
    desk: Desk,
    used: Option<Used>,
}

impl Pair for Cold {
    fn restore(&mut self, _: Side) -> Outcome {
        let messages = self.desk.messages();
        for name in [".seen-bob", ".mtime-bob", ".python-bob"] {
            if messages.join(name).exists() {
                fs::remove_file(messages.join(name))?;
            }
        }
        if self.desk.cache().exists() {
            fs::remove_dir_all(self.desk.cache())?;
        }
        Ok(())
    }

    fn run(&mut self, side: Side) -> Outcome {
        self.used = Some(read(&self.desk, side, MESSAGES)?);
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }
}

struct Warm {
    desk: Desk,
    sent: u32,
    /// How many messages each side has not read yet.
    unread: [u32; 2],
    used: Option<Used>,
}

impl Warm {
    fn place(side: Side) -> usize {
        usize::from(side == Side::Peer)
    }
}

impl Pair for Warm {
    /// Sees to it that exactly one message is new.
    fn restore(&mut self, side: Side) -> Outcome {
        if self.unread[Self::place(side)] > 0 {
            return Ok(());
        }
        let writer = self.sent % WRITERS;
        let path = self
            .desk
            .messages()
            .join(format!("log-writer{writer}.jsonl"));
        let mut log = File::options().append(true).open(path)?;
        log.write_all(line(writer, self.sent).as_bytes())?;
        self.sent += 1;
        for unread in &mut self.unread {
            *unread += 1;
        }
        Ok(())
    }

    fn run(&mut self, side: Side) -> Outcome {
        let unread = std::mem::take(&mut self.unread[Self::place(side)]);
        self.used = Some(read(&self.desk, side, unread)?);
        Ok(())
    }

    fn used(&self) -> Option<Used> {
        self.used
    }
}
