//! Into Unified NDJSON and back: an export of one session, which carries its original by itself.

use std::path::{Path, PathBuf};

use rethread_catalog::sources_at;
use rethread_disk::{Created, Mode, SafeName, create_with, ensure_folder, join};
use rethread_formats::carry::{CarriedFile, Goods, below};
use rethread_formats::{Conversation, Format, Source, WriteError, Writing};
use rethread_model::Note;

use super::spoken::Spoken;
use super::{ConvertAsk, Converted, Way, report};
use crate::export::show_ndjson;
use crate::show::open;
use crate::{Error, Shown};

/// The short name of the format.
pub(super) const SLUG: &str = "ndjson";

/// Writes an export of one session into a file of its own.
pub(super) fn write(
    w: &Writing<'_>,
    from: Conversation,
    ask: &ConvertAsk<'_>,
    mut notes: Vec<Note>,
) -> Result<Converted, Error> {
    let Some(root) = ask.root else {
        return Err(Error::Usage {
            message: "Unified NDJSON has no store of its own".to_owned(),
            hint: Some("name a folder with `-o DIR`".to_owned()),
        });
    };
    let source = from.source.clone();
    let id = from.session.head.id.clone();
    let name = SafeName::new(&format!("{id}.ndjson"));
    let name = name.map_err(|e| Error::usage(format!("`{id}` cannot be a file's name: {e}")))?;
    let path = join(root, &name);
    let shown = Shown {
        conversation: from,
        entries: Vec::new(),
    };
    if !ask.dry_run {
        let near = root.ancestors().find(|f| f.is_dir()).unwrap_or(root);
        let mode = Mode::like(near)?;
        ensure_folder(root, &mode, w.durability)?;
        let made = create_with(&path, mode, w.durability, |out| {
            notes.extend(show_ndjson(w.env, &shown, true, out)?);
            Ok(())
        })?;
        if made == Created::Existed {
            return Err(WriteError::Exists { id, path }.into());
        }
    }
    let fates = match sources_at(&path).first().filter(|_| !ask.dry_run) {
        Some(made) => report::compare(&shown.conversation, &open(made)?),
        None => report::compare(&shown.conversation, &shown.conversation),
    };
    Ok(Converted {
        source,
        to: SLUG,
        id,
        path,
        way: Way::Written,
        fates,
        notes,
    })
}

/// What is said in a session, as it reads when it is exported; none where it does not. The export
/// goes into a folder of ours.
pub(super) fn spoken(
    w: &Writing<'_>,
    source: &Source,
    folder: &Path,
) -> Result<Option<Spoken>, Error> {
    let shown = Shown {
        conversation: open(source)?,
        entries: Vec::new(),
    };
    let path = folder.join("again.ndjson");
    let _ = create_with(&path, Mode::Private, w.durability, |out| {
        show_ndjson(w.env, &shown, true, out).map(drop)
    })?;
    match sources_at(&path).first() {
        Some(again) => Ok(Some(Spoken::of(&open(again)?))),
        None => Ok(None),
    }
}

/// The files that an export carries, by the names that their own format counts.
pub(super) struct Carried<'a> {
    pub(super) files: Vec<CarriedFile<'a>>,
    /// Where they go below this folder, in the same order.
    pub(super) goods: Goods,
}

/// What an export carries of a session of this format; none where it carries nothing.
pub(super) fn carried<'a>(
    here: &'a Conversation,
    format: &dyn Format,
    folder: &Path,
) -> Result<Option<Carried<'a>>, Error> {
    let files = here.format.carried(here)?;
    let Some(first) = files.first() else {
        return Ok(None);
    };
    let there = PathBuf::from(&first.folder);
    let main = if format.keeps_folders() {
        there.clone()
    } else {
        there.join(&first.path)
    };
    let id = here.session.head.id.clone();
    let base = format.base(&Source::new(format.about().slug, id.clone(), main.clone()));
    let named = |path: &Path| {
        let below = path.strip_prefix(&base).unwrap_or(path);
        let names = below.components().map(|c| c.as_os_str().to_string_lossy());
        names.collect::<Vec<_>>().join("/")
    };
    let name = |file: &CarriedFile<'_>| match file.path.rsplit_once(".rows/") {
        // Rows of a database: `opencode.db.rows/ID/TABLE.jsonl`.
        Some((_, rows)) => rows.rsplit('/').next().unwrap_or(rows).to_owned(),
        None => named(&there.join(&file.path)),
    };
    let goods = Goods {
        id,
        folder: folder.to_owned(),
        path: named(&main),
        names: files.iter().map(name).collect(),
    };
    for name in &goods.names {
        below(folder, name)?;
    }
    Ok(Some(Carried { files, goods }))
}
