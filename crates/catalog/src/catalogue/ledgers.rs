//! What was counted of sources, kept as whoever counts writes it.

use std::collections::HashMap;

use rusqlite::{TransactionBehavior, params};

use super::{CatalogedSource, Catalogue, RowId};

/// What was counted of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLedger {
    /// The source.
    pub row: RowId,
    /// Up to which byte of its log; the largest number of one that is no log.
    pub upto: u64,
    /// What was counted.
    pub bytes: Vec<u8>,
}

impl CatalogedSource {
    /// Up to where all of it is counted: what [`KeptLedger::upto`] must be.
    pub fn counted_upto(&self) -> u64 {
        self.read_upto.unwrap_or(i64::MAX.cast_unsigned())
    }
}

impl Catalogue {
    /// What was counted of all sources, by their numbers.
    pub fn ledgers(&self) -> HashMap<RowId, KeptLedger> {
        let found = self.ask(|db| {
            let sql = "SELECT source, upto, counted FROM ledger";
            let mut query = db.connection.prepare_cached(sql)?;
            let rows = query.query_map([], |row| {
                let kept = KeptLedger {
                    row: row.get(0)?,
                    upto: row.get::<_, i64>(1)?.cast_unsigned(),
                    bytes: row.get(2)?,
                };
                Ok((kept.row, kept))
            })?;
            rows.collect()
        });
        found.unwrap_or_default()
    }

    /// Keeps what was counted; false if it could not be.
    pub fn keep_ledgers(&self, ledgers: &[KeptLedger]) -> bool {
        if ledgers.is_empty() {
            return true;
        }
        let kept = self.ask_to_write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for ledger in ledgers {
                // A source that was removed meanwhile has nothing that counts.
                let sql = "INSERT OR REPLACE INTO ledger (source, upto, counted) \
                           SELECT id, ?2, ?3 FROM source WHERE id = ?1";
                let mut insert = transaction.prepare_cached(sql)?;
                insert.execute(params![ledger.row, ledger.upto.cast_signed(), ledger.bytes])?;
            }
            transaction.commit()
        });
        kept.is_some()
    }
}
