//! What a list shows of a session: one pass over its transcript, which parses only what matters.

use std::path::Path;

use memchr::memmem::Finder;
use rethread_disk::{open_read, open_sized};
use rethread_json::Lines;
use rethread_model::{Head, LinkKind, Summary};

use super::SLUG;
use super::meta::AgentMeta;
use super::scan::TranscriptScan;
use crate::error::unreadable_file;
use crate::kit::{SaveScan, SavedScan, scan_question, scan_resumably};
use crate::unusable::{cannot_be_opened, holds_no_record};
use crate::{OpenError, Source, Want};

pub(super) fn summarize_with(
    source: &Source,
    want: Want,
    from: Option<&SavedScan>,
    save: SaveScan,
) -> (Summary, Option<SavedScan>) {
    let path = &source.path;
    let mut summary = source.new_summary();
    let mut saved = None;
    let file = open_sized(path).map_err(OpenError::from);
    let scanned = file.and_then(|(file, len)| {
        summary.size = len;
        let mut scan = TranscriptScan::of_list(path, want);
        let question = scan_question(SLUG, source, want);
        let facts = scan_resumably(&file, &question, &mut scan, from, save).and_then(|found| {
            saved = found;
            scan.finish(&file)
        });
        facts.map_err(|e| unreadable_file(path, e))
    });
    match scanned {
        Ok(Some(facts)) => {
            summary.head = facts.head(path, &|id| holds(path, id));
            summary.counts = facts.counts;
            summary.activity.clone_from(&facts.activity);
            summary.counts.usage = facts.used();
            describe(&mut summary.head, path);
            if summary.counts.messages == 0 {
                // A session begins with its first message; snapshots and progress come before it.
                (summary.head.created, summary.head.updated) = (None, None);
            }
        }
        // Clients of 2025 leave empty files whenever they resume, and list none of them.
        Ok(None) => holds_no_record(
            &mut summary,
            "not a session: no record of the client is in it",
        ),
        Err(e) => cannot_be_opened(&mut summary, &e),
    }
    (summary, saved)
}

/// Whether a record with this id is in a transcript. Only old ones are asked, which name what their
/// summaries describe.
fn holds(path: &Path, id: &str) -> bool {
    let Ok(file) = open_read(path) else {
        return false;
    };
    let spelled = [format!("\"uuid\":\"{id}\""), format!("\"uuid\": \"{id}\"")];
    let spelled = spelled.each_ref().map(Finder::new);
    let mut lines = Lines::new(file);
    while let Ok(Some(line)) = lines.next_line() {
        if spelled.iter().any(|s| s.find(line.head()).is_some()) {
            return true;
        }
    }
    false
}

/// What the file beside a sub-agent's transcript says.
fn describe(head: &mut Head, path: &Path) {
    let is_agent = head.links.iter().any(|l| l.kind == LinkKind::Parent);
    let Some(meta) = is_agent.then(|| AgentMeta::beside(path)).flatten() else {
        return;
    };
    head.agent.role.clone_from(&meta.agent_type);
    meta.name(head);
    for link in &mut head.links {
        if link.kind == LinkKind::Parent {
            link.tool_call.clone_from(&meta.tool_call);
        }
    }
}
