//! Ids that are short, and that every command takes.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rethread_formats::Source;
use rethread_model::Summary;

use crate::asked_id::{ELISION, PLACE, telling_part};

/// The least that is shown of an id.
const LEAST: usize = 8;
/// A longer beginning of an id is shown as its two ends, if those are shorter.
const LONGEST_BEGIN: usize = 18;
/// The least that is shown of the end of an id.
const LEAST_END: usize = 4;

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

/// What a session is called by.
enum NameForm {
    /// A short form of its id.
    Short,
    /// All of its id.
    Whole,
    /// The agent, and a short form of its id.
    OfAgent,
    /// A short form of its id, and a part of its path.
    AtPlace(String),
    /// All three of them.
    AtPlaceOfAgent(String),
    Path,
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
    /// beginning of its id that no other has, of eight characters or more, or its two ends where that
    /// is long. Where another session has the same id, the agent comes before it, or a part of the
    /// path behind it; and where that does not help either, it is the path.
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
        let slug = format.slug();
        match self.form_of(slug, id, path) {
            NameForm::Path => self.path_of(id, path),
            NameForm::AtPlace(place) | NameForm::AtPlaceOfAgent(place) => {
                format!("{slug}:{id}{PLACE}{place}")
            }
            NameForm::Short | NameForm::Whole | NameForm::OfAgent => format!("{slug}:{id}"),
        }
    }

    fn name_of(&self, format: &'static str, id: &str, path: &Path) -> String {
        let short = || self.short_id(id);
        match self.form_of(format, id, path) {
            NameForm::Short => short(),
            NameForm::Whole => id.to_owned(),
            NameForm::OfAgent => format!("{format}:{}", short()),
            NameForm::AtPlace(place) => format!("{}{PLACE}{place}", short()),
            NameForm::AtPlaceOfAgent(place) => format!("{format}:{}{PLACE}{place}", short()),
            NameForm::Path => self.path_of(id, path),
        }
    }

    fn form_of(&self, format: &'static str, id: &str, path: &Path) -> NameForm {
        if !can_be_typed(id) {
            return NameForm::Path;
        }
        let same = self.names.get(self.namesakes(id)).unwrap_or_default();
        let is_other = |name: &&Name| name.format != format || name.path != path;
        let namesakes: Vec<&Name> = same.iter().filter(is_other).collect();
        if namesakes.is_empty() {
            return NameForm::Short;
        }
        // Two that differ in large and small letters are told apart only where those are.
        if namesakes.iter().all(|name| name.id != id) {
            return NameForm::Whole;
        }
        if namesakes.iter().all(|name| name.format != format) {
            return NameForm::OfAgent;
        }
        let place = |others: &mut dyn Iterator<Item = &&Name>| {
            let others: Vec<&Path> = others.map(|name| name.path.as_path()).collect();
            telling_part(path, &others, id)
        };
        if let Some(place) = place(&mut namesakes.iter()) {
            return NameForm::AtPlace(place);
        }
        let mut of_agent = namesakes.iter().filter(|name| name.format == format);
        place(&mut of_agent).map_or(NameForm::Path, NameForm::AtPlaceOfAgent)
    }

    /// The shortest beginning of an id that no other id begins with, of eight characters or more; its two
    /// ends where that is long.
    pub fn short_id(&self, id: &str) -> String {
        let lower = id.to_ascii_lowercase();
        let Range { start, end } = self.namesakes(id);
        let before = start.checked_sub(1).and_then(|i| self.names.get(i));
        let others = [before, self.names.get(end)];
        let shared = |other: &Name| shared(&lower, &other.lower);
        let needed = others.into_iter().flatten().map(shared).max();
        let begin = beginning(id, needed.map_or(0, |n| n + 1).max(LEAST));
        let is_long = begin.chars().count() > LONGEST_BEGIN;
        let ends = is_long.then(|| self.two_ends(id)).flatten();
        ends.filter(|ends| ends.len() < begin.len())
            .unwrap_or(begin)
    }

    /// The beginning of an id, and as much of its end as no other has that begins so.
    fn two_ends(&self, id: &str) -> Option<String> {
        let lower = id.to_ascii_lowercase();
        if lower.contains(ELISION) || !lower.is_ascii() {
            return None;
        }
        let begin = lower.get(..LEAST)?;
        let first = self
            .names
            .partition_point(|name| name.lower.as_str() < begin);
        let alike = self.names.get(first..)?.iter().map(|name| &name.lower);
        let alike = alike.take_while(|other| other.starts_with(begin));
        let shared_end = |other: &String| {
            let pairs = other.bytes().rev().zip(lower.bytes().rev());
            pairs.take_while(|(a, b)| a == b).count()
        };
        let others = alike.filter(|other| **other != lower).map(shared_end);
        let mut len = others.max().map_or(0, |len| len + 1).max(LEAST_END);
        let mut end = id.get(id.len().checked_sub(len)?..)?;
        // A hyphen is no good beginning either.
        if end.starts_with('-') {
            len += 1;
            end = id.get(id.len().checked_sub(len)?..)?;
        }
        (len + LEAST <= id.len()).then(|| format!("{}{ELISION}{end}", &id[..LEAST]))
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
            source("pi", "in-two-places", "/x/11"),
            source("pi", "in-the-same", "/same/in-the-same"),
            source("pi", "in-the-same", "/same/same/in-the-same"),
            source("pi", "0197f3a1-aaaa-7000-8000-00000000000a", "/13"),
            source("pi", "0197f3a1-aaaa-7000-8000-00000000000b", "/14"),
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
            "in-two-p@10",
            "in-two-p@x",
            "/same/in-the-same",
            "in-the-s@same/same",
            "0197f3a1..000a",
            "0197f3a1..000b",
            "/12",
            "/many.db#a#b",
            "ses_1234",
        ];
        assert_eq!(names, expected);
    }
}
