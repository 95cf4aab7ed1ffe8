//! Listing many projects costs little more than listing as many sessions of one.

use std::fs;
use std::path::Path;

use rethread_disk::Durability;
use rethread_engine::{Filter, Sort, list};
use rethread_formats::Env;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::store::Project;

pub(crate) static BENCHMARK: Benchmark = Benchmark {
    name: "projects",
    subject: "list 1,000 projects with a thread each",
    peer: "list 1,000 threads of one project",
    aim: Aim::TimeAtMost(1.5),
    clock: Clock::Cpu,
    runs: 10,
    make,
};

const THREADS: u64 = 1_000;
const MESSAGES: u64 = 3;

fn make(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let mut one = Project::new(&inside(folder, "one")?)?;
    let mut many = Project::new(&inside(folder, "many")?)?;
    for i in 0..THREADS {
        let name = format!("{i:08x}-11d5-4000-8000-{i:012x}");
        let cwd = one.folder.clone();
        one.thread(&name, &cwd, MESSAGES)?;
        let project = inside(many.folder.parent().unwrap_or(folder), &format!("p{i}"))?;
        fs::create_dir(project.join(".git"))?;
        fs::write(project.join(".git").join("HEAD"), "ref: refs/heads/main\n")?;
        many.thread(&name, &project, MESSAGES)?;
        rethread_catalog::remember(&many.env, &project, Durability::None)?;
    }
    Ok(Box::new(Projects {
        one: one.env,
        many: many.env,
    }))
}

fn inside(folder: &Path, name: &str) -> Outcome<std::path::PathBuf> {
    let path = folder.join(name);
    fs::create_dir_all(&path)?;
    Ok(path)
}

struct Projects {
    one: Env,
    many: Env,
}

impl Pair for Projects {
    fn run(&mut self, side: Side) -> Outcome {
        let env = match side {
            Side::Subject => &self.many,
            Side::Peer => &self.one,
        };
        let listed = list(env, &Filter::default(), Sort::Updated, &|_, _| {})?;
        if listed.sessions.len() as u64 != THREADS {
            return Err(format!("{} sessions are listed", listed.sessions.len()).into());
        }
        Ok(())
    }
}
