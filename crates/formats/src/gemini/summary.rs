//! What a list shows of a session.

use rethread_model::{Head, Summary};

use super::facts::{counts, head};
use super::scan::scan;
use super::sniff::What;
use super::{SLUG, layout};
use crate::kit::ScanDepth;
use crate::unusable::{document_unusable, holds_no_record};
use crate::{OpenError, Source, Want, buffer};

/// What a list shows of a session.
pub(super) fn summarize(source: &Source, want: Want) -> Summary {
    let path = &source.path;
    let look = ScanDepth::of_list(want.usage);
    let mut summary = Summary {
        path: path.clone(),
        head: Head {
            id: source.id.clone(),
            format: SLUG,
            ..Head::default()
        },
        ..Summary::default()
    };
    match scan(path, look) {
        Ok(found) => {
            summary.size = found.part.len();
            summary.head = head(path, &source.id, &found);
            summary.head.hidden |= found.what == What::Prompts;
            summary.counts = counts(&found.replay, want.usage);
            buffer::give(found.part.into_held().unwrap_or_default());
        }
        Err(OpenError::NotOurs { .. }) => {
            holds_no_record(&mut summary, "not a session: nothing in it is a message");
        }
        Err(e) => document_unusable(&mut summary, &e),
    }
    let outputs = layout::outputs(path, &summary.head.id);
    let sizes = outputs.iter().filter_map(|p| std::fs::metadata(p).ok());
    summary.size += sizes.map(|m| m.len()).sum::<u64>();
    summary
}
