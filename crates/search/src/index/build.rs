//! Adding conversations to the index.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rethread_catalog::{Catalogue, IndexedBatch, IndexedSource, RowId};
use rethread_disk::{Durability, Mode, ensure_folder};
use rethread_formats::{Conversation, Env};
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::directory::IndexDirectory;
use super::entries::entries_of;
use super::schema::{IndexFields, register_tokenizer};
use super::{IndexMark, SETTING, TextIndex, VERSION, index_folder, upto_of};
use crate::carried::walk_all_texts;
use crate::hit::SearchedSession;
use crate::matcher::folded_tool;
use crate::texts::{SearchText, TextPlace, walk_texts_from};
use crate::tokens::Tokens;
use crate::touched::FileUse;

/// The memory for words that are not written yet: of a first build, and of a few more.
const FIRST_HEAP: usize = 60_000_000;
const LATER_HEAP: usize = 15_000_000;
/// So many bytes of conversations are committed together, about: whoever interrupts loses no more.
const BATCH_BYTES: u64 = 64 << 20;

/// What was added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// How many conversations.
    pub sessions: u64,
    /// How many texts of them: of one that was added to, only what is new.
    pub texts: u64,
    /// Why not all of them are in the index, where that is so.
    pub stopped: Option<String>,
}

/// Adds to the index what is not in it of these conversations, the newest first. `progress` is told how
/// many bytes of how many are done.
pub fn build_index(
    env: &Env,
    catalogue: &Catalogue,
    sessions: &[SearchedSession<'_>],
    progress: &(dyn Fn(u64, u64) + Sync),
) -> BuildReport {
    let mut report = BuildReport::default();
    if !env.uses_catalogue || !catalogue.is_kept() {
        report.stopped = Some("nothing is kept".to_owned());
        return report;
    }
    if let Err(e) = add_all(env, catalogue, sessions, progress, &mut report) {
        report.stopped = Some(e.to_string());
    }
    report
}

/// Why a build stopped.
#[derive(Debug, thiserror::Error)]
enum BuildError {
    #[error("{}", index_error_text(.0))]
    Index(#[from] tantivy::TantivyError),
    #[error("{0}")]
    Disk(#[from] rethread_disk::DiskError),
    #[error("what is in the index could not be written down")]
    Catalogue,
}

/// What the index says of itself; its threads keep to themselves why they stopped.
fn index_error_text(e: &tantivy::TantivyError) -> String {
    match e {
        tantivy::TantivyError::ErrorInThread(_) => {
            "its files could not be written; is the disk of the cache folder full?".to_owned()
        }
        e => e.to_string(),
    }
}

fn add_all(
    env: &Env,
    catalogue: &Catalogue,
    sessions: &[SearchedSession<'_>],
    progress: &(dyn Fn(u64, u64) + Sync),
    report: &mut BuildReport,
) -> Result<(), BuildError> {
    let folder = index_folder(env);
    let known = TextIndex::open(env, catalogue, &mut Vec::new());
    let mark = mark_of(env, catalogue, known.is_some())?;
    let index = match &known {
        Some(known) => known.index.clone(),
        None => create_index(&folder)?,
    };
    let fields = IndexFields::of(&index.schema()).ok_or(BuildError::Catalogue)?;
    let heap = if known.is_some() {
        LATER_HEAP
    } else {
        FIRST_HEAP
    };
    let threads = if known.is_some() { 1 } else { 2 };
    let mut writer: IndexWriter = index.writer_with_num_threads(threads, heap)?;
    // Whoever writes is alone from here on. A batch that was written down and never committed must not
    // count once a later one is.
    let committed = index.load_metas()?.opstamp;
    if !catalogue.forget_batches_above(committed) {
        return Err(BuildError::Catalogue);
    }
    let indexed = catalogue.indexed_sources(committed);
    let gone = catalogue.indexed_and_gone();
    for row in &gone {
        writer.delete_term(Term::from_field_u64(fields.session, row.cast_unsigned()));
    }
    let mut pending: Vec<&SearchedSession<'_>> = sessions
        .iter()
        .filter(|s| {
            s.cataloged.row.is_some_and(|row| {
                let known = indexed.get(&row);
                known.is_none_or(|known| known.upto != upto_of(s.cataloged))
            })
        })
        .collect();
    pending.sort_by_key(|s| std::cmp::Reverse(s.summary.head.updated));
    let all: u64 = pending.iter().map(|s| s.summary.size).sum();
    let done = AtomicU64::new(0);
    let mut rest = pending.as_slice();
    let mut is_first = true;
    while !rest.is_empty() || is_first && !gone.is_empty() {
        is_first = false;
        let (batch, after) = rest.split_at(batch_len(rest));
        rest = after;
        let added = batch.par_iter().map(|session| {
            let Some(row) = session.cataloged.row else {
                return Ok(None);
            };
            let adder = SourceAdder {
                writer: &writer,
                fields: &fields,
                row,
            };
            let added = adder.add(session, indexed.get(&row))?;
            let size = session.summary.size;
            progress(done.fetch_add(size, Ordering::Relaxed) + size, all);
            Ok(Some(added))
        });
        let added: Vec<Option<AddedSource>> = added.collect::<tantivy::Result<_>>()?;
        let sources = added.iter().flatten().map(|added| added.indexed).collect();
        report.texts += added.iter().flatten().map(|added| added.texts).sum::<u64>();
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&mark.text());
        let batch = IndexedBatch {
            opstamp: prepared.opstamp(),
            sources,
        };
        if !catalogue.record_batch(&batch) {
            prepared.abort()?;
            return Err(BuildError::Catalogue);
        }
        prepared.commit()?;
        report.sessions += batch.sources.len() as u64;
    }
    if !gone.is_empty() {
        catalogue.forget_indexed(&gone);
    }
    writer.wait_merging_threads()?;
    Ok(())
}

/// How many conversations are committed together.
fn batch_len(sessions: &[&SearchedSession<'_>]) -> usize {
    let mut bytes = 0_u64;
    let fits = |session: &&&SearchedSession<'_>| {
        let is_first = bytes == 0;
        bytes = bytes.saturating_add(session.summary.size.max(1));
        is_first || bytes <= BATCH_BYTES
    };
    sessions.iter().take_while(fits).count()
}

/// The mark of the index: the one that the catalogue knows, or a new one, which it knows then.
fn mark_of(env: &Env, catalogue: &Catalogue, is_there: bool) -> Result<IndexMark, BuildError> {
    let known = catalogue
        .setting(SETTING)
        .and_then(|v| String::from_utf8(v).ok());
    let known = known.as_deref().and_then(IndexMark::parse);
    if let Some(mark) = known.filter(|_| is_there) {
        return Ok(mark);
    }
    // With a seed, two catalogues would have the same: the time and the process tell them apart.
    let id = u128::from_le_bytes(env.random_bytes(SETTING.as_bytes()));
    let mark = IndexMark {
        version: VERSION,
        id: format!("{id:032x}-{}-{}", env.now().millis(), std::process::id()),
    };
    let is_kept =
        catalogue.forget_all_indexed() && catalogue.set_setting(SETTING, mark.text().as_bytes());
    is_kept.then_some(mark).ok_or(BuildError::Catalogue)
}

fn create_index(folder: &Path) -> Result<Index, BuildError> {
    match rethread_disk::remove_folder(folder) {
        Ok(()) | Err(rethread_disk::DiskError::NotFound { .. }) => {}
        Err(e) => return Err(e.into()),
    }
    ensure_folder(folder, &Mode::Private, Durability::None)?;
    let directory = IndexDirectory::open(folder)?;
    let index = Index::create(
        directory,
        IndexFields::schema(),
        tantivy::IndexSettings::default(),
    )?;
    register_tokenizer(&index);
    Ok(index)
}

/// A source that was added.
struct AddedSource {
    indexed: IndexedSource,
    /// How many of its texts.
    texts: u64,
}

/// Adds the texts of a source.
struct SourceAdder<'a> {
    writer: &'a IndexWriter,
    fields: &'a IndexFields,
    row: RowId,
}

impl SourceAdder<'_> {
    /// Adds what the index has not: of a log that was only added to, what is new; else all, in place of
    /// what is there.
    fn add(
        &self,
        session: &SearchedSession<'_>,
        before: Option<&IndexedSource>,
    ) -> tantivy::Result<AddedSource> {
        let SearchedSession { summary, cataloged } = session;
        let source = &cataloged.source;
        let mut added = AddedSource {
            indexed: IndexedSource {
                row: self.row,
                upto: upto_of(cataloged),
                entries: None,
            },
            texts: 0,
        };
        // One that cannot be read has no texts for the scan either.
        let Ok(conversation) = source.format.reader().read(source) else {
            self.remove();
            return Ok(added);
        };
        // One that carries an original is always indexed as a whole.
        if cataloged.read_upto.is_some() && summary.head.converted_from.is_none() {
            let count = conversation.session.entries().len();
            added.indexed.entries = entries_of(&conversation, count);
        }
        let known = before.and_then(|before| before.entries);
        let first = known.and_then(|known| {
            let count = usize::try_from(known.count).ok()?;
            (entries_of(&conversation, count) == Some(known)).then_some(count)
        });
        if let Some(news) = first.and_then(|first| texts_from(&conversation, first)) {
            added.texts = news.len() as u64;
            for text in &news {
                self.writer
                    .add_document(document(self.fields, self.row, text))?;
            }
            return Ok(added);
        }
        self.remove();
        let mut result = Ok(());
        walk_all_texts(&conversation, summary, &mut |_| false, &mut |text| {
            if result.is_ok() {
                let document = document(self.fields, self.row, &text);
                result = self.writer.add_document(document).map(drop);
                added.texts += 1;
            }
        });
        result.map(|()| added)
    }

    /// Removes what the index has of it.
    fn remove(&self) {
        let row = self.row.cast_unsigned();
        let term = Term::from_field_u64(self.fields.session, row);
        self.writer.delete_term(term);
    }
}

/// More that is new is not gathered before it is written, and all is indexed anew.
const MOST_NEWS: usize = 64 << 20;

/// The texts from an entry on; none where they cannot be known without those before.
fn texts_from(conversation: &Conversation, first: usize) -> Option<Vec<SearchText>> {
    let mut texts = Vec::new();
    let mut bytes = 0_usize;
    let is_known = walk_texts_from(conversation, first, &mut |text| {
        bytes = bytes.saturating_add(text.value.len());
        if bytes <= MOST_NEWS {
            texts.push(text);
        }
    });
    (is_known && bytes <= MOST_NEWS).then_some(texts)
}

fn document(fields: &IndexFields, row: RowId, text: &SearchText) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    let mut tokens = Tokens::of(&text.value);
    let mut words = 0;
    while let Some(token) = tokens.next_token() {
        words = u64::from(token.position) + 1;
    }
    document.add_text(fields.text, &text.value);
    document.add_u64(fields.session, row.cast_unsigned());
    let TextPlace {
        carried,
        entry,
        ordinal,
    } = text.place;
    let place =
        u64::from(carried) << 56 | u64::from(entry) << 24 | u64::from(ordinal.min(0xff_ffff));
    document.add_u64(fields.place, place);
    document.add_u64(fields.kind, text.kind.number());
    document.add_u64(fields.words, words);
    document.add_u64(fields.digest, text.digest());
    if let Some(time) = text.time {
        document.add_i64(fields.time, time);
    }
    if let Some(tool) = &text.tool {
        document.add_text(fields.tool, folded_tool(tool));
    }
    for (is_so, flag) in [(text.is_error, "error"), (text.has_image, "image")] {
        if is_so {
            document.add_text(fields.flag, flag);
        }
    }
    for file in &text.files {
        let sign = match file.file_use {
            FileUse::Read => 'r',
            FileUse::Written => 'w',
        };
        document.add_text(fields.path, format!("{sign}{}", file.path));
    }
    document
}
