//! The verbs that write: `init_project`, `new_session`, `append_messages`, `branch_session`, `set_label`, `rename_session`, `fork_session`, `migrate_session`.

use std::path::{Path, PathBuf};

use rethread_catalog::{find, keep, named_workspace, remember};
use rethread_disk::{Mode, ensure_folder};
use rethread_formats::carry::damaged_originals;
use rethread_formats::{
    Appended, Branch, Fork, FormatRef, Made, MessageInput, Migrated, NewSession, PROJECT_FORMAT,
    Source, Want, Writing,
};
use rethread_model::Note;

use crate::show::open;
use crate::{Error, entry};

/// Prepares a project for conversations of a format.
pub fn init_project(w: &Writing<'_>, format: FormatRef, folder: &Path) -> Result<Made, Error> {
    let made = format.in_projects()?.init(w, folder)?;
    Ok(remember_project(w, made))
}

/// Starts a session.
pub fn new_session(w: &Writing<'_>, format: FormatRef, new: &NewSession) -> Result<Made, Error> {
    make_root(w, new.root.as_deref())?;
    let mut made = format.writable()?.create(w, new)?;
    keep_in_worktree(w, &made.path.clone(), &mut made.notes);
    Ok(remember_project(w, made))
}

/// Makes the folder that a user named for sessions, if it is not there: for nobody else. What is made
/// in it follows it, so one that is there says who may look.
pub(crate) fn make_root(w: &Writing<'_>, root: Option<&Path>) -> Result<(), Error> {
    match root {
        Some(root) => Ok(ensure_folder(root, &Mode::Private, w.durability)?),
        None => Ok(()),
    }
}

/// Adds messages to a session that was found before.
pub fn append_messages(
    w: &Writing<'_>,
    source: &Source,
    messages: &[MessageInput],
) -> Result<Appended, Error> {
    let mut appended = source.format.writable()?.append(w, source, messages)?;
    keep_in_worktree(w, &source.path, &mut appended.notes);
    Ok(appended)
}

/// Goes on from an earlier entry of a session that was found before: with a summary of what is left
/// behind, with messages, or with both.
pub fn branch_session(
    w: &Writing<'_>,
    source: &Source,
    entry: &str,
    summary: Option<&str>,
    messages: &[MessageInput],
) -> Result<Appended, Error> {
    let at = &entry::entry_ref(&open(source)?, entry)?;
    let branch = Branch {
        at,
        summary,
        messages,
    };
    let tree = source.format.writable()?.tree();
    let tree = tree.ok_or_else(|| source.format.cannot("branches"))?;
    Ok(tree.branch(w, source, &branch)?)
}

/// Sets a bookmark on an entry, or takes it away. Gives the id of the record that says so.
pub fn set_label(
    w: &Writing<'_>,
    name: &str,
    entry: &str,
    label: Option<&str>,
) -> Result<Appended, Error> {
    let source = find(w.env, name)?;
    let asked = entry::entry_ref(&open(&source)?, entry)?;
    let tree = source.format.writable()?.tree();
    let tree = tree.ok_or_else(|| source.format.cannot("labels"))?;
    Ok(tree.label(w, &source, &asked, label)?)
}

/// Brings a session of an older version to the current one.
pub fn migrate_session(w: &Writing<'_>, name: &str) -> Result<(Source, Migrated), Error> {
    let source = find(w.env, name)?;
    let what = "older versions that can be brought up to date";
    let migrator = source.format.writable()?.migrator();
    let migrator = migrator.ok_or_else(|| source.format.cannot(what))?;
    let migrated = migrator.migrate(w, &source)?;
    Ok((source, migrated))
}

/// Writes one message of a session anew.
pub fn replace_message(
    w: &Writing<'_>,
    source: &Source,
    entry: &str,
    message: &MessageInput,
) -> Result<Appended, Error> {
    let asked = entry::entry_ref(&open(source)?, entry)?;
    let editor = source.format.writable()?.editor();
    let editor = editor.ok_or_else(|| source.format.cannot("way to change a message"))?;
    let mut replaced = editor.replace(w, source, &asked, message)?;
    keep_in_worktree(w, &source.path, &mut replaced.notes);
    Ok(replaced)
}

/// Sets a session's display name.
pub fn rename_session(w: &Writing<'_>, name: &str, title: &str) -> Result<Vec<Note>, Error> {
    let source = find(w.env, name)?;
    let mut notes = source.format.writable()?.rename(w, &source, title)?;
    keep_in_worktree(w, &source.path, &mut notes);
    Ok(notes)
}

/// Copies a session, up to an entry if one is named.
pub fn fork_session(
    w: &Writing<'_>,
    name: &str,
    at: Option<&str>,
    mut fork: Fork,
) -> Result<Made, Error> {
    let source = find(w.env, name)?;
    if let Some(at) = at {
        fork.at = Some(entry::entry_ref(&open(&source)?, at)?);
    }
    let format = source.format;
    if fork.cwd.is_none() {
        let head = format.reader().summarize(&source, Want::default()).head;
        // What names its folder keeps that, wherever the folder is now.
        let is_unnamed = head.workspace.path.is_none();
        let named = is_unnamed.then(|| named_workspace(w.env, &source, &head));
        fork.cwd = named.flatten().map(PathBuf::from);
    }
    let mut made = format.writable()?.fork(w, &source, &fork)?;
    // What travels along in the session does so in the copy.
    let copy = Source::new(source.format, made.id.clone(), made.path.clone());
    let damage = open(&copy).and_then(|copy| Ok(damaged_originals(&copy)?));
    made.notes.extend(damage.unwrap_or_default());
    keep_in_worktree(w, &made.path.clone(), &mut made.notes);
    Ok(remember_project(w, made))
}

/// Keeps a copy of the description of a thread in a linked git worktree, which takes its threads
/// with it when it goes. What was written is there either way, so trouble with that is a note.
pub(crate) fn keep_in_worktree(w: &Writing<'_>, thread: &Path, notes: &mut Vec<Note>) {
    // A linked worktree has a file where others have a folder.
    let projects = PROJECT_FORMAT.projects();
    let root = projects.and_then(|projects| projects.holder_of(thread));
    let in_worktree = root.is_some_and(|root| root.join(".git").is_file());
    if in_worktree && let Err(e) = keep(w.env, thread, w.durability) {
        notes.push(Note::remark(format!("its description was not kept: {e}")));
    }
}

/// Remembers the project. What was made is there either way, so trouble with that is a note.
pub(crate) fn remember_project(w: &Writing<'_>, mut made: Made) -> Made {
    if let Err(e) = remember(w.env, &made.project, w.durability) {
        made.notes
            .push(Note::remark(format!("the project was not remembered: {e}")));
    }
    made
}
