//! Which sessions are wanted, of all that there are.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use rayon::prelude::*;
use rethread_catalog::{absolute, is_path, source_of};
use rethread_disk::path_of_text;
use rethread_formats::{Env, FORMATS, FormatRef, by_name};
use rethread_model::{ModelRef, Moment, Provenance, Summary};
use rethread_search::FilterClause;

use crate::Error;
use crate::suggest::{KnownName, unknown_name};

/// Which sessions are wanted.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Filter {
    /// Workspaces: `.`, a path, or part of a name. Any of them will do.
    pub workspaces: Vec<String>,
    /// Whether a part of a name may also be one of a title.
    pub titles: bool,
    /// Agents, by format or by their own id. Any of them will do.
    pub agents: Vec<String>,
    /// Only sessions in which something was said at or after this.
    pub since: Option<Moment>,
    /// Only sessions in which something was said at or before this; with `since`, something that was
    /// said between the two.
    pub until: Option<Moment>,
    /// Models, by a part of their name or of `provider/name`. Any of them will do.
    pub models: Vec<String>,
    /// Homes, by their names. Any of them will do.
    pub homes: Vec<String>,
    /// Also sessions that their agent hides from people.
    pub hidden: bool,
    /// Also sessions of sub-agents, which else count with the sessions that started them.
    pub subagents: bool,
    /// What else is wanted, as a query says it.
    pub clauses: Vec<FilterClause>,
    /// Whether sizes are wanted, which costs a look at every file of a session.
    pub sizes: bool,
    /// Whether tokens and cost are wanted, which costs a look at every record of a session.
    pub usage: bool,
}

impl Filter {
    /// The folders that the user named: they are looked at, whoever knows them.
    pub(crate) fn folders(&self, env: &Env) -> Vec<PathBuf> {
        let paths = self.workspaces.iter().filter(|name| is_path(name));
        let folders = paths.map(|name| absolute(&env.cwd, &path_of_text(name)));
        folders.filter(|folder| folder.is_dir()).collect()
    }

    /// Whether something else than workspaces is asked for.
    pub fn is_narrow(&self) -> bool {
        !self.agents.is_empty()
            || !self.models.is_empty()
            || !self.homes.is_empty()
            || !self.clauses.is_empty()
            || self.since.is_some()
            || self.until.is_some()
    }

    /// Which of some sessions are wanted, whatever their workspaces.
    pub(crate) fn take(&self, env: &Env, sessions: &mut Vec<Summary>) {
        let wanted: Vec<bool> = sessions.par_iter().map(|s| self.takes(env, s)).collect();
        let mut wanted = wanted.into_iter();
        sessions.retain(|_| wanted.next().unwrap_or_default());
    }

    /// Whether a session is wanted, whatever its workspace.
    pub(crate) fn takes(&self, env: &Env, session: &Summary) -> bool {
        let head = &session.head;
        (self.hidden || !head.hidden || self.subagents && session.is_subagent())
            && any(&self.agents, |asked| is_of_agent(session, asked))
            && any(&self.models, |asked| {
                head.model.as_ref().is_some_and(|m| is_model(m, asked))
            })
            && any(&self.homes, |asked| {
                home_of(session).eq_ignore_ascii_case(asked)
            })
            && self.has_in_span(env, session)
    }

    /// Whether something was said in the time that is asked for. Where neither the first nor the last
    /// message tells, all of them do: a session may have begun before that time and ended after it, or
    /// say that it began after its last message.
    fn has_in_span(&self, env: &Env, session: &Summary) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        let is_early = |time: Moment| self.since.is_some_and(|since| time < since);
        let is_late = |time: Moment| self.until.is_some_and(|until| time > until);
        let is_inside = |time: &Moment| !is_early(*time) && !is_late(*time);
        let head = &session.head;
        let Some(last) = head.updated.or(head.created) else {
            return false;
        };
        let first = head.created.filter(|first| *first <= last);
        if is_inside(&last) || first.as_ref().is_some_and(is_inside) {
            return true;
        }
        if is_early(last) || first.is_some_and(is_late) {
            return false;
        }
        has_message(env, session, is_inside)
    }

    /// Refuses agents, homes and models that there are not: whoever mistyped one must not take it for
    /// an answer that there is nothing.
    pub(crate) fn check<'a>(
        &self,
        env: &Env,
        all: &(impl Iterator<Item = &'a Summary> + Clone),
    ) -> Result<(), Error> {
        for asked in &self.agents {
            let is_known = by_name(asked).is_some() || all.clone().any(|s| is_of_agent(s, asked));
            if !is_known {
                return Err(unknown_name("agent", asked, &known_agents(all.clone())));
            }
        }
        find_homes(&self.homes, || known_homes(env, all.clone()))?;
        let models = || all.clone().filter_map(|s| s.head.model.as_ref());
        for asked in self.models.iter().filter(|_| models().next().is_some()) {
            if !models().any(|model| is_model(model, asked)) {
                return Err(unknown_name(
                    "model of these sessions",
                    asked,
                    &known_models(all.clone()),
                ));
            }
        }
        Ok(())
    }
}

