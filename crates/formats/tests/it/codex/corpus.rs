//! Real sessions, where a folder of them is at hand: `RETHREAD_CORPUS`.

use std::path::{Path, PathBuf};

use rethread_formats::codex::{Care, FORMAT, record_type};
use rethread_formats::{Conversation, Source, Want};
use rethread_model::{Bodies, Body, Kind, Role, Usage, Visibility};

/// All files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The files of this client that are at hand: its own folder, what it recorded, and one that stands
/// among another's.
fn corpus() -> Option<Vec<PathBuf>> {
    let corpus = rethread_judges::corpus()?;
    let recorded = files(&corpus.join("recorded"));
    let is_ours = |p: &PathBuf| {
        let mut names = p.strip_prefix(&corpus).unwrap().components().skip(1);
        names.any(|n| n.as_os_str().to_string_lossy().starts_with("codex-"))
    };
    let stray =
        files(&corpus.join("claude-code/ryoppippi+ccusage/apps/ccusage/test/fixtures/codex"));
    let mut all = files(&corpus.join("codex"));
    all.extend(recorded.into_iter().filter(is_ours));
    all.extend(stray);
    assert!(all.len() > 60, "{}", all.len());
    Some(all)
}

fn source(path: &Path) -> Option<Source> {
    let mut sources = FORMAT.store().at_path(path);
    assert!(sources.len() < 2, "{}", path.display());
    sources.pop()
}

/// Checks that nothing of a session is lost.
fn assert_lossless(conversation: &Conversation) {
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let original = std::fs::read(&part.path).unwrap();
        if !part.borrowed {
            let mut saved = Vec::new();
            conversation.native.save(number, &mut saved).unwrap();
            assert!(saved == original, "{}", part.path.display());
        }
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        let len = usize::try_from(part.len()).unwrap();
        assert!(
            tiled == original[..len],
            "records tile {}",
            part.path.display()
        );
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
}

#[test]
fn every_real_session_is_read_and_saved_byte_for_byte() {
    let Some(files) = corpus() else { return };
    let mut not_ours = Vec::new();
    for path in files {
        let Some(source) = source(&path) else {
            not_ours.push(path.file_name().unwrap().to_owned());
            continue;
        };
        let conversation = FORMAT.reader().read(&source).unwrap();
        assert_eq!(conversation.notes, [], "{}", path.display());
        assert_lossless(&conversation);
        let session = &conversation.session;
        for (ix, entry) in session.indexed() {
            let body = conversation.body(ix);
            assert_eq!(
                matches!(body, Body::Message(_)),
                entry.kind.is_message(),
                "{}: {ix:?} {body:?}",
                path.display()
            );
        }
        // A list says the same as a reader.
        let summary = FORMAT.reader().summarize(&source, Want::default());
        assert_eq!(summary.notes, [], "{}", path.display());
        let count = |fits: &dyn Fn(Role) -> bool| {
            let messages = session.indexed().filter(|(_, e)| {
                let is_item = e.visibility != Visibility::UiOnly;
                // What a sub-agent was given counts with its parent.
                let is_item = is_item && !(e.inherited && summary.is_subagent());
                is_item && matches!(e.kind, Kind::Message(role) if fits(role))
            });
            messages.count() as u64
        };
        let counts = summary.counts;
        assert_eq!(counts.messages, count(&|_| true), "{}", path.display());
        assert_eq!(
            counts.user_messages,
            count(&|r| r == Role::User),
            "{}",
            path.display()
        );
        assert_eq!(
            counts.assistant_messages,
            count(&|r| r == Role::Assistant),
            "{}",
            path.display()
        );
        let head = &session.head;
        assert_eq!(summary.head.id, head.id);
        assert_eq!(summary.head.updated, head.updated, "{}", path.display());
        assert_eq!(summary.head.model, head.model, "{}", path.display());
        assert_eq!(summary.head.workspace, head.workspace);
        let with_usage = FORMAT.reader().summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        );
        assert_eq!(with_usage.counts.messages, counts.messages);
        assert_eq!(
            counted(&with_usage.counts.usage.unwrap()),
            counted(&usage(&conversation)),
            "{}",
            path.display()
        );
    }
    assert_eq!(not_ours, ["history.jsonl", "codex_history.jsonl"]);
}

fn counted(u: &Usage) -> [u64; 5] {
    [u.input, u.cache_read, u.cache_write, u.output, u.reasoning]
}

/// What the entries of a session count, each response once, without what it was forked from.
fn usage(conversation: &Conversation) -> Usage {
    let session = &conversation.session;
    let mut sum = Usage::default();
    let mut seen = std::collections::HashSet::new();
    for (ix, entry) in session.indexed().filter(|(_, e)| !e.inherited) {
        let is_new = session.usage_key(ix).is_none_or(|key| seen.insert(key));
        let usage = match conversation.body(ix) {
            Body::Message(message) => message.usage,
            Body::Usage(record) => Some(record.usage),
            _ => None,
        };
        if let (Some(usage), true) = (usage, is_new) {
            sum += &usage;
        }
        assert!(entry.usage_key.is_none() || usage.is_some());
    }
    sum
}

