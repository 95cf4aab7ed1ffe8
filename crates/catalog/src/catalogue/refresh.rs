//! Looking at sources once more, and reading those that are new or changed.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use rethread_formats::{Root, Source};

use super::database::is_damage;
use super::facts::Facts;
use super::fresh::{
    Freshness, LogBefore, ReadSource, SharedNow, freshness, read_source, summarize_whole,
};
use super::write::{Change, KnownRow, RowsOfRoot};
use super::{Catalogue, RefreshedSource, RowId};

/// So many are read before what was found out is written down: whoever interrupts a first look at many
/// loses no more than that.
const AT_ONCE: usize = 1024;

/// So many are looked at by one thread after each other: one takes a few calls of the system.
const FEW: usize = 32;

/// The sources that were found in a place.
#[derive(Clone, Copy)]
pub(crate) struct SourcesOfRoot<'a> {
    pub(crate) root: &'a Root,
    pub(crate) sources: &'a [Source],
}

/// A source, and what is known of it.
struct KnownSource<'a> {
    source: &'a Source,
    /// The place of its root.
    root: usize,
    row: Option<&'a KnownRow>,
}

/// What is known of a source, and in which row.
struct KnownFacts {
    row: RowId,
    facts: Box<Facts>,
}

/// What became of a source.
enum SourceChange {
    /// Nothing: it is as it was. Its row is to be renewed, or not.
    Fresh(KnownFacts, bool),
    /// It must be read, perhaps from where that ended before.
    Stale(Option<KnownFacts>),
}

/// A source that must be read.
struct StaleSource {
    /// Its place among those that are asked for.
    at: usize,
    known: Option<KnownFacts>,
}

