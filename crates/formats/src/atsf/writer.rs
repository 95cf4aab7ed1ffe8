//! Writing sessions.

use rethread_disk::{DiskError, LockedLog, Mode, create as create_file, ensure_folder, replace};
use rethread_model::Note;

use super::append::{OpenThread, earlier_note, nothing_given, place_results, refuse_known_ids};
use super::call_ids::refuse_known_calls;
use super::config::Config;
use super::create::{
    agent_of, ensure_store, existing_folder, make_folder, session_metadata, workspace_of,
};
use super::fork::{CopiedThread, copy_asset, copy_log};
use super::manifest::{ForkedManifest, Manifest, NO_TITLE, NewManifest};
use super::prepare::{PreparedLine, prepare_line};
use super::store::{ASSETS, LOG, MANIFEST};
use super::{Atsf, SLUG, assets};
use crate::{
    Appended, Attachments, Editor, Files, Fork, Keeps, Made, MessageInput, NewSession, Projects,
    Source, WriteError, Writer, Writing,
};

impl Writer for Atsf {
    /// Starts a thread.
    fn create(&self, w: &Writing<'_>, new: &NewSession) -> Result<Made, WriteError> {
        new.refuse_special(SLUG)?;
        let project = new
            .root
            .clone()
            .unwrap_or_else(|| self.project_of(&new.cwd));
        let config = Config::read_with_main(&project)?;
        let metadata = session_metadata(new, &config)?;
        let workspace = workspace_of(&project, &new.cwd);
        let agent = agent_of(new, &config)?;
        let title = new.title.as_deref().unwrap_or(NO_TITLE);
        if let Some(root) = &new.root {
            ensure_folder(root, &Mode::like(existing_folder(root))?, w.durability)?;
        }
        let mut created = ensure_store(w, &project)?;
        let (id, path) = make_folder(w, &project, new.id.as_deref(), |id, folder, mode| {
            let manifest = Manifest::new_bytes(&NewManifest {
                id,
                title,
                created: w.env.now(),
                agent: &agent,
                workspace: &workspace,
                metadata: metadata.clone(),
            });
            let _ = create_file(&folder.join(LOG), b"", mode, w.durability)?;
            let _ = create_file(&folder.join(MANIFEST), &manifest, mode, w.durability)?;
            Ok(())
        })?;
        created.push(path.clone());
        Ok(Made {
            id,
            path,
            project,
            created,
            notes: config.notes,
        })
    }

    /// Adds messages to a thread.
    fn append(
        &self,
        w: &Writing<'_>,
        source: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        let mut thread = OpenThread::lock(w, source)?;
        let mut tally = thread.tally()?;
        let before = tally.last_time.clone();
        let model = thread.default_model();
        let start = thread.log.len()?;
        let mut prepared: Vec<Result<PreparedLine, WriteError>> =
            Vec::with_capacity(messages.len());
        for (i, message) in messages.iter().enumerate() {
            let defaults = thread.defaults(model.clone(), start + i as u64);
            prepared.push(prepare_line(message, &defaults));
        }
        refuse_known_ids(&thread, &mut prepared)?;
        refuse_known_calls(&thread.log, messages, &mut prepared, None)?;
        if w.strict
            && let Some(at) = prepared.iter().position(Result::is_err)
        {
            return Err(prepared.swap_remove(at).err().unwrap_or_else(nothing_given));
        }
        let holders = place_results(&mut thread, &mut prepared)?;
        let mut lines = Vec::new();
        let mut ids = Vec::with_capacity(prepared.len());
        for (message, holder) in prepared.into_iter().zip(holders) {
            ids.push(message.and_then(|message| {
                for asset in &message.assets {
                    asset.save(w, thread.folder, thread.mode)?;
                }
                if message.line.is_empty() {
                    return Ok(holder.unwrap_or(message.id));
                }
                lines.extend_from_slice(&message.line);
                lines.push(b'\n');
                for head in &message.heads {
                    tally.add(head);
                }
                Ok(message.id)
            }));
        }
        if !lines.is_empty() {
            thread.log.append_lasting(&lines, w.durability)?;
            thread
                .notes
                .extend(earlier_note(before.as_deref(), &tally, thread.log.path()));
        }
        thread.save_manifest(&tally);
        Ok(Appended {
            ids,
            notes: thread.notes,
        })
    }

    /// Sets a thread's title. Its other bytes stay, and so does the time of its last message.
    fn rename(
        &self,
        w: &Writing<'_>,
        source: &Source,
        title: &str,
    ) -> Result<Vec<Note>, WriteError> {
        let mut notes = Vec::new();
        if let Some(project) = Atsf.holder_of(&source.path) {
            notes = Config::read(project)?.notes;
        }
        // Whoever writes the description holds the lock of the log. A clone may have no log.
        let lock = match LockedLog::open(&source.path.join(LOG), w.lock_timeout) {
            Ok(lock) => Some(lock),
            Err(DiskError::NotFound { .. }) => None,
            Err(e) => return Err(e.into()),
        };
        let manifest = Manifest::read(&source.path)?;
        let bytes = manifest.with_title(title);
        replace(
            &manifest.path,
            &bytes,
            Mode::like(&source.path)?,
            w.durability,
        )?;
        drop(lock);
        Ok(notes)
    }

    /// Copies a thread up to an entry. The copied lines keep their bytes; so does what the description
    /// says that is not about the log.
    fn fork(&self, w: &Writing<'_>, source: &Source, fork: &Fork) -> Result<Made, WriteError> {
        let mut notes = Vec::new();
        if let Some(project) = Atsf.holder_of(&source.path) {
            notes.extend(Config::read(project)?.notes);
        }
        let manifest = Manifest::read(&source.path)?;
        let home = match (&fork.cwd, Atsf.holder_of(&source.path)) {
            (Some(cwd), _) => self.init(w, cwd)?.project,
            (None, Some(project)) => project.to_owned(),
            (None, None) => {
                return Err(WriteError::BadInput(
                    "this thread is in no project; name one with `--cwd`".to_owned(),
                ));
            }
        };
        Config::read(&home)?;
        let past = CopiedThread::of(source, fork)?;
        // The work goes on elsewhere, or nobody said where it was.
        let missing = manifest.root().get("context").is_none().then_some(&home);
        let context = fork
            .cwd
            .as_ref()
            .or(missing)
            .map(|cwd| Manifest::context(&workspace_of(&home, cwd)));
        let (id, path) = make_folder(w, &home, None, |id, folder, mode| {
            let log_len = copy_log(w, source, &past, &folder.join(LOG), mode)?;
            for name in &past.assets {
                copy_asset(w, source, folder, name, mode)?;
            }
            let forked = ForkedManifest {
                id,
                folder_name: &source.id,
                created: w.env.now(),
                title: fork.title.as_deref(),
                context: context.as_deref(),
            };
            let bytes = manifest.forked(&forked, &past.tally, log_len);
            let _ = rethread_disk::create(&folder.join(MANIFEST), &bytes, mode, w.durability)?;
            Ok(())
        })?;
        for name in &past.assets {
            if assets::find_asset(&source.path, name).is_none() {
                let message = format!("the asset `{name}` is missing and was not copied");
                notes.push(Note::damage(message).at(source.path.join(ASSETS)));
            }
        }
        Ok(Made::of_path(id, path, home).with_notes(notes))
    }

    fn keeps(&self) -> Keeps {
        Keeps {
            attachments: Attachments {
                in_prompts: Files::All,
                in_answers: Files::All,
                ..Attachments::default()
            },
            ..Keeps::default()
        }
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }
}
