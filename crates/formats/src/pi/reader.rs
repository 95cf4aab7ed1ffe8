//! Reading a session in one pass over its file.

use std::collections::HashMap;

use rethread_disk::open_sized;
use rethread_model::{Note, Summary};

use super::id::Id;
use super::links::ParentDamage;
use super::manager::{LoadedFile, load};
use super::placement::EntryTree;
use super::scan::SessionScan;
use super::summary::summarize_with;
use super::{Flavour, context};
use crate::kit::{SaveScan, read_log};
use crate::{
    BodyReader, Conversation, EntryRef, Native, NativeContext, OpenError, Part, SavedScan, Source,
    Want,
};

/// The one part of a session.
pub(super) const LOG_PART: u32 = 0;

impl crate::Reader for Flavour {
    /// What a list shows of a session.
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        summarize_with(self, source, want, None, SaveScan::Never).0
    }

    /// What a list shows of a session, going on from where an earlier scan of it ended; and where the next
    /// one can go on.
    fn summarize_from(
        &self,
        source: &Source,
        want: Want,
        from: Option<&SavedScan>,
    ) -> (Summary, Option<SavedScan>) {
        summarize_with(self, source, want, from, SaveScan::Always)
    }

    /// Reads a session.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        let path = &source.path;
        let not_ours = || OpenError::NotOurs {
            path: path.clone(),
            format: self.slug,
        };
        let (file, len) = open_sized(path)?;
        let part = Part::lines_in(source.window, path.clone(), file, len);
        let mut scan = SessionScan::whole(path);
        let end = read_log(&part, &mut scan)?;
        let SessionScan {
            header: Some(header),
            facts,
            thread: Some(thread),
            ..
        } = scan
        else {
            return Err(not_ours());
        };
        if end.is_stopped {
            return Err(not_ours());
        }
        let EntryTree {
            records,
            mut builder,
            links,
            ..
        } = thread;
        let mut notes = records.notes;
        for raw in records.unclaimed {
            builder.unclaimed(raw);
        }
        notes.extend(header.note(path));
        *builder.head() = header.head(self, path);
        facts.fill(builder.head(), path);
        for (at, wrong) in links.settle(&mut builder) {
            notes.push(at.note(Note::damage(wrong_parent(&wrong)), path));
        }
        Ok(Conversation {
            source: source.clone(),
            native: Native {
                parts: vec![part.with_records(records.marks)],
            },
            session: builder.finish(),
            notes,
        })
    }

    fn bodies(&self) -> &dyn BodyReader {
        self
    }

    /// What the model is shown at an entry; at the last one where none is named. Also says what is
    /// damaged in the file.
    fn native_context(
        &self,
        source: &Source,
        at: Option<&EntryRef>,
    ) -> Result<Option<(NativeContext, Vec<Note>)>, OpenError> {
        let LoadedFile::Session(lines) = load(&source.path)? else {
            return Err(source.not_ours());
        };
        let entries = lines.entries;
        let mut index: HashMap<Id, usize> = HashMap::with_capacity(entries.len());
        for (i, entry) in entries
            .iter()
            .enumerate()
            .filter(|(_, e)| !e.id().is_empty())
        {
            index.insert(Id::from(entry.id()), i);
        }
        let last = || {
            let named = entries.iter().rposition(|e| !e.id().is_empty());
            named.or(entries.len().checked_sub(1))
        };
        let from = match at {
            Some(at) => index.get(at.id.as_str()).copied().or_else(last),
            None => last(),
        };
        let path = from.map(|from| context::path(&entries, &index, from));
        let context = context::build_context(&path.unwrap_or_default(), self.program);
        let context = NativeContext {
            messages: context.messages,
            model: context.model.map(|model| model.raw().to_vec()),
            thinking_level: Some(context.thinking_level),
        };
        Ok(Some((context, lines.passed_over)))
    }
}

fn wrong_parent(wrong: &ParentDamage) -> String {
    match wrong {
        ParentDamage::Itself => "the entry is its own parent; it counts as a root".to_owned(),
        ParentDamage::Missing(id) => {
            format!("the parent `{id}` is missing; the entry counts as a root")
        }
        ParentDamage::Circle => "its parents form a circle; the entry counts as a root".to_owned(),
    }
}
