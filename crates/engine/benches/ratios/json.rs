//! Parsing lines and saving them as they were, against a document model that forgets the bytes.

use std::path::Path;

use rethread_json::{Lines, Tree, split_lines};

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::{Messages, id_at, time_at};

pub(crate) static BENCHMARK: Benchmark = Benchmark {
    name: "json",
    subject: "parse and save JSON lines",
    peer: "serde_json::Value, parsed and written",
    aim: Aim::SpeedAtLeast(3.0),
    clock: Clock::Cpu,
    runs: 4,
    make,
};

const BYTES: usize = 40 << 20;

fn make(_: &Path) -> Outcome<Box<dyn Pair>> {
    let mut messages = Messages::new(4);
    let mut lines = Vec::with_capacity(BYTES + (1 << 20));
    let mut i = 0;
    while lines.len() < BYTES {
        lines.extend_from_slice(&messages.next().line(Some(&id_at(i)), time_at(i)?));
        lines.push(b'\n');
        i += 1;
    }
    let mut saved = Vec::with_capacity(2 * lines.len());
    ours(&lines, &mut saved)?;
    if saved != lines {
        return Err("what was saved is not what was read".into());
    }
    Ok(Box::new(Json { lines, saved }))
}

struct Json {
    lines: Vec<u8>,
    saved: Vec<u8>,
}

impl Pair for Json {
    fn restore(&mut self, _: Side) -> Outcome {
        self.saved.clear();
        Ok(())
    }

    fn run(&mut self, side: Side) -> Outcome {
        match side {
            Side::Subject => ours(&self.lines, &mut self.saved)?,
            Side::Peer => theirs(&self.lines, &mut self.saved)?,
        }
        std::hint::black_box(&self.saved);
        Ok(())
    }
}

fn ours(lines: &[u8], out: &mut Vec<u8>) -> Outcome {
    let mut lines = Lines::new(lines);
    let mut tree = Tree::default();
    while let Some(line) = lines.next_line()? {
        let bytes = line.whole().ok_or("no line is that long")?;
        tree.parse_into(bytes)?;
        out.extend_from_slice(tree.root(bytes).raw());
        out.push(b'\n');
    }
    Ok(())
}

fn theirs(lines: &[u8], out: &mut Vec<u8>) -> Outcome {
    for (_, line) in split_lines(lines) {
        let value: serde_json::Value = serde_json::from_slice(line)?;
        serde_json::to_writer(&mut *out, &value)?;
        out.push(b'\n');
    }
    Ok(())
}
