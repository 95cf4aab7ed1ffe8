//! One message among many, by its id.

use std::{borrow::Cow, convert::Infallible};

use crate::{
    alias::Alias,
    batch::Batch,
    error::{Error, MIN_PREFIX},
    folder::Folder,
    gather::WantedMessages,
    inbox::read_all,
};

/// What a reply needs of the message that it answers.
#[derive(Clone, Debug)]
pub(crate) struct FoundMessage {
    pub(crate) from: String,
    pub(crate) thread: Option<String>,
    pub(crate) body: String,
    pub(crate) ts: i64,
}

impl FoundMessage {
    /// The last of a batch.
    pub(crate) fn last_of(batch: &mut Batch) -> Option<Self> {
        let last = batch.items.pop()?;
        batch.items = vec![last];
        let mut found = None;
        let Ok(()) = batch.each(|message| {
            let record = &message.record;
            found = Some(Self {
                from: record.from().unwrap_or_default().into_owned(),
                thread: record.thread().map(Cow::into_owned),
                body: record.body().into_owned(),
                ts: record.ts(),
            });
            Ok::<(), Infallible>(())
        });
        found
    }
}

/// Leaves in a batch the one message whose id begins so; one that is so exactly wins.
pub(crate) fn keep_only(batch: &mut Batch, prefix: &str) -> Result<(), Error> {
    if prefix.chars().count() < MIN_PREFIX {
        return Err(Error::ShortPrefix(prefix.to_owned()));
    }
    batch
        .items
        .retain(|item| item.id.to_string().starts_with(prefix));
    match batch.len() {
        0 => Err(Error::NoSuchMessage(prefix.to_owned())),
        1 => Ok(()),
        _ => Err(Error::Ambiguous {
            prefix: prefix.to_owned(),
            ids: batch.ids().collect(),
        }),
    }
}

pub(crate) fn find_message(batch: &mut Batch, prefix: &str) -> Result<FoundMessage, Error> {
    keep_only(batch, prefix)?;
    FoundMessage::last_of(batch).ok_or_else(|| Error::NoSuchMessage(prefix.to_owned()))
}

/// The one message whose id begins so, whoever wrote it to whomever.
pub fn message(folder: &Folder, prefix: &str, lenient: bool, now: i64) -> Result<Batch, Error> {
    if prefix.chars().count() < MIN_PREFIX {
        return Err(Error::ShortPrefix(prefix.to_owned()));
    }
    let mut batch = read_all(folder, WantedMessages::Every, lenient, now)?;
    keep_only(&mut batch, prefix)?;
    Ok(batch)
}

/// All messages from or to somebody, newest first.
pub fn history(folder: &Folder, who: &Alias, lenient: bool, now: i64) -> Result<Batch, Error> {
    let mut batch = read_all(folder, WantedMessages::With(who), lenient, now)?;
    batch.sort_newest_first();
    Ok(batch)
}

/// All messages to somebody, or all there are, in the order of logs and lines.
pub fn messages(
    folder: &Folder,
    to: Option<&Alias>,
    lenient: bool,
    now: i64,
) -> Result<Batch, Error> {
    read_all(
        folder,
        to.map_or(WantedMessages::Every, WantedMessages::To),
        lenient,
        now,
    )
}
