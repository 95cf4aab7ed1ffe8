//! Reading a session in one pass over its transcript.

use std::path::Path;

use rethread_disk::{open_sized, read_small};
use rethread_model::{Link, LinkKind, Note, RawRef, SessionBuilder};

use super::SLUG;
use super::build::build;
use super::layout::{Named, agents_of, meta_file};
use super::meta::Meta;
use super::nodes::Wrong;
use super::scan::TranscriptScan;
use crate::kit::{SourcePos, read_log};
use crate::{Conversation, Native, OpenError, Part, Source};

/// The transcript among the parts.
pub(super) const TRANSCRIPT: u32 = 0;
/// What describes a sub-agent, among the parts.
const META: u32 = 1;

/// Reads a session.
pub(super) fn read(source: &Source) -> Result<Conversation, OpenError> {
    let path = &source.path;
    let (file, len) = open_sized(path)?;
    let transcript = Part::lines(path.clone(), file, len);
    let mut scan = TranscriptScan::whole(path);
    read_log(&transcript, &mut scan)?;
    let TranscriptScan {
        mut facts,
        is_ours: true,
        thread: Some(thread),
        ..
    } = scan
    else {
        return Err(OpenError::NotOurs {
            path: path.clone(),
            format: SLUG,
        });
    };
    let records = thread.records;
    let mut notes = records.notes;
    let mut parts = vec![transcript.with_records(records.marks)];
    let meta = meta_part(path, &mut notes);
    if !thread.is_agent {
        for agent in agents_of(path) {
            let Some(Named::Agent(id)) = Named::of(&agent) else {
                continue;
            };
            let call = Meta::beside(&agent).and_then(|m| m.tool_call);
            facts.agent(&id, call.as_deref());
        }
    }
    let (mut builder, wrong) = build(thread.nodes, &facts, path, thread.builder);
    for raw in records.unclaimed {
        builder.unclaimed(raw);
    }
    if let Some((part, meta)) = meta {
        fill(&mut builder, &meta);
        parts.push(part);
        builder.unclaimed(RawRef {
            part: META,
            record: 0,
        });
    }
    notes.extend(wrong.iter().map(|(at, wrong)| wrong_link(path, *at, wrong)));
    notes.sort_by_key(|n| n.offset);
    Ok(Conversation {
        source: source.clone(),
        native: Native { parts },
        session: builder.finish(),
        notes,
    })
}

/// What describes a sub-agent, as a part.
fn meta_part(transcript: &Path, notes: &mut Vec<Note>) -> Option<(Part, Meta)> {
    let path = meta_file(transcript);
    let is_agent = matches!(Named::of(transcript), Some(Named::Agent(_)));
    if !is_agent || !path.is_file() {
        return None;
    }
    match read_small(&path) {
        Ok(bytes) => {
            let meta = Meta::of(&bytes);
            if meta.is_none() {
                notes.push(Note::damage("not a JSON object; ignored").at(&path));
            }
            Some((Part::document(path, bytes), meta.unwrap_or_default()))
        }
        Err(e) => {
            notes.push(Note::damage(e.to_string()).at(&path));
            None
        }
    }
}

/// What the file beside a sub-agent's transcript says.
fn fill(builder: &mut SessionBuilder, meta: &Meta) {
    let head = builder.head();
    head.agent.role.clone_from(&meta.agent_type);
    meta.name(head);
    for link in &mut head.links {
        if link.kind == LinkKind::Parent {
            link.tool_call.clone_from(&meta.tool_call);
        }
    }
}

fn wrong_link(path: &Path, at: SourcePos, wrong: &Wrong) -> Note {
    let note = match wrong {
        Wrong::Missing(true) => {
            Note::damage("its parent is missing; it follows what stands before it")
        }
        Wrong::Missing(false) => Note::damage("its parent is missing; it counts as a root"),
        Wrong::Circle => {
            return Note::damage("parents form a circle; the first of them counts as a root")
                .at(path);
        }
    };
    at.note(note, path)
}

/// The sub-agent that a call of a tool started.
pub(super) fn child_of_call(links: &[Link], call: &str) -> Option<String> {
    let started = |l: &&Link| l.kind == LinkKind::SubAgent && l.tool_call.as_deref() == Some(call);
    links.iter().find(started).map(|l| l.session.clone())
}