/// Refuses names of homes that there are not.
pub fn check_homes(env: &Env, asked: &[String]) -> Result<(), Error> {
    find_homes(asked, || known_homes(env, std::iter::empty()))
}

fn find_homes(asked: &[String], known: impl Fn() -> Vec<KnownName>) -> Result<(), Error> {
    if asked.is_empty() {
        return Ok(());
    }
    let known = known();
    let is_known = |name: &String| known.iter().any(|k| k.name.eq_ignore_ascii_case(name));
    match asked.iter().find(|name| !is_known(name)) {
        Some(name) => Err(unknown_name("home", name, &known)),
        None => Ok(()),
    }
}

fn any(asked: &[String], fits: impl Fn(&str) -> bool) -> bool {
    asked.is_empty() || asked.iter().any(|item| fits(item))
}

pub(crate) fn is_of_agent(session: &Summary, asked: &str) -> bool {
    let head = &session.head;
    let slug = by_name(asked).map(FormatRef::slug);
    slug.is_some_and(|slug| [head.format, head.held_by()].contains(&slug))
        || head.agent.id.as_deref() == Some(asked)
        || head.held_by() == asked
}

pub(crate) fn is_model(model: &ModelRef, asked: &str) -> bool {
    full_name(model)
        .to_lowercase()
        .contains(&asked.to_lowercase())
}

fn full_name(model: &ModelRef) -> String {
    match &model.provider {
        Some(provider) => format!("{provider}/{}", model.id),
        None => format!("/{}", model.id),
    }
}

fn home_of(session: &Summary) -> String {
    let own = session.head.provenance.as_ref().map(Provenance::home);
    own.unwrap_or_else(|| "local".to_owned())
}

/// The format that a user named, as what `what` says; else an error with what there is.
pub fn format_named(what: &str, typed: &str) -> Result<FormatRef, Error> {
    by_name(typed).ok_or_else(|| unknown_name(what, typed, &known_agents(std::iter::empty())))
}

/// All formats, and the agents that sessions name.
fn known_agents<'a>(all: impl Iterator<Item = &'a Summary>) -> Vec<KnownName> {
    let mut known: Vec<KnownName> = Vec::new();
    for format in FORMATS {
        let about = format.about();
        known.push(KnownName {
            name: about.slug.to_owned(),
            alias: about.aliases.first().map(|&alias| alias.to_owned()),
        });
    }
    let mut named: Vec<&str> = all
        .flat_map(|s| [s.head.agent.id.as_deref(), Some(s.head.held_by())])
        .flatten()
        .filter(|id| by_name(id).is_none() && !id.is_empty())
        .collect();
    named.sort_unstable();
    named.dedup();
    known.extend(named.into_iter().map(KnownName::named));
    known
}

fn known_homes<'a>(env: &Env, all: impl Iterator<Item = &'a Summary>) -> Vec<KnownName> {
    let mut names: Vec<String> = all.map(home_of).collect();
    names.extend(env.home_names.iter().cloned());
    names.retain(|name| name != "local");
    names.sort_unstable();
    names.dedup();
    let local = std::iter::once("local".to_owned());
    local.chain(names).map(KnownName::named).collect()
}

/// The models that sessions name, those of most sessions first.
fn known_models<'a>(all: impl Iterator<Item = &'a Summary>) -> Vec<KnownName> {
    let models = all.filter_map(|s| s.head.model.as_ref());
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for model in models {
        *counted.entry(&model.id).or_default() += 1;
    }
    let mut counted: Vec<(&str, usize)> = counted.into_iter().collect();
    counted.sort_by_key(|(_, count)| Reverse(*count));
    counted
        .into_iter()
        .map(|(id, _)| KnownName::named(id))
        .collect()
}

/// Whether a session has a message of such a time. One that cannot be read, or that says nothing of
/// time, may have one.
fn has_message(env: &Env, session: &Summary, is_wanted: impl Fn(&Moment) -> bool) -> bool {
    let read = source_of(env, session).and_then(|source| source.format.reader().read(&source).ok());
    let Some(conversation) = read else {
        return true;
    };
    let entries = conversation.session.entries().iter();
    let mut times = entries
        .filter(|entry| entry.kind.is_message())
        .filter_map(|entry| entry.time)
        .peekable();
    times.peek().is_none() || times.any(|time| is_wanted(&time))
}
