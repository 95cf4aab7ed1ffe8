//! What is new for somebody, and noting that it was shown.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use rethread_disk::{DiskError, Durability, Mode, ensure_folder};

use crate::{
    alias::Alias,
    batch::Batch,
    cursor::{Cursor, LogCursor, UnreadPart},
    error::Error,
    folder::{Folder, Logs},
    gather::{Gathering, SKEW, Verdict, WantedMessages},
    id::Id,
    record::LineReader,
    scan::{self, LogPosition},
    seen::{FoundWatermark, LogTimes, Watermark, write_state},
    shown::ShownIds,
    trouble::{Trouble, What},
};

/// Somebody's inbox in a message folder.
///
/// ```
/// use rethread_samp::{Alias, Draft, Durability, Folder, Inbox, cursor_folder};
///
/// let temp = tempfile::tempdir()?;
/// let folder = Folder::new(temp.path().join("messages"));
/// let (alice, bob) = (Alias::new("alice")?, Alias::new("bob")?);
/// let draft = Draft { from: &alice, to: &bob, text: "The build is red" };
/// draft.send(&folder, 1_777_180_005, Durability::None)?;
///
/// let inbox = Inbox { folder: &folder, me: &bob, now: 1_777_180_006, lenient: false };
/// let cursor = cursor_folder(temp.path(), &folder, &bob);
/// let mut new = inbox.new_messages(&cursor)?;
/// new.batch.each(|message| {
///     println!("{}: {}", message.id, message.record.body());
///     Ok::<(), std::io::Error>(())
/// })?;
/// assert_eq!(new.batch.len(), 1);
/// new.note();
/// assert!(inbox.new_messages(&cursor)?.batch.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Inbox<'a> {
    /// The message folder.
    pub folder: &'a Folder,
    /// Whose inbox it is.
    pub me: &'a Alias,
    /// Seconds since 1970.
    pub now: i64,
    /// Whether to take records that lie in a log that is not their sender's.
    pub lenient: bool,
}

/// New messages. Nothing is noted before [`New::note`], which is for after they were shown.
#[derive(Debug)]
pub struct New {
    /// The messages, oldest first.
    pub batch: Batch,
    me: Alias,
    folder: Folder,
    horizon: i64,
    before: Option<Watermark>,
    times: LogTimes,
    is_there: bool,
    cursor: Option<NewCursor>,
}

/// The cursor as it will be, and what goes with it.
#[derive(Debug)]
struct NewCursor {
    folder: PathBuf,
    cursor: Cursor,
    shown: ShownIds,
    /// What another program has shown, as its watermark says.
    seen_elsewhere: Vec<Id>,
    /// The epoch that is over.
    over: Option<u64>,
    /// The cursor as it is.
    old: Option<Cursor>,
    /// Which source of the batch is which log.
    names: Vec<String>,
}

