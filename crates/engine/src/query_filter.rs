//! The filters of a query that a list can answer.

use jiff::tz::TimeZone;
use rethread_catalog::AskedWorkspace;
use rethread_formats::Env;
use rethread_model::{Moment, Summary};
use rethread_search::{FilterClause, FilterName, Query, QueryError};

use crate::Error;
use crate::filter::{Filter, is_model, is_of_agent};
use crate::when::{Bound, NotAMoment, parse_moment};

impl From<QueryError> for Error {
    fn from(e: QueryError) -> Self {
        Self::Usage {
            hint: e.hint(),
            message: e.to_string(),
        }
    }
}

impl From<NotAMoment> for Error {
    fn from(e: NotAMoment) -> Self {
        Self::usage(e.to_string())
    }
}

/// The filters of a query that a list can answer.
pub(crate) struct ListFilters {
    clauses: Vec<ListClause>,
}

struct ListClause {
    clause: FilterClause,
    /// The workspaces, of a filter by folder.
    workspaces: Vec<AskedWorkspace>,
}

impl ListFilters {
    pub(crate) fn new(env: &Env, clauses: &[FilterClause]) -> Self {
        let is_listed = |clause: &&FilterClause| clause.name.is_in_lists();
        let listed = clauses.iter().filter(is_listed).map(|clause| {
            let workspaces: Vec<AskedWorkspace> = match clause.name {
                FilterName::Dir => {
                    let names = clause.any.iter();
                    names.map(|name| AskedWorkspace::new(env, name)).collect()
                }
                _ => Vec::new(),
            };
            ListClause {
                clause: clause.clone(),
                workspaces,
            }
        });
        Self {
            clauses: listed.collect(),
        }
    }

    /// Whether a session is wanted.
    pub(crate) fn takes(&mut self, env: &Env, session: &Summary) -> bool {
        self.clauses.iter_mut().all(|one| one.takes(env, session))
    }

    /// Refuses agents and models that there are not.
    pub(crate) fn check<'a>(
        &self,
        env: &Env,
        all: &(impl Iterator<Item = &'a Summary> + Clone),
    ) -> Result<(), Error> {
        let values = |name: FilterName| {
            let of_name = self.clauses.iter().filter(move |c| c.clause.name == name);
            let values = of_name.flat_map(|c| c.clause.any.iter().cloned());
            values.collect::<Vec<String>>()
        };
        let named = Filter {
            agents: values(FilterName::Agent),
            models: values(FilterName::Model),
            ..Filter::default()
        };
        named.check(env, all)
    }
}

impl ListClause {
    fn takes(&mut self, env: &Env, session: &Summary) -> bool {
        let clause = &self.clause;
        let head = &session.head;
        match clause.name {
            FilterName::Agent => clause.passes(|asked| is_of_agent(session, asked)),
            FilterName::Model => clause.passes(|asked| {
                head.model
                    .as_ref()
                    .is_some_and(|model| is_model(model, asked))
            }),
            FilterName::Dir => {
                let mut asked = self.workspaces.iter_mut();
                asked.any(|asked| asked.has(env, session)) != clause.is_negated
            }
            FilterName::Title => {
                let title = head.title.as_ref().map(|title| title.text.to_lowercase());
                let title = title.unwrap_or_default();
                clause.passes(|asked| title.contains(&asked.to_lowercase()))
            }
            FilterName::Is => clause.passes(|_| session.is_subagent()),
            _ => true,
        }
    }
}

/// A span of time, open where it has no end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSpan {
    /// When it begins.
    pub since: Option<Moment>,
    /// When it ends.
    pub until: Option<Moment>,
}

/// The time that a query asks for, and a filter: the later beginning, the earlier end.
pub fn asked_span(
    clauses: &[FilterClause],
    filter: &Filter,
    now: Moment,
    zone: &TimeZone,
) -> Result<TimeSpan, Error> {
    let (mut since, mut until) = (filter.since, filter.until);
    for clause in clauses {
        let bound = match clause.name {
            FilterName::Since => Bound::Since,
            FilterName::Until => Bound::Until,
            _ => continue,
        };
        if clause.is_negated {
            let word = clause.name.word();
            return Err(Error::usage(format!("`-{word}:` makes no sense")));
        }
        for value in &clause.any {
            let moment = parse_moment(value, bound, now, zone)?;
            match bound {
                Bound::Since => since = Some(since.map_or(moment, |s| s.max(moment))),
                Bound::Until => until = Some(until.map_or(moment, |u| u.min(moment))),
            }
        }
    }
    Ok(TimeSpan { since, until })
}

/// What a query asks of texts, without what a list can answer.
pub(crate) fn text_query(query: &Query) -> Query {
    let is_of_texts = |clause: &&FilterClause| !clause.name.is_in_lists();
    Query {
        terms: query.terms.clone(),
        filters: query.filters.iter().filter(is_of_texts).cloned().collect(),
    }
}
