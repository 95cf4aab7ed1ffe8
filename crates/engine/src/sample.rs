//! A small, realistic project with conversations, to try things on.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_disk::{
    Created, DiskError, Durability, Mode, create, ensure_folder, remove_leftovers,
};
use rethread_formats::{
    Env, Fork, Format, MessageInput, NewSession, Source, Unsaid, WriteError, Writing, atsf::Atsf,
};
use rethread_model::{Moment, Severity};

use crate::Error;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The project.
    pub folder: PathBuf,
    /// Its sessions, by their ids.
    pub sessions: Vec<String>,
}

const FILES: [(&str, &str); 3] = [
    (
        "README.md",
        "# Corner shop\n\nA small web shop: sign in, look around, order.\n",
    ),
    (
        "src/signin.js",
        "export function signin(request, users) {\n  const user = users.get(request.body.name);\n  \
         if (!user) return { status: 401 };\n  return { status: 302, location: \
         localPath(request.query.next) };\n}\n\n// Only paths of our own site: never another host.\n\
         function localPath(next) {\n  return /^\\/(?!\\/)/.test(next ?? \"\") ? next : \"/\";\n}\n",
    ),
    (
        "package.json",
        "{\n  \"name\": \"corner-shop\",\n  \"type\": \"module\"\n}\n",
    ),
];

/// The time between two messages of the sample.
const PAUSE: Duration = Duration::from_secs(41);

/// Writes the sample into a folder that is new or empty.
pub fn sample(env: &Env, folder: &Path) -> Result<Sample, Error> {
    let folder = crate::absolute(&env.cwd, folder);
    refuse_used(&folder)?;
    let existing = folder.ancestors().find(|f| f.is_dir()).unwrap_or(&folder);
    let mode = Mode::like(existing)?;
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            ensure_folder(parent, &mode, Durability::Close)?;
        }
        if create(&path, text.as_bytes(), mode, Durability::Close)? == Created::Existed {
            return Err(in_use(&path));
        }
    }
    let minutes_ago = |minutes: i64| {
        let millis = env.now().millis() - minutes * 60 * 1000;
        Moment::from_millis(millis).unwrap_or_else(|| env.now())
    };
    let days_ago = |days: i64| minutes_ago(days * 24 * 60);
    let mut writer = Writer {
        env,
        folder: &folder,
        time: days_ago(3),
    };
    let login = writer.thread(
        "Fix the redirect after sign-in",
        ("claude-code", "Claude Code"),
        include_str!("sample/login.jsonl"),
    )?;
    writer.time = days_ago(1);
    let limit = writer.thread(
        "Limit sign-in attempts",
        ("codex", "Codex CLI"),
        include_str!("sample/limit.jsonl"),
    )?;
    writer.time = minutes_ago(10);
    let fork = writer.fork(&login, "Fix the redirect after sign-in, with a cookie")?;
    let sessions = [login, limit, fork].into_iter().map(|s| s.id).collect();
    Ok(Sample { folder, sessions })
}

/// Refuses a folder that is not empty. What a sample left that was killed is no reason to.
fn refuse_used(folder: &Path) -> Result<(), Error> {
    let threads = folder.join(".agent/threads");
    let each = std::fs::read_dir(&threads).into_iter().flatten().flatten();
    for path in ["", "src", ".agent"].map(|name| folder.join(name)) {
        remove_leftovers(&path);
    }
    for path in each.map(|entry| entry.path()).chain([threads]) {
        remove_leftovers(&path.join("assets"));
        remove_leftovers(&path);
    }
    match std::fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(in_use(folder)),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(DiskError::Read {
            path: folder.to_owned(),
            cause,
        }
        .into()),
    }
}

fn in_use(path: &Path) -> Error {
    Error::Usage {
        message: format!(
            "`{}` is not empty, and nothing is overwritten",
            path.display()
        ),
        hint: Some("name a folder that is new or empty".to_owned()),
    }
}

struct Writer<'a> {
    env: &'a Env,
    folder: &'a Path,
    time: Moment,
}

impl Writer<'_> {
    fn thread(
        &mut self,
        title: &str,
        agent: (&str, &str),
        messages: &str,
    ) -> Result<Source, Error> {
        let new = NewSession {
            cwd: self.folder.to_owned(),
            root: Some(self.folder.to_owned()),
            title: Some(title.to_owned()),
            agent_id: Some(agent.0.to_owned()),
            agent_name: Some(agent.1.to_owned()),
            protocol: Some("acp".to_owned()),
            protocol_version: Some("1".to_owned()),
            ..NewSession::default()
        };
        let made = self.write(|w| Atsf.create(w, &new))?;
        let source = Source::new("atsf", made.id, made.path);
        for (line, text) in (1..).zip(messages.lines()) {
            self.pass();
            let bytes = text.as_bytes().to_vec();
            let message = MessageInput::Json {
                bytes,
                line,
                unsaid: Unsaid::default(),
            };
            self.append(&source, &message)?;
        }
        Ok(source)
    }

    /// A copy of a thread up to its first answer, with one more question.
    fn fork(&mut self, source: &Source, title: &str) -> Result<Source, Error> {
        let conversation = Atsf.read(source)?;
        let at = crate::entry::asked(&conversation, "#2")?;
        let fork = Fork {
            at: Some(at),
            cwd: None,
            title: Some(title.to_owned()),
        };
        let made = self.write(|w| Atsf.fork(w, source, &fork))?;
        self.pass();
        let text = "Could the sign-in page keep the target in a cookie instead?";
        let forked = Source::new("atsf", made.id, made.path);
        let message = MessageInput::Text(rethread_formats::TextMessage {
            role: rethread_model::Role::User,
            text: text.to_owned(),
            images: Vec::new(),
            model: None,
        });
        self.append(&forked, &message)?;
        Ok(forked)
    }

    /// Adds a message. A sample is whole: what could only be saved in part is a failure.
    fn append(&self, source: &Source, message: &MessageInput) -> Result<(), Error> {
        let appended = self.write(|w| Atsf.append(w, source, std::slice::from_ref(message)))?;
        for id in appended.ids {
            id?;
        }
        let mut notes = appended.notes.iter();
        match notes.find(|note| note.severity == Severity::Damage) {
            None => Ok(()),
            Some(note) => Err(Error::Refused {
                message: note.message.clone(),
                hint: "remove the folder, and try again".to_owned(),
            }),
        }
    }

    fn pass(&mut self) {
        let millis = i64::try_from(PAUSE.as_millis()).unwrap_or_default();
        self.time = Moment::from_millis(self.time.millis() + millis).unwrap_or(self.time);
    }

    fn write<T>(
        &self,
        with: impl FnOnce(&Writing<'_>) -> Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        let env = self.env.at(self.time);
        with(&Writing {
            env: &env,
            durability: Durability::None,
            lock_timeout: Duration::from_secs(10),
            strict: true,
        })
    }
}
