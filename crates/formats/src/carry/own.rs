//! The files of a session, as they travel in a session of another format.

use std::io::Read;

use rethread_disk::open_read;

use super::files::{name_below, with_agents};
use crate::{Agents, Conversation, OpenError, PartKind};

/// A file of a session, by its name below the folder that the format counts from.
pub type NamedFile<'a> = (String, Box<dyn Read + 'a>);

/// The files of a session, the main one first, and those of sub-agents. Rows of a database are a file
/// for each table, and those of a sub-agent are in a folder of their own.
pub fn own_files<'a>(
    conversation: &'a Conversation,
    agents: &'a Agents,
) -> Result<Vec<NamedFile<'a>>, OpenError> {
    let mut rows = row_files(conversation, "");
    if !rows.is_empty() {
        for (at, agent) in agents.read.iter().enumerate() {
            rows.extend(self::row_files(agent, &rows_folder(at)));
        }
        return Ok(rows);
    }
    let source = &conversation.source;
    let base = conversation.source.format.store().base_folder(source);
    let mut files: Vec<NamedFile<'_>> = Vec::new();
    for path in with_agents(conversation, agents)? {
        let name = name_below(Some(&base), &path);
        files.push((name, Box::new(open_read(&path)?)));
    }
    Ok(files)
}

/// The folder that the rows of a sub-agent travel in, with the line that ends it.
pub fn rows_folder(agent: usize) -> String {
    format!("agents/{agent}/")
}

fn row_files<'a>(conversation: &'a Conversation, folder: &str) -> Vec<NamedFile<'a>> {
    let parts = conversation.native.parts.iter();
    let row = parts.filter_map(|part| match part.kind {
        PartKind::Rows { table } => {
            let reader: Box<dyn Read + 'a> = Box::new(part.reader());
            Some((format!("{folder}{table}.jsonl"), reader))
        }
        PartKind::Lines | PartKind::Document | PartKind::Opaque => None,
    });
    row.collect()
}