impl Inbox<'_> {
    /// Every message, oldest first. Neither reads nor writes what is known of the reader.
    pub fn all(&self) -> Result<Batch, Error> {
        let mut batch = read_all(
            self.folder,
            WantedMessages::To(self.me),
            self.lenient,
            self.now,
        )?;
        batch.sort();
        Ok(batch)
    }

    /// What was not shown yet: what lies beyond the cursor, and was not shown from elsewhere.
    ///
    /// `cursor` is the folder that [`cursor_folder`](crate::cursor_folder) names.
    pub fn new_messages(&self, cursor: &Path) -> Result<New, Error> {
        let mut logs = self.folder.logs()?;
        let (found, trouble) = self.read_watermark()?;
        let times = LogTimes::of_logs(&logs.logs);
        let there = match found {
            FoundWatermark::Watermark(watermark) => Some(watermark),
            FoundWatermark::Nothing | FoundWatermark::Senseless => None,
        };
        let old = Cursor::read(cursor);
        let is_deleted = there.is_none()
            && trouble.is_none()
            && old.as_ref().is_some_and(|old| old.watermark.is_some());
        let over = old.as_ref().filter(|_| is_deleted).map(|old| old.epoch);
        let valid = old.filter(|_| !is_deleted);
        let next = Cursor {
            epoch: over.map_or(valid.as_ref().map_or(0, |c| c.epoch), |epoch| epoch + 1),
            ..Cursor::default()
        };
        let mut new = NewCursor {
            shown: ShownIds::open(cursor, next.epoch),
            folder: cursor.to_owned(),
            cursor: next,
            seen_elsewhere: Vec::new(),
            over,
            old: None,
            names: Vec::new(),
        };
        let mut batch = self.read_new(&mut logs, valid.as_ref(), there.as_ref(), &mut new);
        batch.sort();
        batch_trouble(&mut batch, trouble);
        new.old = valid;
        Ok(New {
            batch,
            cursor: Some(new),
            ..self.nothing_new(there, times)
        })
    }

    fn read_new(
        &self,
        logs: &mut Logs,
        old: Option<&Cursor>,
        there: Option<&Watermark>,
        new: &mut NewCursor,
    ) -> Batch {
        // What another program has shown since is known by its watermark alone.
        let ours = old.and_then(|old| old.watermark.as_ref());
        let elsewhere = there.filter(|there| !ours.is_some_and(|ours| ours.is_same(there)));
        let late_before = old.and(there).map_or(i64::MIN, |there| there.ts);
        let mut gathering =
            Gathering::new(WantedMessages::To(self.me), self.lenient, self.now, logs);
        let mut reader = LineReader::default();
        for log in logs.logs.iter().chain(&logs.retired) {
            // A retired one goes soon, and is read from its beginning until then.
            let old = old.filter(|_| !log.is_retired);
            let mark = old.and_then(|old| old.logs.get(&log.owner));
            let rest = mark.map_or(UnreadPart::All, |mark| mark.unread_part(log));
            if let (UnreadPart::Nothing, Some(mark)) = (rest, mark) {
                new.cursor.logs.insert(log.owner.clone(), *mark);
                continue;
            }
            let file = match scan::open_log(log) {
                Ok(file) => file,
                Err(e) => {
                    gathering.cannot_open(log, &e);
                    continue;
                }
            };
            let from = match (rest, mark) {
                (UnreadPart::After(place), Some(mark)) if mark.fits_file(&file) => place,
                _ => LogPosition::default(),
            };
            let Ok(again) = file.try_clone() else {
                continue;
            };
            let (shown, seen) = (&mut new.shown, &mut new.seen_elsewhere);
            let read = gathering.read_log(log, file, from, &mut reader, &mut |id, ts| {
                if shown.contains(id) {
                    return Verdict::Leave;
                }
                if elsewhere.is_some_and(|watermark| watermark.covers(ts, id)) {
                    seen.push(id);
                    return Verdict::Leave;
                }
                if ts < late_before {
                    Verdict::Late
                } else {
                    Verdict::Take
                }
            });
            let name = if log.is_retired { "" } else { &log.owner };
            new.names.push(name.to_owned());
            if let Some(read) = read.filter(|_| !log.is_retired) {
                let mark = LogCursor::new(log, &again, read);
                new.cursor.logs.insert(log.owner.clone(), mark);
            }
        }
        gathering.into_batch(&mut |id| new.shown.contains(id))
    }

    /// What is new by the document alone: what is later than the watermark. Messages that arrive
    /// late are not shown, and one from the future hides those before it.
    pub fn by_watermark(&self) -> Result<New, Error> {
        let mut logs = self.folder.logs()?;
        let (found, trouble) = self.read_watermark()?;
        let times = LogTimes::of_logs(&logs.logs);
        let there = match found {
            FoundWatermark::Watermark(watermark) => Some(watermark),
            FoundWatermark::Nothing | FoundWatermark::Senseless => None,
        };
        let cached = LogTimes::read(&self.folder.mtime_of(self.me));
        let mut gathering = Gathering::new(
            WantedMessages::To(self.me),
            self.lenient,
            self.now,
            &mut logs,
        );
        if there.is_none() || cached != Some(times) || !logs.retired.is_empty() {
            read_each(&mut gathering, &logs, &mut |id, ts| {
                let is_shown = there.as_ref().is_some_and(|w| w.covers(ts, id));
                if is_shown {
                    Verdict::Leave
                } else {
                    Verdict::Take
                }
            });
        }
        let mut batch = gathering.into_batch(&mut |_| false);
        batch.sort();
        batch_trouble(&mut batch, trouble);
        Ok(New {
            batch,
            horizon: i64::MAX,
            ..self.nothing_new(there, times)
        })
    }

    fn nothing_new(&self, before: Option<Watermark>, times: LogTimes) -> New {
        New {
            batch: Batch::new(Vec::new(), Vec::new(), Vec::new()),
            me: self.me.clone(),
            folder: self.folder.clone(),
            horizon: self.now.saturating_add(SKEW),
            before,
            times,
            is_there: self.folder.path().is_dir(),
            cursor: None,
        }
    }

    fn read_watermark(&self) -> Result<(FoundWatermark, Option<Trouble>), Error> {
        let path = self.folder.seen_of(self.me);
        let found = match Watermark::read(&path) {
            // A link or a folder in its place says nothing.
            Err(DiskError::NotAFile { .. } | DiskError::TooLarge { .. }) => {
                FoundWatermark::Senseless
            }
            found => found?,
        };
        let trouble = (found == FoundWatermark::Senseless).then_some(Trouble {
            path,
            line: None,
            offset: None,
            what: What::BadState,
        });
        Ok((found, trouble))
    }
}

