//! Rows of sources: loading them, and writing them down.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rethread_formats::{Root, SavedScan, Source};
use rethread_model::Note;
use rusqlite::{OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::RowId;
use super::database::Database;
use super::facts::Facts;
use super::fresh::ReadSource;
use super::refresh::SourcesOfRoot;

/// A row as it is in the file.
#[derive(Debug)]
pub(super) struct KnownRow {
    pub(super) id: RowId,
    path: Vec<u8>,
    member: String,
    pub(super) facts: Vec<u8>,
    is_there: bool,
}

impl KnownRow {
    /// A row of which the columns `id, path, member, facts` begin with this one.
    fn load(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(first)?,
            path: row.get(first + 1)?,
            member: row.get(first + 2)?,
            facts: row.get(first + 3)?,
            is_there: false,
        })
    }
}

/// From so many places on, all rows are gone through once: to ask for each of them takes longer than to
/// read its few rows.
const MANY_ROOTS: usize = 16;

/// The rows of a place, by path and member.
#[derive(Debug, Default)]
pub(super) struct RowsOfRoot {
    pub(super) rows: Vec<KnownRow>,
}

impl RowsOfRoot {
    fn sort_rows(&mut self) {
        let order = |a: &KnownRow, b: &KnownRow| (&a.path, &a.member).cmp(&(&b.path, &b.member));
        self.rows.sort_unstable_by(order);
    }

    /// The place of a source's row, which is there then.
    pub(super) fn take(&mut self, root: &Root, source: &Source) -> Option<usize> {
        let key = (path_in(root, &source.path), source.id.as_str());
        let order = |row: &KnownRow| (row.path.as_slice(), row.member.as_str()).cmp(&key);
        let at = self.rows.binary_search_by(order).ok()?;
        self.rows.get_mut(at)?.is_there = true;
        Some(at)
    }

    /// The rows whose sources are there no more.
    pub(super) fn vanished(&self) -> impl Iterator<Item = RowId> {
        let gone = self.rows.iter().filter(|row| !row.is_there);
        gone.map(|row| row.id)
    }
}

/// The path of a source as it is in its row: from its root on, where it is in that.
fn path_in<'a>(root: &Root, path: &'a Path) -> &'a [u8] {
    let (root, path) = (root.path.as_os_str(), path.as_os_str().as_encoded_bytes());
    let inside = path.strip_prefix(root.as_encoded_bytes());
    let inside = inside.and_then(|rest| rest.strip_prefix(b"/"));
    inside
        .filter(|rest| !rest.starts_with(b"/"))
        .unwrap_or(path)
}

/// Something to be written down.
pub(super) struct Change<'a> {
    source: &'a Source,
    /// The place of its root; none if its row is there for sure.
    root: Option<usize>,
    /// Its row, if that stays.
    row: Option<RowId>,
    facts: Vec<u8>,
    scan: Option<SavedScan>,
}

impl<'a> Change<'a> {
    /// Only what is seen of shared files is another one.
    pub(super) fn renewed(source: &'a Source, row: RowId, facts: &Facts) -> Self {
        Self {
            source,
            root: None,
            row: Some(row),
            facts: facts.to_bytes(source),
            scan: None,
        }
    }

    /// A source was read: added to where it has a row, else anew.
    pub(super) fn read(
        source: &'a Source,
        root: usize,
        row: Option<RowId>,
        read: &mut ReadSource,
    ) -> Self {
        Self {
            source,
            root: Some(root),
            row,
            facts: read.facts.to_bytes(source),
            scan: read.scan.take(),
        }
    }
}

