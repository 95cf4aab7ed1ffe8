//! Which sessions of a list a query wants.

use std::collections::HashSet;
use std::path::PathBuf;

use rethread_catalog::{Catalogue, Listing};
use rethread_formats::Env;
use rethread_model::Summary;
use rethread_search::{HitOrder, Query, SearchRequest, TextIndex, search_sessions};

use crate::Error;
use crate::filter::Filter;
use crate::query_filter::{ListFilters, text_query};
use crate::search::searched_sessions;

/// Which sessions of a list a query wants: by what the list knows, and by what is in them where the
/// query asks for that.
pub(crate) struct QueriedSessions {
    filters: ListFilters,
    /// The sessions whose texts fit, and those that started them; none where nothing is asked of texts.
    fitting: Option<HashSet<(PathBuf, String)>>,
}

impl QueriedSessions {
    pub(crate) fn of(env: &Env, filter: &Filter, listing: &Listing) -> Self {
        let filters = ListFilters::new(env, &filter.clauses);
        let query = text_query(&Query {
            terms: Vec::new(),
            filters: filter.clauses.clone(),
        });
        let fitting = query
            .asks_for_texts()
            .then(|| fitting(env, &query, listing));
        Self { filters, fitting }
    }

    pub(crate) fn check<'a>(
        &self,
        env: &Env,
        all: &(impl Iterator<Item = &'a Summary> + Clone),
    ) -> Result<(), Error> {
        self.filters.check(env, all)
    }

    pub(crate) fn takes(&mut self, env: &Env, session: &Summary) -> bool {
        let key = (session.path.clone(), session.head.id.clone());
        let fits = self.fitting.as_ref();
        fits.is_none_or(|fitting| fitting.contains(&key)) && self.filters.takes(env, session)
    }
}

fn fitting(env: &Env, query: &Query, listing: &Listing) -> HashSet<(PathBuf, String)> {
    let sessions = searched_sessions(listing);
    let catalogue = Catalogue::open(env);
    let index = TextIndex::open(env, &catalogue, &mut Vec::new());
    let request = SearchRequest {
        query,
        since: None,
        until: None,
        order: HitOrder::Newest,
        now: env.now().millis(),
    };
    let results = search_sessions(&request, &sessions, index.as_ref(), &|_, _| {});
    let mut fitting = HashSet::new();
    let mut wanted: Vec<&Summary> = results
        .found
        .iter()
        .filter_map(|found| Some(sessions.get(found.session as usize)?.summary))
        .collect();
    // A session of a sub-agent counts with the one that started it.
    while let Some(session) = wanted.pop() {
        if !fitting.insert((session.path.clone(), session.head.id.clone())) {
            continue;
        }
        let Some(parent) = session.parent() else {
            continue;
        };
        let is_parent = |s: &&Summary| {
            s.head.format == session.head.format && s.head.id.eq_ignore_ascii_case(parent)
        };
        wanted.extend(listing.sessions.iter().filter(is_parent));
    }
    fitting
}