impl Catalogue {
    /// What a list shows of these sources, in their order. `progress` is told how many of those that must
    /// be read are.
    pub(crate) fn refresh(
        &self,
        roots: &[SourcesOfRoot<'_>],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Vec<RefreshedSource> {
        let Some(mut known) = self.ask(|db| db.rows_of_all(roots)) else {
            return self.read_all(roots, progress);
        };
        let mut places = Vec::new();
        for (at, (rows, found)) in known.iter_mut().zip(roots).enumerate() {
            let sources = found.sources.iter();
            places.extend(sources.map(|source| (source, at, rows.take(found.root, source))));
        }
        let row = |root: usize, place: Option<usize>| known.get(root)?.rows.get(place?);
        let asked: Vec<KnownSource<'_>> = places
            .into_iter()
            .map(|(source, root, place)| KnownSource {
                source,
                root,
                row: row(root, place),
            })
            .collect();
        let shared = SharedNow::new();
        let mut changes = Vec::new();
        let mut stale = Vec::new();
        let mut answers: Vec<Option<RefreshedSource>> = Vec::with_capacity(asked.len());
        let looked: Vec<SourceChange> = {
            let asked = asked.par_iter().with_min_len(FEW);
            asked.map(|one| look(one, &shared)).collect()
        };
        for (at, (looked, one)) in looked.into_iter().zip(&asked).enumerate() {
            match looked {
                SourceChange::Fresh(KnownFacts { row, facts }, is_renewed) => {
                    if is_renewed {
                        changes.push(Change::renewed(one.source, row, &facts));
                    }
                    answers.push(Some(RefreshedSource {
                        row: Some(row),
                        read_upto: facts.was.log.map(|log| log.read_upto),
                        summary: facts.summary,
                    }));
                }
                SourceChange::Stale(known) => {
                    stale.push(StaleSource { at, known });
                    answers.push(None);
                }
            }
        }
        let vanished: Vec<RowId> = known.iter().flat_map(RowsOfRoot::vanished).collect();
        self.save(roots, &changes, &vanished);
        self.read_stale(roots, &asked, stale, &mut answers, progress);
        let summarized = |(answer, one): (Option<RefreshedSource>, &KnownSource<'_>)| {
            answer.unwrap_or_else(|| in_memory(one.source))
        };
        answers.into_iter().zip(&asked).map(summarized).collect()
    }

    /// Reads sources, and writes down what was found out.
    fn read_stale(
        &self,
        roots: &[SourcesOfRoot<'_>],
        asked: &[KnownSource<'_>],
        mut stale: Vec<StaleSource>,
        answers: &mut [Option<RefreshedSource>],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) {
        let (done, all) = (AtomicUsize::new(0), stale.len());
        *self.read.borrow_mut() += all;
        while !stale.is_empty() {
            let rest = stale.split_off(AT_ONCE.min(stale.len()));
            let some = std::mem::replace(&mut stale, rest);
            let before: Vec<Option<(RowId, LogBefore)>> = some
                .iter()
                .map(|one| self.log_before(one.known.as_ref()))
                .collect();
            let places: Vec<usize> = some.into_iter().map(|one| one.at).collect();
            let read: Vec<Option<ReadSource>> = places
                .par_iter()
                .zip(&before)
                .map(|(at, before)| {
                    let source = asked.get(*at)?.source;
                    let read = read_source(source, before.as_ref().map(|(_, log)| log));
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
                    Some(read)
                })
                .collect();
            let mut changes = Vec::new();
            let mut changed = Vec::new();
            for ((at, read), before) in places.iter().zip(read).zip(before) {
                let (Some(one), Some(mut read)) = (asked.get(*at), read) else {
                    continue;
                };
                let row = before.filter(|_| read.went_on).map(|(row, _)| row);
                changes.push(Change::read(one.source, one.root, row, &mut read));
                changed.push((*at, row, read));
            }
            let rows = self.save(roots, &changes, &[]);
            for (place, (at, row, read)) in changed.into_iter().enumerate() {
                let written = rows.as_ref().and_then(|rows| rows.get(place).copied());
                if let Some(answer) = answers.get_mut(at) {
                    *answer = Some(RefreshedSource {
                        row: written.flatten().or(row),
                        read_upto: read.facts.was.log.map(|log| log.read_upto),
                        summary: read.facts.summary,
                    });
                }
            }
        }
    }

    /// Where the log of a source was read to, if it may be gone on with.
    fn log_before(&self, known: Option<&KnownFacts>) -> Option<(RowId, LogBefore)> {
        let KnownFacts { row, facts } = known?;
        let ends = facts.was.log?;
        let scan = self.ask(|db| db.scan_of(*row))??;
        (scan.read_upto == ends.read_upto).then_some((*row, LogBefore { ends, scan }))
    }

    fn save(
        &self,
        roots: &[SourcesOfRoot<'_>],
        changes: &[Change<'_>],
        vanished: &[RowId],
    ) -> Option<Vec<Option<RowId>>> {
        if changes.is_empty() && vanished.is_empty() {
            return None;
        }
        let notes = &mut *self.notes.borrow_mut();
        let mut database = self.database.borrow_mut();
        let db = database.as_mut()?;
        match db.save(roots, changes, vanished) {
            Ok(rows) => rows,
            Err(e) => {
                notes.extend(db.cannot_write(&e));
                if is_damage(&e) {
                    notes.extend(database.take().map(|broken| broken.give_up(&e)));
                }
                None
            }
        }
    }

    /// Reads everything, because nothing is kept.
    fn read_all(
        &self,
        roots: &[SourcesOfRoot<'_>],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Vec<RefreshedSource> {
        let sources: Vec<&Source> = roots.iter().flat_map(|r| r.sources).collect();
        *self.read.borrow_mut() += sources.len();
        let done = AtomicUsize::new(0);
        let read = |source: &&Source| {
            let read = in_memory(source);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, sources.len());
            read
        };
        sources.par_iter().map(read).collect()
    }
}

fn in_memory(source: &Source) -> RefreshedSource {
    RefreshedSource {
        summary: summarize_whole(source),
        row: None,
        read_upto: None,
    }
}

/// What became of a source.
fn look(asked: &KnownSource<'_>, shared: &SharedNow) -> SourceChange {
    let known = asked.row.and_then(|row| {
        let facts = Facts::from_bytes(&row.facts, asked.source)?;
        Some(KnownFacts {
            row: row.id,
            facts: Box::new(facts),
        })
    });
    let Some(mut known) = known else {
        return SourceChange::Stale(None);
    };
    match freshness(asked.source, &mut known.facts, shared) {
        Freshness::Same => SourceChange::Fresh(known, false),
        Freshness::SameBesideOthers => SourceChange::Fresh(known, true),
        Freshness::MayGoOn => SourceChange::Stale(Some(known)),
        Freshness::Other => SourceChange::Stale(None),
    }
}
