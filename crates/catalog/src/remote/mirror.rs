//! The copy of a home in the cache folder.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rethread_disk::{
    Durability, Mode, ensure_folder, is_temporary, open_read, remove_file, remove_folder,
    remove_leftovers, replace, replace_with, set_modified,
};
use rethread_formats::{Env, FORMATS, Home, HomeKind};
use rethread_model::Note;

use super::cksum::Cksum;
use super::listed::{RemotePath, Version};
use super::state::State;
use super::wire::{Incoming, RemoteListing, Wanted, Wire};
use super::{RemoteError, Ssh, Target};
use crate::catalogue::Catalogue;
use crate::neighbours;

/// How often a file is asked for that changes while it is sent.
const TRIES: usize = 4;
/// A file that was changed in the second in which it was listed may change once more in it, and look
/// the same.
const SETTLED: u64 = 2;

/// The copy of a home.
pub(super) struct Mirror {
    target: Target,
    folder: PathBuf,
    state: State,
}

/// What became of a file that was sent.
enum Received {
    /// It is here.
    Taken,
    /// It changed meanwhile, and is this now.
    Changed(Option<Version>),
    /// It does not begin with what is here.
    BeginsOtherwise,
}

impl Mirror {
    /// What there is of the copy.
    pub(super) fn open(env: &Env, target: &Target) -> Self {
        let folder = env.cache.join("remotes").join(target.key());
        Self {
            target: target.clone(),
            state: State::load(&folder),
            folder,
        }
    }

    /// The home, if it was ever copied.
    pub(super) fn home(&self) -> Option<Home> {
        Some(Home {
            kind: HomeKind::Remote,
            host: self.target.host().to_owned(),
            folder: self.files(),
            there: self.state.there.clone()?,
        })
    }

