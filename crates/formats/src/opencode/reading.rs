//! The rows of a table that belong to a session, with what their heads say, in one pass over each.

use std::collections::HashMap;
use std::path::Path;

use rethread_model::{Note, RawRef};
use rusqlite::Row;
use rusqlite::ffi::ErrorCode;
use rusqlite::types::ValueRef;

use super::connection::Db;
use super::database::AskError;
use super::members::Members;
use super::reader::Gathered;
use super::rows::{Columns, WrittenRow};
use super::said::{Piece, PlacedMessage, split_value};
use crate::fields::moment_at;
use crate::{RecordKind, Spool, Spooled};

/// Where messages are, by their ids.
#[derive(Default)]
struct Places {
    /// The message of the part before: the next part mostly belongs to it, or to the next message.
    last: usize,
    by_id: Option<HashMap<Box<str>, usize>>,
}

impl Places {
    fn find(&mut self, said: &[PlacedMessage], id: &str) -> Option<usize> {
        let is_it = |at: &usize| said.get(*at).is_some_and(|s| *s.id == *id);
        let found = [self.last, self.last + 1].into_iter().find(is_it);
        self.last = found.or_else(|| {
            let all = || said.iter().map(|s| s.id.clone()).zip(0..).collect();
            self.by_id.get_or_insert_with(all).get(id).copied()
        })?;
        Some(self.last)
    }
}

/// What the rows of a session mostly take: growing step by step, they would be moved again and again.
const ROOM: usize = 256 * 1024;

/// Rows of a table that are being read.
pub(super) struct Reading<'a> {
    path: &'a Path,
    table: &'static str,
    /// The number of the part that they become.
    part: u32,
    places: Places,
    spool: Spool,
    /// How many notes there were before.
    notes: usize,
    gathered: &'a mut Gathered,
}

impl<'a> Reading<'a> {
    pub(super) fn new(
        path: &'a Path,
        table: &'static str,
        part: u32,
        gathered: &'a mut Gathered,
    ) -> Self {
        Self {
            path,
            table,
            part,
            places: Places::default(),
            spool: Spool::with_room(ROOM),
            notes: gathered.notes.len(),
            gathered,
        }
    }

    /// Reads the rows that belong to a session. A row that cannot be read is named.
    pub(super) fn rows(mut self, db: &Db, order: &str, id: &str) -> Result<Spooled, AskError> {
        if order != "rowid" && self.as_they_come(db, order, id)? {
            return Ok(self.spool.finish()?);
        }
        self.forget();
        let table = self.table;
        // The keys first: sorting whole rows would take as much memory as they have.
        let (all, is_in) = (db.columns(table)?, db.is(table, "session_id")?);
        let sql = format!("SELECT rowid FROM {table} WHERE {is_in} ORDER BY {order}");
        let mut keys = Vec::new();
        let mut query = db.prepare_cached(&sql)?;
        let mut found = query.query([id])?;
        loop {
            match found.next() {
                Ok(Some(row)) => keys.push(row.get::<_, i64>(0)?),
                Ok(None) => break,
                Err(e) if is_lost(&e) => {
                    self.unreadable("some of its rows", &e);
                    break;
                }
                Err(e) => return Err(e.into()),
            }
        }
        let mut one = db.prepare_cached(&format!("SELECT {all} FROM {table} WHERE rowid = ?1"))?;
        let columns = Columns::of(&one);
        for key in keys {
            let mut found = one.query([key])?;
            match found.next() {
                Ok(Some(row)) => {
                    if self.row(row, &columns)?.is_none() {
                        break;
                    }
                }
                Ok(None) => {}
                Err(e) if is_lost(&e) => self.unreadable(&format!("row {key}"), &e),
                Err(e) => return Err(e.into()),
            }
        }
        Ok(self.spool.finish()?)
    }

