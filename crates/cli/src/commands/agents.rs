//! `agents`: every supported format.

use std::io::Write;

use clap::Args;
use rethread_engine::{
    AgentInfo, Can, ItemFate, KINDS, arrivals_in, conversions, judging_client, list_agents,
};
use rethread_render::one_line;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print_json;

/// List every supported format: its stores, its sessions, and what can be done.
///
/// Below that, how things arrive in each format when a session is converted to it: as its own, in part,
/// or packed, for the way back.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  rethread agents")]
pub(crate) struct Agents {}

pub(crate) fn run(context: &Context, _: &Agents) -> Result<Exit, Failure> {
    let (all, notes) = list_agents(&context.env);
    if context.json {
        for agent in &all {
            let places: Vec<_> = agent.places.iter().map(|p| p.to_string_lossy()).collect();
            print_json(&json!({
                "agent": agent.about.slug,
                "name": agent.about.name,
                "versions": agent.about.versions,
                "can": words(agent),
                "sessions": agent.sessions,
                "places": places,
                "looks_in": agent.about.where_it_looks,
                "converts_from": sources(agent.about.slug),
                "judged_by": judging_client(agent.about.slug),
            }))?;
        }
        return Ok(context.notes(&notes));
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for agent in &all {
        let can = words(agent).join(", ");
        let slug = agent.about.slug;
        writeln!(out, "{slug:<12} {:>6}  {can}", agent.sessions)?;
        for place in &agent.places {
            writeln!(
                out,
                "{:<12}         {}",
                "",
                one_line(&place.to_string_lossy())
            )?;
        }
        if agent.places.is_empty() {
            let about = agent.about;
            // What has no place of its own is nowhere to be found, so none is missing there.
            let is_somewhere = !about.in_home.is_empty() || !about.in_project.is_empty();
            let none = if is_somewhere { "none in" } else { "only" };
            writeln!(out, "{:<12}         {none} {}", "", about.where_it_looks)?;
        }
    }
    let counted = context.hint(
        "Sessions are counted as they are stored, those of sub-agents and hidden ones among them;\n\
         `rethread list --subagents --hidden` lists as many.",
    );
    writeln!(out, "{counted}")?;
    matrix(&mut out, &all)?;
    out.flush()?;
    drop(out);
    Ok(context.notes(&notes))
}

/// How sessions of each other format arrive in one, for scripts.
fn sources(to: &str) -> Value {
    let all = conversions().into_iter().filter(|c| c.to == to);
    let object = all.map(|c| {
        let fate = |f: &ItemFate| json!({ "what": f.what, "count": f.count, "native": f.native });
        let fates: Vec<Value> = c.fates.iter().map(fate).collect();
        (c.from.to_owned(), Value::from(fates))
    });
    Value::Object(object.collect::<Map<_, _>>())
}

/// How things arrive in each format, for people.
fn matrix(out: &mut impl Write, all: &[AgentInfo]) -> std::io::Result<()> {
    // The shortest name, to fit on a line.
    let named = |agent: &AgentInfo| {
        let names = std::iter::once(&agent.about.slug).chain(agent.about.aliases);
        names.min_by_key(|name| name.len()).copied()
    };
    let arriving = |agent: &AgentInfo| {
        let fates = arrivals_in(agent.about.slug);
        (named(agent).unwrap_or_default(), fates)
    };
    // Nothing arrives in a format that is only read.
    let is_target = |(_, fates): &(&str, Vec<ItemFate>)| fates.iter().any(|fate| fate.count > 0);
    let columns = all.iter().map(arriving).filter(is_target);
    let columns: Vec<(&str, Vec<ItemFate>)> = columns.collect();
    let line = |first: &str, cell: &dyn Fn(&str, &[ItemFate]) -> String| {
        let mut line = format!("{first:<13}");
        for (name, fates) in &columns {
            let width = name.len().max(6);
            line = format!("{line} {:<width$}", cell(name, fates));
        }
        line.trim_end().to_owned()
    };
    writeln!(out)?;
    writeln!(out, "{}", line("converted to", &|name, _| name.to_owned()))?;
    for what in KINDS {
        let cell = |_: &str, fates: &[ItemFate]| {
            let fate = fates.iter().find(|fate| fate.what == what);
            match fate.filter(|fate| fate.count > 0) {
                Some(fate) if fate.is_native() => "native".to_owned(),
                Some(fate) if fate.native == 0 => "packed".to_owned(),
                Some(fate) => format!("{} %", fate.kept_percent()),
                None => String::new(),
            }
        };
        writeln!(out, "{}", line(what, &cell))?;
    }
    let judges: Vec<&str> = all
        .iter()
        .filter_map(|a| judging_client(a.about.slug))
        .collect();
    writeln!(
        out,
        "All formats are converted to these. What is packed travels along, for the way back.\n\
         Went on with sessions of all others: {}.",
        judges.join(", ")
    )
}

fn words(agent: &AgentInfo) -> Vec<&'static str> {
    let word = |can: &Can| match can {
        Can::Read => "read",
        Can::Write => "write",
        Can::Resume => "resume",
    };
    agent.can.iter().map(word).collect()
}