impl Database {
    /// What is known of the sources of each of these places.
    pub(super) fn rows_of_all(
        &mut self,
        roots: &[SourcesOfRoot<'_>],
    ) -> rusqlite::Result<Vec<RowsOfRoot>> {
        if roots.len() < MANY_ROOTS {
            return roots.iter().map(|found| self.rows_of(found.root)).collect();
        }
        let mut known: Vec<RowsOfRoot> = Vec::new();
        known.resize_with(roots.len(), RowsOfRoot::default);
        let places = self.places_of(roots)?;
        let sql = "SELECT root, id, path, member, facts FROM source ORDER BY root";
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let at = places.get(&row.get(0)?);
            if let Some(found) = at.and_then(|at| known.get_mut(*at)) {
                found.rows.push(KnownRow::load(row, 1)?);
            }
        }
        known.iter_mut().for_each(RowsOfRoot::sort_rows);
        Ok(known)
    }

    /// The places in a list of roots, by the numbers of their rows.
    fn places_of(&self, roots: &[SourcesOfRoot<'_>]) -> rusqlite::Result<HashMap<i64, usize>> {
        let mut asked = HashMap::with_capacity(roots.len());
        for (at, found) in roots.iter().enumerate() {
            let (format, path) = (found.root.format.slug(), &found.root.path);
            asked.insert((format, path.as_os_str().as_encoded_bytes()), at);
        }
        let sql = "SELECT id, format, path FROM root";
        let mut query = self.connection.prepare_cached(sql)?;
        let mut rows = query.query([])?;
        let mut places = HashMap::with_capacity(roots.len());
        while let Some(row) = rows.next()? {
            let format = row.get_ref(1)?.as_str()?;
            let path = row.get_ref(2)?.as_blob()?;
            if let Some(at) = asked.get(&(format, path)) {
                places.insert(row.get(0)?, *at);
            }
        }
        Ok(places)
    }

    /// What is known of the sources of a place.
    fn rows_of(&mut self, root: &Root) -> rusqlite::Result<RowsOfRoot> {
        let sql = "SELECT s.id, s.path, s.member, s.facts FROM root r JOIN source s ON s.root = r.id \
                   WHERE r.format = ?1 AND r.path = ?2";
        let mut query = self.connection.prepare_cached(sql)?;
        let path = root.path.as_os_str().as_encoded_bytes();
        let found = query.query_map(params![root.format.slug(), path], |row| {
            KnownRow::load(row, 0)
        })?;
        let rows = found.collect::<rusqlite::Result<Vec<KnownRow>>>()?;
        let mut known = RowsOfRoot { rows };
        known.sort_rows();
        Ok(known)
    }

    /// Where the scan of a source ended.
    pub(super) fn scan_of(&mut self, row: RowId) -> rusqlite::Result<Option<SavedScan>> {
        let sql = "SELECT read_upto, state FROM scan WHERE source = ?1";
        let mut query = self.connection.prepare_cached(sql)?;
        let found = query.query_row([row], |row| {
            Ok(SavedScan {
                read_upto: row.get::<_, i64>(0)?.cast_unsigned(),
                state: row.get(1)?,
            })
        });
        found.optional()
    }

    /// Writes changes down, all of them or none. Gives the row of each; none at all where nobody can
    /// write.
    pub(super) fn save(
        &mut self,
        roots: &[SourcesOfRoot<'_>],
        changes: &[Change<'_>],
        vanished: &[RowId],
    ) -> rusqlite::Result<Option<Vec<Option<RowId>>>> {
        if self.is_read_only {
            return Ok(None);
        }
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        for row in vanished {
            remove(&transaction, *row)?;
        }
        let mut known = Vec::with_capacity(roots.len());
        for found in roots {
            known.push(row_of_root(&transaction, found.root)?);
        }
        let mut rows = Vec::with_capacity(changes.len());
        for change in changes {
            let root = change.root.and_then(|at| {
                let found = roots.get(at)?;
                Some((
                    known.get(at).copied()?,
                    path_in(found.root, &change.source.path),
                ))
            });
            rows.push(write(&transaction, change, root)?);
        }
        remove_lost_roots(&transaction, &known)?;
        transaction.commit()?;
        Ok(Some(rows))
    }

    /// Says that nothing can be written down, and tries it no more.
    pub(super) fn cannot_write(&mut self, e: &rusqlite::Error) -> Option<Note> {
        let is_first = !std::mem::replace(&mut self.is_read_only, true);
        let why = format!("what is new was not written to the catalogue: {e}");
        is_first.then(|| Note::detail(why).at(self.folder()))
    }
}

/// Writes one change down. Gives its row; none where another process removed that meanwhile.
fn write(
    transaction: &Transaction<'_>,
    change: &Change<'_>,
    root: Option<(i64, &[u8])>,
) -> rusqlite::Result<Option<RowId>> {
    let mut row = change.row;
    if let Some(id) = row {
        let sql = "UPDATE source SET facts = ?2 WHERE id = ?1";
        let mut update = transaction.prepare_cached(sql)?;
        row = (update.execute(params![id, change.facts])? > 0).then_some(id);
    }
    if row.is_none() {
        let Some((root, path)) = root else {
            return Ok(None);
        };
        let member = change.source.id.as_str();
        let sql = "SELECT id FROM source WHERE root = ?1 AND path = ?2 AND member = ?3";
        let mut query = transaction.prepare_cached(sql)?;
        let old: Option<RowId> = query
            .query_row(params![root, path, member], |row| row.get(0))
            .optional()?;
        if let Some(old) = old {
            remove(transaction, old)?;
        }
        let sql = "INSERT INTO source (root, path, member, facts) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = transaction.prepare_cached(sql)?;
        row = Some(insert.insert(params![root, path, member, change.facts])?);
    }
    if let (Some(row), Some(scan)) = (row, &change.scan) {
        let sql = "INSERT OR REPLACE INTO scan (source, read_upto, state) VALUES (?1, ?2, ?3)";
        let mut insert = transaction.prepare_cached(sql)?;
        insert.execute(params![row, scan.read_upto.cast_signed(), scan.state])?;
    }
    Ok(row)
}

fn remove(transaction: &Transaction<'_>, row: RowId) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM source WHERE id = ?1",
        "DELETE FROM scan WHERE source = ?1",
        "DELETE FROM ledger WHERE source = ?1",
    ] {
        transaction.prepare_cached(sql)?.execute([row])?;
    }
    Ok(())
}

fn row_of_root(transaction: &Transaction<'_>, root: &Root) -> rusqlite::Result<i64> {
    let (format, path) = (root.format.slug(), root.path.as_os_str().as_encoded_bytes());
    let sql = "SELECT id FROM root WHERE format = ?1 AND path = ?2";
    let mut query = transaction.prepare_cached(sql)?;
    let found = query.query_row(params![format, path], |row| row.get(0));
    if let Some(known) = found.optional()? {
        return Ok(known);
    }
    let sql = "INSERT INTO root (format, path) VALUES (?1, ?2)";
    transaction
        .prepare_cached(sql)?
        .insert(params![format, path])
}

/// Removes what is known of places that are there no more. Others were not asked for this time, and stay.
fn remove_lost_roots(transaction: &Transaction<'_>, asked: &[i64]) -> rusqlite::Result<()> {
    let asked: HashSet<i64> = asked.iter().copied().collect();
    let mut query = transaction.prepare_cached("SELECT id, path FROM root")?;
    let roots = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let roots = roots.collect::<rusqlite::Result<Vec<(i64, Vec<u8>)>>>()?;
    for (root, path) in roots {
        let is_there = |path: &str| Path::new(path).exists();
        if asked.contains(&root) || std::str::from_utf8(&path).is_ok_and(is_there) {
            continue;
        }
        for sql in [
            "DELETE FROM scan WHERE source IN (SELECT id FROM source WHERE root = ?1)",
            "DELETE FROM ledger WHERE source IN (SELECT id FROM source WHERE root = ?1)",
            "DELETE FROM source WHERE root = ?1",
            "DELETE FROM root WHERE id = ?1",
        ] {
            transaction.prepare_cached(sql)?.execute([root])?;
        }
    }
    Ok(())
}
