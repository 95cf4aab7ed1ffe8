//! What a list shows of a session: its description, and the names of its files.

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, OpenFolder, open_read, read_small};
use rethread_json::{LineBytes, Lines, Tree};
use rethread_model::{ConvertedFrom, Head, Note, Role, State, Summary, Usage};

use super::files::{ExchangeFiles, FileNames, FilesHere};
use super::info;
use super::load::{LoadedExchange, MessageFacts, parse_object, unreadable_note};
use super::store::SESSION_JSON;
use crate::carry::converted_from;
use crate::times::Times;
use crate::{Source, Want};

/// The session that this one was converted from: the first line of what travels along says it.
pub(super) fn first_carried(path: &Path) -> Option<ConvertedFrom> {
    let mut lines = Lines::new(open_read(path).ok()?);
    let line = lines.next_line().ok()??;
    let LineBytes::Whole(bytes) = line.bytes else {
        return None;
    };
    converted_from(Tree::parse(bytes).ok()?.root(bytes))
}

/// What describes a session, from its folder where that is at hand.
pub(super) fn read_description(
    source: &Source,
    at_hand: Option<&(FileNames, OpenFolder)>,
    tree: &mut Tree,
) -> Result<Head, Box<(State, Note)>> {
    let folder = &source.path;
    let path = folder.join(SESSION_JSON);
    let bytes = match at_hand {
        Some((names, open)) if names.described => open.read_small(SESSION_JSON.as_ref()),
        Some(_) => Err(DiskError::NotFound { path: path.clone() }),
        None => read_small(&path),
    };
    let bytes = bytes.map_err(|e| match e {
        DiskError::NotFound { .. } => {
            let note = Note::damage(format!("no `{SESSION_JSON}`")).at(folder);
            (State::Damaged, note)
        }
        e if e.io().is_some() => (State::Unreadable, unreadable_note(&path, &e)),
        e => (State::Damaged, unreadable_note(&path, &e)),
    })?;
    let root = parse_object(&bytes, tree).map_err(|note| (State::Damaged, note.at(&path)))?;
    Ok(info::session_head(root, folder, &source.id))
}

pub(super) fn fill_summary(
    summary: &mut Summary,
    mut files: FilesHere,
    want: Want,
    tree: &mut Tree,
) {
    summary.size = files.size();
    summary.notes.append(&mut files.notes);
    if !want.usage {
        let has_parts = |e: &&ExchangeFiles| !e.parts.is_empty();
        let names = FileNames {
            described: files.description.is_some(),
            carries: false,
            exchanges: files.exchanges.len() as u64,
            answered: files.exchanges.iter().filter(has_parts).count() as u64,
            children: files.children,
        };
        return count_names(summary, &names);
    }
    add_children(summary, &files.children);
    let mut usage = Usage::default();
    let mut times = Times::default();
    for exchange in files.exchanges {
        let exchange = LoadedExchange::load(exchange, tree, &mut summary.notes);
        count(summary, &mut times, &exchange);
        if let Some(ms) = exchange.facts.as_ref().and_then(MessageFacts::duration_ms) {
            let before = summary.head.duration_ms.unwrap_or(0);
            summary.head.duration_ms = Some(before.saturating_add(ms));
        }
        usage += &exchange.usage();
    }
    times.fill(&mut summary.head);
    summary.counts.usage = Some(usage);
}

fn add_children(summary: &mut Summary, children: &[PathBuf]) {
    let links = children.iter().filter_map(|f| info::link_to_child(f));
    summary.head.links.extend(links);
}

/// What names tell: an exchange is a prompt, and an answer once it has parts.
pub(super) fn count_names(summary: &mut Summary, names: &FileNames) {
    add_children(summary, &names.children);
    let counts = &mut summary.counts;
    counts.user_messages = names.exchanges;
    counts.assistant_messages = names.answered;
    counts.messages = names.exchanges + names.answered;
}

/// Counts what is in an exchange that was read.
fn count(summary: &mut Summary, times: &mut Times, exchange: &LoadedExchange) {
    let Summary {
        counts, activity, ..
    } = summary;
    for message in exchange.messages() {
        counts.messages += 1;
        match message.role {
            Role::User => counts.user_messages += 1,
            Role::Assistant => counts.assistant_messages += 1,
            Role::System | Role::Tool => {}
        }
        times.add(message.time);
        activity.add_message(message.time);
    }
    let parts = exchange.parts.iter().filter_map(|p| p.facts.as_ref());
    counts.tool_calls += parts.filter(|p| p.is_tool).count() as u64;
}
