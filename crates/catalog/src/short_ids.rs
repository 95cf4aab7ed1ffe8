//! Ids that are short, and that every command takes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rethread_formats::Source;
use rethread_model::Summary;

/// The least that is shown of an id.
const LEAST: usize = 8;

/// What sessions are called, to find for each the shortest name that means no other.
///
/// Made once of everything that a name could mean; asking takes a few comparisons.
#[derive(Clone, Debug, Default)]
pub struct ShortIds {
    /// All names of all sessions, in small letters, sorted.
    names: Vec<Name>,
    /// The files that hold several sessions.
    crowded: BTreeSet<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    lower: String,
    id: String,
    format: &'static str,
    path: PathBuf,
}

impl ShortIds {
    /// The names of everything that was found: what files are called, and what they say themselves.
    pub fn new(sources: &[Source], sessions: &[Summary]) -> Self {
        let name = |format, id: &str, path: &Path| Name {
            lower: id.to_ascii_lowercase(),
            id: id.to_owned(),
            format,
            path: path.to_owned(),
        };
        let by_name = sources
            .iter()
            .map(|s| name(s.format.slug(), &s.id, &s.path));
        let by_head = sessions
            .iter()
            .map(|s| name(s.head.format, &s.head.id, &s.path));
        let mut names: Vec<Name> = by_name.chain(by_head).collect();
        names.sort_unstable();
        names.dedup();
        let crowded = crowded(sources);
        Self { names, crowded }
    }

    /// A name of a session that every command takes, as long as nothing new appears: the shortest
    /// beginning of its id that no other has, of eight characters or more. Where another session has
    /// the same id, the agent comes before it; and where that does not help either, it is the path.
    pub fn name(&self, summary: &Summary) -> String {
        self.name_of(summary.head.format, &summary.head.id, &summary.path)
    }

    /// [`name`](Self::name), of a session that is known by its source.
    pub fn name_of_source(&self, source: &Source) -> String {
        self.name_of(source.format.slug(), &source.id, &source.path)
    }

    /// A name that also means no other when something new appears: with the whole id, or the path.
    pub(crate) fn whole_name(&self, source: &Source) -> String {
        let Source {
            format, id, path, ..
        } = source;
        let is_path = self.name_of(format.slug(), id, path) == self.path_of(id, path);
        if is_path {
            self.path_of(id, path)
        } else {
            format!("{}:{id}", format.slug())
        }
    }

    fn name_of(&self, format: &'static str, id: &str, path: &Path) -> String {
        if !can_be_typed(id) {
            return self.path_of(id, path);
        }
        let short = self.short_id(id);
        let same = self.names.get(self.namesakes(id)).unwrap_or_default();
        let is_other = |name: &&Name| name.format != format || name.path != path;
        let mut namesakes = same.iter().filter(is_other).peekable();
        if namesakes.peek().is_none() {
            return short;
        }
        // Two that differ in large and small letters are told apart only where those are.
        let has_same_id = |name: &Name| name.id == id;
        if namesakes.clone().all(|name| !has_same_id(name)) {
            return id.to_owned();
        }
        if namesakes.all(|name| name.format != format) {
            return format!("{format}:{short}");
        }
        self.path_of(id, path)
    }

    /// The shortest beginning of an id that no other id begins with, of eight characters or more.
    pub fn short_id(&self, id: &str) -> String {
        let lower = id.to_ascii_lowercase();
        let Range { start, end } = self.namesakes(id);
        let before = start.checked_sub(1).and_then(|i| self.names.get(i));
        let others = [before, self.names.get(end)];
        let shared = |other: &Name| shared(&lower, &other.lower);
        let needed = others.into_iter().flatten().map(shared).max();
        beginning(id, needed.map_or(0, |n| n + 1).max(LEAST))
    }

    /// Where the names are that are spelled so, in large or small letters.
    fn namesakes(&self, id: &str) -> Range<usize> {
        let lower = id.to_ascii_lowercase();
        let start = self.names.partition_point(|name| name.lower < lower);
        start..self.names.partition_point(|name| name.lower <= lower)
    }

    /// The path of a session, and its id where the file holds several.
    fn path_of(&self, id: &str, path: &Path) -> String {
        let shown = path.to_string_lossy();
        if self.crowded.contains(path) {
            format!("{shown}#{id}")
        } else {
            shown.into_owned()
        }
    }
}

/// The paths at which there are several sessions.
fn crowded(sources: &[Source]) -> BTreeSet<PathBuf> {
    let mut paths: Vec<&PathBuf> = sources.iter().map(|s| &s.path).collect();
    paths.sort_unstable_by_key(|path| path.as_os_str());
    let pairs = paths.windows(2).filter(|pair| pair.first() == pair.last());
    let several = pairs.filter_map(|pair| pair.first().copied().cloned());
    several.collect()
}

/// Whether an id means itself on a command line: nothing in it stands for something else there.
fn can_be_typed(id: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    !id.is_empty() && !id.starts_with(['-', '.']) && id.chars().all(is_plain) && id != "latest"
}

/// How many characters two texts have in common at their beginning.
fn shared(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count()
}

/// The first characters of an id; a hyphen is no good end, and says nothing.
fn beginning(id: &str, len: usize) -> String {
    let cut = id.char_indices().nth(len).map_or(id.len(), |(at, _)| at);
    let (start, rest) = id.split_at(cut);
    let mut start = start.to_owned();
    if start.ends_with('-') {
        start.extend(rest.chars().next());
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(format: &'static str, id: &str, path: &str) -> Source {
        let format = rethread_formats::by_name(format).unwrap();
        Source::new(format, id.to_owned(), path.into())
    }

    #[test]
    fn each_is_as_short_as_it_can_be() {
        let sources = [
            source("codex", "0196f3a1-aaaa", "/1"),
            source("codex", "0196f3a1-aabb", "/2"),
            source("codex", "7f3a90c1-aaaa", "/3"),
            source("codex", "7f3a90c1", "/4"),
            source("codex", "short", "/5"),
            source("codex", "ABCDEFGH-x", "/6"),
            source("codex", "abcdefgh-x", "/7"),
            source("pi", "both-have-it", "/8"),
            source("codex", "both-have-it", "/9"),
            source("pi", "in-two-places", "/10"),
            source("pi", "in-two-places", "/11"),
            source("pi", "-rf", "/12"),
            source("opencode", "a#b", "/many.db"),
            source("opencode", "ses_1234", "/many.db"),
        ];
        let ids = ShortIds::new(&sources, &[]);
        let names: Vec<String> = sources.iter().map(|s| ids.name_of_source(s)).collect();
        let expected = [
            "0196f3a1-aaa",
            "0196f3a1-aab",
            "7f3a90c1-a",
            "7f3a90c1",
            "short",
            "ABCDEFGH-x",
            "abcdefgh-x",
            "pi:both-hav",
            "codex:both-hav",
            "/10",
            "/11",
            "/12",
            "/many.db#a#b",
            "ses_1234",
        ];
        assert_eq!(names, expected);
    }
}
