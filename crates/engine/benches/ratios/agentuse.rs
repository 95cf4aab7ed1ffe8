//! Sessions that are folders of many small files cost little more than reading those files.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rethread_engine::{Filter, Part, Sort, list, show};
use rethread_formats::Env;
use rethread_model::Bodies as _;

use crate::benchmark::{Aim, Benchmark, Outcome, Pair, Side};
use crate::clock::Clock;
use crate::messages::Messages;

pub(crate) static LIST: Benchmark = Benchmark {
    name: "agentuse-list",
    subject: "list 5,000 AgentUse sessions",
    peer: "read every session.json, and nothing else",
    aim: Aim::TimeAtMost(4.0),
    clock: Clock::Cpu,
    runs: 2,
    make: make_list,
};

pub(crate) static SHOW: Benchmark = Benchmark {
    name: "agentuse-show",
    subject: "show an AgentUse session of 10,000 parts",
    peer: "read every file of it, and nothing else",
    aim: Aim::TimeAtMost(4.0),
    clock: Clock::Cpu,
    runs: 2,
    make: make_show,
};

const SESSIONS: usize = 5_000;
const PARTS: usize = 10_000;

/// The time of everything.
const TIME: u64 = 1_763_200_000_000;

/// A home with a folder of sessions, and nothing around it that is looked at.
fn home(within: &Path) -> Outcome<(Env, PathBuf)> {
    let home = fs::canonicalize(within)?;
    let mut env = Env::from_variables(
        std::collections::BTreeMap::new(),
        Some(home.clone()),
        home.clone(),
    )?;
    env.use_homes(std::slice::from_ref(&home));
    let sessions = home.join(".local/share/agentuse/project/global/session");
    fs::create_dir_all(&sessions)?;
    Ok((env, sessions))
}

fn id(kind: char, n: usize) -> String {
    format!("01KA3J1000{kind}{n:015}")
}

/// Some text as JSON.
fn prose(said: &mut Messages, length: usize) -> String {
    let quoted = rethread_json::quote(&said.prose(length));
    String::from_utf8_lossy(&quoted).into_owned()
}

/// Writes a session with one exchange of so many parts; gives all its files.
fn session(folder: &Path, n: usize, parts: usize, said: &mut Messages) -> Outcome<Vec<PathBuf>> {
    let (session, message) = (id('S', n), id('M', n));
    let home = folder.join(format!("{session}-demo"));
    let part_folder = home.join(&message).join("part");
    fs::create_dir_all(&part_folder)?;
    let mut files = Vec::new();
    let mut put = |path: PathBuf, text: String| -> Outcome {
        let bytes = rethread_json::pretty(text.as_bytes(), 2, 0);
        fs::write(&path, bytes)?;
        files.push(path);
        Ok(())
    };
    put(
        home.join("session.json"),
        format!(
            r#"{{"agent":{{"id":"demo","name":"demo","isSubAgent":false}},"model":"anthropic:claude-sonnet-4-5","version":"0.30.0","config":{{"timeout":300,"maxSteps":100}},"project":{{"root":"/srv/app","cwd":"/srv/app"}},"trigger":"manual","id":"{session}","status":"completed","time":{{"created":{TIME},"updated":{TIME}}}}}"#
        ),
    )?;
    put(
        home.join(&message).join("message.json"),
        format!(
            r#"{{"id":"{message}","sessionID":"{session}","time":{{"created":{TIME}}},"user":{{"prompt":{{"task":{}}}}},"assistant":{{"system":["You are an agent."],"modelID":"claude-sonnet-4-5","providerID":"anthropic","mode":"build","path":{{"cwd":"/srv/app","root":"/srv/app"}},"cost":0,"tokens":{{"input":900,"output":80,"reasoning":0,"cache":{{"read":100,"write":0}}}}}}}}"#,
            prose(said, 200)
        ),
    )?;
    for i in 0..parts {
        let (part, start) = (id('P', i), TIME + i as u64);
        let own = match i % 3 {
            0 => format!(
                r#""type":"text","text":{},"time":{{"start":{start}}}"#,
                prose(said, 400)
            ),
            1 => format!(
                r#""type":"reasoning","text":{},"time":{{"start":{start}}}"#,
                prose(said, 300)
            ),
            _ => format!(
                r#""type":"tool","callID":"call_{i}","tool":"bash","state":{{"status":"completed","input":{{"command":{}}},"output":{},"time":{{"start":{start},"end":{start}}}}}"#,
                prose(said, 60),
                prose(said, 1500)
            ),
        };
        put(
            part_folder.join(format!("{part}.json")),
            format!(r#"{{{own},"id":"{part}","sessionID":"{session}","messageID":"{message}"}}"#),
        )?;
    }
    Ok(files)
}

fn make_list(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let (env, sessions) = home(folder)?;
    let mut said = Messages::new(1);
    let mut descriptions = Vec::with_capacity(SESSIONS);
    for n in 0..SESSIONS {
        let files = session(&sessions, n, 2, &mut said)?;
        descriptions.extend(files.into_iter().next());
    }
    Ok(Box::new(Listing { env, descriptions }))
}

struct Listing {
    env: Env,
    descriptions: Vec<PathBuf>,
}

impl Pair for Listing {
    fn run(&mut self, side: Side) -> Outcome {
        match side {
            Side::Subject => {
                let listed = list(&self.env, &Filter::default(), Sort::Updated, &|_, _| {})?;
                let messages: u64 = listed.sessions.iter().map(|s| s.counts.messages).sum();
                if listed.sessions.len() != SESSIONS || messages != 2 * SESSIONS as u64 {
                    return Err("the list is not what it should be".into());
                }
            }
            Side::Peer => read_all(&self.descriptions)?,
        }
        Ok(())
    }
}

/// Reads files, as many at a time as there are hands.
fn read_all(files: &[PathBuf]) -> Outcome {
    let read = |path: &PathBuf| fs::read(path).map(|bytes| bytes.len());
    let bytes: usize = files.par_iter().map(read).sum::<Result<_, _>>()?;
    std::hint::black_box(bytes);
    Ok(())
}

fn make_show(folder: &Path) -> Outcome<Box<dyn Pair>> {
    let (env, sessions) = home(folder)?;
    let files = session(&sessions, 0, PARTS, &mut Messages::new(1))?;
    let path = sessions.join(format!("{}-demo", id('S', 0)));
    Ok(Box::new(Showing { env, path, files }))
}

struct Showing {
    env: Env,
    path: PathBuf,
    files: Vec<PathBuf>,
}

impl Pair for Showing {
    fn run(&mut self, side: Side) -> Outcome {
        match side {
            Side::Subject => {
                let name = self.path.to_str().ok_or("a path that is not text")?;
                let shown = show(&self.env, name, Part::Active)?;
                let bodies = shown.entries.iter().map(|ix| shown.conversation.body(*ix));
                if std::hint::black_box(bodies.count()) != 3 {
                    return Err("the session is not what it should be".into());
                }
            }
            // One after the other, as a session is read.
            Side::Peer => {
                let mut bytes = 0;
                for path in &self.files {
                    bytes += fs::read(path)?.len();
                }
                std::hint::black_box(bytes);
            }
        }
        Ok(())
    }
}
