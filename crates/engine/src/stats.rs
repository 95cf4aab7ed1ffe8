//! `stats`: tokens, money, time, tools and lines of all sessions, or of those that are wanted.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use jiff::tz::TimeZone;
use rayon::prelude::*;
use rethread_catalog::{
    AskedWorkspace, CatalogedSource, Catalogue, KeptLedger, Listing, PriceSettings, StatsSettings,
    absolute, list_with, sources_at, stats_settings,
};
use rethread_disk::path_of_text;
use rethread_formats::{Env, Source, Want, last_name, summarize};
use rethread_model::{ModelRef, Moment, Note, Provenance, State, Summary};
use rethread_stats::{
    GroupBy, ModelPrice, PriceTable, StatsReport, StatsRequest, StatsSession, StatsSums,
    is_whole_ledger, record_session, report_stats, save_ledger,
};

use crate::Error;
use crate::filter::{Filter, is_model};
use crate::list::has_in_title;
use crate::queried::QueriedSessions;
use crate::session_names::SessionNames;
use crate::subagents::root_places;

/// So many sessions are counted before that is written down.
const AT_ONCE: usize = 256;

/// What is asked of statistics.
#[derive(Clone, Debug, Default)]
pub struct StatsOptions {
    /// What is added up together: a report each.
    pub by: Vec<GroupBy>,
    /// So many rows behind the numbers are wanted.
    pub explained: usize,
}

/// Statistics.
#[derive(Debug, Default)]
pub struct Stats {
    /// What was added up, in the order in which it was asked for.
    pub reports: Vec<StatsReport>,
    /// The sessions that the report speaks of by their places.
    pub sessions: Vec<Summary>,
    /// What to call them.
    pub names: SessionNames,
    /// How many sessions there were before those that were asked for were chosen.
    pub looked_at: usize,
    /// How much of this month's budget is spent, if there is one.
    pub budget: Option<BudgetState>,
    /// What was noticed.
    pub notes: Vec<Note>,
}

/// How much of a month's budget is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetState {
    /// US dollars that are to be spent a month.
    pub month_usd: f64,
    /// US dollars that were spent this month by all sessions, as far as that is known.
    pub spent_usd: f64,
    /// Responses of this month whose price nobody knows.
    pub unpriced_responses: u64,
}