    /// The folder of the copied files.
    fn files(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Copies what is new or changed there, and removes what is gone.
    pub(super) fn refresh(
        &mut self,
        env: &Env,
        ssh: Ssh<'_>,
        progress: &mut dyn FnMut(u64, u64),
        notes: &mut Vec<Note>,
    ) -> Result<(), RemoteError> {
        let mut wire = Wire::open(ssh, &self.target)?;
        ensure_folder(&self.files(), &Mode::Private, Durability::None)?;
        let done = self.bring(env, &mut wire, progress, notes);
        // What came is known, also if the rest did not.
        let saved = self.state.save();
        match done {
            Ok(()) => wire.close(),
            Err(e) => return Err(wire.why(e)),
        }
        Ok(saved?)
    }

    fn bring(
        &mut self,
        env: &Env,
        wire: &mut Wire,
        progress: &mut dyn FnMut(u64, u64),
        notes: &mut Vec<Note>,
    ) -> Result<(), RemoteError> {
        self.state.there = Some(wire.home.clone());
        let patterns: Vec<&str> = FORMATS
            .iter()
            .flat_map(|f| f.about().in_home)
            .copied()
            .collect();
        let in_home = wire.list(&patterns)?;
        let mut there: BTreeSet<RemotePath> = paths(&in_home).collect();
        self.judge(&in_home, notes);
        if !in_home.partial {
            self.remove_gone(&|path| there.contains(path) || is_in_project(path))?;
        }
        self.take(wire, in_home.files, progress, notes)?;
        // Which projects there are is in what was copied.
        let in_projects = wire.list_folders(&self.project_folders(env))?;
        there.extend(paths(&in_projects));
        self.judge(&in_projects, notes);
        if !in_projects.partial {
            self.remove_gone(&|path| there.contains(path) || !is_in_project(path))?;
        }
        self.take(wire, in_projects.files, progress, notes)
    }

    /// Says what of a list cannot be had.
    fn judge(&self, listing: &RemoteListing, notes: &mut Vec<Note>) {
        let name = self.target.name();
        if listing.partial {
            notes.push(Note::damage(format!(
                "`{name}`: not all of its folders can be read"
            )));
        }
        if let Some((count, first)) = &listing.refused {
            notes.push(Note::damage(format!(
                "`{name}`: {count} files have names that cannot be used here, such as `{first}`; left out"
            )));
        }
    }

    /// The places in which projects of this home may keep conversations.
    fn project_folders(&self, env: &Env) -> Vec<RemotePath> {
        let Some(home) = self.home() else {
            return Vec::new();
        };
        let named = neighbours::named(&env.inside(&home), &Catalogue::open(env));
        let here = named
            .iter()
            .filter_map(|path| home.path_here(path.to_str()?));
        let mut projects: BTreeSet<PathBuf> = here.collect();
        projects.insert(home.folder.clone());
        let places = || FORMATS.iter().flat_map(|f| f.about().in_project);
        let mut folders = Vec::new();
        for project in projects {
            for place in places() {
                let path = project.join(place);
                folders.extend(below(&home.folder, &path));
            }
        }
        folders
    }

    /// Removes copies that are not to be kept, and folders that are empty then.
    fn remove_gone(&mut self, keep: &dyn Fn(&RemotePath) -> bool) -> Result<(), RemoteError> {
        let root = self.files();
        let mut folders = vec![root.clone()];
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            at += 1;
            remove_leftovers(&folder);
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|t| t.is_dir()) {
                    folders.push(path);
                } else if let Some(known) = below(&root, &path)
                    && !is_temporary(&entry.file_name())
                    && !keep(&known)
                {
                    remove_file(&path)?;
                    self.state.forget(&known);
                }
            }
        }
        for folder in folders.iter().skip(1).rev() {
            let is_empty = |mut entries: std::fs::ReadDir| entries.next().is_none();
            if std::fs::read_dir(folder).is_ok_and(is_empty) {
                remove_folder(folder)?;
            }
        }
        Ok(())
    }

    /// Copies those of the files that are not here yet.
    fn take(
        &mut self,
        wire: &mut Wire,
        files: Vec<(RemotePath, Version)>,
        progress: &mut dyn FnMut(u64, u64),
        notes: &mut Vec<Note>,
    ) -> Result<(), RemoteError> {
        let wanted = files
            .into_iter()
            .filter_map(|(path, version)| self.wanted(path, version));
        let mut wanted: Vec<Wanted> = wanted.collect();
        for _ in 0..TRIES {
            if wanted.is_empty() {
                return Ok(());
            }
            wanted = self.fetch(wire, &wanted, progress)?;
        }
        for file in wanted {
            self.state.forget(&file.path);
            let path = file.path.below(&self.files());
            let note = Note::damage("it changed all the time while it was copied");
            notes.push(note.at(path));
        }
        Ok(())
    }

    /// What is to be asked for of a file; nothing if it is here.
    fn wanted(&self, path: RemotePath, version: Version) -> Option<Wanted> {
        let copy = path.below(&self.files());
        let here = std::fs::symlink_metadata(&copy).ok();
        let here = here.filter(std::fs::Metadata::is_file).map(|m| m.len());
        let known = self.state.version(&path);
        if known == Some(&version) && here == Some(version.size) {
            return None;
        }
        // Of a log that grew, only the rest is wanted, if it still begins the same.
        let begun = here
            .filter(|len| path.is_log() && *len > 0 && *len < version.size)
            .filter(|len| known.is_some_and(|v| v.size == *len))
            .and_then(|len| {
                let sum = Cksum::of(open_read(&copy).ok()?.take(len)).ok()?;
                Some((len, sum.finish()))
            });
        Some(Wanted {
            path,
            version,
            begun,
        })
    }

    /// Gets files; gives those that must be asked for once more.
    fn fetch(
        &mut self,
        wire: &mut Wire,
        files: &[Wanted],
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<Wanted>, RemoteError> {
        let size = |f: &Wanted| f.version.size - f.begun.as_ref().map_or(0, |(start, _)| *start);
        let (all, mut done) = (files.iter().map(size).sum(), 0);
        let mut again = Vec::new();
        for file in files.iter().filter(|f| f.version.size == 0) {
            let copy = self.place(&file.path)?;
            replace(&copy, b"", Mode::Private, Durability::None)?;
            self.settle(wire.now, file);
        }
        let now = wire.now;
        wire.fetch(files, &mut |file, incoming| {
            let received = self.receive(file, incoming, &mut |n| {
                done += n;
                progress(done, all);
            })?;
            let version = match received {
                Received::Taken => {
                    self.settle(now, file);
                    return Ok(());
                }
                Received::Changed(version) => version,
                Received::BeginsOtherwise => Some(file.version.clone()),
            };
            again.extend(version.map(|version| Wanted {
                path: file.path.clone(),
                version,
                begun: None,
            }));
            Ok(())
        })?;
        self.check_databases(wire, files, &mut again)?;
        Ok(again)
    }

    /// Takes the bytes of one file and puts it in place.
    fn receive(
        &self,
        file: &Wanted,
        mut incoming: Incoming<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Received, RemoteError> {
        let mut start = 0;
        if let Some((len, sum)) = &file.begun {
            start = *len;
            if incoming.checksum()? != *sum {
                let rest = file.version.size - start;
                let _ = incoming.copy(rest, &mut io::sink(), progress)?;
                incoming.after()?;
                return Ok(Received::BeginsOtherwise);
            }
        }
        let copy = self.place(&file.path)?;
        let mut trouble = None;
        let mut changed = None;
        let written = replace_with(&copy, Mode::Private, Durability::None, |out| {
            if start > 0 {
                let mut old = open_read(&copy).map_err(io::Error::other)?.take(start);
                if io::copy(&mut old, out)? < start {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let rest = file.version.size - start;
            let taken = incoming.copy(rest, out, progress).and_then(|written| {
                let after = incoming.after()?;
                Ok((written, after))
            });
            match taken {
                Ok((Ok(()), after)) if is_whole(file, after.as_ref()) => Ok(()),
                Ok((written, after)) => {
                    changed = written.is_ok().then_some(after);
                    written.and(Err(io::ErrorKind::Interrupted.into()))
                }
                Err(e) => {
                    trouble = Some(e);
                    Err(io::ErrorKind::UnexpectedEof.into())
                }
            }
        });
        match (trouble, changed, written) {
            (Some(e), _, _) => Err(e),
            (None, Some(after), _) => Ok(Received::Changed(after)),
            (None, None, Err(e)) => Err(e.into()),
            (None, None, Ok(())) => {
                if let Some(seconds) = file.version.modified() {
                    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
                    // A time that this disk does not take is no loss.
                    let _ = set_modified(&copy, time);
                }
                Ok(Received::Taken)
            }
        }
    }

    /// Where a copy belongs; its folder is made.
    fn place(&self, path: &RemotePath) -> Result<PathBuf, RemoteError> {
        let copy = path.below(&self.files());
        if let Some(folder) = copy.parent() {
            ensure_folder(folder, &Mode::Private, Durability::None)?;
        }
        Ok(copy)
    }

    /// Notes that a file is here.
    fn settle(&mut self, now: u64, file: &Wanted) {
        let mut version = file.version.clone();
        let is_fresh = |changed: u64| changed.saturating_add(SETTLED) > now;
        if version.modified().is_some_and(is_fresh) {
            version.tag.clear();
        }
        self.state.set(file.path.clone(), version);
    }

    /// A database and its log are one thing: if either changed while they were copied, both are
    /// asked for again.
    fn check_databases(
        &mut self,
        wire: &mut Wire,
        files: &[Wanted],
        again: &mut Vec<Wanted>,
    ) -> Result<(), RemoteError> {
        let databases: BTreeSet<RemotePath> =
            files.iter().filter_map(|f| f.path.database()).collect();
        for database in databases {
            let pair = [database.clone(), database.log_of_database()];
            let now = wire.ask(&pair)?;
            for (path, now) in pair.into_iter().zip(now) {
                if again.iter().any(|f| f.path == path) {
                    continue;
                }
                match now {
                    Some(version) if self.is_other(&path, &version, files) => again.push(Wanted {
                        path,
                        version,
                        begun: None,
                    }),
                    None if self.state.version(&path).is_some() => {
                        remove_file(&path.below(&self.files()))?;
                        self.state.forget(&path);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Whether what is here of a file is another version than this.
    fn is_other(&self, path: &RemotePath, version: &Version, files: &[Wanted]) -> bool {
        let just_copied = files.iter().find(|f| f.path == *path).map(|f| &f.version);
        just_copied.or_else(|| self.state.version(path)) != Some(version)
    }
}

/// Whether all that was sent belongs together: the file is what it was, or only more was added.
fn is_whole(file: &Wanted, after: Option<&Version>) -> bool {
    after.is_some_and(|after| {
        *after == file.version || file.path.is_log() && after.size >= file.version.size
    })
}

fn paths(listing: &RemoteListing) -> impl Iterator<Item = RemotePath> {
    listing.files.iter().map(|(path, _)| path.clone())
}

/// A path in a folder as the other machine has it.
fn below(folder: &Path, path: &Path) -> Option<RemotePath> {
    let names = path.strip_prefix(folder).ok()?.components();
    let names: Option<Vec<&str>> = names.map(|c| c.as_os_str().to_str()).collect();
    RemotePath::new(&names?.join("/")).ok()
}

/// Whether a file is in a place where projects keep conversations.
fn is_in_project(path: &RemotePath) -> bool {
    let places = FORMATS.iter().flat_map(|f| f.about().in_project);
    let mut folders = places.filter_map(|place| place.split('/').next());
    folders.any(|folder| path.as_str().split('/').any(|name| name == folder))
}
