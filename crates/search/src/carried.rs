//! Originals that travel along in converted conversations: what is said in them is found, too, also what
//! the other format has no place for.

use rethread_disk::{Durability, Mode, ScratchFolder, create_with, ensure_folder};
use rethread_formats::carry::{CarriedOriginal, SessionFiles, join_checked};
use rethread_formats::{Conversation, by_name};
use rethread_model::{EntryIx, Summary};

use crate::texts::{SearchText, walk_texts};

/// A conversation that was converted several times carries originals inside of each other: so many are
/// looked into.
const MOST_LEVELS: u8 = 3;
/// Originals of more bytes are not unpacked.
const LARGEST: u64 = 1 << 30;

/// An original that travelled along, unpacked in a folder of its own, which goes with it.
#[derive(Debug)]
pub struct CarriedConversation {
    /// What was said in it.
    pub conversation: Conversation,
    _folder: ScratchFolder,
}

impl CarriedConversation {
    /// The original in a conversation; none where there is none, or none that can be read.
    pub fn of(conversation: &Conversation) -> Option<Self> {
        let carried = CarriedOriginal::of_conversation(conversation)
            .ok()?
            .ok()??;
        let format = by_name(&carried.from)?;
        let size = carried.file_seals().map(|seal| seal.size);
        if size.fold(0, u64::saturating_add) > LARGEST {
            return None;
        }
        let folder = ScratchFolder::new().ok()?;
        let names = carried.file_names();
        for (at, name) in names.iter().enumerate() {
            let path = join_checked(folder.path(), name).ok()?;
            ensure_folder(path.parent()?, &Mode::Private, Durability::None).ok()?;
            let fill = |out: &mut dyn std::io::Write| carried.unpack_file(at, out).map(drop);
            let _ = create_with(&path, Mode::Private, Durability::None, fill).ok()?;
        }
        let files = SessionFiles {
            id: carried.id.clone(),
            folder: folder.path().to_owned(),
            path: carried.path.clone(),
            names,
        };
        let source = files.session_source(format).ok()?;
        Some(Self {
            conversation: format.reader().read(&source).ok()?,
            _folder: folder,
        })
    }

    /// The originals in a conversation, each carried by the one before it.
    pub fn all_of(conversation: &Conversation) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for _ in 0..MOST_LEVELS {
            let last = all.last().map_or(conversation, |last| &last.conversation);
            match Self::of(last) {
                Some(carried) => all.push(carried),
                None => break,
            }
        }
        all
    }
}

/// Gives the texts of a conversation as [`walk_texts`] does, and behind them those of the originals that
/// it carries if it was converted, with how deep they are.
pub fn walk_all_texts(
    conversation: &Conversation,
    summary: &Summary,
    skips: &mut dyn FnMut(EntryIx) -> bool,
    give: &mut dyn FnMut(SearchText),
) {
    walk_texts(conversation, skips, give);
    if summary.head.converted_from.is_none() {
        return;
    }
    for (level, carried) in (1..).zip(CarriedConversation::all_of(conversation)) {
        walk_texts(&carried.conversation, &mut |_| false, &mut |mut text| {
            text.place.carried = level;
            give(text);
        });
    }
}
