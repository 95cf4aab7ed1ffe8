//! Projects and threads to measure with, made by the library itself or like what it makes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_disk::Durability;
use rethread_formats::atsf::FORMAT;
use rethread_formats::{Env, MessageDefaults, MessageInput, NewSession, Source, Writing};
use rethread_json::{Object, Patch, Tree, quote};

use crate::benchmark::Outcome;
use crate::messages::{Messages, Said, id_at, time_at};

const LOG: &str = "messages.jsonl";
const MANIFEST: &str = "thread.json";

/// So many different messages make up the longest log.
const POOL: usize = 4096;

/// A project in a home of its own, in which threads are kept.
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    pub(crate) env: Env,
    messages: Messages,
}

impl Project {
    /// A new project in a folder. It has a repository of its own and the home is given, so that
    /// nothing around the folder is looked at: builds are often inside a project.
    pub(crate) fn new(within: &Path) -> Outcome<Self> {
        let home = fs::canonicalize(within)?;
        let folder = home.join("app");
        fs::create_dir_all(folder.join(".git"))?;
        fs::write(folder.join(".git").join("HEAD"), "ref: refs/heads/main\n")?;
        let mut env = Env::from_variables(BTreeMap::new(), Some(home.clone()), folder.clone())?;
        env.use_homes(&[home]);
        rethread_catalog::remember(&env, &folder, Durability::None)?;
        Ok(Self {
            folder,
            env,
            messages: Messages::new(1),
        })
    }

    /// Starts a thread with so many messages, as a user would who works in that folder.
    pub(crate) fn thread(&mut self, name: &str, cwd: &Path, count: u64) -> Outcome<Source> {
        let env = self.env.at(time_at(0)?);
        let w = writing(&env, Durability::None);
        let new = NewSession {
            cwd: cwd.to_owned(),
            id: Some(name.to_owned()),
            title: Some(self.messages.prose(40)),
            agent_id: Some("some-agent".to_owned()),
            ..NewSession::default()
        };
        let made = FORMAT.writable()?.create(&w, &new)?;
        let source = Source::new(FORMAT, made.id, made.path);
        let said = (0..count).map(|i| {
            Ok(MessageInput::Json {
                bytes: self.messages.next().line(None, time_at(i)?),
                line: i + 1,
                unsaid: MessageDefaults::default(),
            })
        });
        let said: Vec<MessageInput> = said.collect::<Outcome<_>>()?;
        if !said.is_empty() {
            for id in FORMAT.writable()?.append(&w, &source, &said)?.ids {
                id?;
            }
        }
        Ok(source)
    }

    /// Makes a thread like another one, but for its id.
    pub(crate) fn copy(of: &Source, name: &str) -> Outcome<Source> {
        let path = of.path.with_file_name(name);
        fs::create_dir(&path)?;
        fs::copy(of.path.join(LOG), path.join(LOG))?;
        let old = fs::read(of.path.join(MANIFEST))?;
        let tree = Tree::parse(&old)?;
        let mut patch = Patch::new(tree.root(&old));
        patch.set(tree.root(&old), "threadId", &quote(name));
        fs::write(path.join(MANIFEST), patch.finish())?;
        Ok(Source::new(of.format, name.to_owned(), path))
    }

    /// Starts a thread with so many messages that its log is written directly, and with a
    /// description that is true of it.
    pub(crate) fn long_thread(&mut self, name: &str, count: u64) -> Outcome<Source> {
        let folder = self.folder.clone();
        let source = self.thread(name, &folder, 0)?;
        let pool: Vec<Said> = (0..POOL).map(|_| self.messages.next()).collect();
        let file = File::create(source.path.join(LOG))?;
        let mut log = BufWriter::with_capacity(1 << 20, &file);
        let (mut bytes, mut user, mut calls) = (0, 0, 0);
        for (i, said) in (0..count).zip(pool.iter().cycle()) {
            let mut line = said.line(Some(&id_at(i)), time_at(i)?);
            line.push(b'\n');
            log.write_all(&line)?;
            bytes += line.len() as u64;
            user += u64::from(said.is_user());
            calls += u64::from(said.has_call());
        }
        log.flush()?;
        // Else the system goes on writing while we measure.
        file.sync_all()?;

        let path = source.path.join(MANIFEST);
        let old = fs::read(&path)?;
        let tree = Tree::parse(&old)?;
        let root = tree.root(&old);
        let stats = Object::new()
            .u64("messageCount", count)
            .u64("userMessageCount", user)
            .u64("agentMessageCount", count - user)
            .u64("toolCallCount", calls);
        let note = Object::new().u64("logBytes", bytes).finish();
        let metadata = Object::new().raw("rethread", &note).finish();
        let last = time_at(count.saturating_sub(1))?.to_string();
        let mut patch = Patch::new(root);
        patch.set(root, "updatedAt", &quote(&last));
        patch.set(root, "stats", &stats.finish());
        patch.set(root, "metadata", &metadata);
        fs::write(&path, patch.finish())?;
        Ok(source)
    }
}

/// How to write in that environment.
pub(crate) fn writing(env: &Env, durability: Durability) -> Writing<'_> {
    Writing {
        env,
        durability,
        lock_timeout: Duration::from_secs(5),
        strict: true,
    }
}

/// The description of a thread.
pub(crate) fn manifest_of(source: &Source) -> PathBuf {
    source.path.join(MANIFEST)
}

/// A thread that can be made as it was.
pub(crate) struct Kept {
    pub(crate) source: Source,
    pub(crate) log: File,
    log_len: u64,
    manifest: Vec<u8>,
}

impl Kept {
    pub(crate) fn new(source: Source) -> Outcome<Self> {
        let log = File::options().write(true).open(source.path.join(LOG))?;
        Ok(Self {
            log_len: log.metadata()?.len(),
            manifest: fs::read(manifest_of(&source))?,
            log,
            source,
        })
    }

    /// Takes away what was appended.
    pub(crate) fn restore(&self) -> Outcome {
        self.log.set_len(self.log_len)?;
        fs::write(manifest_of(&self.source), &self.manifest)?;
        Ok(())
    }

    /// What was appended.
    pub(crate) fn appended(&self) -> Outcome<Vec<u8>> {
        let all = fs::read(self.source.path.join(LOG))?;
        Ok(all[usize::try_from(self.log_len)?..].to_vec())
    }
}