    /// Reads the rows as the database gives them, which mostly is their order; says whether it was,
    /// and all could be read.
    fn as_they_come(&mut self, db: &Db, order: &str, id: &str) -> Result<bool, AskError> {
        let table = self.table;
        let (all, is_in) = (db.columns(table)?, db.is(table, "session_id")?);
        let sql = format!("SELECT {all} FROM {table} WHERE {is_in}");
        let mut query = db.prepare_cached(&sql)?;
        let columns = Columns::of(&query);
        let by_time = order.starts_with("time_created");
        let mut last: Option<(i64, Vec<u8>)> = None;
        let mut found = query.query([id])?;
        loop {
            let row = match found.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(true),
                Err(e) if is_lost(&e) => return Ok(false),
                Err(e) => return Err(e.into()),
            };
            let Some((id, time)) = self.row(row, &columns)? else {
                return Ok(true);
            };
            let time = time.and_then(|time| time.as_i64().ok());
            let Some(time) = time.filter(|_| by_time).or((!by_time).then_some(0)) else {
                return Ok(false);
            };
            match &mut last {
                Some((t, i)) if (*t, i.as_slice()) >= (time, id.as_bytes()) => return Ok(false),
                Some((t, i)) => {
                    *t = time;
                    i.clear();
                    i.extend_from_slice(id.as_bytes());
                }
                None => last = Some((time, id.into())),
            }
        }
    }

    /// Forgets the rows that were read.
    fn forget(&mut self) {
        self.spool = Spool::with_room(ROOM);
        self.places = Places::default();
        match self.table {
            "message" => self.gathered.said.clear(),
            "part" => self.gathered.said.iter_mut().for_each(|s| s.parts.clear()),
            _ => {}
        }
        self.gathered.notes.truncate(self.notes);
        let part = self.part;
        self.gathered.unclaimed.retain(|raw| raw.part != part);
    }

    /// Takes a row into account, and gives its id and time; none if there is no room for it.
    fn row<'r>(
        &mut self,
        row: &'r Row<'_>,
        columns: &Columns,
    ) -> Result<Option<(&'r str, Option<ValueRef<'r>>)>, AskError> {
        let write = |out: &mut Vec<u8>| columns.write(row, out).map_err(AskError::from);
        let Some((record, written)) = self.spool.add(RecordKind::Value, write)? else {
            return Ok(None);
        };
        let raw = RawRef {
            part: self.part,
            record,
        };
        let WrittenRow {
            id,
            message,
            time,
            data,
        } = written;
        match self.table {
            "message" => self.message(raw, id, time, data),
            "part" => self.part(raw, id, message, data),
            _ => self.gathered.unclaimed.push(raw),
        }
        Ok(Some((id, time)))
    }

    fn message(
        &mut self,
        raw: RawRef,
        id: &str,
        time: Option<ValueRef<'_>>,
        data: Option<Members<'_>>,
    ) {
        let info = data.and_then(|data| split_value(data).info);
        let mut said = PlacedMessage::of(raw, id, info.as_ref());
        if !said.is_message() {
            let message = format!("the message `{id}` names no role; kept unread");
            self.note(message);
        }
        let created = time.and_then(|time| moment_at(time.as_i64().ok(), time.as_f64().ok()));
        said.time = created.or(said.time);
        self.gathered.said.push(said);
    }

    fn part(&mut self, raw: RawRef, id: &str, message: &str, data: Option<Members<'_>>) {
        let data = data.filter(|d| d.get("type").is_some());
        if data.is_none() {
            self.note(format!("the part `{id}` names no type; kept unread"));
        }
        let piece = Piece::of(raw, id, data.as_ref(), self.gathered.facts.takes_back(id));
        let owner = self.places.find(&self.gathered.said, message);
        if let Some(said) = owner.and_then(|at| self.gathered.said.get_mut(at)) {
            said.add(piece);
            return;
        }
        self.note(format!("the part `{id}` belongs to no message; skipped"));
        self.gathered.unclaimed.push(raw);
    }

    fn note(&mut self, message: String) {
        let note = Note::damage(message).at(self.path);
        self.gathered.notes.push(note);
    }

    fn unreadable(&mut self, what: &str, e: &rusqlite::Error) {
        let table = self.table;
        self.note(format!("{what} of table `{table}` cannot be read: {e}"));
    }
}

/// Whether rows cannot be had, and others perhaps can.
fn is_lost(e: &rusqlite::Error) -> bool {
    matches!(
        e.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::TooBig)
    )
}
