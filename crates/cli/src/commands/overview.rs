//! `rethread`: what there is on this machine.

use std::io::Write;

use rethread_engine::{Overview, overview, temporary_sample};
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
        nothing(context)?;
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
    if context.sample.is_none() {
        writeln!(out, "\nFound in:")?;
        for place in &all.found {
            writeln!(out, "  {}", one_line(&place.display().to_string()))?;
        }
    }
    next_steps(context, &mut out)?;
    Ok(out.flush()?)
}

/// Says that nothing was found, and shows what there would be to see in the built-in sample.
fn nothing(context: &Context) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if context.env.homes_are_given {
        writeln!(out, "No conversations were found there.")?;
    } else {
        writeln!(out, "No conversations were found on this machine.")?;
    }
    if context.sample.is_some() {
        return Ok(out.flush()?);
    }
    writeln!(out, "This is the built-in sample, to try things on:\n")?;
    out.flush()?;
    drop(out);
    let copy = temporary_sample(&context.env)?;
    let context = context.with_sample(&copy);
    let all = overview(&context.env, RECENT, &|_, _| {});
    print(&context, &all)
}

/// What can be done now, as it can be typed.
fn next_steps(context: &Context, out: &mut impl Write) -> Result<(), Failure> {
    if context.sample.is_none() {
        let (show, help) = (context.call("show latest"), context.call("--help"));
        writeln!(out, "\n`{show}` reads the newest; `{help}` says what else.")?;
        return Ok(());
    }
    writeln!(out, "\nTry next:")?;
    for command in [
        "list .",
        "show latest",
        "tree pi:latest",
        "export latest -o page.html",
        "--help",
    ] {
        writeln!(out, "  {}", context.call(command))?;
    }
    Ok(())
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
