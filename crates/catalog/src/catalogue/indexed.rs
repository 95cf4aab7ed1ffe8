//! What of the sources is in the full-text index: written down here, because only the catalogue knows
//! what became of a source since.
//!
//! Whoever indexes writes a batch down *before* the index commits it, with the number of the commit
//! (tantivy's opstamp). A batch counts if its number is not above that of the index: one that was written
//! down and never committed, because the process was killed in between, does not, and whoever indexes next
//! forgets it before anything else. Nothing is waited for, and no order of two commits on two files is
//! needed.

use std::collections::HashMap;

use rusqlite::{OptionalExtension as _, TransactionBehavior, params};

use super::{Catalogue, RowId};

/// Up to where a source was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedSource {
    /// The source.
    pub row: RowId,
    /// Up to which byte of its log; of one that is no log, [`IndexedSource::WHOLE`].
    pub upto: u64,
    /// The entries that were indexed; none where those cannot be gone on with.
    pub entries: Option<IndexedEntries>,
}

/// The first entries of a source, as they were when they were indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedEntries {
    /// How many.
    pub count: u64,
    /// A number that is another one if they are others.
    pub digest: u64,
}

impl IndexedEntries {
    fn to_bytes(self) -> Vec<u8> {
        [self.count.to_le_bytes(), self.digest.to_le_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (count, digest) = bytes.split_first_chunk()?;
        Some(Self {
            count: u64::from_le_bytes(*count),
            digest: u64::from_le_bytes(digest.try_into().ok()?),
        })
    }
}

impl IndexedSource {
    /// All of a source that is no log.
    pub const WHOLE: u64 = i64::MAX.cast_unsigned();
}

/// What one commit of the index adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedBatch {
    /// The number of the commit.
    pub opstamp: u64,
    /// Its sources.
    pub sources: Vec<IndexedSource>,
}

