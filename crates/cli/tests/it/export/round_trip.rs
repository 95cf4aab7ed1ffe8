//! There and back: whatever is exported reads the same, is exported to the same bytes again, and
//! gives back the files that it came from.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::FORMATS;
use rethread_judges::corpus;

use super::document::looped;
use super::rules::assert_record;
use super::schema::Schema;
use super::{fixture, parsed, read};
use crate::world::{World, json, tree};

/// What is exported together.
pub(super) struct Sources {
    pub(super) names: Vec<PathBuf>,
    /// Exports of others: what is in the vocabulary already is taken over as it is, so their own
    /// files are no originals.
    pub(super) are_exports: bool,
}

impl Sources {
    /// All sessions at or below a path, as a person would name them.
    pub(super) fn below(path: &Path) -> Self {
        let is_ours = |path: &Path| FORMATS.iter().any(|f| !f.store().at_path(path).is_empty());
        let mut names = Vec::new();
        let mut left = vec![path.to_owned()];
        while let Some(path) = left.pop() {
            if is_ours(&path) {
                names.push(path);
            } else if path.is_dir() {
                let entries = fs::read_dir(&path).unwrap();
                left.extend(entries.map(|e| e.unwrap().path()));
            }
        }
        names.sort();
        Self {
            names,
            are_exports: false,
        }
    }

    /// The command line that exports them.
    fn command<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let names = self.names.iter().map(|n| n.to_str().unwrap());
        ["export"]
            .into_iter()
            .chain(names)
            .chain(more.iter().copied())
            .collect()
    }
}

