//! One session that is followed.

use std::path::{Path, PathBuf};

use rethread_disk::FileStamp;
use rethread_formats::{Conversation, LogWindow, PartKind, Source, Want, summarize};
use rethread_model::{EntryIx, Moment, Note};
use rethread_watch::WatchedFolder;

use super::baseline::{Baseline, last_line_end, log_of};
use super::known::KnownEntries;
use super::{Followed, FollowedMessages};
use crate::show::open;

/// A log of up to this length is read as a whole.
const WHOLE_LOG: u64 = 1024 * 1024;

/// So many bytes before what is new are read with it: a message may have begun there.
const CONTEXT: u64 = 256 * 1024;

/// A session that is followed, and what of it was told.
#[derive(Debug)]
pub(super) struct SessionFollower {
    pub(super) source: Source,
    known: KnownEntries,
    /// What it had said, as long as it was not read.
    baseline: Option<Baseline>,
    /// Up to which byte its log is known: the end of a line.
    read_upto: Option<u64>,
    /// What was seen of its main file.
    stamp: Option<FileStamp>,
    /// What was seen of the log that it is added to.
    log: Option<(PathBuf, FileStamp)>,
    /// What a database said of it.
    facts: Option<Vec<u8>>,
    /// Why it cannot be read, once that was said.
    trouble: Option<String>,
}

impl SessionFollower {
    /// A session that was read.
    pub(super) fn of_read(read: &Conversation) -> Self {
        let mut follower = Self::seen(read.source.clone(), None);
        follower.known.learn(read, |_| true);
        follower.note_read(read);
        // What came while it was read is to be told.
        follower.forget_looks();
        follower
    }

    /// A session that has said what it says now. One without a log may be read, else the time tells what
    /// was said before.
    pub(super) fn of_source(source: Source, now: Moment, is_read: bool) -> Self {
        let baseline = Baseline::of_source(&source, now);
        let is_log = matches!(baseline, Baseline::Log { .. });
        let mut follower = Self::seen(source, Some(baseline));
        if is_read
            && !is_log
            && let Ok(read) = open(&follower.source)
        {
            follower.known.learn(&read, |_| true);
            follower.baseline = None;
        }
        follower
    }

    /// A session that is new: whatever it says is told.
    pub(super) fn of_new(source: Source) -> Self {
        let mut follower = Self::seen(source, Some(Baseline::Nothing));
        follower.forget_looks();
        follower
    }

    fn seen(source: Source, baseline: Option<Baseline>) -> Self {
        Self {
            known: KnownEntries::default(),
            baseline,
            read_upto: None,
            stamp: FileStamp::at(&source.path),
            log: log_of(&source),
            facts: database_facts(&source),
            trouble: None,
            source,
        }
    }

    /// Nothing was seen of its files that would save a look.
    fn forget_looks(&mut self) {
        self.facts = None;
        if let Some((_, stamp)) = &mut self.log {
            stamp.changed = i64::MIN;
        }
    }

    /// Whether it is kept in a database, with others.
    pub(super) fn is_in_database(&self) -> bool {
        self.facts.is_some()
    }

    /// Whether a change at a path may be one of this session.
    pub(super) fn is_concerned_by(&self, path: &Path) -> bool {
        path.starts_with(&self.source.path)
            || self.source.path.starts_with(path)
            || database_of(path).is_some_and(|database| database == self.source.path)
    }

    /// What happened since the last look.
    pub(super) fn look_again(&mut self) -> Vec<Followed> {
        let mut told = Vec::new();
        let stamp = FileStamp::at(&self.source.path);
        if stamp.is_none() {
            if self.stamp.take().is_some() {
                told.push(self.noted("the session is gone; it is told if it comes back"));
            }
            self.log = None;
            self.read_upto = None;
            return told;
        }
        if self.stamp.is_none() && self.trouble.take().is_none() && self.baseline.is_none() {
            told.push(self.noted("the session is there again"));
        }
        self.stamp = stamp;
        let log = log_of(&self.source);
        match (&self.log, &log) {
            (Some((path, before)), Some((now_path, now))) if path == now_path => {
                if before == now {
                    return told;
                }
                let is_other = (before.device, before.file) != (now.device, now.file);
                let is_shorter = now.size < before.size;
                if is_other {
                    told.push(self.noted("the log was replaced by another one"));
                } else if is_shorter {
                    told.push(self.noted("the log was cut"));
                }
                if is_other || is_shorter {
                    self.read_upto = None;
                    if let Some(Baseline::Log { len, .. }) = &mut self.baseline {
                        *len = (*len).min(now.size);
                    }
                }
            }
            _ => {}
        }
        self.log = log;
        let facts = database_facts(&self.source);
        if facts.is_some() && facts == self.facts {
            return told;
        }
        self.facts = facts;
        match open(&self.source_to_read()) {
            Ok(read) => {
                self.trouble = None;
                self.note_read(&read);
                told.extend(self.take_new(read));
            }
            Err(e) => {
                let why = e.to_string();
                if self.trouble.as_ref() != Some(&why) {
                    told.push(Followed::Noted(Note::remark(why.clone())));
                }
                self.trouble = Some(why);
            }
        }
        told
    }

