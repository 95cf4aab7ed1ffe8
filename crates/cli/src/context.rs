//! What every command has at hand: the environment, where to print, and how.

use std::cell::{OnceCell, RefCell};
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use clap::ColorChoice as Asked;
use jiff::tz::TimeZone;
use rethread_engine::{Env, IncomingData, SampleCopy, Writing, absolute, kept_sample};
use rethread_model::{Note, Severity};
use rethread_project::confine_to;
use rethread_render::{Style, one_line};

use crate::args::{Global, WriteFlags};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notes::{in_full, in_short, say_note};
use crate::output::{Spelling, labelled, report_spelled, say};

/// What every command has at hand.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Context {
    pub(crate) env: Env,
    pub(crate) json: bool,
    pub(crate) strict: bool,
    pub(crate) colour: bool,
    pub(crate) pager: bool,
    /// The copy of the sample that is used instead of this machine's homes.
    pub(crate) sample: Option<PathBuf>,
    /// The folder that the program was started in, which files that are to be written are named
    /// from.
    started_in: PathBuf,
    /// The name that the program was started by.
    program: String,
    /// The homes that the user named, as they were typed.
    given_homes: Vec<PathBuf>,
    zone: OnceCell<TimeZone>,
    /// The columns of the terminal; none where the output is no terminal.
    pub(crate) columns: Option<usize>,
    colour_on_stderr: bool,
    /// Whether all notes are told, and what is only counted is named.
    pub(crate) verbose: bool,
    /// What was noticed and not told yet.
    noted: RefCell<Vec<Note>>,
    /// What came down pipes that the user named.
    incoming: RefCell<Vec<(String, IncomingData)>>,
}

