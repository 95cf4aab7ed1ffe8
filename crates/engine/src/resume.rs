//! `resume_session`: continue a conversation in its own client, or in another.

use std::path::{Path, PathBuf};

use rethread_catalog::{find, named_workspace};
use rethread_disk::find_program;
use rethread_formats::{
    Can, Client, Env, FormatRef, Resume, Source, Want, Writing, by_name, local_path,
};
use rethread_model::{Note, Summary};
use rethread_project::is_folder;

use crate::Error;
use crate::convert::{ResumableSession, Trim, convert_to_resume};

/// How a session is to be continued.
#[derive(Clone, Copy, Default)]
pub struct ResumeOptions<'a> {
    /// The agent that goes on with it; by default its own.
    pub to: Option<FormatRef>,
    /// How much of it goes along.
    pub trim: Trim<'a>,
    /// The folder to go on in; by default the one that the session names.
    pub cwd: Option<&'a Path>,
    /// Whether the client is started then: so it and the folder must be there.
    pub is_started: bool,
}

/// How a session is continued.
#[derive(Debug)]
pub struct ResumeCommand {
    /// The command.
    pub command: Resume,
    /// The program of that command, where it was found.
    pub program: Option<PathBuf>,
    /// The session, if it was written for that just now.
    pub written: Option<Source>,
    /// What is to be known, and what the client does beside that.
    pub notes: Vec<Note>,
}

/// The command that continues a session, and what is to be known before it is run: the session is
/// converted if the client is that of another agent. A thread that belongs to no client goes to the
/// agent that it names.
///
/// What can be known to fail is looked at before anything is written.
pub fn resume_session(
    w: &Writing<'_>,
    name: &str,
    ask: &ResumeOptions<'_>,
) -> Result<ResumeCommand, Error> {
    let source = find(w.env, name)?;
    let to = client_format(&source, ask.to)?;
    let is_converted = to != source.format;
    if !is_converted && ask.trim != Trim::default() {
        return Err(Error::Usage {
            message: "a session is continued as a whole by its own client".to_owned(),
            hint: Some("`rethread fork` makes a copy of a part".to_owned()),
        });
    }
    let mut notes = Vec::new();
    let program = if ask.is_started {
        Some(client_program(w.env, to)?)
    } else {
        None
    };
    let summary = summary_of(w.env, &source);
    let folder = ResumeFolder {
        env: w.env,
        source: &source,
        named: summary.head.workspace.path.as_deref(),
        is_converted,
    };
    folder.check_folder(ask, &mut notes)?;
    if !is_converted {
        if let Some(cwd) = ask.cwd {
            folder.refuse_other(to, cwd)?;
        }
        let mut continued = client_command(w.env, &source, notes)?;
        if let Some(cwd) = ask.cwd {
            continued.command.folder = Some(cwd.to_owned());
        }
        continued.program = program;
        return Ok(continued);
    }
    let made = convert_to_resume(w, &source, to, &ask.trim, ask.cwd)?;
    let ResumableSession {
        source,
        is_new,
        notes: more,
    } = made;
    notes.extend(more);
    if is_new && !ask.is_started {
        let what = "written, because the command names a session that is there";
        notes.push(Note::remark(what).at(&source.path));
    }
    let mut continued = client_command(w.env, &source, notes)?;
    continued.program = program;
    continued.written = is_new.then_some(source);
    Ok(continued)
}

/// The format whose client goes on with a session.
fn client_format(source: &Source, asked: Option<FormatRef>) -> Result<FormatRef, Error> {
    let can = |format: FormatRef| format.can(Can::Resume);
    if let Some(to) = asked {
        return if can(to) {
            Ok(to)
        } else {
            Err(to.cannot("client that continues them").into())
        };
    }
    let own = source.format;
    if can(own) {
        return Ok(own);
    }
    let summary = own.reader().summarize(source, Want::default());
    let agent = summary.head.agent.id.as_deref().and_then(by_name);
    agent.filter(|f| can(*f)).ok_or_else(|| Error::Usage {
        message: format!(
            "{} sessions have no client that continues them",
            source.format.slug()
        ),
        hint: Some("`--in AGENT` continues it in another".to_owned()),
    })
}