/// All that is right about an export; gives how many sessions it has.
pub(super) fn assert_round_trip(w: &World, sources: &Sources) -> u64 {
    for name in ["export.ndjson", "b.ndjson"] {
        let _ = fs::remove_file(w.project.join(name));
    }
    for name in ["pages-a", "pages-b", "files-a", "files-b"] {
        let _ = fs::remove_dir_all(w.project.join(name));
    }
    let export = |more: &[&str]| {
        let answer = w.run(&sources.command(more));
        assert!([0, 3].contains(&answer.code), "{more:?}: {answer:?}");
    };
    export(&["-o", "export.ndjson"]);
    let checked = w.run(&["check", "export.ndjson"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let count = assert_schema(&w.project.join("export.ndjson"), sources.are_exports);
    if let Some(said) = looped(w) {
        assert_eq!(said.lines().count() as u64, 1 + count);
    }
    w.ok(&["export", "export.ndjson", "-o", "b.ndjson"]);
    assert!(
        read(&w.project.join("export.ndjson")) == read(&w.project.join("b.ndjson")),
        "{:?} are exported otherwise the second time",
        sources.names
    );
    export(&["--markdown", "-o", "pages-a"]);
    w.ok(&["export", "export.ndjson", "--markdown", "-o", "pages-b"]);
    for folder in ["pages-a", "pages-b"] {
        remove_counts(&w.project.join(folder));
    }
    assert_same(w, "pages-a", "pages-b");
    if !sources.are_exports {
        export(&["--source", "-o", "files-a"]);
        w.ok(&["export", "export.ndjson", "--source", "-o", "files-b"]);
        assert_same(w, "files-a", "files-b");
        assert_originals(&w.project.join("files-b"));
    }
    count
}

/// Every line fits the schema in the docs, and our own are as ours must be; gives how many sessions
/// there are.
fn assert_schema(path: &Path, are_exports: bool) -> u64 {
    let schema = Schema::stored();
    let text = String::from_utf8(read(path)).unwrap();
    for (at, line) in text.lines().enumerate() {
        let record = parsed(line);
        assert_eq!(schema.wrong_line(&record), None, "{}", path.display());
        // What others wrote is theirs.
        if at > 0 && !are_exports {
            assert_record(&record);
        }
    }
    let header = json(text.lines().next().unwrap());
    assert_eq!(header["session_count"], text.lines().count() - 1);
    header["session_count"].as_u64().unwrap()
}

/// Takes out of pages what a list counts. An export holds no usage apart from messages, and what its source
/// wrote twice is two messages in it, so its own list counts otherwise.
fn remove_counts(folder: &Path) {
    let is_count = |line: &&str| {
        let counts = ["- Messages: ", "- Tokens: ", "- Cost: "];
        counts.iter().any(|count| line.starts_with(count))
    };
    for (path, bytes) in tree(folder) {
        let page = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = page.split('\n').filter(|l| !is_count(l)).collect();
        fs::write(path, lines.join("\n")).unwrap();
    }
}

/// Two folders hold the same files.
fn assert_same(w: &World, one: &str, two: &str) {
    let below = |name: &str| {
        let root = w.project.join(name);
        let files = tree(&root).into_iter();
        let file = move |(path, bytes): (PathBuf, Vec<u8>)| {
            (path.strip_prefix(&root).unwrap().to_owned(), bytes)
        };
        files.map(file).collect::<Vec<_>>()
    };
    let (first, second) = (below(one), below(two));
    for ((name, a), (other, b)) in first.iter().zip(&second) {
        assert_eq!(name, other);
        assert!(a == b, "{}: {}", name.display(), difference(a, b));
    }
    assert_eq!(first.len(), second.len());
}

fn difference(one: &[u8], two: &[u8]) -> String {
    let (one, two) = (String::from_utf8_lossy(one), String::from_utf8_lossy(two));
    let mut lines = one.lines().zip(two.lines()).filter(|(a, b)| a != b);
    lines
        .next()
        .map_or_else(String::new, |(a, b)| format!("- {a}\n+ {b}"))
}

/// What was restored is what is there, byte for byte.
fn assert_originals(folder: &Path) {
    let root = fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let manifest = json(&fs::read_to_string(root.path().join("manifest.json")).unwrap());
    let files = manifest["files"].as_array().unwrap();
    assert!(!files.is_empty());
    for file in files {
        let name = file["path"].as_str().unwrap();
        // Rows of a database have no file of their own; they are looked at elsewhere.
        if name.contains(".rows/") {
            continue;
        }
        let original = Path::new("/").join(name);
        assert!(
            read(&root.path().join(name)) == read(&original),
            "{name} is not restored"
        );
    }
}

#[cfg(unix)]
pub(super) const FORMATS_WITH_FILES: [&str; 9] = [
    "agentuse",
    "atomic",
    "atsf",
    "claude-code",
    "codex",
    "copilot",
    "gemini",
    "opencode",
    "pi",
];

#[test]
#[cfg(unix)]
fn fixtures_of_every_format_come_back_and_read_the_same() {
    let w = World::new();
    for format in FORMATS_WITH_FILES {
        let from = fs::canonicalize(fixture(format)).unwrap();
        let count = assert_round_trip(&w, &Sources::below(&from));
        assert!(count > 0, "no fixture of {format}");
    }
}

#[test]
fn exports_of_others_come_back_and_read_the_same() {
    let w = World::new();
    let mut sources = Sources::below(&fixture("ndjson/1.0"));
    sources.are_exports = true;
    assert_eq!(assert_round_trip(&w, &sources), 2);
}

#[test]
#[cfg(unix)]
fn flat_files_of_others_come_back_and_read_the_same() {
    let w = World::new();
    let from = fs::canonicalize(fixture("ndjson/2.0/flat")).unwrap();
    assert_eq!(assert_round_trip(&w, &Sources::below(&from)), 1);
}

#[test]
#[cfg(unix)]
fn real_sessions_of_every_format_come_back_and_read_the_same() {
    let Some(corpus) = corpus() else { return };
    let w = World::new();
    let mut count = 0;
    for folder in [
        "agentuse",
        "atsf",
        "claude-code",
        "codex",
        "gemini",
        "opencode",
        "pi",
        "recorded",
    ] {
        let from = fs::canonicalize(corpus.join(folder)).unwrap();
        let found = assert_round_trip(&w, &Sources::below(&from));
        assert!(found > 0, "no session in {folder}");
        count += found;
    }
    assert!(count > 240, "{count}");
}

#[test]
#[cfg(unix)]
fn real_flat_files_come_back_and_read_the_same() {
    let Some(corpus) = corpus() else { return };
    let w = World::new();
    let from = fs::canonicalize(corpus.join("unified-ndjson")).unwrap();
    assert!(assert_round_trip(&w, &Sources::below(&from)) > 20);
}
