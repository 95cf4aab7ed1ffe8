//! Who I am and where the messages are; `whoami`.

use std::path::{Path, PathBuf};

use clap::Args;
use rethread_disk::{Durability, Mode, ensure_folder, read_small, replace};
use rethread_model::Note;
use rethread_render::one_line;
use rethread_samp::{Alias, Folder, InvalidAlias, cursor_folder};
use serde_json::json;

use super::MessageContext;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_json};

/// The file that names one who works in its folder.
const NAME_FILE: &str = ".agent-message";

/// In the reader's cache: the folder in which a folder's name was last used as an alias.
const USED_FROM: &str = "used-from";

/// Show who you are, why, and where the messages are.
#[derive(Args, Debug)]
pub(crate) struct Whoami {}

/// Who I am, in which message folder.
#[derive(Debug)]
pub(crate) struct MessageUser {
    pub(crate) alias: Alias,
    pub(crate) folder: Folder,
    /// What only this machine knows of me.
    pub(crate) cache: PathBuf,
    why: Why,
    notes: Vec<Note>,
}

/// Where the alias comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Flag,
    Variable,
    NameFile,
    FolderName,
}

impl Why {
    fn word(self) -> &'static str {
        match self {
            Self::Flag => "--as",
            Self::Variable => "AGENT_MESSAGE_ALIAS",
            Self::NameFile => NAME_FILE,
            Self::FolderName => "the folder's name",
        }
    }
}

pub(super) fn run(context: &Context, place: &MessageContext, _: &Whoami) -> Result<Exit, Failure> {
    let me = MessageUser::find(context, place)?;
    let (alias, folder) = (&me.alias, me.folder.path().to_string_lossy());
    if context.json {
        let log = me.folder.log_of(alias);
        print_json(&json!({
            "alias": alias.as_str(),
            "source": me.why.word(),
            "folder": folder,
            "log": log.to_string_lossy(),
        }))?;
    } else {
        print(&format!(
            "{alias}\t{}\t{}",
            me.why.word(),
            one_line(&folder)
        ))?;
    }
    Ok(context.notes(&me.all_notes(context)))
}

/// The message folder.
pub(super) fn folder(context: &Context, place: &MessageContext) -> Result<Folder, Failure> {
    let env = &context.env;
    if let Some(dir) = &place.dir {
        return Ok(Folder::new(env.cwd.join(dir)));
    }
    if let Some(dir) = env.agent_variable("AGENT_MESSAGE_DIR") {
        return Ok(Folder::new(env.cwd.join(dir)));
    }
    let state = env.agent_variable("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute()).or_else(|| {
        let home = env.homes.first()?;
        Some(home.join(".local").join("state"))
    });
    state
        .map(|state| Folder::new(state.join("agent-message")))
        .ok_or_else(|| Failure::Usage {
            message: "the message folder is not known".to_owned(),
            hint: Some("name it with `--dir` or `AGENT_MESSAGE_DIR`".to_owned()),
        })
}

impl MessageUser {
    pub(crate) fn find(context: &Context, place: &MessageContext) -> Result<Self, Failure> {
        Self::find_or(context, place, None)
    }

    /// As [`MessageUser::find`]; where nothing names me, `otherwise` does.
    pub(super) fn find_or(
        context: &Context,
        place: &MessageContext,
        otherwise: Option<&str>,
    ) -> Result<Self, Failure> {
        let mut notes = Vec::new();
        let (alias, why) = match named(context, place)? {
            Some(found) => found,
            None => in_folder(&context.env.cwd, otherwise, &mut notes)?,
        };
        let folder = folder(context, place)?;
        let cache = cursor_folder(&context.env.cache.join("samp"), &folder, &alias);
        Ok(Self {
            alias,
            folder,
            cache,
            why,
            notes,
        })
    }

    /// What is worth saying about it; for commands that only ask.
    fn all_notes(&self, context: &Context) -> Vec<Note> {
        let elsewhere = self.used_elsewhere(&context.env.cwd);
        self.notes.iter().cloned().chain(elsewhere).collect()
    }

    /// What is worth saying about it, and remembers from where the alias was used.
    pub(super) fn use_here(&self, context: &Context) -> Vec<Note> {
        let notes = self.all_notes(context);
        if self.why == Why::FolderName {
            let cwd = context.env.cwd.as_os_str().as_encoded_bytes();
            let path = self.cache.join(USED_FROM);
            if !read_small(&path).is_ok_and(|before| before == cwd) {
                // A warning less another time is all that is lost.
                let _ = ensure_folder(&self.cache, &Mode::Private, Durability::None)
                    .and_then(|()| replace(&path, cwd, Mode::Private, Durability::None));
            }
        }
        notes
    }

    fn used_elsewhere(&self, cwd: &Path) -> Option<Note> {
        if self.why != Why::FolderName {
            return None;
        }
        let before = read_small(&self.cache.join(USED_FROM)).ok()?;
        if before == cwd.as_os_str().as_encoded_bytes() {
            return None;
        }
        let before = String::from_utf8_lossy(&before);
        let note = Note::remark(format!(
            "`{}` is the name of this folder, but was last used in `{before}`",
            self.alias
        ));
        Some(note.hint(format!(
            "two who share an alias spoil each other's log; put another into `{NAME_FILE}`"
        )))
    }
}

/// Who I am by flag or variable. What is said there must be right.
fn named(context: &Context, place: &MessageContext) -> Result<Option<(Alias, Why)>, Failure> {
    if let Some(alias) = &place.alias {
        return Ok(Some((alias_of("--as", alias)?, Why::Flag)));
    }
    match context.env.agent_variable("AGENT_MESSAGE_ALIAS") {
        Some(value) => {
            let alias = alias_of("AGENT_MESSAGE_ALIAS", &value.to_string_lossy())?;
            Ok(Some((alias, Why::Variable)))
        }
        None => Ok(None),
    }
}

/// Who I am by the folder that I am in.
fn in_folder(
    cwd: &Path,
    otherwise: Option<&str>,
    notes: &mut Vec<Note>,
) -> Result<(Alias, Why), Failure> {
    let file = cwd.join(NAME_FILE);
    if let Ok(bytes) = read_small(&file) {
        if let Some(alias) = Alias::in_file(&String::from_utf8_lossy(&bytes)) {
            return Ok((alias, Why::NameFile));
        }
        notes.push(Note::remark("no line is an alias; the folder's name counts").at(file));
    }
    let name = cwd.file_name().unwrap_or_default().to_string_lossy();
    let found = Alias::new(&name).or_else(|e| otherwise.map_or(Err(e), Alias::new));
    match found {
        Ok(alias) => Ok((alias, Why::FolderName)),
        Err(InvalidAlias(name)) => Err(Failure::Usage {
            message: format!(
                "the name of this folder, `{}`, is not an alias",
                one_line(&name)
            ),
            hint: Some(format!(
                "say who you are with `--as`, `AGENT_MESSAGE_ALIAS` or a file `{NAME_FILE}`"
            )),
        }),
    }
}

/// An alias that somebody gave.
pub(super) fn alias_of(what: &str, text: &str) -> Result<Alias, Failure> {
    Alias::new(text).map_err(|e| Failure::Usage {
        message: format!("{what}: {e}"),
        hint: Some(e.hint()),
    })
}
