//! What is in the catalogue, how large it is, and how fresh.

use std::path::PathBuf;

use super::Catalogue;

/// What is in the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueState {
    /// Its folder.
    pub folder: PathBuf,
    /// How many sources it knows, those of homes that were not asked for included.
    pub sources: u64,
    /// How many places they are in.
    pub roots: u64,
    /// How many bytes its files have.
    pub size: u64,
}

impl Catalogue {
    /// What is in the catalogue now; none where all is kept in memory.
    pub fn state(&self) -> Option<CatalogueState> {
        self.ask(|db| {
            let count = |sql: &str| {
                let found = db.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
                found.map(|count| u64::try_from(count).unwrap_or(0))
            };
            let files = std::fs::read_dir(db.folder()).into_iter().flatten();
            let sizes = files.flatten().filter_map(|file| file.metadata().ok());
            Ok(CatalogueState {
                folder: db.folder().to_owned(),
                sources: count("SELECT count(*) FROM source")?,
                roots: count("SELECT count(*) FROM root")?,
                size: sizes.map(|meta| meta.len()).sum(),
            })
        })
    }
}
