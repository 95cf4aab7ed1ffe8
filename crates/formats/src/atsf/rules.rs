//! Measuring a store, a thread or one of its files against the format's document.
//!
//! What is wrong is told in the order of paths and lines, so that nothing has to be kept: the files
//! of a store one after the other, in a thread first the assets, then the log, then the description.

mod assets;
mod config;
mod counts;
mod law;
mod manifest;
mod messages;
mod secrets;
mod version;

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, read_small};

use self::messages::Unread;
use super::Atsf;
use super::store::{AGENT, CONFIG, IGNORE, LOG, MANIFEST, THREADS, list_folder};
use crate::check::sheet::{Headings, Sheet, unreadable, whole};
use crate::{OpenError, Rules, Violation, Weight};

impl Rules for Atsf {
    /// Measures what is at a path; gives how many files there were, and nothing if it is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut run = ThreadCheck { out, files: 0 };
        let Some(what) = what(&path) else {
            return Ok(None);
        };
        match what {
            PathKind::Store(agent) => run.store(&agent),
            PathKind::Threads(project) => run.threads(&project),
            PathKind::Thread(folder, part) => run.thread(&folder, part),
            PathKind::Config => run.config(&path),
        }
        Ok(Some(run.files))
    }
}

/// What a path that somebody named is.
enum PathKind {
    /// A store: `.agent`.
    Store(PathBuf),
    /// The folder of a project's threads.
    Threads(PathBuf),
    /// A thread, or one of its files.
    Thread(PathBuf, CheckedPart),
    Config,
}

/// What is asked about a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckedPart {
    All,
    Manifest,
    Log,
}

fn what(path: &Path) -> Option<PathKind> {
    let is_there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    let name = path.file_name().and_then(|n| n.to_str());
    let folder = path.parent();
    if !path.is_dir() {
        let part = match name.filter(|_| is_there(path))? {
            CONFIG => return Some(PathKind::Config),
            MANIFEST => CheckedPart::Manifest,
            LOG => CheckedPart::Log,
            _ => return None,
        };
        return folder.map(|folder| PathKind::Thread(folder.to_owned(), part));
    }
    let is_threads = |p: &Path| p.ends_with(Path::new(AGENT).join(THREADS));
    if is_there(&path.join(MANIFEST)) || is_there(&path.join(LOG)) || folder.is_some_and(is_threads)
    {
        return Some(PathKind::Thread(path.to_owned(), CheckedPart::All));
    }
    if is_threads(path) {
        let project = path.ancestors().nth(2)?;
        return Some(PathKind::Threads(project.to_owned()));
    }
    if name == Some(AGENT) {
        return Some(PathKind::Store(path.to_owned()));
    }
    let agent = path.join(AGENT);
    agent.is_dir().then_some(PathKind::Store(agent))
}

struct ThreadCheck<'o> {
    out: &'o mut dyn FnMut(Violation),
    files: u64,
}

impl ThreadCheck<'_> {
    fn store(&mut self, agent: &Path) {
        let ignore = agent.join(IGNORE);
        if std::fs::symlink_metadata(&ignore).is_err() {
            let message = "the default ignore file is not there";
            (self.out)(whole(&ignore, Weight::Warning, law::NO_IGNORE, message));
        }
        self.config(&agent.join(CONFIG));
        if let Some(project) = agent.parent() {
            self.threads(project);
        }
    }

    fn config(&mut self, path: &Path) {
        self.files += u64::from(config::check_config(path, self.out));
    }

    fn threads(&mut self, project: &Path) {
        let mut folders = Vec::new();
        list_folder(project, &mut |found| match found {
            Ok(source) => folders.push(source.path),
            Err(note) => {
                let path = note.path.as_deref().unwrap_or(project);
                (self.out)(whole(path, Weight::Error, law::UNREADABLE, note.message));
            }
        });
        for folder in folders {
            self.thread(&folder, CheckedPart::All);
        }
    }

    fn thread(&mut self, folder: &Path, part: CheckedPart) {
        let path = folder.join(MANIFEST);
        let bytes = read_small(&path);
        let Ok(bytes) = &bytes else {
            self.log(folder, part);
            return self.no_manifest(&path, part, bytes.err().as_ref());
        };
        self.files += u64::from(part != CheckedPart::Log);
        let mut sheet = Sheet::new(
            &path,
            bytes,
            1,
            Headings {
                section: law::THREAD,
                general: law::COMPATIBILITY,
            },
        );
        let tree = sheet.object();
        let root = tree.as_ref().map(|tree| tree.root(bytes));
        let is_known = root.is_none_or(|root| version::is_known(&mut sheet, root));
        if is_known {
            let facts = self.log(folder, part);
            if let Some(root) = root.filter(|_| part != CheckedPart::Log) {
                manifest::check_manifest(&mut sheet, root, folder.file_name());
                if let Some(facts) = facts {
                    manifest::check_derived(&mut sheet, root, &facts);
                }
            }
        }
        if part != CheckedPart::Log || !is_known {
            sheet.report_all(self.out);
        }
    }

    fn no_manifest(&mut self, path: &Path, part: CheckedPart, e: Option<&DiskError>) {
        if part == CheckedPart::Log {
            return;
        }
        (self.out)(match e {
            Some(e) if !matches!(e, DiskError::NotFound { .. }) => unreadable(path, e, law::LAYOUT),
            _ => {
                let message = "a thread without its description";
                whole(path, Weight::Error, law::NO_MANIFEST, message)
            }
        });
    }

    /// Judges assets and log; gives what the log holds. Where the description alone is asked for,
    /// the log is only counted.
    fn log(&mut self, folder: &Path, part: CheckedPart) -> Option<counts::LogFacts> {
        let path = folder.join(LOG);
        let read = match part {
            CheckedPart::Manifest => messages::check(folder, &path, &mut |_| {}),
            CheckedPart::All => {
                self.files += assets::check_folder(folder, self.out);
                messages::check(folder, &path, self.out)
            }
            CheckedPart::Log => messages::check(folder, &path, self.out),
        };
        let is_there = !matches!(read, Err(Unread::Missing));
        self.files += u64::from(is_there && part != CheckedPart::Manifest);
        if !is_there {
            let message = "the log is not there, as in a clone where git ignores it; what is derived from it is not checked";
            (self.out)(whole(&path, Weight::Warning, law::NO_LOG, message));
        }
        read.ok()
    }
}