impl Catalogue {
    /// Writes a batch down. Call it before the index commits it. False if it could not be: then do not
    /// commit.
    pub fn record_batch(&self, batch: &IndexedBatch) -> bool {
        let saved = self.ask_to_write(|connection| {
            let behavior = TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behavior)?;
            let sql = "INSERT INTO batch (opstamp) VALUES (?1)";
            let id = transaction
                .prepare_cached(sql)?
                .insert([batch.opstamp.cast_signed()])?;
            for source in &batch.sources {
                let sql =
                    "INSERT OR REPLACE INTO indexed (source, batch, upto, state) VALUES (?1, ?2, ?3, ?4)";
                let upto = source.upto.min(IndexedSource::WHOLE).cast_signed();
                let state = source.entries.map(IndexedEntries::to_bytes);
                let mut insert = transaction.prepare_cached(sql)?;
                insert.execute(params![source.row, id, upto, state])?;
            }
            transaction.commit()
        });
        saved.is_some()
    }

    /// Up to where each source is in an index whose last commit has this number.
    pub fn indexed_sources(&self, opstamp: u64) -> HashMap<RowId, IndexedSource> {
        let found = self.ask(|db| {
            // The other columns are those of the row with the greatest.
            let sql = "SELECT i.source, max(i.batch), i.upto, i.state FROM indexed i \
                       JOIN batch b ON b.id = i.batch \
                       WHERE b.opstamp <= ?1 GROUP BY i.source";
            let mut query = db.connection.prepare_cached(sql)?;
            let rows = query.query_map([opstamp.cast_signed()], |row| {
                let state: Option<Vec<u8>> = row.get(3)?;
                let source = IndexedSource {
                    row: row.get(0)?,
                    upto: row.get::<_, i64>(2)?.cast_unsigned(),
                    entries: state.as_deref().and_then(IndexedEntries::from_bytes),
                };
                Ok((source.row, source))
            })?;
            rows.collect()
        });
        found.unwrap_or_default()
    }

    /// The batches that were written down, the oldest first, without their sources: how many there are,
    /// and which of them an index has.
    pub fn indexed_batches(&self) -> Vec<u64> {
        let found = self.ask(|db| {
            let sql = "SELECT opstamp FROM batch ORDER BY id";
            let mut query = db.connection.prepare_cached(sql)?;
            let rows = query.query_map([], |row| Ok(row.get::<_, i64>(0)?.cast_unsigned()))?;
            rows.collect()
        });
        found.unwrap_or_default()
    }

    /// Sources that were indexed and are there no more, or were replaced: what the index has of them is
    /// to be deleted, and then forgotten with [`forget_indexed`](Self::forget_indexed).
    pub fn indexed_and_gone(&self) -> Vec<RowId> {
        let found = self.ask(|db| {
            let sql = "SELECT DISTINCT source FROM indexed \
                       WHERE source NOT IN (SELECT id FROM source) ORDER BY source";
            let mut query = db.connection.prepare_cached(sql)?;
            let rows = query.query_map([], |row| row.get(0))?;
            rows.collect()
        });
        found.unwrap_or_default()
    }

    /// Forgets that these sources were indexed, because the index has nothing of them any more.
    pub fn forget_indexed(&self, rows: &[RowId]) -> bool {
        let forgotten = self.ask_to_write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for row in rows {
                let sql = "DELETE FROM indexed WHERE source = ?1";
                transaction.prepare_cached(sql)?.execute([row])?;
            }
            transaction.execute(
                "DELETE FROM batch WHERE id NOT IN (SELECT batch FROM indexed)",
                [],
            )?;
            transaction.commit()
        });
        forgotten.is_some()
    }

    /// Forgets the batches that an index whose last commit has this number does not have: whoever wrote
    /// them down was stopped before the commit. Call it before the index commits anything else, else they
    /// would count then.
    pub fn forget_batches_above(&self, opstamp: u64) -> bool {
        let forgotten = self.ask_to_write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for sql in [
                "DELETE FROM indexed WHERE batch IN (SELECT id FROM batch WHERE opstamp > ?1)",
                "DELETE FROM batch WHERE opstamp > ?1",
            ] {
                transaction.execute(sql, [opstamp.cast_signed()])?;
            }
            transaction.commit()
        });
        forgotten.is_some()
    }

    /// Forgets all batches, because the index is built anew.
    pub fn forget_all_indexed(&self) -> bool {
        let forgotten = self.ask_to_write(|connection| {
            connection
                .execute_batch("BEGIN IMMEDIATE; DELETE FROM indexed; DELETE FROM batch; COMMIT")
        });
        forgotten.is_some()
    }

    /// A small value that is kept beside the rows, and goes with them.
    pub fn setting(&self, name: &str) -> Option<Vec<u8>> {
        let found = self.ask(|db| {
            let sql = "SELECT value FROM setting WHERE name = ?1";
            let mut query = db.connection.prepare_cached(sql)?;
            query.query_row([name], |row| row.get(0)).optional()
        });
        found.flatten()
    }

    /// Keeps a small value; false if it could not be kept.
    pub fn set_setting(&self, name: &str, value: &[u8]) -> bool {
        let kept = self.ask_to_write(|connection| {
            let sql = "INSERT OR REPLACE INTO setting (name, value) VALUES (?1, ?2)";
            connection
                .prepare_cached(sql)?
                .execute(params![name, value])
        });
        kept.is_some()
    }

    /// Writes something to the database. If that fails, it is noted and nothing more is written.
    pub(super) fn ask_to_write<T>(
        &self,
        write: impl FnOnce(&mut rusqlite::Connection) -> rusqlite::Result<T>,
    ) -> Option<T> {
        let mut database = self.database.borrow_mut();
        let db = database.as_mut().filter(|db| !db.is_read_only)?;
        match write(&mut db.connection) {
            Ok(done) => Some(done),
            Err(e) => {
                self.notes.borrow_mut().extend(db.cannot_write(&e));
                None
            }
        }
    }
}
