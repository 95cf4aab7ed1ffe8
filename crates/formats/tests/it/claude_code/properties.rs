//! Transcripts that nobody wrote: whatever is in a file, it is read, kept and walked through.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rethread_formats::claude_code::FORMAT;
use rethread_formats::{Conversation, OpenError, Source, Want};
use rethread_model::{Bodies, EntryIx};

const NAME: &str = "a1b2c3d4-0000-4000-8000-00000000aaaa.jsonl";

fn put(folder: &Path, bytes: &[u8]) -> Source {
    let path: PathBuf = folder.join(NAME);
    std::fs::write(&path, bytes).unwrap();
    Source::new(FORMAT, String::new(), path)
}

/// Reads a file, and holds it to what must always be true.
fn read(source: &Source) -> Option<Conversation> {
    let conversation = match FORMAT.reader().read(source) {
        Ok(conversation) => conversation,
        Err(OpenError::NotOurs { .. }) => return None,
        Err(e) => panic!("{e}"),
    };
    let session = &conversation.session;
    let part = &conversation.native.parts[0];
    let count = u32::try_from(part.record_count()).unwrap();
    let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
    assert!(
        tiled == std::fs::read(&source.path).unwrap(),
        "records tile the file"
    );
    assert_eq!(session.unaccounted(&[count]), None);
    let children = session.children();
    for (ix, entry) in session.indexed() {
        conversation.body(ix);
        if entry.beside {
            assert_eq!(entry.parent, None);
            continue;
        }
        // Every way leads to a root, so there are no circles.
        let root = session.path(ix)[0];
        assert_eq!(session.entry(root).parent, None, "{ix:?}");
        if let Some(parent) = entry.parent {
            assert!(children.of(parent).contains(&ix));
        }
    }
    if let Some(leaf) = session.leaf() {
        assert!(!session.entry(leaf).beside);
    }
    Some(conversation)
}

/// One record: its type, its own number, its parent's, and what else makes records different.
fn record(kind: u8, id: u8, parent: Option<u8>, response: u8, side: bool) -> String {
    let parent = parent.map_or("null".to_owned(), |p| format!("\"u{p}\""));
    let head = format!("{{\"parentUuid\":{parent},\"isSidechain\":{side},\"sessionId\":\"s\"");
    let tail = format!(
        "\"uuid\":\"u{id}\",\"timestamp\":\"2026-01-01T00:00:{:02}Z\"}}",
        id % 60
    );
    match kind % 9 {
        0 => format!(
            "{head},\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"text {id}\"}},{tail}"
        ),
        1 | 2 => format!(
            "{head},\"message\":{{\"id\":\"m{response}\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{id}\",\"name\":\"Bash\",\"input\":{{}}}}]}},\"type\":\"assistant\",{tail}"
        ),
        3 => format!(
            "{head},\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"t{response}\",\"type\":\"tool_result\",\"content\":\"x\"}}]}},{tail}"
        ),
        4 => format!("{head},\"type\":\"progress\",\"data\":{{\"type\":\"bash_progress\"}},{tail}"),
        5 => format!("{head},\"type\":\"attachment\",\"attachment\":{{\"type\":\"date\"}},{tail}"),
        6 => format!(
            "{head},\"type\":\"system\",\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"u{response}\",{tail}"
        ),
        7 => format!(
            "{head},\"type\":\"user\",\"isCompactSummary\":true,\"message\":{{\"role\":\"user\",\"content\":\"sum\"}},{tail}"
        ),
        _ => format!(
            "{{\"type\":\"last-prompt\",\"lastPrompt\":\"x\",\"leafUuid\":\"u{response}\",\"explicit\":{side},\"sessionId\":\"s\"}}"
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_links_make_a_tree(
        records in proptest::collection::vec(
            (any::<u8>(), 0_u8..24, proptest::option::of(0_u8..24), 0_u8..6, any::<bool>()),
            1..40,
        )
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for (kind, id, parent, response, side) in records {
            writeln!(text, "{}", record(kind, id, parent, response, side)).unwrap();
        }
        let source = put(folder.path(), text.as_bytes());
        if let Some(conversation) = read(&source) {
            let summary = FORMAT.reader().summarize(&source, Want::default());
            let messages = conversation.session.message_count() as u64;
            // Lists count responses of sub-agents and others together.
            prop_assert!(summary.counts.messages <= messages);
        }
    }

    #[test]
    fn any_bytes_are_kept(junk in proptest::collection::vec(any::<u8>(), 0..200), at in 0_usize..4) {
        let folder = tempfile::tempdir().unwrap();
        let mut lines: Vec<Vec<u8>> = (0..4)
            .map(|i| record(0, i, i.checked_sub(1), 0, false).into_bytes())
            .collect();
        lines.insert(at, junk);
        read(&put(folder.path(), &lines.join(&b'\n')));
    }
}

#[test]
fn further_summaries_of_a_compaction_stay_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let records = [(6, 1), (7, 2), (7, 3), (7, 4), (0, 5)];
    let lines = records.map(|(kind, id)| record(kind, id, id.checked_sub(1), 9, false));
    let conversation = read(&put(folder.path(), lines.join("\n").as_bytes())).unwrap();
    let session = &conversation.session;
    let all: Vec<usize> = session
        .indexed()
        .map(|(ix, _)| session.origin(ix).len())
        .collect();
    assert_eq!(all, [4, 1]);
    assert_eq!(
        session.find("u4"),
        session.entry(session.leaf().unwrap()).parent
    );
}

#[test]
fn a_transcript_cut_at_every_byte_is_read_up_to_there() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(
        "../../fixtures/claude-code/2.1/compaction/b1b2c3d4-0000-4000-8000-00000000cccc.jsonl",
    );
    let whole = std::fs::read(fixture).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut before = 0;
    for cut in 0..=whole.len() {
        let Some(conversation) = read(&put(folder.path(), &whole[..cut])) else {
            continue;
        };
        let entries = conversation.session.entries().len();
        assert!(entries >= before, "cut at {cut}");
        before = entries;
        let is_whole = cut == whole.len() || whole[..cut].ends_with(b"\n") || whole[cut] == b'\n';
        assert_eq!(conversation.notes.is_empty(), is_whole, "cut at {cut}");
    }
}

