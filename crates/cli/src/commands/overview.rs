//! `rethread`: what there is on this machine.

use std::io::Write;

use rethread_engine::{Overview, overview};
use rethread_render::one_line;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print_json, session_json};
use crate::progress::Progress;
use crate::table::{count, sessions};

/// How many conversations are shown.
const RECENT: usize = 10;

pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    let progress = Progress::new("reading");
    let all = overview(&context.env, RECENT, &|done, of| progress.at(done, of));
    drop(progress);
    if context.json {
        print_json(&as_json(&all))?;
    } else if all.sessions == 0 {
        nothing(context, &all)?;
    } else {
        print(context, &all)?;
    }
    Ok(context.notes(&all.notes))
}

fn print(context: &Context, all: &Overview) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let noun = |n: u64, one: &str| format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" });
    writeln!(
        out,
        "{}, {}, {}",
        noun(all.sessions, "conversation"),
        noun(all.messages, "message"),
        noun(all.usage.total(), "token")
    )?;
    writeln!(out)?;
    for agent in &all.agents {
        writeln!(
            out,
            "  {:<12} {:>8}  {:>10}  {:>14}",
            agent.format,
            count(agent.sessions),
            noun(agent.messages, "message"),
            noun(agent.usage.total(), "token")
        )?;
    }
    writeln!(out, "\nMost recent:")?;
    for line in sessions(
        &all.recent,
        &all.names,
        context.zone(),
        context.columns.map(|c| c.saturating_sub(2)),
    ) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out, "\nFound in:")?;
    for place in &all.found {
        writeln!(out, "  {}", one_line(&place.display().to_string()))?;
    }
    writeln!(
        out,
        "\n`rethread show latest` reads the newest; `rethread --help` says what else."
    )?;
    Ok(out.flush()?)
}

fn nothing(context: &Context, all: &Overview) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "No conversations were found. Rethread looked in:")?;
    for (format, place) in &all.looked {
        writeln!(out, "  {format:<12} {place}")?;
    }
    let homes = &context.env.homes;
    let cwd = (!context.env.homes_are_given).then_some(&context.env.cwd);
    for folder in homes.iter().chain(cwd) {
        writeln!(
            out,
            "  {:<12} {}",
            "from",
            one_line(&folder.display().to_string())
        )?;
    }
    writeln!(out, "\nTry the built-in sample:")?;
    writeln!(out, "  rethread sample rethread-sample")?;
    Ok(out.flush()?)
}

fn as_json(all: &Overview) -> Value {
    let agents: Vec<Value> = all
        .agents
        .iter()
        .map(|a| {
            json!({
                "agent": a.format,
                "session_count": a.sessions,
                "message_count": a.messages,
                "total_tokens": a.usage.total(),
            })
        })
        .collect();
    let looked: Vec<Value> = all
        .looked
        .iter()
        .map(|(agent, place)| json!({ "agent": agent, "place": place }))
        .collect();
    json!({
        "agents": agents,
        "session_count": all.sessions,
        "message_count": all.messages,
        "total_tokens": all.usage.total(),
        "recent": all.recent.iter().map(session_json).collect::<Vec<_>>(),
        "found": all.found.iter().map(|p| p.to_string_lossy()).collect::<Vec<_>>(),
        "looked": looked,
    })
}