    /// The session, of whose log only what was added is to be read, and a little before it: of a long
    /// one that would else be read as a whole.
    fn source_to_read(&mut self) -> Source {
        let mut source = self.source.clone();
        let Some((path, stamp)) = self.log.as_ref().filter(|(_, s)| s.size > WHOLE_LOG) else {
            return source;
        };
        let upto = match (&self.baseline, self.read_upto) {
            (Some(Baseline::Log { len, .. }), None) => last_line_end(path, *len),
            (_, upto) => upto,
        };
        if let Some(upto) = upto.filter(|upto| *upto <= stamp.size) {
            source.window = Some(LogWindow {
                from: upto.saturating_sub(CONTEXT),
            });
            // What stands before that in the window was told.
            let before = || Baseline::Log {
                path: path.clone(),
                len: upto,
            };
            self.baseline.get_or_insert_with(before);
        }
        source
    }

    /// Notes how far the log was read.
    fn note_read(&mut self, read: &Conversation) {
        self.read_upto = None;
        if let Some((path, _)) = &self.log {
            let mut parts = read.native.parts.iter();
            let part = parts.find(|part| part.kind == PartKind::Lines && part.path == *path);
            let len = part.map(|part| part.file_offset(part.len()));
            self.read_upto = len.and_then(|len| last_line_end(path, len));
        }
    }

    fn take_new(&mut self, read: Conversation) -> Option<Followed> {
        if let Some(baseline) = self.baseline.take() {
            let was_there = baseline.told_entries(&read);
            let is_told = |ix: EntryIx| was_there.get(ix.get()).copied().unwrap_or_default();
            self.known.learn(&read, is_told);
        }
        let new = self.known.take_new(&read);
        (!new.entries.is_empty()).then(|| {
            Followed::Said(Box::new(FollowedMessages {
                conversation: Conversation {
                    source: self.source.clone(),
                    ..read
                },
                entries: new.entries,
                new_blocks: new.new_blocks,
            }))
        })
    }

    fn noted(&self, what: &str) -> Followed {
        Followed::Noted(Note::remark(what).at(&self.source.path))
    }
}

/// What a database says of a session that is kept in it.
fn database_facts(source: &Source) -> Option<Vec<u8>> {
    let store = source.format.store();
    // Only what is in a file with others is asked for; a log tells by its length.
    if log_of(source).is_some() || source.path.is_dir() {
        return None;
    }
    let summary = rethread_model::Summary::default();
    let depends = store.dependencies(source, &summary);
    let is_shared = depends.own.is_empty() && depends.shared.contains(&source.path);
    is_shared.then(|| store.shared_facts(source, &source.id))?
}

/// The database that a file beside it belongs to.
pub(super) fn database_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let endings = ["-wal", "-journal", "-shm"];
    let database = endings.iter().find_map(|end| name.strip_suffix(end))?;
    Some(path.with_file_name(database))
}

/// The folders in which a session's files are.
pub(super) fn watched_folders(source: &Source) -> Vec<WatchedFolder> {
    let mut folders = Vec::new();
    if source.path.is_dir() {
        folders.push(WatchedFolder {
            path: source.path.clone(),
            is_deep: true,
        });
    }
    let parent = source.path.parent().map(Path::to_owned);
    folders.extend(parent.map(|path| WatchedFolder {
        path,
        is_deep: false,
    }));
    folders
}

/// What a list shows of a session.
pub(super) fn summary_of(source: &Source) -> rethread_model::Summary {
    summarize(source, Want::default())
}
