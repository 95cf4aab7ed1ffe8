//! What is about to be put into a store in several files, noted first: if the process is killed before
//! the main one is there, whoever puts something into a store next removes the others.

use std::path::{Path, PathBuf};

use rethread_disk::{
    Journal, abandoned_journals, open_read, remove_empty_folder, remove_file, remove_leftovers,
};
use rethread_json::{Array, Object, Tree, Value};

use super::pack::Seal;
use super::put::FileToPut;
use crate::error::read_failed;
use crate::{WriteError, Writing};

/// Where the notes are, in the data folder.
const FOLDER: &str = "unfinished";

/// The files of a session that are not in the store yet.
#[derive(Debug, Default)]
pub(super) struct UnfinishedInstall {
    /// The one that makes it a session, and comes last.
    main: PathBuf,
    /// The others, with what they will hold.
    files: Vec<(PathBuf, Seal)>,
    /// The folders that are made for them, those inside of others first.
    folders: Vec<PathBuf>,
}

impl UnfinishedInstall {
    /// Of files as they lie elsewhere and where they are to go, the main one first.
    pub(super) fn of_files(files: &[FileToPut]) -> Result<Self, WriteError> {
        let mut unfinished = Self::default();
        let is_missing = |path: &Path| std::fs::symlink_metadata(path).is_err();
        for (at, FileToPut { from, to }) in files.iter().enumerate() {
            if at == 0 {
                unfinished.main.clone_from(to);
            } else if is_missing(to) {
                let unreadable = read_failed(from);
                let seal = Seal::of_content(&mut open_read(from)?).map_err(unreadable)?;
                unfinished.files.push((to.clone(), seal));
            }
            let above = to.ancestors().skip(1);
            for folder in above.take_while(|folder| is_missing(folder)) {
                if !unfinished.folders.iter().any(|known| known == folder) {
                    unfinished.folders.push(folder.to_owned());
                }
            }
        }
        let depth = |folder: &PathBuf| std::cmp::Reverse(folder.components().count());
        unfinished.folders.sort_by_key(depth);
        Ok(unfinished)
    }

    /// Notes it, so that it can be undone. None where there is nothing to undo, or where a path cannot
    /// be written down.
    pub(super) fn note_begin(&self, w: &Writing<'_>) -> Result<Option<Journal>, WriteError> {
        let Some(line) = self.journal_line().filter(|_| !self.files.is_empty()) else {
            return Ok(None);
        };
        let folder = w.env.data.join(FOLDER);
        Ok(Some(Journal::begin(&folder, &line, w.durability)?))
    }

    /// Removes what is there of it: files that hold what was to be put there, and folders that are
    /// empty then.
    pub(super) fn undo_install(&self) {
        for (path, seal) in &self.files {
            let found = open_read(path).map(|mut file| Seal::of_content(&mut file));
            if let Ok(Ok(found)) = found
                && found == *seal
            {
                let _ = remove_file(path);
            }
        }
        let mut folders: Vec<&Path> = self.files.iter().filter_map(|(f, _)| f.parent()).collect();
        folders.extend(self.main.parent());
        folders.dedup();
        folders.into_iter().for_each(remove_leftovers);
        for folder in &self.folders {
            let _ = remove_empty_folder(folder);
        }
    }

    fn journal_line(&self) -> Option<Vec<u8>> {
        let mut files = Array::new();
        for (path, seal) in &self.files {
            let file = Object::new()
                .str("path", path.to_str()?)
                .u64("size", seal.size)
                .str("sha256", &seal.sha256);
            files = files.raw(&file.finish());
        }
        let mut folders = Array::new();
        for folder in &self.folders {
            folders = folders.str(folder.to_str()?);
        }
        let line = Object::new()
            .str("main", self.main.to_str()?)
            .raw("files", &files.finish())
            .raw("folders", &folders.finish());
        Some(line.finish())
    }

    fn parse_line(line: &[u8]) -> Option<Self> {
        fn parse_path(value: Value<'_>) -> Option<PathBuf> {
            Some(PathBuf::from(value.str()?.into_owned()))
        }
        let tree = Tree::parse(line).ok()?;
        let root = tree.root(line);
        let file = |file: Value<'_>| {
            let seal = Seal {
                size: file.get("size")?.u64()?,
                sha256: file.get("sha256")?.str()?.into_owned(),
            };
            Some((parse_path(file.get("path")?)?, seal))
        };
        Some(Self {
            main: parse_path(root.get("main")?)?,
            files: root
                .get("files")?
                .items()
                .map(file)
                .collect::<Option<_>>()?,
            folders: root
                .get("folders")?
                .items()
                .map(parse_path)
                .collect::<Option<_>>()?,
        })
    }
}

/// Removes what processes left in stores that were killed before a session was whole there: files that
/// still are what was put there, and folders that are empty then.
pub fn remove_unfinished(w: &Writing<'_>) {
    for journal in abandoned_journals(&w.env.data.join(FOLDER)) {
        let line = journal.read().unwrap_or_default();
        if let Some(left) = UnfinishedInstall::parse_line(&line)
            && std::fs::symlink_metadata(&left.main).is_err()
        {
            left.undo_install();
        }
    }
}
