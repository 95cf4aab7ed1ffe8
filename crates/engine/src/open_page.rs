//! `open`: a page of a session in the cache, and a browser that shows it.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rethread_disk::{
    Durability, Mode, SafeName, ensure_folder, find_program, remove_files_before, replace_with,
};
use rethread_formats::Env;
use rethread_model::Note;
use rethread_render::{Options, PageContext, write_html};
use rethread_run::{BrowserCall, browser_calls, start_browser};

use crate::{ConversationWithFiles, Error, Shown, listed_as};

/// Where pages are kept inside the cache.
const FOLDER: &str = "pages";

/// How long a page stays, so that the browser can load it again.
const KEPT: Duration = Duration::from_hours(7 * 24);

/// Writes the page of a session, which is called `path` on it. Gives what was noticed of its pictures.
pub fn write_page(
    shown: &Shown,
    path: &Path,
    options: &Options,
    around: &PageContext<'_>,
    out: &mut dyn Write,
) -> io::Result<Vec<Note>> {
    let conversation = &shown.conversation;
    let pictures = ConversationWithFiles::of_conversation(conversation);
    let summary = listed_as(conversation).map_err(io::Error::other)?;
    let mut view = shown.view(&pictures);
    view.path = path;
    view.source.path = path.to_string_lossy().into_owned();
    view.summary = Some(&summary);
    let mut out = BufWriter::new(out);
    write_html(&mut out, &view, options, around)?;
    out.flush()?;
    Ok(pictures.notes())
}

/// Writes the page of a session into the cache, in the place of an earlier one, and removes pages that
/// nobody opened for a week. Gives its path, and what was noticed of its pictures.
pub fn write_cached_page(
    env: &Env,
    shown: &Shown,
    given: &Path,
    options: &Options,
    around: &PageContext<'_>,
) -> Result<(PathBuf, Vec<Note>), Error> {
    let folder = env.cache.join(FOLDER);
    ensure_folder(&folder, &Mode::Private, Durability::None)?;
    let now: SystemTime = env.now().timestamp().into();
    if let Some(before) = now.checked_sub(KEPT) {
        remove_files_before(&folder, "html", before);
    }
    let head = &shown.conversation.session.head;
    let id = SafeName::new(&head.id).map_or("session", |_| &head.id);
    let path = folder.join(format!("{}-{id}.html", head.format));
    let mut notes = Vec::new();
    replace_with(&path, Mode::Private, Durability::None, |out| {
        notes = write_page(shown, given, options, around, out)?;
        Ok(())
    })?;
    Ok((path, notes))
}

/// Shows a page in a browser. Gives the program that does; none where there is none.
pub fn open_in_browser(env: &Env, page: &Path) -> Option<String> {
    let screens = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"];
    let has_screen = screens
        .iter()
        .any(|name| env.system_variable(name).is_some());
    let asked = env.system_variable("BROWSER").map(AsRef::as_ref);
    let calls = browser_calls(page, asked, has_screen);
    let shows = |call: &BrowserCall| {
        program_file(env, &call.program).is_some_and(|p| start_browser(&p, call))
    };
    calls.into_iter().find(shows).map(|call| call.program)
}

/// The file of a program. One that is named with folders must be named from the root: what others name
/// changes with the current folder.
fn program_file(env: &Env, name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return Some(path.to_owned()).filter(|path| path.is_absolute());
    }
    find_program(env.system_variable("PATH")?, name)
}
