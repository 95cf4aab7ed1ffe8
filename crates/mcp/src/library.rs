//! The conversations that a server tells of, and how it may.

use std::borrow::Cow;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use rethread_lib::engine::{Env, SearchLibrary};
use rethread_lib::render::Style;
use rethread_lib::samp::{Alias, Folder};

use crate::mask::mask_secrets;

/// The conversations that a server tells of, and how it may.
#[derive(Clone, Debug)]
pub struct LibraryOptions {
    /// Where conversations are looked for.
    pub env: Env,
    /// The user's time zone, for times such as `yesterday`.
    pub zone: TimeZone,
    /// Whether what looks like a secret key is masked.
    pub masks_secrets: bool,
    /// Whether clients may send and read messages, and as whom.
    pub messages: Option<MessageAccess>,
}

/// As whom clients send and read messages.
#[derive(Clone, Debug)]
pub struct MessageAccess {
    /// Who they are.
    pub alias: Alias,
    /// Where the logs are.
    pub folder: Folder,
    /// What this machine knows of what was shown.
    pub cursor: PathBuf,
}

/// A line is not broken, whatever the width; this is where facts beside a call of a tool stand.
const WIDTH: usize = 100;

/// How text is written for a model.
pub(crate) fn model_style() -> Style {
    Style {
        colour: false,
        width: WIDTH,
        now: None,
        zone: TimeZone::UTC,
    }
}

impl LibraryOptions {
    /// A text of a conversation as it may be told.
    pub(crate) fn told<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.masks_secrets {
            mask_secrets(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Adds to the search index what is new, where that is much, so that the next search is sooner done.
    pub(crate) fn update_index(&self, library: &SearchLibrary) {
        if library.is_worth_indexing() {
            // Where it cannot be kept, the next search reads once more.
            let _ = library.update_index(&self.env, &|_, _| {});
        }
    }
}
