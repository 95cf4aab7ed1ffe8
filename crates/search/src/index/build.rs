//! Adding conversations to the index.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use rethread_catalog::{CatalogedSource, Catalogue, IndexedBatch, IndexedSource, RowId};
use rethread_disk::{Durability, Mode, ensure_folder};
use rethread_formats::Env;
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::directory::IndexDirectory;
use super::schema::{IndexFields, register_tokenizer};
use super::{IndexMark, SETTING, TextIndex, VERSION, index_folder, upto_of};
use crate::hit::SearchedSession;
use crate::matcher::folded_tool;
use crate::texts::{SearchText, walk_texts};
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
    #[error("{0}")]
    Index(#[from] tantivy::TantivyError),
    #[error("{0}")]
    Disk(#[from] rethread_disk::DiskError),
    #[error("what is in the index could not be written down")]
    Catalogue,
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
            s.cataloged
                .row
                .is_some_and(|row| indexed.get(&row) != Some(&upto_of(s.cataloged)))
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
        batch.par_iter().try_for_each(|session| {
            let Some(row) = session.cataloged.row else {
                return Ok(());
            };
            add_source(&writer, &fields, row, session.cataloged)?;
            let size = session.summary.size;
            progress(done.fetch_add(size, Ordering::Relaxed) + size, all);
            tantivy::Result::Ok(())
        })?;
        let indexed = batch.iter().filter_map(|session| {
            Some(IndexedSource {
                row: session.cataloged.row?,
                upto: upto_of(session.cataloged),
            })
        });
        let sources: Vec<IndexedSource> = indexed.collect();
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

/// Adds the texts of a source, in place of what the index has of it.
fn add_source(
    writer: &IndexWriter,
    fields: &IndexFields,
    row: RowId,
    source: &CatalogedSource,
) -> tantivy::Result<()> {
    writer.delete_term(Term::from_field_u64(fields.session, row.cast_unsigned()));
    // One that cannot be read has no texts for the scan either.
    let Ok(conversation) = source.source.format.reader().read(&source.source) else {
        return Ok(());
    };
    let mut result = Ok(());
    walk_texts(&conversation, &mut |_| false, &mut |text| {
        if result.is_ok() {
            result = writer.add_document(document(fields, row, &text)).map(drop);
        }
    });
    result
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
    let place = u64::from(text.place.entry) << 24 | u64::from(text.place.ordinal.min(0xff_ffff));
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
