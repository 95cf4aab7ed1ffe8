//! What a list shows of a session: one pass over its file, which parses only lines that matter.

use rethread_disk::open_sized;
use rethread_model::Summary;

use super::Flavour;
use super::scan::SessionScan;
use crate::error::unreadable_file;
use crate::kit::{SaveScan, SavedScan, scan_question, scan_resumably};
use crate::unusable::{cannot_be_opened, holds_no_record};
use crate::{OpenError, Source, Want};

pub(super) fn summarize_with(
    flavour: &Flavour,
    source: &Source,
    want: Want,
    from: Option<&SavedScan>,
    save: SaveScan,
) -> (Summary, Option<SavedScan>) {
    let path = &source.path;
    let mut summary = source.new_summary();
    let file = open_sized(path).map_err(OpenError::from);
    let mut scan = SessionScan::of_list(want);
    let scanned = file.and_then(|(file, len)| {
        summary.size = len;
        let question = scan_question(flavour.slug, source, want);
        let saved = scan_resumably(&file, &question, &mut scan, from, save);
        saved.map_err(|e| unreadable_file(path, e))
    });
    let mut saved = None;
    match scanned {
        Ok(found) => {
            saved = found;
            let SessionScan { header, facts, .. } = scan;
            let Some(header) = header else {
                holds_no_record(&mut summary, "not a session: its first value is no header");
                return (summary, None);
            };
            summary.notes.extend(header.note(path));
            summary.head = header.head(flavour, path);
            facts.fill(&mut summary.head, path);
            summary.counts = facts.counts;
            summary.activity = facts.activity;
        }
        Err(e) => cannot_be_opened(&mut summary, &e),
    }
    (summary, saved)
}
