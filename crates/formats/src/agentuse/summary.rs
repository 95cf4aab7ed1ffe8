//! What a list shows of a session: its description, and the names of its files.

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, OpenFolder, open_read, read_small};
use rethread_json::{LineBytes, Lines, Tree};
use rethread_model::{ConvertedFrom, Counts, Head, Note, State, Summary, Usage};

use super::carry::OURS;
use super::files::{ExchangeFiles, Names, SessionFiles};
use super::info;
use super::layout::SESSION_JSON;
use super::load::{LoadedExchange, MessageFacts, Says, failed, object};
use crate::carry::converted_from;
use crate::{Source, Want};

/// What a list shows of a session. Messages and parts are opened only where usage is wanted.
pub(super) fn summarize(source: &Source, want: Want) -> Summary {
    let folder = &source.path;
    let mut summary = Summary {
        path: folder.clone(),
        ..Summary::default()
    };
    let mut tree = Tree::default();
    let is_brief = !want.usage && !want.size;
    let looked = is_brief.then(|| Names::look(folder));
    let at_hand = looked.as_ref().and_then(|looked| looked.as_ref().ok());
    match description(source, at_hand, &mut tree) {
        Ok(head) => summary.head = head,
        Err(unusable) => {
            summary.head = info::head_by_name(folder, &source.id);
            let (state, note) = *unusable;
            summary.state = state;
            summary.notes.push(note);
        }
    }
    let carries = at_hand.is_none_or(|(names, _)| names.carries);
    if carries {
        summary.head.converted_from = first_carried(&folder.join(OURS));
    }
    let filled = match looked {
        Some(looked) => looked.map(|(names, _)| count_names(&mut summary, &names)),
        None => SessionFiles::scan(folder).map(|files| fill(&mut summary, files, want, &mut tree)),
    };
    if let Err(e) = filled {
        summary.notes.push(Note::damage(e.to_string()));
    }
    summary
}

/// The session that this one was converted from: the first line of what travels along says it.
fn first_carried(path: &Path) -> Option<ConvertedFrom> {
    let mut lines = Lines::new(open_read(path).ok()?);
    let line = lines.next_line().ok()??;
    let LineBytes::Whole(bytes) = line.bytes else {
        return None;
    };
    converted_from(Tree::parse(bytes).ok()?.root(bytes))
}

/// What describes a session, from its folder where that is at hand.
fn description(
    source: &Source,
    at_hand: Option<&(Names, OpenFolder)>,
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
        e if e.io().is_some() => (State::Unreadable, failed(&path, &e)),
        e => (State::Damaged, failed(&path, &e)),
    })?;
    let root = object(&bytes, tree).map_err(|note| (State::Damaged, note.at(&path)))?;
    Ok(info::head(root, folder, &source.id))
}

fn fill(summary: &mut Summary, mut files: SessionFiles, want: Want, tree: &mut Tree) {
    summary.size = files.size();
    summary.notes.append(&mut files.notes);
    if !want.usage {
        let has_parts = |e: &&ExchangeFiles| !e.parts.is_empty();
        let names = Names {
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
    for exchange in files.exchanges {
        let exchange = LoadedExchange::load(exchange, tree, &mut summary.notes);
        count(&mut summary.counts, &exchange);
        if let Some(ms) = exchange.facts.as_ref().and_then(MessageFacts::duration_ms) {
            let before = summary.head.duration_ms.unwrap_or(0);
            summary.head.duration_ms = Some(before.saturating_add(ms));
        }
        usage += &exchange.usage();
    }
    summary.counts.usage = Some(usage);
}

fn add_children(summary: &mut Summary, children: &[PathBuf]) {
    let links = children.iter().filter_map(|f| info::link_to_child(f));
    summary.head.links.extend(links);
}

/// What names tell: an exchange is a prompt, and an answer once it has parts.
fn count_names(summary: &mut Summary, names: &Names) {
    add_children(summary, &names.children);
    let counts = &mut summary.counts;
    counts.user_messages = names.exchanges;
    counts.assistant_messages = names.answered;
    counts.messages = names.exchanges + names.answered;
}

/// The same of an exchange that was read, with the calls of tools.
fn count(counts: &mut Counts, exchange: &LoadedExchange) {
    let parts = || exchange.parts.iter().filter_map(|p| p.facts.as_ref());
    let facts = exchange.facts.as_ref();
    let said = parts().any(|p| p.says == Says::Answer);
    let answered = said || facts.is_some_and(MessageFacts::is_answered);
    let users = parts().filter(|p| p.says == Says::User).count() as u64;
    counts.user_messages += u64::from(facts.is_some()) + users;
    counts.assistant_messages += u64::from(answered);
    counts.messages = counts.user_messages + counts.assistant_messages;
    counts.tool_calls += parts().filter(|p| p.is_tool).count() as u64;
}
