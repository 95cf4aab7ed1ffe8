//! Reading a session in one pass over its transcript.

use std::path::Path;

use rethread_disk::{SafeName, join, open_sized, read_small};
use rethread_model::{Link, LinkKind, Note, RawRef, Role, SessionBuilder, Summary};

use super::build::build_session;
use super::meta::AgentMeta;
use super::nodes::LinkDamage;
use super::said::OPEN;
use super::scan::TranscriptScan;
use super::store::{TranscriptName, agents_of, meta_file, source_at};
use super::summary::summarize_with;
use super::{ClaudeCode, FORMAT, SLUG};
use crate::kit::{SaveScan, SourcePos, read_log};
use crate::{BodyReader, Conversation, Native, OpenError, Part, SavedScan, Source, Want};

/// The transcript among the parts.
pub(super) const TRANSCRIPT: u32 = 0;
/// What describes a sub-agent, among the parts.
const META: u32 = 1;

impl crate::Reader for ClaudeCode {
    /// What a list shows of a session.
    fn summarize(&self, source: &Source, want: Want) -> Summary {
        summarize_with(source, want, None, SaveScan::Never).0
    }

    /// What a list shows of a session, going on from where an earlier scan of it ended; and where the next
    /// one can go on.
    fn summarize_from(
        &self,
        source: &Source,
        want: Want,
        from: Option<&SavedScan>,
    ) -> (Summary, Option<SavedScan>) {
        summarize_with(source, want, from, SaveScan::Always)
    }

    /// Reads a session.
    fn read(&self, source: &Source) -> Result<Conversation, OpenError> {
        let path = &source.path;
        let (file, len) = open_sized(path)?;
        let transcript = Part::lines_in(source.window, path.clone(), file, len);
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
                let Some(TranscriptName::Agent(id)) = TranscriptName::of(&agent) else {
                    continue;
                };
                let call = AgentMeta::beside(&agent).and_then(|m| m.tool_call);
                facts.agent(&id, call.as_deref());
            }
        }
        let (mut builder, wrong) = build_session(thread.nodes, &facts, path, thread.builder);
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

    fn bodies(&self) -> &dyn BodyReader {
        self
    }

    /// The sub-agents of a session: those in its own folder, and those beside it that it names and that
    /// name it, as versions 2.0 keep them.
    fn subagents(&self, session: &Conversation) -> Vec<Source> {
        let path = &session.source.path;
        if matches!(TranscriptName::of(path), Some(TranscriptName::Agent(_))) {
            return Vec::new();
        }
        let agents = agents_of(path).into_iter();
        let mut agents: Vec<Source> = agents
            .filter_map(|path| Some(source_at(TranscriptName::of(&path)?, path)))
            .collect();
        let head = &session.session.head;
        for link in head.links.iter().filter(|l| l.kind == LinkKind::SubAgent) {
            let name = SafeName::new(&format!("agent-{}.jsonl", link.session));
            let beside = name.ok().zip(path.parent());
            let beside = beside.map(|(name, folder)| join(folder, &name));
            let Some(beside) = beside.filter(|file| file.is_file()) else {
                continue;
            };
            let beside = Source::new(FORMAT, link.session.clone(), beside);
            let links = self.summarize(&beside, Want::default()).head.links;
            let is_ours = |l: &Link| l.kind == LinkKind::Parent && l.session == head.id;
            if links.iter().any(is_ours) && agents.iter().all(|a| a.id != beside.id) {
                agents.push(beside);
            }
        }
        agents
    }

    fn is_own_frame(&self, role: Role, text: &str) -> bool {
        role == Role::System || text.trim_start().starts_with(OPEN)
    }
}

/// What describes a sub-agent, as a part.
fn meta_part(transcript: &Path, notes: &mut Vec<Note>) -> Option<(Part, AgentMeta)> {
    let path = meta_file(transcript);
    let is_agent = matches!(
        TranscriptName::of(transcript),
        Some(TranscriptName::Agent(_))
    );
    if !is_agent || !path.is_file() {
        return None;
    }
    match read_small(&path) {
        Ok(bytes) => {
            let meta = AgentMeta::of(&bytes);
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
fn fill(builder: &mut SessionBuilder, meta: &AgentMeta) {
    let head = builder.head();
    head.agent.role.clone_from(&meta.agent_type);
    meta.name(head);
    for link in &mut head.links {
        if link.kind == LinkKind::Parent {
            link.tool_call.clone_from(&meta.tool_call);
        }
    }
}

fn wrong_link(path: &Path, at: SourcePos, wrong: &LinkDamage) -> Note {
    let note = match wrong {
        LinkDamage::Missing(true) => {
            Note::damage("its parent is missing; it follows what stands before it")
        }
        LinkDamage::Missing(false) => Note::damage("its parent is missing; it counts as a root"),
        LinkDamage::Circle => {
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