fn batch_trouble(batch: &mut Batch, trouble: Option<Trouble>) {
    if let Some(trouble) = trouble {
        batch.add_trouble(trouble);
    }
}

impl New {
    /// Leaves only the first so many to be shown; the others come next time. Says whether there
    /// are any.
    pub fn keep(&mut self, count: usize) -> bool {
        let left_out = self.batch.items.split_off(count.min(self.batch.len()));
        let mut first: BTreeMap<u32, LogPosition> = BTreeMap::new();
        for item in &left_out {
            let place = LogPosition {
                offset: item.offset,
                lines: item.line.saturating_sub(1),
            };
            let known = first.entry(item.source).or_insert(place);
            if place.offset < known.offset {
                *known = place;
            }
        }
        for (source, place) in first {
            let Some(new) = &mut self.cursor else { break };
            let Some(name) = new.names.get(source as usize) else {
                continue;
            };
            // The mark goes back to before the first of them; without the file, to the beginning.
            let mark = new.cursor.logs.remove(name);
            if let (Some(mark), Some(file)) = (mark, self.batch.open_log(source)) {
                let mark = mark.back_at(file, place);
                new.cursor.logs.insert(name.clone(), mark);
            }
        }
        !left_out.is_empty()
    }

    /// Notes that the messages were shown: in the reader's two files in the message folder, then
    /// in the cursor. Gives what could not be noted; those messages may be shown again.
    pub fn note(self) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        if !self.is_there {
            return troubles;
        }
        let seen = self.folder.seen_of(&self.me);
        let missed = |at: usize| self.batch.missed.contains(&at);
        let shown = || {
            let items = self.batch.items.iter().enumerate();
            items.filter(|(at, _)| !missed(*at)).map(|(_, item)| item)
        };
        let before = self.before.clone().unwrap_or_default();
        let after = before.advanced_by(shown().map(|item| (item.ts, item.id)), self.horizon);
        let mut watermark = self.before.clone();
        let mut not_noted = |path: &Path, e: &DiskError| {
            troubles.push(Trouble {
                path: path.to_owned(),
                line: None,
                offset: None,
                what: What::NotNoted(e.to_string()),
            });
        };
        if shown().next().is_some() {
            match write_state(&seen, &after.to_json()) {
                Ok(()) => watermark = Some(after),
                Err(e) => not_noted(&seen, &e),
            }
        }
        if let Some(new) = self.cursor {
            let ids: Vec<Id> = shown().map(|item| item.id).collect();
            let unread = self.batch.missed.iter().filter_map(|at| {
                let source = self.batch.items.get(*at)?.source;
                new.names.get(source as usize).cloned()
            });
            let unread: Vec<String> = unread.collect();
            let folder = new.folder.clone();
            if let Err(e) = new.write(watermark, &ids, &unread) {
                not_noted(&folder, &e);
            }
        }
        let mtime = self.folder.mtime_of(&self.me);
        // Without it another program reads a little more; there is nothing to tell.
        let _ = write_state(&mtime, &self.times.to_json());
        troubles
    }
}

impl NewCursor {
    fn write(
        mut self,
        watermark: Option<Watermark>,
        shown: &[Id],
        unread: &[String],
    ) -> Result<(), DiskError> {
        self.cursor.watermark = watermark;
        for name in unread {
            self.cursor.logs.remove(name);
        }
        if shown.is_empty()
            && self.seen_elsewhere.is_empty()
            && self.old.as_ref() == Some(&self.cursor)
        {
            return Ok(());
        }
        ensure_folder(&self.folder, &Mode::Private, Durability::None)?;
        let ids = shown.iter().chain(&self.seen_elsewhere);
        self.shown.add(ids.copied())?;
        self.cursor.write(&self.folder)?;
        if let Some(over) = self.over {
            ShownIds::remove(&self.folder, over);
        }
        Ok(())
    }
}

/// Reads all logs from their beginning.
pub(crate) fn read_all(
    folder: &Folder,
    want: WantedMessages<'_>,
    lenient: bool,
    now: i64,
) -> Result<Batch, Error> {
    let mut logs = folder.logs()?;
    let mut gathering = Gathering::new(want, lenient, now, &mut logs);
    read_each(&mut gathering, &logs, &mut |_, _| Verdict::Take);
    Ok(gathering.into_batch(&mut |_| false))
}

fn read_each(
    gathering: &mut Gathering<'_>,
    logs: &Logs,
    judge: &mut dyn FnMut(Id, i64) -> Verdict,
) {
    let mut reader = LineReader::default();
    for log in logs.logs.iter().chain(&logs.retired) {
        match scan::open_log(log) {
            Ok(file) => {
                gathering.read_log(log, file, LogPosition::default(), &mut reader, judge);
            }
            Err(e) => gathering.cannot_open(log, &e),
        }
    }
}
