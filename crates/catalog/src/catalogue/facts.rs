//! What the catalogue knows of a source, as it is in its row.

use std::hash::Hasher as _;
use std::path::{Path, PathBuf};

use rethread_disk::{FileStamp, open_read, read_at};
use rethread_formats::{SavedState, Source};
use rethread_model::Summary;

/// So many of the first bytes of a log, and of the last that were read, are compared before it is gone
/// on with.
const COMPARED: u64 = 4096;

/// What a source was when it was read, and what a list shows of it.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) was: SourceWas,
    pub(super) summary: Summary,
}

/// What a source was when it was read.
#[derive(Debug, Default)]
pub(super) struct SourceWas {
    /// Whether another change since then would have been seen.
    pub(super) is_settled: bool,
    /// The version of its store, if that must be refused.
    pub(super) refused_store: Option<String>,
    /// Where it begins in its file.
    pub(super) place: Option<u64>,
    pub(super) own: Vec<SeenFile>,
    pub(super) shared: Vec<SeenFile>,
    /// Whether a change of the shared files would have been seen.
    pub(super) shared_is_settled: bool,
    /// What the shared files said of it.
    pub(super) shared_facts: Option<Vec<u8>>,
    pub(super) log: Option<LogEnds>,
}

/// A file or folder, and what was seen of it; nothing where it was not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenFile {
    pub(super) path: PathBuf,
    pub(super) stamp: Option<FileStamp>,
}

/// Hashes of the two ends of what was read of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogEnds {
    pub(super) read_upto: u64,
    head: u64,
    tail: u64,
}

impl LogEnds {
    /// Those of a log as it is now.
    pub(super) fn of(log: &Path, read_upto: u64) -> Option<Self> {
        let file = open_read(log).ok()?;
        let len = usize::try_from(COMPARED.min(read_upto)).ok()?;
        let mut bytes = vec![0; len];
        let mut hash = |at: u64| {
            let mut filled = 0;
            while filled < len {
                let rest = bytes.get_mut(filled..)?;
                match read_at(&file, at + filled as u64, rest).ok()? {
                    0 => return None,
                    count => filled += count,
                }
            }
            Some(hash_of(&bytes))
        };
        Some(Self {
            read_upto,
            head: hash(0)?,
            tail: hash(read_upto - len as u64)?,
        })
    }
}

impl SourceWas {
    /// Whether the source itself is told apart from others in the same way as then.
    pub(super) fn is_of(&self, source: &Source) -> bool {
        self.refused_store == source.refused_store && self.place == source.place
    }
}

impl Facts {
    /// The bytes of a row. They begin with a hash of the others.
    pub(super) fn to_bytes(&self, source: &Source) -> Vec<u8> {
        let mut out = vec![0; 8];
        let SourceWas {
            is_settled,
            refused_store,
            place,
            own,
            shared,
            shared_is_settled,
            shared_facts,
            log,
        } = &self.was;
        is_settled.save(&mut out);
        refused_store.save(&mut out);
        place.save(&mut out);
        save_files(own, &source.path, &mut out);
        save_files(shared, &source.path, &mut out);
        shared_is_settled.save(&mut out);
        shared_facts.save(&mut out);
        log.map(|log| [log.read_upto, log.head, log.tail])
            .save(&mut out);
        self.summary.save(&mut out);
        let hash = hash_of(out.get(8..).unwrap_or_default());
        if let Some(place) = out.get_mut(..8) {
            place.copy_from_slice(&hash.to_le_bytes());
        }
        out
    }

    /// What a row holds; none if it is damaged.
    pub(super) fn from_bytes(bytes: &[u8], source: &Source) -> Option<Self> {
        let (hash, mut bytes) = bytes.split_first_chunk()?;
        if u64::from_le_bytes(*hash) != hash_of(bytes) {
            return None;
        }
        let bytes = &mut bytes;
        let was = SourceWas {
            is_settled: SavedState::load(bytes)?,
            refused_store: SavedState::load(bytes)?,
            place: SavedState::load(bytes)?,
            own: load_files(&source.path, bytes)?,
            shared: load_files(&source.path, bytes)?,
            shared_is_settled: SavedState::load(bytes)?,
            shared_facts: SavedState::load(bytes)?,
            log: <Option<[u64; 3]>>::load(bytes)?.map(|[read_upto, head, tail]| LogEnds {
                read_upto,
                head,
                tail,
            }),
        };
        let summary = Summary::load(bytes)?;
        bytes.is_empty().then_some(Self { was, summary })
    }
}

/// Saves files. The source's own path is left out: most have no other.
fn save_files(files: &[SeenFile], source: &Path, out: &mut Vec<u8>) {
    (files.len() as u64).save(out);
    for file in files {
        let other = (file.path != source).then(|| file.path.clone());
        other.save(out);
        file.stamp.map(numbers_of).save(out);
    }
}

fn load_files(source: &Path, bytes: &mut &[u8]) -> Option<Vec<SeenFile>> {
    let len = usize::try_from(u64::load(bytes)?).ok()?;
    let mut files = Vec::with_capacity(len.min(bytes.len()));
    for _ in 0..len {
        let other: Option<PathBuf> = SavedState::load(bytes)?;
        files.push(SeenFile {
            path: other.unwrap_or_else(|| source.to_owned()),
            stamp: <Option<[u64; 5]>>::load(bytes)?.map(stamp_of),
        });
    }
    Some(files)
}

/// A stamp as numbers, to be saved.
pub(super) fn numbers_of(stamp: FileStamp) -> [u64; 5] {
    let FileStamp {
        device,
        file,
        size,
        modified,
        changed,
    } = stamp;
    let times = [modified, changed].map(i64::cast_unsigned);
    [device, file, size, times[0], times[1]]
}

/// The stamp that numbers say.
pub(super) fn stamp_of([device, file, size, modified, changed]: [u64; 5]) -> FileStamp {
    FileStamp {
        device,
        file,
        size,
        modified: modified.cast_signed(),
        changed: changed.cast_signed(),
    }
}

/// A hash that is the same as long as the program is.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