/// The client's program.
fn client_program(env: &Env, to: FormatRef) -> Result<PathBuf, Error> {
    let name = to.client().map_or(to.slug(), Client::program);
    let path = env.system_variable("PATH");
    let found = path.and_then(|path| find_program(path, name));
    found.ok_or_else(|| Error::Refused {
        message: format!(
            "`{name}`, the program of {}, is not in a folder of `PATH`",
            to.about().name
        ),
        hint: "install it, or see the command with `--print`".to_owned(),
    })
}

/// The folder that a session names, and where it goes on.
struct ResumeFolder<'a> {
    env: &'a Env,
    source: &'a Source,
    named: Option<&'a str>,
    is_converted: bool,
}

impl ResumeFolder<'_> {
    /// Whether the work can go on where the session says, if the user names no other folder.
    fn check_folder(&self, ask: &ResumeOptions<'_>, notes: &mut Vec<Note>) -> Result<(), Error> {
        if ask.cwd.is_some() {
            return Ok(());
        }
        // A command of its own client may be meant for the machine that it is from.
        let must_be_here = ask.is_started || self.is_converted;
        let Some(named) = self.named else {
            let what = "the session names no folder, so it goes on in the current one";
            let note = must_be_here.then(|| Note::remark(what).at(&self.source.path));
            notes.extend(note);
            return Ok(());
        };
        let refused = |why: &str| Error::Refused {
            message: format!("the session's folder `{named}` {why}"),
            hint: "`--cwd DIR` names the folder to go on in".to_owned(),
        };
        let here = local_path(self.env, named).filter(|_| self.source.home.is_none());
        match here {
            None if must_be_here => Err(refused("is one of another machine or system")),
            Some(folder) if ask.is_started && !is_folder(&folder) => Err(refused("is not there")),
            _ => Ok(()),
        }
    }

    /// Some clients find a session only in the folder that it was made in.
    fn refuse_other(&self, to: FormatRef, cwd: &Path) -> Result<(), Error> {
        let finds_by_folder = to.client().is_some_and(Client::finds_by_folder);
        let named = self.named.and_then(|named| local_path(self.env, named));
        if !finds_by_folder || named.is_some_and(|named| named == cwd) {
            return Ok(());
        }
        let name = to.about().name;
        Err(Error::Refused {
            message: format!("{name} finds a session only in the folder that it was made in"),
            hint: format!(
                "`rethread fork {} --cwd {}` makes a copy there, which can be resumed",
                self.source.id,
                cwd.display()
            ),
        })
    }
}

/// What a list says of a session, with where its folder is now.
fn summary_of(env: &Env, source: &Source) -> Summary {
    let mut summary = source.format.reader().summarize(source, Want::default());
    if let Some(path) = named_workspace(env, source, &summary.head) {
        summary.head.workspace.path = Some(path);
    }
    summary
}

fn client_command(
    env: &Env,
    source: &Source,
    mut notes: Vec<Note>,
) -> Result<ResumeCommand, Error> {
    let format = source.format;
    let summary = summary_of(env, source);
    let client = format.client();
    let command = client.and_then(|client| client.resume(&summary));
    let command = command.ok_or_else(|| match summary.parent() {
        Some(parent) if format.can(Can::Resume) => Error::usage(format!(
            "`{}` is a sub-agent, which only its session `{parent}` continues",
            source.id
        )),
        _ => match client.and_then(|client| client.refusal(&summary)) {
            Some((message, hint)) => Error::Usage {
                message,
                hint: Some(hint),
            },
            None => format.cannot("client that continues them").into(),
        },
    })?;
    // Whoever wrote the session chose its id: it must not become an option of the client.
    let id = &summary.head.id;
    if id.starts_with('-') && command.args.contains(id) {
        return Err(Error::Usage {
            message: format!(
                "the id `{id}` begins like an option, so `{}` is not started with it",
                command.program
            ),
            hint: Some("`rethread fork` makes a copy with an id of its own".to_owned()),
        });
    }
    notes.extend(
        client
            .map(|client| client.warnings(env, &summary))
            .unwrap_or_default(),
    );
    Ok(ResumeCommand {
        command,
        program: None,
        written: None,
        notes,
    })
}
