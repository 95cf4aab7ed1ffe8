//! Writing one message anew, for example when a tool call went from running to completed.

use rethread_json::{LineSpan, Lines, Tree};
use rethread_model::Moment;

use super::Atsf;
use super::append::OpenThread;
use super::call_ids::refuse_known_calls;
use super::message::{ThreadMessageHead, message_head};
use super::prepare::prepare_line;
use super::splice::{LineChange, splice_lines};
use super::tally::{LogTally, each_object};
use crate::error::read_failed;
use crate::{Appended, Editor, EntryRef, MessageInput, Source, WriteError, Writing};

impl Editor for Atsf {
    /// Writes one message anew. It keeps its id, and its time unless another is given.
    fn replace(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &EntryRef,
        message: &MessageInput,
    ) -> Result<Appended, WriteError> {
        let mut thread = OpenThread::lock(w, source)?;
        let mut tally = thread.tally()?;
        let found = find(&thread, entry)?;
        let model = thread.default_model();
        let mut defaults = thread.defaults(model, found.span.offset);
        let time = found.head.time_text.as_deref().and_then(Moment::in_utc);
        defaults.replaces = Some((entry.id.clone(), time));
        let mut one = [prepare_line(message, &defaults)];
        let place = Some(found.span.offset);
        refuse_known_calls(&thread.log, std::slice::from_ref(message), &mut one, place)?;
        let [prepared] = one;
        let mut prepared = prepared?;
        for output in std::mem::take(&mut prepared.outputs) {
            let (line, _) = output.written_into(&prepared.line).ok_or_else(|| {
                let why = format!("it has a result for `{}`, but not the call", output.call_id);
                WriteError::BadMessage { line: None, why }
            })?;
            prepared.line = line;
        }
        if prepared.line.is_empty() {
            let why = "a message of tool results alone cannot replace another".to_owned();
            return Err(WriteError::BadMessage { line: None, why });
        }
        for asset in &prepared.assets {
            asset.save(w, thread.folder, thread.mode)?;
        }
        let mut change = LineChange::of(&thread.log, found.span)?;
        change.line.clone_from(&prepared.line);
        let was_last = found.is_last;
        splice_lines(w, &mut thread.log, [change])?;
        tally.subtract(&found.head);
        recount(&mut tally, &prepared.heads, was_last);
        thread.save_manifest(&tally);
        Ok(Appended {
            ids: vec![Ok(prepared.id)],
            notes: thread.notes,
        })
    }
}

/// Counts the message again; only the last one says when the thread was updated.
fn recount(tally: &mut LogTally, heads: &[ThreadMessageHead], was_last: bool) {
    let before = tally.last_time.clone();
    for head in heads {
        tally.add(head);
    }
    if !was_last {
        tally.last_time = before;
    }
}

struct FoundLine {
    span: LineSpan,
    head: ThreadMessageHead,
    is_last: bool,
}

/// The line of the entry: where it was found, if it is still there, else the last with its id.
fn find(thread: &OpenThread<'_>, entry: &EntryRef) -> Result<FoundLine, WriteError> {
    let path = thread.log.path();
    let failed = read_failed(path);
    let mut lines = Lines::new(thread.log.reader(0));
    let mut tree = Tree::default();
    let mut best: Option<FoundLine> = None;
    let mut last_offset = 0;
    while let Some(line) = lines.next_line().map_err(failed)? {
        let Some(bytes) = line.whole() else { continue };
        let mut heads = Vec::new();
        each_object(bytes, &mut tree, |value| heads.push(message_head(value)));
        if !heads.is_empty() {
            last_offset = line.span.offset;
        }
        // A line with several values cannot be replaced without losing the others.
        let [one] = heads.as_slice() else { continue };
        let fits = one.id.as_deref().unwrap_or_default() == entry.id;
        let exact = best.as_ref().is_some_and(|b| b.span.offset == entry.offset);
        if fits && !exact {
            best = Some(FoundLine {
                span: line.span,
                head: one.clone(),
                is_last: false,
            });
        }
    }
    let mut found = best.ok_or_else(|| WriteError::NoEntry {
        id: entry.id.clone(),
        path: path.to_owned(),
    })?;
    found.is_last = found.span.offset == last_offset;
    Ok(found)
}
