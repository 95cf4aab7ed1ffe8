//! From each format through each other and back: the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rethread_engine::{
    ConvertOutcome, FORMATS, FormatRef, ItemFate, KINDS, Source, arrivals_in, conversions,
    judging_client,
};

use super::{Desk, contents, files_below};
use crate::opencode::store::database;
use crate::world::copy;

pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The formats that sessions are converted from.
pub(super) fn sources() -> impl Iterator<Item = FormatRef> {
    FORMATS.iter().copied()
}

/// The formats that sessions are converted into: others are only read.
pub(super) fn targets() -> impl Iterator<Item = FormatRef> {
    let is_target = |format: &FormatRef| format.writer().is_some() || format.is_for_exports();
    sources().filter(is_target)
}

/// The sessions of a format below a folder, that something is said in.
fn sessions(format: FormatRef, folder: &Path) -> Vec<Source> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for file in files_below(folder) {
        let small = fs::metadata(&file).unwrap().len() <= 1024 * 1024;
        for source in format.store().at_path(&file) {
            let is_new = seen.insert((source.path.clone(), source.id.clone()));
            let says = || {
                let read = format.reader().read(&source);
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
const RESTORED: ConvertOutcome = ConvertOutcome::Back {
    added: 0,
    changed: 0,
};

/// How many things there are of each kind, and how many of them arrive as the target's own: by the
/// format that they come from, the one that they go to, and the kind.
type Fates = BTreeMap<(&'static str, &'static str, &'static str), (usize, usize)>;

/// Sends a session through every other format, and compares what comes back. Gives what went wrong.
fn through_all(desk: &Desk, source: &Source, fates: &mut Fates) -> Vec<String> {
    let before = contents(source);
    let mut wrong = Vec::new();
    let home = source.format;
    for to in targets().filter(|f| *f != source.format) {
        let name = format!("{} -> {}", source.path.display(), to.slug());
        let there = desk.convert(source, to);
        for fate in there.iter().flat_map(|(done, _)| &done.fates) {
            let key = (source.format.slug(), to.slug(), fate.what);
            let sum = fates.entry(key).or_default();
            *sum = (sum.0 + fate.count, sum.1 + fate.native);
        }
        if !targets().any(|format| format == home) {
            wrong.extend(there.err().map(|e| format!("{name}: {e}")));
            continue;
        }
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

/// Sends sessions through every other format and back, and gives how things arrive.
#[track_caller]
fn assert_all(sources: &[Source]) -> Fates {
    // Each on a desk of its own, two at a time: they have nothing to do with each other.
    let (even, odd): (Vec<_>, Vec<_>) = sources.iter().enumerate().partition(|(n, _)| n % 2 == 0);
    let run = |half: Vec<(usize, &Source)>| {
        let desk = Desk::new();
        let mut fates = Fates::new();
        let all = half
            .into_iter()
            .flat_map(|(_, source)| through_all(&desk, source, &mut fates));
        let wrong: Vec<String> = all.collect();
        (wrong, fates)
    };
    let ((mut wrong, mut fates), (other_wrong, other_fates)) = std::thread::scope(|s| {
        let other = s.spawn(move || run(odd));
        (run(even), other.join().unwrap())
    });
    wrong.extend(other_wrong);
    for (key, (count, native)) in other_fates {
        let sum = fates.entry(key).or_default();
        *sum = (sum.0 + count, sum.1 + native);
    }
    assert!(
        wrong.is_empty(),
        "{}\n{} wrong",
        wrong.join("\n"),
        wrong.len()
    );
    fates
}

/// The table that the binary and the docs are made of: a line for each pair, and of each kind of things
/// how many of them arrive as the target's own.
fn table(fates: &Fates) -> String {
    let mut table = String::new();
    for from in sources().map(FormatRef::slug) {
        for to in targets().map(FormatRef::slug).filter(|to| *to != from) {
            table.push_str(&format!("{from}\t{to}"));
            for what in KINDS {
                let (count, native) = fates.get(&(from, to, what)).unwrap_or(&(0, 0));
                table.push_str(&format!("\t{native}/{count}"));
            }
            table.push('\n');
        }
    }
    table
}

/// A file that tests write where `RETHREAD_BLESS` is set; it must be what they would write.
#[track_caller]
pub(super) fn assert_blessed(path: &Path, made: &str) {
    if std::env::var_os("RETHREAD_BLESS").is_some() {
        fs::write(path, made).unwrap();
    }
    let there = fs::read_to_string(path).unwrap();
    assert_eq!(there, made, "RETHREAD_BLESS=1 writes it");
}

/// The fixtures that something is said in, of formats that sessions can come back to.
pub(super) fn fixture_sessions(temp: &Path) -> Vec<Source> {
    let mut found = all_fixture_sessions(temp);
    found.retain(|source| targets().any(|format| format == source.format));
    found
}

/// The fixtures of all formats that something is said in.
fn all_fixture_sessions(temp: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut counts = BTreeMap::new();
    for format in self::sources() {
        let slug = format.slug();
        let mut folder = fixtures().join(slug);
        if slug == "atomic" {
            folder = temp.join(".atomic/agent");
            copy(&fixtures().join(slug), &folder);
        }
        let mut found = sessions(format, &folder);
        if slug == "opencode" {
            for case in ["1.18/everything", "1.18/sub-agents"] {
                let path = temp.join(case).join("opencode.db");
                database(&path, case);
                found.extend(format.store().at_path(&path));
            }
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
    let fates = assert_all(&all_fixture_sessions(temp.path()));
    let path = fixtures().join("../crates/engine/src/convert/matrix.tsv");
    assert_blessed(&path, &table(&fates));
}

#[test]
fn small_real_sessions_through_every_format_and_back() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let mut sources = Vec::new();
    for format in self::sources() {
        let folder = corpus.join(match format.slug() {
            "ndjson" => "unified-ndjson",
            slug => slug,
        });
        if folder.is_dir() {
            sources.extend(sessions(format, &folder));
        }
    }
    assert!(sources.len() > 50, "{}", sources.len());
    assert_all(&sources);
}

/// What a cell of the docs says.
fn word(fate: &ItemFate) -> String {
    match fate.native {
        _ if fate.count == 0 => String::new(),
        _ if fate.is_native() => "native".to_owned(),
        0 => "travels along".to_owned(),
        _ => format!("{} %", fate.kept_percent()),
    }
}

/// A table in Markdown.
fn markdown(rows: Vec<Vec<String>>) -> String {
    let mut table = String::new();
    for (at, row) in rows.into_iter().enumerate() {
        table.push_str(&format!("| {} |\n", row.join(" | ")));
        if at == 0 {
            table.push_str(&format!("{}|\n", "| --- ".repeat(row.len())));
        }
    }
    table
}

/// Who tried what: targets, and the clients that went on with sessions there.
fn judged() -> String {
    let mut rows = vec![["to", "from", "judged by"].map(str::to_owned).to_vec()];
    for to in targets().map(FormatRef::slug) {
        let from = sources().map(FormatRef::slug).filter(|from| *from != to);
        let from: Vec<String> = from.map(|from| format!("`{from}`")).collect();
        let judge = judging_client(to).unwrap_or("our own reader");
        rows.push(vec![format!("`{to}`"), from.join(", "), judge.to_owned()]);
    }
    markdown(rows)
}

/// What arrives how in each target.
fn arriving() -> String {
    let slugs: Vec<&str> = targets().map(FormatRef::slug).collect();
    let heading = slugs.iter().map(|slug| format!("`{slug}`"));
    let mut rows = vec![std::iter::once("what".to_owned()).chain(heading).collect()];
    for what in KINDS {
        let cells = slugs.iter().map(|to| {
            let fates = arrivals_in(to);
            word(fates.iter().find(|fate| fate.what == what).unwrap())
        });
        rows.push(std::iter::once(what.to_owned()).chain(cells).collect());
    }
    markdown(rows)
}

/// What of each source travels along in each target.
fn along() -> String {
    let slugs: Vec<&str> = targets().map(FormatRef::slug).collect();
    let all = conversions();
    let heading = slugs.iter().map(|slug| format!("to `{slug}`"));
    let mut rows = vec![std::iter::once("from".to_owned()).chain(heading).collect()];
    for from in sources().map(FormatRef::slug) {
        let cells = slugs.iter().map(|to| {
            let found = all.iter().find(|c| c.from == from && c.to == *to);
            let Some(found) = found else {
                return "–".to_owned();
            };
            let rest = found.fates.iter().filter(|fate| !fate.is_native());
            let rest = rest.map(|fate| match fate.native {
                0 => fate.what.to_owned(),
                _ => format!("{} ({} % native)", fate.what, fate.kept_percent()),
            });
            rest.collect::<Vec<_>>().join(", ")
        });
        rows.push(std::iter::once(format!("`{from}`")).chain(cells).collect());
    }
    markdown(rows)
}

#[test]
fn the_docs_have_the_matrix() {
    let path = fixtures().join("../docs/conversions.md");
    let mut page = fs::read_to_string(&path).unwrap();
    for (name, table) in [
        ("judged", judged()),
        ("arriving", arriving()),
        ("along", along()),
    ] {
        let (begin, end) = (
            format!("<!-- {name} -->\n"),
            format!("<!-- end of {name} -->\n"),
        );
        let (before, rest) = page.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        page = format!("{before}{begin}\n{table}\n{end}{after}");
    }
    assert_blessed(&path, &page);
}

/// The versions that judge are those that `cargo xtask test` gets.
#[test]
fn the_judges_are_those_that_are_installed() {
    let pinned = fs::read_to_string(fixtures().join("../xtask/src/npm.rs")).unwrap();
    let judges: Vec<&str> = targets().filter_map(|f| judging_client(f.slug())).collect();
    assert_eq!(judges.len(), 5);
    for name in judges {
        let version = name.split(' ').next_back().unwrap();
        assert!(pinned.contains(&format!("\"{version}\"")), "{name}");
    }
}