/// Adds up what sessions used.
pub fn stats(
    env: &Env,
    filter: &Filter,
    options: &StatsOptions,
    zone: &TimeZone,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Stats, Error> {
    let settings = stats_settings(env)?;
    let mut library = StatsLibrary::open(env, &filter.folders(env), progress);
    library.add_named(env, &filter.workspaces);
    let wanted = library.wanted(env, filter)?;
    let mut prices = price_table(&settings);
    let takes_model = |model: Option<&ModelRef>| {
        let mut models = filter.models.iter();
        filter.models.is_empty()
            || model.is_some_and(|model| models.any(|asked| is_model(model, asked)))
    };
    let roots = &library.roots;
    let takes_session = |at: usize| {
        let root = roots.get(at).copied().unwrap_or(at);
        wanted.get(root).copied().unwrap_or_default()
    };
    let sessions = library.stats_sessions();
    let mut reports = Vec::with_capacity(options.by.len());
    for by in &options.by {
        let request = StatsRequest {
            by: *by,
            since: filter.since.map(Moment::millis),
            until: filter.until.map(Moment::millis),
            takes_model: &takes_model,
            takes_session: &takes_session,
            workspace_of: &workspace_of,
            zone,
            explained: options.explained,
        };
        reports.push(report_stats(&sessions, &mut prices, &request));
    }
    let budget = budget_state(env, &settings, &sessions, zone, &mut prices);
    drop(sessions);
    let mut notes = library.notes;
    let noted = library.sessions.iter().zip(&wanted);
    let noted = noted.filter(|(_, is_wanted)| **is_wanted);
    notes.extend(noted.flat_map(|(s, _)| s.notes.iter().cloned()));
    Ok(Stats {
        reports,
        looked_at: library.sessions.len(),
        sessions: library.sessions,
        names: library.names,
        budget,
        notes,
    })
}

/// How much of this month's budget is spent; none where no budget is set.
pub fn month_budget(
    env: &Env,
    zone: &TimeZone,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Option<BudgetState>, Error> {
    let settings = stats_settings(env)?;
    if settings.budget.month.is_none() {
        return Ok(None);
    }
    let library = StatsLibrary::open(env, &[], progress);
    let sessions = library.stats_sessions();
    let mut prices = price_table(&settings);
    Ok(budget_state(env, &settings, &sessions, zone, &mut prices))
}

fn budget_state(
    env: &Env,
    settings: &StatsSettings,
    sessions: &[StatsSession<'_>],
    zone: &TimeZone,
    prices: &mut PriceTable,
) -> Option<BudgetState> {
    let month_usd = settings.budget.month?.0;
    let now = env.now().timestamp().to_zoned(zone.clone());
    let start = now.date().first_of_month().to_zoned(zone.clone()).ok()?;
    let request = StatsRequest {
        by: GroupBy::Month,
        since: Some(start.timestamp().as_millisecond()),
        until: None,
        takes_model: &|_| true,
        takes_session: &|_| true,
        workspace_of: &|_| None,
        zone,
        explained: 0,
    };
    let spent: StatsSums = report_stats(sessions, prices, &request).total;
    Some(BudgetState {
        month_usd,
        spent_usd: spent.cost_usd(),
        unpriced_responses: spent.unpriced_responses,
    })
}

fn price_table(settings: &StatsSettings) -> PriceTable {
    let price = |set: &PriceSettings| ModelPrice {
        input: set.input.0,
        output: set.output.0,
        cache_read: set.cache_read.map(|usd| usd.0),
        cache_write: set.cache_write.map(|usd| usd.0),
    };
    let own = settings.prices.iter();
    PriceTable::new(own.map(|(name, set)| (name.clone(), price(set))).collect())
}

/// The workspace of a session, behind the name of its home where that is another one.
fn workspace_of(session: &Summary) -> Option<String> {
    let path = session.head.workspace.path.as_ref()?;
    let home = session.head.provenance.as_ref().map(Provenance::home);
    match home.filter(|home| home != "local") {
        Some(home) => Some(format!("{home}:{path}")),
        None => Some(path.clone()),
    }
}

/// What people call workspaces of a report: the last part of their paths, and the folder before it where
/// several have the same.
pub fn workspace_labels(names: &[&str]) -> Vec<String> {
    let last = |name: &str| {
        let last = Some(last_name(name)).filter(|last| !last.is_empty());
        last.unwrap_or(name).to_owned()
    };
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in names {
        *counts.entry(last(name)).or_default() += 1;
    }
    let label = |name: &&str| {
        let last = last(name);
        let is_shared = counts.get(&last).is_some_and(|count| *count > 1);
        let path = name.trim_end_matches(['/', '\\']);
        let before = path.strip_suffix(last.as_str());
        let folder = before.map(|before| last_name(before.trim_end_matches(['/', '\\'])));
        match folder.filter(|folder| is_shared && !folder.is_empty()) {
            Some(folder) => format!("{folder}/{last}"),
            None => last,
        }
    };
    names.iter().map(label).collect()
}

/// All sessions with what was counted of them.
struct StatsLibrary {
    sessions: Vec<Summary>,
    ledgers: Vec<Vec<u8>>,
    /// For each the place of the session that started it.
    roots: Vec<usize>,
    names: SessionNames,
    listing: Listing,
    notes: Vec<Note>,
}

impl StatsLibrary {
    fn open(env: &Env, folders: &[PathBuf], progress: &(dyn Fn(usize, usize) + Sync)) -> Self {
        let catalogue = Catalogue::open(env);
        let mut listing = list_with(env, &catalogue, Want::WHOLE, folders, progress);
        let names = SessionNames::of_library(&listing);
        let ledgers = ledgers_of(&catalogue, &listing, progress);
        let sessions = std::mem::take(&mut listing.sessions);
        let roots = root_places(&sessions);
        let mut notes = std::mem::take(&mut listing.notes);
        notes.extend(listing.empty.iter().flat_map(|s| s.notes.iter().cloned()));
        Self {
            sessions,
            ledgers,
            roots,
            names,
            listing,
            notes,
        }
    }

    /// Adds what is in files that the user named and that no store holds.
    fn add_named(&mut self, env: &Env, names: &[String]) {
        let mut known: Option<HashSet<(PathBuf, String)>> = None;
        for name in names {
            let path = absolute(&env.cwd, &path_of_text(name));
            if !path.is_file() {
                continue;
            }
            let sessions = &self.sessions;
            let key = |s: &Summary| (s.path.clone(), s.head.id.clone());
            let known = known.get_or_insert_with(|| sessions.iter().map(key).collect());
            let mut added = Vec::new();
            for source in sources_at(&path) {
                let summary = summarize(&source, Want::WHOLE);
                let is_new = known.insert((summary.path.clone(), summary.head.id.clone()));
                if is_new && summary.state != State::Empty {
                    self.ledgers.push(counted_bytes(&source));
                    added.push(summary);
                }
            }
            self.names.add_path(name, &added, &HashSet::new());
            self.sessions.append(&mut added);
        }
        if known.is_some() {
            self.roots = root_places(&self.sessions);
        }
    }

    /// Which sessions are wanted, whatever time is asked for: that is a matter of what was said in them.
    fn wanted(&mut self, env: &Env, filter: &Filter) -> Result<Vec<bool>, Error> {
        self.listing.sessions = std::mem::take(&mut self.sessions);
        let mut queried = QueriedSessions::of(env, filter, &self.listing);
        self.sessions = std::mem::take(&mut self.listing.sessions);
        let all = self.sessions.iter();
        filter.check(env, &all)?;
        queried.check(env, &all)?;
        let timeless = Filter {
            since: None,
            until: None,
            // Models are those of responses, not those that a session ended with.
            models: Vec::new(),
            hidden: true,
            ..filter.clone()
        };
        let asked = filter.workspaces.iter();
        let mut asked: Vec<AskedWorkspace> =
            asked.map(|name| AskedWorkspace::new(env, name)).collect();
        let paths: Vec<PathBuf> = filter
            .workspaces
            .iter()
            .map(|name| absolute(&env.cwd, &path_of_text(name)))
            .collect();
        let mut is_asked = |s: &Summary| {
            asked.is_empty()
                || paths.contains(&s.path)
                || asked
                    .iter_mut()
                    .any(|asked| asked.has(env, s) || filter.titles && has_in_title(asked, s))
        };
        let wanted = self.sessions.iter().map(|session| {
            is_asked(session) && queried.takes(env, session) && timeless.takes(env, session)
        });
        Ok(wanted.collect())
    }

    fn stats_sessions(&self) -> Vec<StatsSession<'_>> {
        let all = self.sessions.iter().zip(&self.ledgers).zip(&self.roots);
        all.map(|((summary, ledger), root)| StatsSession {
            summary,
            ledger,
            root: *root,
        })
        .collect()
    }
}

/// What was counted of each session of a listing, in its order; what is new is counted now, and kept.
fn ledgers_of(
    catalogue: &Catalogue,
    listing: &Listing,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Vec<u8>> {
    let mut kept = catalogue.ledgers();
    let key = |s: &Summary| (s.path.clone(), s.head.id.clone());
    let known: HashMap<(PathBuf, String), &CatalogedSource> = listing
        .cataloged_sessions()
        .into_iter()
        .map(|(summary, source)| (key(summary), source))
        .collect();
    let mut ledgers: Vec<Vec<u8>> = Vec::with_capacity(listing.sessions.len());
    let mut stale: Vec<(usize, &CatalogedSource)> = Vec::new();
    for (at, session) in listing.sessions.iter().enumerate() {
        let source = known.get(&key(session)).copied();
        let found = source.and_then(|source| {
            let ledger = kept.remove(&source.row?)?;
            let is_fresh = ledger.upto == source.counted_upto() && is_whole_ledger(&ledger.bytes);
            is_fresh.then_some(ledger.bytes)
        });
        if let (None, Some(source)) = (&found, source) {
            stale.push((at, source));
        }
        ledgers.push(found.unwrap_or_default());
    }
    let all = stale.len();
    let mut done = 0;
    for some in stale.chunks(AT_ONCE) {
        let counted: Vec<Vec<u8>> = some
            .par_iter()
            .map(|(_, source)| counted_bytes(&source.source))
            .collect();
        let mut fresh = Vec::with_capacity(some.len());
        for ((at, source), bytes) in some.iter().zip(counted) {
            fresh.extend(source.row.map(|row| KeptLedger {
                row,
                upto: source.counted_upto(),
                bytes: bytes.clone(),
            }));
            if let Some(ledger) = ledgers.get_mut(*at) {
                *ledger = bytes;
            }
        }
        catalogue.keep_ledgers(&fresh);
        done += some.len();
        progress(done, all);
    }
    ledgers
}

/// What is counted of a source; of one that cannot be read, nothing.
fn counted_bytes(source: &Source) -> Vec<u8> {
    let read = source.format.reader().read(source);
    let ledger = read.map(|conversation| record_session(&conversation));
    save_ledger(&ledger.unwrap_or_default())
}