/// No words of the person or the model were shown that the model's stream does not have. One file
/// was put together from single records of many.
#[test]
fn the_two_streams_become_one() {
    let Some(files) = corpus() else { return };
    let (mut all, mut alone) = (0, Vec::new());
    for path in files {
        let Some(source) = source(&path) else {
            continue;
        };
        if path.ends_with("stage0/agents/codex/small.jsonl") {
            continue;
        }
        let conversation = FORMAT.reader().read(&source).unwrap();
        for (ix, entry) in conversation.session.indexed() {
            all += usize::from(entry.kind.is_message());
            if entry.kind.is_message() && entry.visibility == Visibility::UiOnly {
                alone.push((path.clone(), ix));
            }
        }
    }
    assert!(all > 3000, "{all}");
    assert_eq!(alone, []);
}

#[test]
fn our_totals_are_those_that_the_client_recorded() {
    let Some(files) = corpus() else { return };
    let mut compared = 0;
    for path in files {
        let Some(source) = source(&path) else {
            continue;
        };
        let conversation = FORMAT.reader().read(&source).unwrap();
        let Some(recorded) = conversation.session.head.recorded_usage.first() else {
            continue;
        };
        // The client's total goes on from that of the session that it was forked from.
        let mut sum = usage(&conversation);
        for (ix, entry) in conversation.session.indexed() {
            let usage = match conversation.body(ix) {
                Body::Message(message) if entry.inherited => message.usage,
                _ => None,
            };
            sum += &usage.unwrap_or_default();
        }
        // Made by hand: totals that no responses add up to.
        let is_real = !path.to_string_lossy().contains("fixtures")
            && !path.to_string_lossy().contains("Fixtures");
        if is_real {
            let recorded = counted(&recorded.usage);
            assert_eq!(counted(&sum), recorded, "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared}");
}

#[test]
fn a_response_counts_once_across_files() {
    let Some(files) = corpus() else { return };
    let mut responses = std::collections::BTreeMap::new();
    let mut total = 0;
    for path in files {
        let is_recorded = path.to_string_lossy().contains("codex-0.166.0-")
            && !path.to_string_lossy().contains("-raw");
        let Some(source) = source(&path).filter(|_| is_recorded) else {
            continue;
        };
        total += usage(&FORMAT.reader().read(&source).unwrap()).total();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let value = rethread_json::Document::parse(line.as_bytes().to_vec()).unwrap();
            let root = value.root();
            if root
                .get("type")
                .is_some_and(|t| t.is_str("token_usage_record"))
            {
                let id = root.at(&["payload", "response_id"]).unwrap().str().unwrap();
                let tokens = root
                    .at(&["payload", "usage", "total_tokens"])
                    .unwrap()
                    .u64();
                responses.insert(id.into_owned(), tokens.unwrap());
            }
        }
    }
    assert_eq!(responses.values().sum::<u64>(), total);
    assert!(total > 0);
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/codex.md");
const TABLE: [&str; 2] = ["<!-- records -->\n", "<!-- end of records -->"];

/// The table in the docs is made from the files at hand. A type that nobody met before is not
/// written into it: it wants to be looked at first.
#[test]
fn every_type_of_record_is_in_the_docs() {
    let Some(files) = corpus() else { return };
    let mut found = std::collections::BTreeMap::new();
    for path in files {
        if source(&path).is_none() {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        if path.extension().is_some_and(|e| e == "json") {
            let document = rethread_json::Document::parse(bytes).unwrap();
            for item in document.root().get("items").unwrap().items() {
                let (name, care) = record_type(item.raw()).unwrap();
                found.insert(name.replacen("bare", "document", 1), (care, path.clone()));
            }
            continue;
        }
        for line in bytes.split(|b| *b == b'\n') {
            if let Some((name, care)) = record_type(line) {
                found.insert(name, (care, path.clone()));
            }
        }
    }
    let mut table = "| record | what becomes of it |\n| --- | --- |\n".to_owned();
    for (name, (care, path)) in found {
        let word = match care {
            Care::Understood => "understood",
            Care::Event => "kept as an event",
            Care::Unread => "kept unread",
            Care::New => panic!("`{name}` in {} is new", path.display()),
        };
        table += &["| `", &name, "` | ", word, " |\n"].concat();
    }
    let page = std::fs::read_to_string(PAGE).unwrap();
    let start = page.find(TABLE[0]).unwrap() + TABLE[0].len();
    let end = page.find(TABLE[1]).unwrap();
    if std::env::var_os("RETHREAD_BLESS").is_some() {
        let blessed = format!("{}{table}{}", &page[..start], &page[end..]);
        std::fs::write(PAGE, blessed).unwrap();
    } else {
        assert_eq!(
            page[start..end],
            table,
            "set RETHREAD_BLESS to write it anew"
        );
    }
}
