//! From each format through each other and back: the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rethread_engine::{FORMATS, Format, Source, Way, by_name};

use super::{Desk, contents, files_below};
use crate::opencode::store::database;
use crate::world::copy;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

pub(super) fn targets() -> impl Iterator<Item = &'static dyn Format> {
    FORMATS.iter().copied()
}

/// The sessions of a format below a folder, that something is said in.
fn sessions(format: &'static dyn Format, folder: &Path) -> Vec<Source> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for file in files_below(folder) {
        let small = fs::metadata(&file).unwrap().len() <= 1024 * 1024;
        for source in format.at_path(&file) {
            let is_new = seen.insert((source.path.clone(), source.id.clone()));
            let says = || {
                let read = format.read(&source);
                read.is_ok_and(|c| speaks(&c))
            };
            if small && is_new && says() {
                found.push(source);
            }
        }
    }
    found
}

/// Whether anything is said in a session by anyone.
fn speaks(conversation: &rethread_engine::Conversation) -> bool {
    use rethread_model::{Block, Bodies as _, Body, Context, Kind, Role, Visibility};
    let path = conversation.session.active_path();
    let context = Context::new(&conversation.session, conversation, &path);
    context.session.indexed().any(|(ix, entry)| {
        let says = |block: &Block| match block {
            Block::Text(text) => !text.value.trim().is_empty(),
            Block::ToolCall(_) | Block::ToolResult(_) => true,
            _ => false,
        };
        let body = context.body(ix);
        entry.visibility == Visibility::Visible
            && entry.kind != Kind::Message(Role::System)
            && matches!(body, Body::Message(message) if message.blocks.iter().any(says))
    })
}

/// It is as it was.
const RESTORED: Way = Way::Back {
    added: 0,
    changed: 0,
};

/// Sends a session through every other format, and compares what comes back. Gives what went wrong.
fn through_all(desk: &Desk, source: &Source) -> Vec<String> {
    let before = contents(source);
    let mut wrong = Vec::new();
    let home = by_name(source.format).unwrap();
    for to in targets().filter(|f| f.about().slug != source.format) {
        let name = format!("{} -> {}", source.path.display(), to.about().slug);
        let there = desk.convert(source, to);
        let back = there.and_then(|(_, there)| desk.convert(&there, home));
        match back {
            Err(e) => wrong.push(format!("{name}: {e}")),
            Ok((done, _)) if done.way != RESTORED => {
                wrong.push(format!("{name}: {:?} {:?}", done.way, done.notes));
            }
            Ok((_, back)) => {
                if contents(&back) != before {
                    wrong.push(format!("{name}: other bytes"));
                }
            }
        }
    }
    wrong
}

#[track_caller]
fn assert_all(sources: &[Source]) {
    // Each on a desk of its own, two at a time: they have nothing to do with each other.
    let (even, odd): (Vec<_>, Vec<_>) = sources.iter().enumerate().partition(|(n, _)| n % 2 == 0);
    let wrong: Vec<String> = std::thread::scope(|s| {
        let run = |half: Vec<(usize, &Source)>| {
            let desk = Desk::new();
            let all = half
                .into_iter()
                .flat_map(|(_, source)| through_all(&desk, source));
            all.collect::<Vec<String>>()
        };
        let other = s.spawn(move || run(odd));
        let mut wrong = run(even);
        wrong.extend(other.join().unwrap());
        wrong
    });
    assert!(
        wrong.is_empty(),
        "{}\n{} wrong",
        wrong.join("\n"),
        wrong.len()
    );
}

/// The fixtures of all formats that something is said in.
pub(super) fn fixture_sessions(temp: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut counts = BTreeMap::new();
    for format in targets() {
        let slug = format.about().slug;
        let mut folder = fixtures().join(slug);
        if slug == "atomic" {
            folder = temp.join(".atomic/agent");
            copy(&fixtures().join(slug), &folder);
        }
        let mut found = sessions(format, &folder);
        if slug == "opencode" {
            let path = temp.join("opencode.db");
            database(&path, "1.18/everything");
            found.extend(format.at_path(&path));
        }
        assert!(!found.is_empty(), "{slug}");
        counts.insert(slug, found.len());
        sources.extend(found);
    }
    assert!(sources.len() > 50, "{counts:?}");
    sources
}

#[test]
fn every_fixture_through_every_format_and_back() {
    let temp = tempfile::tempdir().unwrap();
    assert_all(&fixture_sessions(temp.path()));
}

/// How many real sessions of each format are tried, spread over all of them. With
/// `RETHREAD_EVERY_SESSION` it is every one, which takes minutes.
const TRIED: usize = 12;

#[test]
fn small_real_sessions_through_every_format_and_back() {
    let Some(corpus) = std::env::var_os("RETHREAD_CORPUS").map(PathBuf::from) else {
        eprintln!("skipped: RETHREAD_CORPUS names no folder of real conversations");
        return;
    };
    let mut sources = Vec::new();
    for format in targets() {
        let folder = corpus.join(match format.about().slug {
            "ndjson" => "unified-ndjson",
            slug => slug,
        });
        if folder.is_dir() {
            let found = sessions(format, &folder);
            let step = match std::env::var_os("RETHREAD_EVERY_SESSION") {
                Some(_) => 1,
                None => found.len().div_ceil(TRIED).max(1),
            };
            sources.extend(found.into_iter().step_by(step));
        }
    }
    assert!(sources.len() > 50, "{}", sources.len());
    assert_all(&sources);
}

/// The clients that go on with what was converted, by target.
const JUDGES: [(&str, &str); 5] = [
    ("claude-code", "Claude Code 2.1.325"),
    ("codex", "Codex CLI 0.166.0"),
    ("gemini", "Gemini CLI 0.61.0"),
    ("opencode", "OpenCode 1.18.33"),
    ("pi", "pi 0.87.1 (`buildSessionContext`)"),
];

#[test]
fn the_docs_have_the_matrix() {
    let slugs: Vec<&str> = targets().map(|f| f.about().slug).collect();
    let mut table = String::from("| to | from | judged by |\n| --- | --- | --- |\n");
    for to in &slugs {
        let from: Vec<String> = slugs
            .iter()
            .filter(|from| *from != to)
            .map(|from| format!("`{from}`"))
            .collect();
        let judge = JUDGES.iter().find(|(slug, _)| slug == to);
        let judge = judge.map_or("our own reader", |(_, name)| name);
        table.push_str(&format!("| `{to}` | {} | {judge} |\n", from.join(", ")));
    }
    let path = fixtures().join("../docs/conversions.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- matrix -->\n").unwrap();
    let (_, after) = rest.split_once("\nEvery fixture").unwrap();
    let made = format!("{before}<!-- matrix -->\n\n{table}\nEvery fixture{after}");
    if std::env::var_os("RETHREAD_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        made,
        "RETHREAD_BLESS=1 writes it"
    );
}
