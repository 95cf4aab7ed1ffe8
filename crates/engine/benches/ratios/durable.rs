//! What it costs to save a batch for good, beyond the bytes themselves.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::Path;

use rethread_disk::Durability;
use rethread_formats::atsf::FORMAT;
use rethread_formats::{Env, MessageInput};

use crate::append::text;
use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::Messages;
use crate::store::{Kept, Project, writing};

pub(crate) static BENCHMARK: Benchmark = Benchmark {
    name: "append-durable",
    subject: "append 1,000 messages and sync",
    peer: "the same lines, one write and fdatasync",
    aim: Aim::Known,
    // Most of it is waiting for the disk.
    clock: Clock::Wall,
    runs: 10,
    make,
};

const BATCH: usize = 1000;

fn make(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let mut project = Project::new(folder)?;
    let cwd = project.folder.clone();
    let mut words = Messages::new(3);
    let mut pair = Durable {
        thread: Kept::new(project.thread("batch", &cwd, 10)?)?,
        env: project.env,
        messages: (0..BATCH).map(|_| text(words.prose(600))).collect(),
        lines: Vec::new(),
        raw: File::create(project.folder.join("raw.jsonl"))?,
    };
    pair.run(Side::Subject)?;
    pair.lines = pair.thread.appended()?;
    Ok(Box::new(pair))
}

struct Durable {
    env: Env,
    thread: Kept,
    messages: Vec<MessageInput>,
    /// What the thread's log got for them.
    lines: Vec<u8>,
    raw: File,
}

impl Pair for Durable {
    fn restore(&mut self, side: Side) -> Outcome {
        match side {
            Side::Subject => {
                self.thread.restore()?;
                self.thread.log.sync_all()?;
            }
            Side::Peer => {
                self.raw.set_len(0)?;
                self.raw.rewind()?;
                self.raw.sync_all()?;
            }
        }
        Ok(())
    }

    fn run(&mut self, side: Side) -> Outcome {
        match side {
            Side::Subject => {
                let w = writing(&self.env, Durability::Close);
                FORMAT
                    .writable()?
                    .append(&w, &self.thread.source, &self.messages)?;
            }
            Side::Peer => {
                self.raw.write_all(&self.lines)?;
                self.raw.sync_data()?;
            }
        }
        Ok(())
    }
}
