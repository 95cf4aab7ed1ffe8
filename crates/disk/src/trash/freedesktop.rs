//! The trash of Linux desktops: a folder with what was thrown away, and one with a description of each.
//!
//! A description comes first and gives its thing the name that it has there. It is written whole, and
//! locked until the thing is there, so a description without a thing that nobody has locked was left by
//! a process that was killed.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata},
    io::{self, Read as _},
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use crate::{
    create::{Created, create_with, is_taken},
    durability::Durability,
    error::{DiskError, FileKind},
    folder::{create_folder, ensure_folder},
    leftover::remove_leftovers,
    link::link,
    lock::try_lock,
    mode::{self, Mode},
    read::open_read,
    remove::{remove_file, remove_folder, remove_link},
    sync::{self, SyncFolder, folder_of},
    temp::{TempFile, shorten_name},
    tree::{create_folder_with, rename_noreplace},
};

const SUFFIX: &str = ".trashinfo";
/// What our descriptions say, so that they are known as ours. Others pass over it.
const MARK: &str = "X-Moved-By=rethread";
/// How many things of one name are looked for there.
const TRIES: usize = 10_000;
const EACH: Durability = Durability::Each;

/// Moves something into the trash of its file system, or into that of the home; it counts when it is
/// on the disk.
pub(super) fn trash_entry(path: &Path) -> Result<(), DiskError> {
    let facts = std::fs::symlink_metadata(path).map_err(|e| DiskError::while_reading(path, e))?;
    let home = home_trash();
    let near = home
        .as_deref()
        .and_then(|home| home.ancestors().find_map(|at| std::fs::metadata(at).ok()));
    let is_at_home = near.is_some_and(|near| near.dev() == facts.dev());
    let mut failed = None;
    if is_at_home && let Some(home) = &home {
        match TrashFolder::new(home, None).take_entry(path, TransferMethod::Rename) {
            Err(e) if is_elsewhere(&e) => {}
            other => return other,
        }
    }
    for (trash, top) in trashes_beside(path, &facts) {
        match TrashFolder::new(&trash, Some(&top)).take_entry(path, TransferMethod::Rename) {
            Ok(()) => return Ok(()),
            Err(e @ DiskError::Unsettled { .. }) => return Err(e),
            Err(e) => failed = Some(e),
        }
    }
    let Some(home) = home else {
        return Err(failed.unwrap_or_else(|| {
            let why = "neither `XDG_DATA_HOME` nor `HOME` says where the trash is";
            DiskError::while_writing(path, io::Error::other(why))
        }));
    };
    TrashFolder::new(&home, None).take_entry(path, TransferMethod::Copy(&facts))
}

/// Makes it last that something is no longer at a path, and that it is somewhere else on that disk.
pub(super) fn sync_removal(path: &Path) -> Result<(), DiskError> {
    sync::folder_at(path)?;
    let home = home_trash().filter(|home| home.is_dir());
    for folder in [Some(folder_of(path)), home].into_iter().flatten() {
        sync_disk(&folder).map_err(|e| DiskError::while_syncing(&folder, e))?;
    }
    Ok(())
}