/// Shapes that a reader with recursion in it would not survive.
#[test]
fn long_and_wide_transcripts_are_read() {
    const MANY: u32 = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let line = |id: u32, parent: u32, response: u32| {
        format!(
            "{{\"parentUuid\":\"u{parent}\",\"message\":{{\"id\":\"m{response}\",\"role\":\"assistant\",\"content\":[]}},\"type\":\"assistant\",\"uuid\":\"u{id}\"}}\n"
        )
    };
    let result = |id: u32, parent: u32| {
        format!(
            "{{\"parentUuid\":\"u{parent}\",\"type\":\"user\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\"}}]}},\"uuid\":\"u{id}\"}}\n"
        )
    };
    let root =
        "{\"parentUuid\":null,\"type\":\"user\",\"message\":{\"content\":\"x\"},\"uuid\":\"u0\"}\n";
    let chain: String = (1..MANY).map(|i| line(i, i - 1, i)).collect();
    let one_response: String = (1..MANY).map(|i| line(i, i - 1, 0)).collect();
    let results: String = (2..MANY).map(|i| result(i, 1)).collect();
    let backward: String = (1..MANY).map(|i| line(i, i + 1, i)).collect();
    let shapes = [
        ("chain", format!("{root}{chain}")),
        ("one response", format!("{root}{one_response}")),
        ("results", format!("{root}{}{results}", line(1, 0, 1))),
        ("backward", format!("{root}{backward}")),
    ];
    for (name, text) in shapes {
        let source = put(folder.path(), text.as_bytes());
        let conversation = FORMAT.reader().read(&source).unwrap();
        for at in [0, 1] {
            conversation.body(EntryIx::new(at).unwrap());
        }
        let path = conversation.session.active_path().len();
        let entries = conversation.session.entries().len();
        let expected = if name == "one response" {
            2
        } else {
            MANY as usize
        };
        assert_eq!(entries, expected, "{name}");
        if matches!(name, "chain" | "results" | "one response") {
            assert_eq!(path, expected, "{name}");
        }
    }
}

/// The id of a record stands behind its message, so that of a giant one is not known; its child
/// follows it all the same.
#[test]
fn a_record_too_long_to_be_held_keeps_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(65 * 1024 * 1024);
    let text = format!(
        "{}\n{}\n{}\n",
        record(0, 1, None, 0, false),
        record(0, 2, Some(1), 0, false).replace("text 2", &long),
        record(1, 3, Some(2), 1, false)
    );
    let source = put(folder.path(), text.as_bytes());
    drop((text, long));
    let conversation = FORMAT.reader().read(&source).unwrap();
    let notes: Vec<&str> = conversation
        .notes
        .iter()
        .map(|n| n.message.as_str())
        .collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("too long to be shown"), "{notes:?}");
    assert_eq!(conversation.session.active_path().len(), 3);
    let summary = FORMAT.reader().summarize(&source, Want::default());
    assert_eq!(summary.counts.messages, 3);
}
