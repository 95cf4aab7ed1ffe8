//! A ledger and a list count the same of a session.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::{FORMATS, Source, Want, summarize};
use rethread_model::{State, Visibility};
use rethread_stats::{SessionLedger, TokenCounts, load_ledger, record_session, save_ledger};

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

/// What a session itself used: without what it inherited.
fn own_tokens(ledger: &SessionLedger) -> TokenCounts {
    let mut sum = TokenCounts::default();
    for row in ledger.responses.iter().filter(|row| !row.is_inherited) {
        sum += row.tokens;
    }
    sum
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
    let counted = own_tokens(&ledger);
    let messages: u64 = ledger.spans.iter().map(|span| span.messages).sum();
    let place = format!("{}#{}", source.path.display(), source.id);
    // What an agent added up itself may be more than its responses tell.
    let is_sum = !summary.head.recorded_usage.is_empty() && counted.total() < listed.total();
    let is_renamed = counted.total() == 0 && ledger.is_all_inherited;
    if counted != listed && !is_sum && !is_renamed {
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
