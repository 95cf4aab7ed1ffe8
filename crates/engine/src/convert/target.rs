//! Where a session goes.

use std::path::{Path, PathBuf};

use rethread_disk::is_own;
use rethread_formats::Writing;
use rethread_formats::carry::InstallTarget;
use rethread_project::is_folder;

use super::ConvertOptions;
use crate::Error;

/// Where a session goes: where the user says, else to the folder that it names itself.
///
/// Whoever wrote the session chose that folder. So where sessions are kept in projects, it must be
/// there and be the user's own: nothing is made at a path because a session names it.
pub(super) fn install_target(
    w: &Writing<'_>,
    ask: &ConvertOptions<'_>,
    named: Option<PathBuf>,
) -> Result<InstallTarget, Error> {
    let root = ask.root.map(Path::to_owned);
    let cwd = match (ask.cwd, named) {
        (Some(cwd), _) => cwd.to_owned(),
        (None, None) => w.env.cwd.clone(),
        (None, Some(folder)) => {
            if root.is_none() {
                refuse_foreign(ask, &folder)?;
            }
            folder
        }
    };
    Ok(InstallTarget {
        root,
        cwd,
        before: None,
    })
}

fn refuse_foreign(ask: &ConvertOptions<'_>, folder: &Path) -> Result<(), Error> {
    let Some(projects) = ask.to.projects() else {
        return Ok(());
    };
    let project = projects.project_of(folder);
    let why = if !is_folder(folder) {
        "is no folder here"
    } else if !is_own(&project) {
        "is not your own"
    } else {
        return Ok(());
    };
    Err(Error::Refused {
        message: format!(
            "`{}`, which the session names as its folder, {why}",
            folder.display()
        ),
        hint: "`--cwd DIR` names another project, `-o DIR` a folder to write to".to_owned(),
    })
}
