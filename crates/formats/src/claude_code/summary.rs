//! What a list shows of a session: one pass over its transcript, which parses only what matters.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::Path;

use memchr::memmem::Finder;
use rethread_disk::{open_read, open_sized};
use rethread_json::{LineSpan, Lines, Tree, Value};
use rethread_model::{Head, LinkKind, Summary};

use super::SLUG;
use super::counted::Counted;
use super::facts::Facts;
use super::glance::{Glance, glance};
use super::kinds::{Part, giant_part, part};
use super::meta::Meta;
use super::record::{GiantHead, Record};
use super::sniff::{is_ours, is_record};
use super::usage::Sum;
use crate::error::unreadable;
use crate::kit::{Flow, LogLine, LogVisitor, scan_log};
use crate::unusable::{cannot_be_opened, holds_no_record};
use crate::{OpenError, Source, Want};

/// What a list shows of a session.
pub(super) fn summarize(source: &Source, want: Want) -> Summary {
    let path = &source.path;
    let mut summary = Summary {
        path: path.clone(),
        head: Head {
            id: source.id.clone(),
            format: SLUG,
            ..Head::default()
        },
        ..Summary::default()
    };
    let file = open_sized(path).map_err(OpenError::from);
    let passed = file.and_then(|(file, len)| {
        summary.size = len;
        pass(&file, path, want).map_err(|e| unreadable(path, e))
    });
    match passed {
        Ok(Some(pass)) => {
            summary.head = pass.facts.head(path, &|id| holds(path, id));
            summary.counts = pass.facts.counts;
            summary.counts.usage = pass.facts.used();
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
    summary
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
    let Some(meta) = is_agent.then(|| Meta::beside(path)).flatten() else {
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

fn pass(file: &File, path: &Path, want: Want) -> io::Result<Option<Pass>> {
    let mut pass = Pass {
        facts: Facts::of_file(path),
        quick: !want.usage,
        is_ours: false,
        skipped: None,
    };
    pass.facts.sum = want.usage.then(Sum::default);
    pass.facts.counted = Some(Counted::default());
    scan_log(file, &mut pass)?;
    pass.last_skipped(file)?;
    Ok(pass.is_ours.then_some(pass))
}

struct Pass {
    facts: Facts,
    /// Whether records may be passed over without being parsed.
    quick: bool,
    is_ours: bool,
    /// The last record that was passed over: where and when the session ended.
    skipped: Option<LineSpan>,
}

impl LogVisitor<'_> for Pass {
    fn take_unparsed(&mut self, line: &LogLine<'_>, _tree: &mut Tree) -> Option<Flow> {
        let may_pass = self.quick && self.facts.has_begun();
        (may_pass && self.glance(line.span, line.bytes)).then_some(Flow::Continue(()))
    }

    fn object(&mut self, _line: &LogLine<'_>, value: Value<'_>) -> Flow {
        let record = Record::of(value);
        self.is_ours |= is_ours(value) == Some(true);
        let part = part(&record);
        if matches!(part, Part::Response(_)) || matches!(part, Part::Entry(k, _) if k.is_message())
        {
            self.skipped = None;
        }
        self.facts.add(value, &record, part);
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        let head = GiantHead::of(line.bytes);
        match giant_part(&head) {
            Some(Part::Response(_)) => {
                self.is_ours = true;
                self.facts
                    .count_response(head.message_id.as_deref(), None, 0);
            }
            Some(Part::Entry(kind, _)) if kind.is_message() => {
                self.is_ours = true;
                self.facts.count_result();
            }
            _ => {}
        }
        Flow::Continue(())
    }

    fn is_record(&self, value: Value<'_>) -> bool {
        is_record(value)
    }
}

impl Pass {
    /// Whether a record could be counted by its beginning.
    fn glance(&mut self, span: LineSpan, line: &[u8]) -> bool {
        match glance(line) {
            None => return false,
            Some(Glance::Progress) => return true,
            Some(Glance::Results) => self.facts.count_result(),
            Some(Glance::Response { id, model, calls }) => {
                self.facts.count_response(Some(id), Some(model), calls);
            }
        }
        self.skipped = Some(span);
        true
    }

    /// Where and when the session ended, from the last record that was passed over.
    fn last_skipped(&mut self, mut file: &File) -> io::Result<()> {
        let Some(span) = self.skipped else {
            return Ok(());
        };
        let mut line = Vec::new();
        file.seek(SeekFrom::Start(span.offset))?;
        file.take(span.len).read_to_end(&mut line)?;
        if let Ok(tree) = Tree::parse(&line) {
            let record = Record::of(tree.root(&line));
            self.facts.ended(&record);
        }
        Ok(())
    }
}
