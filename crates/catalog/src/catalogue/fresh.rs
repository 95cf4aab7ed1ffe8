//! Whether what is known of a source is still true, without opening it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use rethread_disk::{FileStamp, FileTime};
use rethread_formats::{SavedScan, Source, Want, summarize_from};
use rethread_model::Summary;

use super::facts::{Facts, LogEnds, SeenFile, SourceWas};

/// What became of a source since it was read.
pub(super) enum Freshness {
    /// It is as it was.
    Same,
    /// It is as it was, but a file that it shares with others changed: that is to be noted.
    SameBesideOthers,
    /// It is a log, and may only have been added to.
    MayGoOn,
    /// It may be another one.
    Other,
}

/// What is seen now of the files that sources share, each looked at once.
pub(super) struct SharedNow {
    began: FileTime,
    seen: RwLock<HashMap<PathBuf, Option<FileStamp>>>,
}

impl SharedNow {
    pub(super) fn new() -> Self {
        Self {
            began: FileTime::now(),
            seen: RwLock::default(),
        }
    }

    fn stamp(&self, path: &Path) -> Option<FileStamp> {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = seen.get(path) {
            return *known;
        }
        drop(seen);
        let stamp = FileStamp::at(path);
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        *seen.entry(path.to_owned()).or_insert(stamp)
    }
}

/// What became of a source. Where only shared files changed, what was seen of them is renewed.
pub(super) fn freshness(source: &Source, facts: &mut Facts, shared: &SharedNow) -> Freshness {
    let Facts { was, summary } = facts;
    if !was.is_of(source) {
        return Freshness::Other;
    }
    let changed = |file: &SeenFile| FileStamp::at(&file.path) != file.stamp;
    let mut files = was.own.iter();
    match files.find(|file| changed(file)) {
        None if was.is_settled => {}
        Some(log)
            if log.path == source.path
                && was.log.is_some()
                && has_grown(log)
                && !files.any(changed) =>
        {
            return Freshness::MayGoOn;
        }
        _ => return Freshness::Other,
    }
    let is_same = |file: &SeenFile| shared.stamp(&file.path) == file.stamp;
    if was.shared_is_settled && was.shared.iter().all(is_same) {
        return Freshness::Same;
    }
    let told = source.format.store().shared_facts(source, &summary.head.id);
    if told.is_none() || told != was.shared_facts {
        return if was.log.is_some() {
            Freshness::MayGoOn
        } else {
            Freshness::Other
        };
    }
    renew(was, shared)
}

fn has_grown(log: &SeenFile) -> bool {
    let now = FileStamp::at(&log.path);
    now.zip(log.stamp)
        .is_some_and(|(now, before)| now.may_have_grown_from(&before))
}

/// Notes what is seen of shared files now, if that is worth writing down.
fn renew(was: &mut SourceWas, shared: &SharedNow) -> Freshness {
    let mut is_other = false;
    let mut is_settled = true;
    for file in &mut was.shared {
        let now = shared.stamp(&file.path);
        is_settled &= now.is_none_or(|now| !now.is_recent_at(shared.began));
        is_other |= now != file.stamp;
        file.stamp = now;
    }
    was.shared_is_settled = is_settled;
    if is_other || is_settled {
        Freshness::SameBesideOthers
    } else {
        Freshness::Same
    }
}

/// A source that was read.
pub(super) struct ReadSource {
    pub(super) facts: Facts,
    pub(super) scan: Option<SavedScan>,
    /// Whether it was gone on with from where it was read to before.
    pub(super) went_on: bool,
}

/// Where a log was read to.
pub(super) struct LogBefore {
    pub(super) ends: LogEnds,
    pub(super) scan: SavedScan,
}

/// Reads a source: from where it was read to before, if it is the same log and that still stands in it.
pub(super) fn read_source(source: &Source, before: Option<&LogBefore>) -> ReadSource {
    let began = FileTime::now();
    let main = FileStamp::at(&source.path);
    let store = source.format.store();
    let fits =
        |before: &&LogBefore| LogEnds::of(&source.path, before.ends.read_upto) == Some(before.ends);
    let before = before.filter(fits);
    let shared_facts = store.shared_facts(source, &source.id);
    let (summary, scan) = summarize_from(source, Want::WHOLE, before.map(|b| &b.scan));
    let found = store.dependencies(source, &summary);
    let see = |path: PathBuf| SeenFile {
        stamp: if path == source.path {
            main
        } else {
            FileStamp::at(&path)
        },
        path,
    };
    let is_settled = |files: &[SeenFile]| {
        let mut stamps = files.iter().filter_map(|f| f.stamp);
        stamps.all(|stamp| !stamp.is_recent_at(began))
    };
    let own: Vec<SeenFile> = found.own.into_iter().map(see).collect();
    let shared: Vec<SeenFile> = found.shared.into_iter().map(see).collect();
    let log = scan
        .as_ref()
        .and_then(|scan| LogEnds::of(&source.path, scan.read_upto));
    let was = SourceWas {
        is_settled: !found.unwatchable && is_settled(&own),
        refused_store: source.refused_store.clone(),
        place: source.place,
        shared_is_settled: is_settled(&shared),
        // What they say of another id was not asked before it was read.
        shared_facts: shared_facts.filter(|_| summary.head.id == source.id),
        own,
        shared,
        log,
    };
    ReadSource {
        facts: Facts { was, summary },
        scan: scan.filter(|_| log.is_some()),
        went_on: before.is_some(),
    }
}

/// What a list shows of a source of which nothing is kept.
pub(super) fn summarize_whole(source: &Source) -> Summary {
    rethread_formats::summarize(source, Want::WHOLE)
}
