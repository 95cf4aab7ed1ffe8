//! Listing costs little more than reading what it must read.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rethread_engine::{Filter, Sort, list};
use rethread_formats::Env;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::store::{Project, manifest_of};

pub(crate) static BENCHMARK: Benchmark = Benchmark {
    name: "list",
    subject: "list 10,000 threads",
    peer: "read every thread.json, and nothing else",
    aim: Aim::TimeAtMost(4.0),
    clock: Clock::Cpu,
    runs: 2,
    make,
};

const THREADS: u64 = 10_000;

/// Messages of each thread.
const MESSAGES: u64 = 3;

/// People work in several folders of a project; the threads of each are alike.
const FOLDERS: u64 = 20;

fn make(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let mut project = Project::new(folder)?;
    let mut threads = Vec::new();
    for i in 0..THREADS {
        let name = format!("{i:08x}-11d5-4000-8000-{i:012x}");
        threads.push(if i < FOLDERS {
            let cwd = project.folder.join(format!("part-{i}"));
            fs::create_dir(&cwd)?;
            project.thread(&name, &cwd, MESSAGES)?
        } else {
            let of = usize::try_from(i % FOLDERS)?;
            Project::copy(&threads[of], &name)?
        });
    }
    Ok(Box::new(List {
        env: project.env,
        manifests: threads.iter().map(manifest_of).collect(),
    }))
}

struct List {
    env: Env,
    manifests: Vec<PathBuf>,
}

impl Pair for List {
    fn run(&mut self, side: Side) -> Outcome {
        match side {
            Side::Subject => {
                let listed = list(&self.env, &Filter::default(), Sort::Updated, &|_, _| {})?;
                let messages: u64 = listed.sessions.iter().map(|s| s.counts.messages).sum();
                if listed.sessions.len() as u64 != THREADS || messages != THREADS * MESSAGES {
                    return Err("the list is not what it should be".into());
                }
            }
            // As many at a time as the list itself reads.
            Side::Peer => {
                let read = |path: &PathBuf| fs::read(path).map(|bytes| bytes.len());
                let bytes: usize = self.manifests.par_iter().map(read).sum::<Result<_, _>>()?;
                std::hint::black_box(bytes);
            }
        }
        Ok(())
    }
}