/// Where another program put it is not known, so all of the disk is synced.
#[cfg(target_os = "linux")]
fn sync_disk(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_disk(_: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

fn home_trash() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let data = named("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| Some(PathBuf::from(named("HOME")?).join(".local/share")));
    Some(data?.join("Trash"))
}

/// The trashes at the top of the file system that a path is in, with that top.
fn trashes_beside(path: &Path, facts: &Metadata) -> Vec<(PathBuf, PathBuf)> {
    let is_same = |at: &&Path| std::fs::metadata(at).is_ok_and(|meta| meta.dev() == facts.dev());
    let Some(top) = path.ancestors().skip(1).take_while(is_same).last() else {
        return Vec::new();
    };
    let user = rustix::process::getuid().as_raw();
    let mut found = Vec::new();
    // One for all users must be as an administrator makes it: then nobody can remove what others have.
    let shared = top.join(".Trash");
    let is_sound = |meta: Metadata| meta.is_dir() && mode::permission_bits(&meta) & 0o1000 != 0;
    if std::fs::symlink_metadata(&shared).is_ok_and(is_sound) {
        found.push((shared.join(user.to_string()), top.to_owned()));
    }
    found.push((top.join(format!(".Trash-{user}")), top.to_owned()));
    found
}

/// Whether it failed because one cannot rename from there to here.
fn is_elsewhere(e: &DiskError) -> bool {
    e.io()
        .is_some_and(|cause| cause.kind() == io::ErrorKind::CrossesDevices)
}

/// How something gets there.
#[derive(Clone, Copy)]
enum TransferMethod<'a> {
    Rename,
    /// From another file system.
    Copy(&'a Metadata),
}

/// One trash.
struct TrashFolder<'a> {
    files: PathBuf,
    info: PathBuf,
    /// Descriptions name paths from here on.
    top: Option<&'a Path>,
}

impl<'a> TrashFolder<'a> {
    fn new(folder: &Path, top: Option<&'a Path>) -> Self {
        Self {
            files: folder.join("files"),
            info: folder.join("info"),
            top,
        }
    }

    /// Takes something, with a description, or leaves all as it was.
    fn take_entry(&self, path: &Path, way: TransferMethod<'_>) -> Result<(), DiskError> {
        for folder in [&self.files, &self.info] {
            ensure_folder(folder, &Mode::Private, EACH)?;
            remove_leftovers(folder);
        }
        self.remove_orphans();
        let failed = |e| DiskError::while_writing(path, e);
        let [files, info, from] = [&self.files, &self.info, &folder_of(path)].map(|folder| {
            SyncFolder::open_at(folder, true).map_err(|e| DiskError::while_writing(folder, e))
        });
        let (files, info, from) = (files?, info?, from?);
        let text = self.trash_info(path);
        for n in 1..TRIES {
            let (thing, description) = self.candidate_paths(path, n);
            if is_taken(&thing)? || is_taken(&description)? {
                continue;
            }
            let temp = TempFile::write(&description, 0o600, None, EACH, |out| {
                out.write_all(text.as_bytes())
            })?;
            let placed = temp.rename_if_free(&description);
            let placed = placed.map_err(|e| DiskError::while_writing(&description, e))?;
            let Some(_locked) = placed else { continue };
            let described = info.iter().try_for_each(|info| info.sync(&description));
            let moved = described.and_then(|()| match way {
                TransferMethod::Rename => match rename_noreplace(path, &thing) {
                    Ok(()) => Ok(Created::New),
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(Created::Existed),
                    Err(e) => Err(failed(e)),
                },
                TransferMethod::Copy(facts) => copy_entry(path, facts, &thing),
            });
            match moved {
                Ok(Created::New) => {
                    files.iter().try_for_each(|files| files.sync(&thing))?;
                    if let TransferMethod::Copy(facts) = way {
                        remove_entry(path, facts)?;
                    }
                    return from.iter().try_for_each(|from| from.sync(path));
                }
                Ok(Created::Existed) => {}
                Err(e) => {
                    let _ = std::fs::remove_file(&description);
                    // It is not there at all, whatever could not be synced.
                    return Err(match e {
                        DiskError::Unsettled { path, cause } => {
                            DiskError::while_syncing(&path, cause)
                        }
                        other => other,
                    });
                }
            }
            let _ = std::fs::remove_file(&description);
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// The nth name for something, and where it is described.
    fn candidate_paths(&self, path: &Path, n: usize) -> (PathBuf, PathBuf) {
        let number = if n == 1 {
            String::new()
        } else {
            format!(".{n}")
        };
        let name = path.file_name().unwrap_or_default();
        let mut name = shorten_name(name, number.len() + SUFFIX.len());
        name.push(number);
        let thing = self.files.join(&name);
        name.push(SUFFIX);
        (thing, self.info.join(name))
    }

    fn trash_info(&self, path: &Path) -> String {
        let below = self.top.and_then(|top| path.strip_prefix(top).ok());
        let now = jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S");
        let path = percent_encode(below.unwrap_or(path));
        format!("[Trash Info]\nPath={path}\nDeletionDate={now}\n{MARK}\n")
    }

    /// Removes descriptions of ours that describe nothing, because whoever wrote them was killed.
    fn remove_orphans(&self) {
        for entry in std::fs::read_dir(&self.info)
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let thing = name.as_bytes().strip_suffix(SUFFIX.as_bytes());
            let Some(thing) = thing.map(|thing| self.files.join(OsStr::from_bytes(thing))) else {
                continue;
            };
            if is_taken(&thing).is_ok_and(|taken| !taken) {
                let _ = remove_orphan(&entry.path(), &thing);
            }
        }
    }
}

fn remove_orphan(description: &Path, thing: &Path) -> io::Result<()> {
    if !std::fs::symlink_metadata(description)?.is_file() {
        return Ok(());
    }
    let mut file = open_read(description).map_err(io::Error::other)?;
    let mut text = Vec::new();
    file.by_ref().take(64 * 1024).read_to_end(&mut text)?;
    let is_ours = text.split(|b| *b == b'\n').any(|l| l == MARK.as_bytes());
    // Its thing may have come since; then nobody holds the lock any more, either.
    if is_ours && try_lock(&file)? && is_taken(thing).is_ok_and(|taken| !taken) {
        std::fs::remove_file(description)?;
    }
    Ok(())
}

/// A path as descriptions have it: bytes that mean something in addresses are digits.
fn percent_encode(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Copies a file, a link or a folder with all that is in it, whole or not at all.
fn copy_entry(from: &Path, facts: &Metadata, to: &Path) -> Result<Created, DiskError> {
    let mode = Mode::Exact(mode::permission_bits(facts));
    if facts.is_dir() {
        return create_folder_with(to, mode, EACH, |inside| copy_inside(from, inside));
    }
    if facts.is_symlink() {
        let target = std::fs::read_link(from).map_err(|e| DiskError::while_reading(from, e))?;
        return link(to, &target);
    }
    if !facts.is_file() {
        let (path, found) = (from.to_owned(), FileKind::from_type(facts.file_type()));
        return Err(DiskError::NotAFile { path, found });
    }
    let mut file = open_read(from)?;
    create_with(to, mode, EACH, |out| io::copy(&mut file, out).map(drop))
}

fn copy_inside(from: &Path, to: &Path) -> Result<(), DiskError> {
    let mut folders: Vec<OsString> = vec![OsString::new()];
    while let Some(below) = folders.pop() {
        let folder = from.join(&below);
        let read_failed = |e| DiskError::while_reading(&folder, e);
        for entry in std::fs::read_dir(&folder).map_err(read_failed)? {
            let name = Path::new(&below).join(entry.map_err(read_failed)?.file_name());
            let path = from.join(&name);
            let facts =
                std::fs::symlink_metadata(&path).map_err(|e| DiskError::while_reading(&path, e))?;
            let _ = if facts.is_dir() {
                folders.push(name.clone().into_os_string());
                create_folder(
                    &to.join(&name),
                    &Mode::Exact(mode::permission_bits(&facts)),
                    EACH,
                )?
            } else {
                copy_entry(&path, &facts, &to.join(&name))?
            };
        }
    }
    Ok(())
}

fn remove_entry(path: &Path, facts: &Metadata) -> Result<(), DiskError> {
    if facts.is_dir() {
        remove_folder(path)
    } else if facts.is_symlink() {
        remove_link(path)
    } else {
        remove_file(path)
    }
}