impl Context {
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let mut env = Env::system()?;
        env.uses_catalogue = !global.no_cache;
        if let Some(within) = &env.within {
            confine_to(within);
        }
        if !global.home.is_empty() {
            env.use_homes(&global.home);
        }
        let started_in = env.cwd.clone();
        let mut sample = None;
        if global.sample {
            let copy = kept_sample(&env)?;
            env = copy.env;
            sample = Some(copy.folder);
        }
        let colour = |auto: ColorChoice| match global.color {
            Asked::Always => true,
            Asked::Never => false,
            Asked::Auto => auto != ColorChoice::Never,
        };
        let is_terminal = io::stdout().is_terminal();
        let columns = env
            .system_variable("COLUMNS")
            .and_then(|c| c.to_str()?.parse().ok());
        let columns = columns
            .filter(|columns| *columns > 0)
            .or_else(|| terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)));
        Ok(Self {
            env,
            json: global.json,
            strict: global.strict,
            colour: colour(AutoStream::choice(&io::stdout())),
            colour_on_stderr: colour(AutoStream::choice(&io::stderr())),
            pager: is_terminal && !global.no_pager && !global.json,
            sample,
            started_in,
            program: program(std::env::args_os().next()),
            given_homes: global.home.clone(),
            zone: OnceCell::new(),
            columns: columns.filter(|_| is_terminal),
            verbose: global.verbose,
            noted: RefCell::default(),
            incoming: RefCell::default(),
        })
    }

    /// The same for a copy of the sample.
    pub(crate) fn with_sample(&self, copy: &SampleCopy) -> Self {
        Self {
            env: copy.env.clone(),
            sample: Some(copy.folder.clone()),
            started_in: self.started_in.clone(),
            program: self.program.clone(),
            given_homes: Vec::new(),
            zone: self.zone.clone(),
            incoming: RefCell::default(),
            noted: RefCell::default(),
            ..*self
        }
    }

    /// A command as it can be typed now: with the name that the program was started by, and on the
    /// sample or the homes that are looked at, unless it names others.
    pub(crate) fn call(&self, command: &str) -> String {
        let names_others = ["sample ", "--home "]
            .iter()
            .any(|start| command.starts_with(start));
        let mut call = self.program.clone();
        if !names_others {
            call.push_str(&self.looked_at());
        }
        format!("{call} {command}")
    }

    /// The flags that say where conversations are looked for, each behind a space.
    fn looked_at(&self) -> String {
        if self.sample.is_some() {
            return " --sample".to_owned();
        }
        let homes = self.given_homes.iter();
        let flag = |home: &PathBuf| format!(" --home {}", shell_word(&home.to_string_lossy()));
        homes.map(flag).collect()
    }

    /// The same as words, with paths that mean the same in every folder.
    pub(crate) fn looked_at_words(&self) -> Vec<String> {
        if self.sample.is_some() {
            return vec!["--sample".to_owned()];
        }
        let homes = self.given_homes.iter().flat_map(|home| {
            let home = absolute(&self.started_in, home);
            ["--home".to_owned(), home.to_string_lossy().into_owned()]
        });
        homes.collect()
    }

    /// A hint, in which commands are spelled as they can be typed now.
    pub(crate) fn hint(&self, text: &str) -> String {
        let mut parts = text.split("`rethread ");
        let mut hint = parts.next().unwrap_or_default().to_owned();
        for command in parts {
            hint.push('`');
            hint.push_str(&self.call(command));
        }
        hint
    }

    /// The whole path of a file or folder that the user named to be written.
    pub(crate) fn output(&self, named: &Path) -> PathBuf {
        self.started_in.join(named)
    }

    /// The user's time zone. Finding it reads files, so it is asked for only when it is needed.
    pub(crate) fn zone(&self) -> &TimeZone {
        self.zone.get_or_init(|| {
            let file = self.env.zone_file();
            let bytes = file.and_then(|file| rethread_disk::read_small(&file).ok());
            let zone = bytes.and_then(|bytes| TimeZone::tzif("Local", &bytes).ok());
            zone.unwrap_or_else(TimeZone::system)
        })
    }

    /// How to show text.
    pub(crate) fn style(&self) -> Style {
        Style {
            colour: self.colour,
            width: self.columns.or_else(|| self.asked_columns()).unwrap_or(80),
            now: Some(self.env.now()),
            zone: self.zone().clone(),
        }
    }

    /// The columns that the variable `COLUMNS` asks for, where the output is no terminal.
    fn asked_columns(&self) -> Option<usize> {
        self.env.system_variable("COLUMNS")?.to_str()?.parse().ok()
    }

    /// What the user named to be read: `-` is what comes in, and a pipe what comes down it. These
    /// become paths of files; any other name stays as it is.
    pub(crate) fn named(&self, name: &str) -> Result<String, Failure> {
        let (path, id) = match name.rsplit_once('#') {
            Some((path, id)) => (path, Some(id)),
            None => (name, None),
        };
        let mut all = self.incoming.borrow_mut();
        if !all.iter().any(|(known, _)| known == path) {
            let incoming = match path {
                "-" => Some(IncomingData::from_reader(&mut io::stdin().lock())?),
                _ => IncomingData::from_descriptor(Path::new(path))?,
            };
            let Some(incoming) = incoming else {
                return Ok(name.to_owned());
            };
            all.push((path.to_owned(), incoming));
        }
        let found = all.iter().find(|(known, _)| known == path);
        let file = found.map_or(Path::new(path), |(_, incoming)| incoming.path());
        let file = file.to_string_lossy();
        Ok(match id {
            Some(id) => format!("{file}#{id}"),
            None => file.into_owned(),
        })
    }

    /// A path, or the name that the user gave it if it is the file of what came down a pipe.
    pub(crate) fn given_path(&self, path: &Path) -> PathBuf {
        let all = self.incoming.borrow();
        let given = all.iter().find(|(_, incoming)| incoming.path() == path);
        given.map_or_else(|| path.to_owned(), |(name, _)| PathBuf::from(name))
    }

    /// A text about files. The file of what came down a pipe is called as the user called it.
    fn with_given_names(&self, mut text: String) -> String {
        for (name, incoming) in self.incoming.borrow().iter() {
            let name = match name.as_str() {
                "-" if !self.json => "standard input",
                name => name,
            };
            text = text.replace(&*incoming.path().to_string_lossy(), name);
        }
        text
    }

    /// [`named`](Self::named) for several names.
    pub(crate) fn all_named(&self, names: &[String]) -> Result<Vec<String>, Failure> {
        names.iter().map(|name| self.named(name)).collect()
    }

    /// The whole path of a folder that the user named; the current one where none is named.
    pub(crate) fn folder(&self, named: Option<&Path>) -> PathBuf {
        named.map_or_else(|| self.env.cwd.clone(), |dir| absolute(&self.env.cwd, dir))
    }

    /// How to write.
    pub(crate) fn writing(&self, flags: WriteFlags) -> Writing<'_> {
        Writing {
            env: &self.env,
            durability: flags.durability,
            lock_timeout: flags.lock_timeout,
            strict: self.strict,
        }
    }

    /// Takes what was noticed, to be told behind the answer, and gives the exit code that goes with it.
    pub(crate) fn notes(&self, notes: &[Note]) -> Exit {
        self.noted.borrow_mut().extend_from_slice(notes);
        Exit::after(notes, self.strict)
    }

    /// Says something that is no error: a line for people, a note for scripts.
    pub(crate) fn say(&self, line: &str) {
        if self.json {
            say_note(&Note::remark(line));
        } else {
            say(line);
        }
    }

    /// Tells what was noticed so far: at the end of a command, or before it waits for somebody.
    pub(crate) fn tell_notes(&self) {
        let mut notes = self.noted.take();
        notes.retain(|note| self.verbose || note.severity != Severity::Detail);
        if self.json {
            let named = notes.iter().map(|note| self.with_names(note));
            named.for_each(|note| say_note(&note));
            return;
        }
        let told = if self.verbose {
            in_full(&notes)
        } else {
            in_short(&notes)
        };
        for line in told {
            let mut text = self.with_given_names(line.text.clone());
            if line.word == "hint" {
                text = self.hint(&text);
            }
            self.labelled(line.word, line.colour(), &text);
        }
    }

    /// A note in which the file of what came down a pipe is called as the user called it.
    fn with_names(&self, note: &Note) -> Note {
        Note {
            message: self.with_given_names(note.message.clone()),
            path: note.path.as_deref().map(|path| self.given_path(path)),
            hint: note.hint.as_deref().map(|hint| self.hint(hint)),
            ..note.clone()
        }
    }

    /// Says why a command failed.
    pub(crate) fn failed(&self, failure: &Failure) -> Exit {
        self.tell_notes();
        let spelled = Spelling {
            texts: &|text| self.with_given_names(text),
            hints: &|hint| self.hint(&self.with_given_names(hint)),
        };
        report_spelled(failure, &spelled, self.json, self.colour_on_stderr);
        failure.exit()
    }

    fn labelled(&self, word: &str, colour: anstyle::AnsiColor, text: &str) {
        labelled(word, colour, text, self.colour_on_stderr);
    }
}

/// The name that the program was started by, as a shell takes it.
fn program(first: Option<OsString>) -> String {
    let name = first.map(|name| name.to_string_lossy().into_owned());
    match name.filter(|name| !name.is_empty()) {
        Some(name) => shell_word(&name),
        None => "rethread".to_owned(),
    }
}

/// A word as a shell takes it for itself. Nothing in it acts on a terminal either.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", one_line(word).replace('\'', "'\\''"))
}

/// The exit code of a command that came to an end.
pub(crate) fn code(exit: Exit, strict: bool) -> ExitCode {
    exit.strictly(strict).into()
}
