//! A database that is not the client's own: for what is staged, and for the sample.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::carrier::{bad_input, insert_row};
use super::document::SCHEMA;
use super::rows::decode_row;
use super::writing::write_trouble;
use crate::WriteError;

/// Makes a database with the tables that we know, and with these rows: the name of each table, and
/// its rows as lines of JSON, an object of columns each. There must be no file at the path.
pub fn create_database(path: &Path, rows: &[(&str, Vec<u8>)]) -> Result<(), WriteError> {
    let mut decoded = Vec::new();
    for (table, lines) in rows {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let row = decode_row(line).ok_or_else(|| bad_input("a row is damaged"))?;
            decoded.push((*table, row));
        }
    }
    super::database::let_go();
    let fill = || -> rusqlite::Result<()> {
        let mut db = Connection::open(path)?;
        let tx = db.transaction()?;
        tx.execute_batch(SCHEMA)?;
        for (table, row) in &decoded {
            insert_row(&tx, table, row)?;
        }
        tx.commit()
    };
    fill().map_err(|e| write_trouble(path, Duration::ZERO, &e))
}
