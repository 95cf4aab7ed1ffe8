//! Sending one message.

use std::path::Path;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::process::{Used, run};
use crate::program::Desk;

pub(crate) static BENCHMARK: Benchmark = Benchmark {
    name: "msg-send",
    subject: "send a message",
    peer: "a Python process that appends the same",
    aim: Aim::SpeedAtLeast(20.0),
    clock: Clock::ProcessCpu,
    runs: 20,
    make,
};

const SCRIPT: &str = r#"
import hashlib, json, os, re, sys, time, unicodedata
me, to = sys.argv[1:]
body = unicodedata.normalize("NFC", sys.stdin.read().rstrip("\n"))
words = re.findall("[a-z0-9]+", body.partition("\n")[0].lower())
slug = "-".join(words)[:40] if words else "msg"
record = {"ts": int(time.time()), "from": me, "to": to, "body": body,
          "thread": time.strftime("%Y-%m-%d", time.gmtime()) + "-" + me + "-" + slug}
canonical = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
record["id"] = hashlib.sha256(canonical.encode()).hexdigest()[:16]
path = os.path.join(os.environ["AGENT_MESSAGE_DIR"], "log-" + me + ".jsonl")
with open(path, "a", encoding="utf-8") as log:
    log.write(json.dumps(record, ensure_ascii=False) + "\n")
print("sent", record["id"])
"#;

const BODY: &[u8] =
    b"The build is red\n\nSince the last commit three tests fail, all of them about dates.\n";

fn make(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let desk = Desk::new(folder)?;
    std::fs::create_dir(desk.messages())?;
    Ok(Box::new(Send { desk, used: None }))
}

struct Send {
    desk: Desk,
    used: Option<Used>,
}

impl Pair for Send {
    fn run(&mut self, side: Side) -> Outcome {
        let mut command = match side {
            // Python syncs nothing either.
            Side::Subject => {
                let args = ["--as", "ann", "send", "bob", "--durability", "none"];
                self.desk.rethread(&args)
            }
            Side::Peer => self.desk.python(SCRIPT, &["pia", "bob"]),
        };
        let (used, said) = run(&mut command, BODY)?;
        self.used = Some(used);
        if said.starts_with("sent") {
            Ok(())
        } else {
            Err("nothing was sent".into())
        }
    }

    fn used(&self) -> Option<Used> {
        self.used
    }
}
