//! Appending takes no longer the longer a log is.

use std::path::Path;

use rethread_disk::Durability;
use rethread_formats::atsf::FORMAT;
use rethread_formats::{Env, MessageInput, TextMessage};
use rethread_model::Role;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::Messages;
use crate::store::{Kept, Project, writing};

pub(crate) static BENCHMARK: Benchmark = Benchmark {
    name: "append",
    subject: "append to a log of 1,000,000 messages",
    peer: "append to a log of 10 messages",
    aim: Aim::TimeAtMost(1.5),
    clock: Clock::Cpu,
    runs: 60,
    make,
};

const LONG: u64 = 1_000_000;
const SHORT: u64 = 10;

fn make(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let mut project = Project::new(folder)?;
    let cwd = project.folder.clone();
    Ok(Box::new(Append {
        short: Kept::new(project.thread("short", &cwd, SHORT)?)?,
        long: Kept::new(project.long_thread("long", LONG)?)?,
        env: project.env,
        message: text(Messages::new(2).prose(600)),
    }))
}

/// A message of text.
pub(crate) fn text(text: String) -> MessageInput {
    MessageInput::Text(TextMessage {
        role: Role::User,
        text,
        images: Vec::new(),
        model: None,
    })
}

struct Append {
    env: Env,
    short: Kept,
    long: Kept,
    message: MessageInput,
}

impl Append {
    fn thread(&self, side: Side) -> &Kept {
        match side {
            Side::Subject => &self.long,
            Side::Peer => &self.short,
        }
    }
}

impl Pair for Append {
    fn restore(&mut self, side: Side) -> Outcome {
        self.thread(side).restore()
    }

    fn run(&mut self, side: Side) -> Outcome {
        let w = writing(&self.env, Durability::None);
        let messages = std::slice::from_ref(&self.message);
        FORMAT
            .writable()?
            .append(&w, &self.thread(side).source, messages)?;
        Ok(())
    }
}
