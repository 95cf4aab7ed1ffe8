//! Writing sessions.

use std::io::{BufWriter, Write as _};

use rethread_json::Object;
use rethread_model::{Note, TitleSource};
use rethread_project::Repository;

use super::append::{given_steps, last_id, record_writer, refuse_agent};
use super::create::{make_file, metadata, project_folder, real_folder, refuse_unknown};
use super::fork::Copied;
use super::record_writer::{OURS, RecordWriter, VERSION};
use super::transcript::{KEEPS, add_steps, new_steps};
use super::{ClaudeCode, FORMAT};
use crate::session_log::SessionLog;
use crate::{
    Appended, Fork, Keeps, Made, MessageInput, NewSession, Source, SubagentWriter, TranscriptStep,
    TreeWriter, WriteError, Writer, Writing,
};

impl Writer for ClaudeCode {
    /// Starts a session: a transcript without messages, which the client lists once there is one.
    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        refuse_unknown(new)?;
        let cwd = real_folder(&new.cwd);
        let metadata = metadata(new)?;
        let folder = project_folder(w.env, new.root.as_deref(), &cwd)?;
        let (id, path) = make_file(w, &folder, new.id.as_deref(), |id, out| {
            let mut scribe = RecordWriter {
                session: id.to_owned(),
                cwd: Some(cwd.to_string_lossy().into_owned()),
                version: new
                    .agent_version
                    .clone()
                    .unwrap_or_else(|| VERSION.to_owned()),
                branch: Repository::find(&cwd).and_then(|r| r.branch()),
                agent: None,
                parent: None,
                lines: Vec::new(),
            };
            scribe.line(
                &Object::new()
                    .str("type", OURS)
                    .opt_str("cwd", scribe.cwd.as_deref())
                    .opt_str("gitBranch", scribe.branch.as_deref())
                    .str("version", &scribe.version)
                    .opt_raw("metadata", metadata.as_deref())
                    .str("sessionId", id)
                    .finish(),
            );
            if let Some(title) = &new.title {
                scribe.title(title);
            }
            out.write_all(&scribe.lines)
        })?;
        Ok(Made::of_path(id, path, cwd))
    }

    /// Adds messages to a session. Each follows the one before, the first what the client would go on
    /// from.
    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        add_steps(w, source, None, &given_steps(messages))
    }

    /// Gives a session another title.
    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        refuse_agent(source)?;
        let mut log = SessionLog::open(w, &source.path)?;
        let mut scribe = record_writer(&FORMAT.reader().read(source)?);
        scribe.title(title);
        Ok(log.append(&scribe.lines)?.into_iter().collect())
    }

    /// Copies the way to an entry. The copied records keep their bytes and ids, but for the session
    /// they belong to, as when the client forks; what hung from a record that is not copied hangs from
    /// what stands before it on the way. What is damaged is told.
    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        refuse_agent(source)?;
        let conversation = FORMAT.reader().read(source)?;
        let notes = conversation.damage(w)?;
        let session = &conversation.session;
        let no_entry = |id: &str| WriteError::NoEntry {
            id: id.to_owned(),
            path: source.path.clone(),
        };
        let leaf = match &fork.at {
            Some(asked) => Some(session.find(&asked.id).ok_or_else(|| no_entry(&asked.id))?),
            None => session.leaf(),
        };
        let way = leaf.map(|leaf| session.path(leaf)).unwrap_or_default();
        let copied = Copied::of(&conversation, &way)?;
        let said = session.head.workspace.path.clone();
        let cwd = match &fork.cwd {
            Some(cwd) => Some(real_folder(cwd)),
            None => said.map(Into::into),
        };
        let beside = source.path.parent().map(std::path::Path::to_owned);
        let folder = match (&fork.cwd, &cwd, beside) {
            (None, _, Some(folder)) => folder,
            (_, Some(cwd), _) => project_folder(w.env, None, cwd)?,
            (_, None, _) => return Err(WriteError::BadInput("no folder is known".to_owned())),
        };
        let title = session.head.title.as_ref();
        let given = title.filter(|t| t.source >= TitleSource::Model);
        let title = fork.title.clone().or_else(|| given.map(|t| t.text.clone()));
        let parent = leaf.and_then(|leaf| last_id(&conversation, leaf));
        let start = RecordWriter {
            cwd: cwd.as_ref().map(|c| c.to_string_lossy().into_owned()),
            parent,
            ..record_writer(&conversation)
        };
        let (id, path) = make_file(w, &folder, None, |id, out| {
            let mut scribe = RecordWriter {
                session: id.to_owned(),
                ..start.clone()
            };
            let origin = Object::new()
                .str("type", OURS)
                .opt_str("cwd", scribe.cwd.as_deref())
                .str("forkOf", &session.head.id)
                .opt_str("forkAt", scribe.parent.as_deref())
                .str("sessionId", id);
            scribe.line(&origin.finish());
            let mut out = BufWriter::new(out);
            out.write_all(&std::mem::take(&mut scribe.lines))?;
            copied.write(id, &mut out)?;
            scribe.close(title.as_deref(), None, false);
            out.write_all(&scribe.lines)?;
            out.flush()
        })?;
        Ok(Made::of_path(id, path, cwd.unwrap_or(folder)).with_notes(notes))
    }

    fn keeps(&self) -> Keeps {
        KEEPS
    }

    fn write_transcript(
        &self,
        w: &Writing<'_>,
        source: &Source,
        told: &[TranscriptStep],
    ) -> Result<(), WriteError> {
        let all = Writing { strict: true, ..*w };
        let told = add_steps(&all, source, None, &new_steps(told))?;
        told.ids.into_iter().try_for_each(|id| id.map(drop))
    }

    fn tree(&self) -> Option<&dyn TreeWriter> {
        Some(self)
    }

    fn subagents(&self) -> Option<&dyn SubagentWriter> {
        Some(self)
    }
}
