//! Which messages were shown: a sorted list of ids on disk, and a short one of recent ones.
//!
//! Looking up one id reads a few bytes of it, however many there are.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use rethread_disk::{
    DiskError, Durability, Mode, open_read, read_at, read_small, remove_file, replace_with,
};

use crate::id::Id;

/// So many recent ids are kept apart before they are sorted in.
const RECENT: usize = 4096;

/// After so many questions the whole list is read.
const PROBES: usize = 512;

const WIDTH: u64 = 8;

/// The ids that were shown.
#[derive(Debug)]
pub(crate) struct ShownIds {
    folder: PathBuf,
    epoch: u64,
    sorted: Option<(File, u64)>,
    recent: Vec<u64>,
    whole: Option<Vec<u64>>,
    probes: usize,
}

impl ShownIds {
    /// The list of an epoch; each deletion of the watermark begins another.
    pub(crate) fn open(folder: &Path, epoch: u64) -> Self {
        let file = open_read(&list_path(folder, epoch)).ok();
        let sorted = file.and_then(|file| {
            let len = file.metadata().ok()?.len() / WIDTH;
            Some((file, len))
        });
        let mut recent =
            read_small(&recent_path(folder, epoch)).map_or_else(|_| Vec::new(), parse_ids);
        recent.sort_unstable();
        Self {
            folder: folder.to_owned(),
            epoch,
            sorted,
            recent,
            whole: None,
            probes: 0,
        }
    }

    /// Whether a message was shown.
    pub(crate) fn contains(&mut self, id: Id) -> bool {
        let bits = id.bits();
        if self.recent.binary_search(&bits).is_ok() {
            return true;
        }
        self.probes += 1;
        if self.probes > PROBES && self.whole.is_none() {
            self.whole = Some(self.all_ids());
        }
        match &self.whole {
            Some(whole) => whole.binary_search(&bits).is_ok(),
            None => self.probe_list(bits),
        }
    }

    fn probe_list(&self, bits: u64) -> bool {
        let Some((file, len)) = &self.sorted else {
            return false;
        };
        let (mut low, mut high) = (0, *len);
        while low < high {
            let middle = low + (high - low) / 2;
            let mut bytes = [0; 8];
            if read_at(file, middle * WIDTH, &mut bytes).ok() != Some(bytes.len()) {
                return false;
            }
            match u64::from_be_bytes(bytes).cmp(&bits) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    fn all_ids(&self) -> Vec<u64> {
        read_small(&list_path(&self.folder, self.epoch)).map_or_else(|_| Vec::new(), parse_ids)
    }

    /// Adds what was shown now.
    pub(crate) fn add(&mut self, ids: impl Iterator<Item = Id>) -> Result<(), DiskError> {
        let before = self.recent.len();
        self.recent.extend(ids.map(Id::bits));
        if self.recent.len() == before {
            return Ok(());
        }
        if self.recent.len() > RECENT {
            let mut all = self.whole.take().unwrap_or_else(|| self.all_ids());
            all.append(&mut self.recent);
            all.sort_unstable();
            all.dedup();
            write_ids(&list_path(&self.folder, self.epoch), &all)?;
        }
        write_ids(&recent_path(&self.folder, self.epoch), &self.recent)
    }

    /// Forgets the list of an epoch that is over.
    pub(crate) fn remove(folder: &Path, epoch: u64) {
        // What cannot be removed is not asked any more.
        let _ = remove_file(&list_path(folder, epoch));
        let _ = remove_file(&recent_path(folder, epoch));
    }
}

fn list_path(folder: &Path, epoch: u64) -> PathBuf {
    folder.join(format!("shown-{epoch}"))
}

fn recent_path(folder: &Path, epoch: u64) -> PathBuf {
    folder.join(format!("recent-{epoch}"))
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "it is mapped over what was read"
)]
fn parse_ids(bytes: Vec<u8>) -> Vec<u64> {
    let (chunks, _) = bytes.as_chunks();
    chunks.iter().map(|c| u64::from_be_bytes(*c)).collect()
}

fn write_ids(path: &Path, ids: &[u64]) -> Result<(), DiskError> {
    replace_with(path, Mode::Private, Durability::None, |out| {
        ids.iter()
            .try_for_each(|id| out.write_all(&id.to_be_bytes()))
    })
}
