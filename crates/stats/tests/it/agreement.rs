//! A ledger and a list count the same of a session.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use rethread_formats::{FORMATS, Source, Want, summarize};
use rethread_model::{State, Summary, Visibility};
use rethread_stats::{
    GroupBy, PriceTable, SessionLedger, StatsRequest, StatsSession, TokenCounts, load_ledger,
    record_session, report_stats, save_ledger,
};

/// All sessions in the files below a folder.
fn sessions(folder: &Path) -> Vec<Source> {
    let at = |path: &Path| {
        FORMATS
            .iter()
            .flat_map(|f| f.store().at_path(path))
            .collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                let files = ["thread.json", "session.json"];
                if files.iter().any(|name| path.join(name).is_file()) {
                    found.extend(at(&path));
                }
                folders.push(path);
            } else {
                found.extend(at(&path));
            }
        }
    }
    found.sort_by(|a, b| (&a.path, &a.id).cmp(&(&b.path, &b.id)));
    found.dedup();
    found
}

fn folders() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let corpus = rethread_judges::corpus_if_any();
    std::iter::once(fixtures).chain(corpus).collect()
}

/// What is counted of a session that is alone.
fn counted_tokens(summary: &Summary, ledger: &SessionLedger) -> TokenCounts {
    let bytes = save_ledger(ledger);
    let sessions = [StatsSession {
        summary,
        ledger: &bytes,
        root: 0,
    }];
    let request = StatsRequest {
        by: GroupBy::Day,
        since: None,
        until: None,
        takes_model: &|_| true,
        takes_session: &|_| true,
        workspace_of: &|_| None,
        zone: &TimeZone::UTC,
        explained: 0,
    };
    let report = report_stats(&sessions, &mut PriceTable::default(), &request);
    report.total.tokens
}

fn difference(source: &Source) -> Option<String> {
    let summary = summarize(source, Want::WHOLE);
    if !matches!(summary.state, State::Ready | State::Empty) {
        return None;
    }
    let conversation = source.format.reader().read(source).ok()?;
    let ledger = record_session(&conversation);
    assert_eq!(load_ledger(&save_ledger(&ledger)).as_ref(), Some(&ledger));
    let usage = summary.counts.usage?;
    let listed = TokenCounts {
        input: usage.input,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        cache_write_1h: usage.cache_write_1h,
        output: usage.output,
        reasoning: usage.reasoning,
    };
    let counted = counted_tokens(&summary, &ledger);
    let messages: u64 = ledger.spans.iter().map(|span| span.messages).sum();
    let place = format!("{}#{}", source.path.display(), source.id);
    // What was inherited counts here only because nobody else is there.
    let has_inherited = ledger.responses.iter().any(|row| row.is_inherited);
    // Sums that an agent kept itself are not used where responses tell more.
    let has_sum = !summary.head.recorded_usage.is_empty();
    let may_be_more = has_inherited || has_sum;
    if counted != listed && !(may_be_more && counted.total() > listed.total()) {
        return Some(format!(
            "{place}: {counted:?} is not {listed:?} {:?}",
            ledger.oddities
        ));
    }
    // Lists tell what each file has: also what a fork repeats, answers that were written anew, and not
    // what was only shown.
    let session = &conversation.session;
    let mut seen = HashSet::new();
    let is_told_otherwise = session.indexed().any(|(ix, entry)| {
        let is_repeated = session.usage_key(ix).is_some_and(|key| !seen.insert(key));
        entry.inherited || entry.visibility == Visibility::UiOnly || is_repeated
    });
    if messages != summary.counts.messages && !is_told_otherwise {
        return Some(format!(
            "{place}: {messages} messages, not {}",
            summary.counts.messages
        ));
    }
    None
}

#[test]
fn ledgers_count_what_lists_count() {
    for folder in folders() {
        let all = sessions(&folder);
        let found: Vec<String> = all.iter().filter_map(difference).collect();
        assert!(
            found.is_empty(),
            "{} of {} differ:\n{}",
            found.len(),
            all.len(),
            found.join("\n")
        );
    }
}
