//! Carrying out what was planned.

use std::path::{Path, PathBuf};

use rethread_disk::{
    Created, DiskError, Durability, Mode, create, create_folder_with, ensure_folder, remove_file,
    replace, sync_tree,
};

use super::store::{MESSAGE_JSON, PART};
use crate::WriteError;

/// One thing to be written.
#[derive(Debug)]
pub(super) enum WriteStep {
    /// A new exchange: its folder appears whole or not at all.
    Exchange {
        folder: PathBuf,
        message: Vec<u8>,
        parts: Vec<(String, Vec<u8>)>,
    },
    /// A new file.
    Create(PathBuf, Vec<u8>),
    /// A file with other bytes.
    Replace(PathBuf, Vec<u8>),
}

/// Carries out what belongs together. If a step fails, the files that those before it made are
/// taken away again: the user is told that nothing was saved.
pub(super) fn carry_out(
    steps: Vec<WriteStep>,
    mode: Mode,
    d: Durability,
) -> Result<(), WriteError> {
    let mut made: Vec<PathBuf> = Vec::new();
    for step in steps {
        let new = match &step {
            WriteStep::Create(path, _) => Some(path.clone()),
            _ => None,
        };
        if let Err(e) = one(step, mode, d) {
            let is_in_place = matches!(e, WriteError::Disk(DiskError::Unsettled { .. }));
            for path in made.iter().rev().filter(|_| !is_in_place) {
                // Nothing more can be done about one that cannot be removed either.
                let _ = remove_file(path);
            }
            return Err(e);
        }
        made.extend(new);
    }
    Ok(())
}

fn one(step: WriteStep, mode: Mode, d: Durability) -> Result<(), WriteError> {
    match step {
        WriteStep::Exchange {
            folder,
            message,
            parts,
        } => {
            let made = create_folder_with(&folder, mode, d, |temp| {
                let later = Durability::None;
                let _ = create(&temp.join(MESSAGE_JSON), &message, mode, later)?;
                if !parts.is_empty() {
                    ensure_folder(&temp.join(PART), &mode, later)?;
                }
                for (id, bytes) in &parts {
                    let path = temp.join(PART).join(format!("{id}.json"));
                    let _ = create(&path, bytes, mode, later)?;
                }
                // All together, because there may be many.
                if d.syncs() {
                    sync_tree(temp)?;
                }
                Ok::<(), WriteError>(())
            })?;
            exists_already(made, &folder)
        }
        WriteStep::Create(path, bytes) => {
            if let Some(folder) = path.parent() {
                refuse_link(folder)?;
                ensure_folder(folder, &mode, d)?;
            }
            exists_already(create(&path, &bytes, mode, d)?, &path)
        }
        WriteStep::Replace(path, bytes) => Ok(replace(&path, &bytes, mode, d)?),
    }
}

fn exists_already(made: Created, path: &Path) -> Result<(), WriteError> {
    match made {
        Created::New => Ok(()),
        Created::Existed => Err(WriteError::Exists {
            id: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            path: path.to_owned(),
        }),
    }
}

/// A folder that is a link may lead out of the store.
pub(super) fn refuse_link(folder: &Path) -> Result<(), WriteError> {
    let is_link = std::fs::symlink_metadata(folder).is_ok_and(|m| m.file_type().is_symlink());
    if !is_link {
        return Ok(());
    }
    let cause = std::io::Error::other("it is a link, and links are not followed out of a session");
    Err(DiskError::Write {
        path: folder.to_owned(),
        cause,
    }
    .into())
}
