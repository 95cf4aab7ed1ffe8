//! Records of which it is not known how many there will be.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use rethread_disk::{DiskError, scratch};

use super::marks::{RecordKind, RecordTable};
use super::part::Backing;

/// Records that are collected one after the other, in memory as long as they are few.
#[derive(Debug, Default)]
pub struct Spool {
    /// What is not in the file.
    memory: Vec<u8>,
    file: Option<File>,
    /// How much is in the file.
    written: u64,
    marks: RecordTable,
}

/// Records that were collected.
#[derive(Debug)]
pub struct Spooled {
    pub(super) bytes: Backing,
    pub(super) len: u64,
    pub(super) marks: RecordTable,
}

/// How much a [`Spool`] holds in memory.
const SPOOLED_IN_MEMORY: usize = 16 * 1024 * 1024;

/// How much of it waits to be written to its file.
const WAITING: usize = 1024 * 1024;

impl Spool {
    /// An empty one, with room for so many bytes.
    pub fn with_room(bytes: usize) -> Self {
        Self {
            memory: Vec::with_capacity(bytes),
            ..Self::default()
        }
    }

    /// Adds the record that is written behind those that are there, and gives its number. `None`
    /// beyond four thousand million records.
    pub fn add<T, E: From<DiskError>>(
        &mut self,
        kind: RecordKind,
        write: impl FnOnce(&mut Vec<u8>) -> Result<T, E>,
    ) -> Result<Option<(u32, T)>, E> {
        let Some(number) = self.marks.add(self.len(), kind) else {
            return Ok(None);
        };
        let told = write(&mut self.memory)?;
        let room = if self.file.is_some() {
            WAITING
        } else {
            SPOOLED_IN_MEMORY
        };
        if self.memory.len() > room {
            self.flush_to_file()?;
        }
        Ok(Some((number, told)))
    }

    fn len(&self) -> u64 {
        self.written + self.memory.len() as u64
    }

    /// Moves what is in memory into the file.
    fn flush_to_file(&mut self) -> Result<(), DiskError> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(scratch()?),
        };
        file.write_all(&self.memory)
            .map_err(|cause| DiskError::Write {
                path: PathBuf::from("a temporary file"),
                cause,
            })?;
        self.written += self.memory.len() as u64;
        self.memory.clear();
        self.memory.shrink_to(WAITING);
        Ok(())
    }

    /// All records.
    pub fn finish(mut self) -> Result<Spooled, DiskError> {
        if self.file.is_some() {
            self.flush_to_file()?;
        }
        let len = self.len();
        Ok(Spooled {
            bytes: match self.file {
                Some(file) => Backing::File(file),
                None => Backing::Memory(self.memory),
            },
            len,
            marks: self.marks,
        })
    }
}
