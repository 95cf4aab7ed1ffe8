//! The files of a session, as they travel in a session of another format.

use std::io::Read;

use rethread_disk::open_read;

use super::files::{name_below, with_agents_of};
use crate::{Conversation, OpenError, PartKind};

/// A file of a session, by its name below the folder that the format counts from.
pub type NamedFile<'a> = (String, Box<dyn Read + 'a>);

/// The files of a session, the main one first, and those of its sub-agents. Rows of a database are a file for each table.
pub fn own_files(conversation: &Conversation) -> Result<Vec<NamedFile<'_>>, OpenError> {
    let rows: Vec<NamedFile<'_>> = conversation
        .native
        .parts
        .iter()
        .filter_map(|part| match part.kind {
            PartKind::Rows { table } => {
                let reader: Box<dyn Read + '_> = Box::new(part.reader());
                Some((format!("{table}.jsonl"), reader))
            }
            PartKind::Lines | PartKind::Document | PartKind::Opaque => None,
        })
        .collect();
    if !rows.is_empty() {
        return Ok(rows);
    }
    let source = &conversation.source;
    let base = conversation.format.base(source);
    let mut files: Vec<NamedFile<'_>> = Vec::new();
    for path in with_agents_of(conversation)? {
        let name = name_below(Some(&base), &path);
        files.push((name, Box::new(open_read(&path)?)));
    }
    Ok(files)
}
