//! What may be typed for an id: the beginning of it, its two ends (`0196f3a1..9c2e`), and behind `@` a
//! part of the path, where several sessions have the same id (`0196f3a1@laptop`).

use std::path::{Component, Path};

use rethread_formats::Source;

/// What stands between the two ends of an id.
pub(crate) const ELISION: &str = "..";
/// What stands before a part of the path.
pub(crate) const PLACE: char = '@';

/// What a user typed for an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AskedId<'a> {
    /// As it was typed.
    pub(crate) typed: &'a str,
    begin: &'a str,
    end: &'a str,
    /// A part of the session's path.
    place: Option<&'a str>,
}

/// How a session fits what was typed, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum IdFit {
    /// Its id is or begins with what was typed.
    Plain,
    /// Its id has these ends, and its path has a folder of this name.
    Shape,
    /// Its id has these ends, and a folder of its path ends like this.
    ShapeOfEnd,
}

impl<'a> AskedId<'a> {
    pub(crate) fn parse(typed: &'a str) -> Self {
        let (id, place) = match typed.rsplit_once(PLACE) {
            Some((id, place)) if !id.is_empty() && !place.is_empty() => (id, Some(place)),
            _ => (typed, None),
        };
        let (begin, end) = id.split_once(ELISION).unwrap_or((id, ""));
        Self {
            typed,
            begin,
            end,
            place,
        }
    }

    /// How many characters of the beginning were typed.
    pub(crate) fn chars_of_begin(&self) -> usize {
        self.begin.chars().count()
    }

    /// How a session fits, letters large or small; none if it does not.
    pub(crate) fn fit(&self, source: &Source) -> Option<IdFit> {
        let id = source.id.as_bytes();
        if begins(id, self.typed) {
            return Some(IdFit::Plain);
        }
        if self.place.is_none() && self.end.is_empty() {
            return None;
        }
        let rest = id.get(self.begin.len()..)?;
        let end = rest.get(rest.len().checked_sub(self.end.len())?..)?;
        if !begins(id, self.begin) || !end.eq_ignore_ascii_case(self.end.as_bytes()) {
            return None;
        }
        match self.place.map(|place| part_of_path(&source.path, place)) {
            None | Some(Some(PartFit::Whole)) => Some(IdFit::Shape),
            Some(Some(PartFit::End)) => Some(IdFit::ShapeOfEnd),
            Some(None) => None,
        }
    }
}

fn begins(id: &[u8], start: &str) -> bool {
    let begin = id.get(..start.len());
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
}

/// How a path has a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartFit {
    /// A name in it is this.
    Whole,
    /// A name in it ends with this, behind something that is neither letter nor digit.
    End,
}

/// Whether a path has names that follow each other as in `part`; of the first, the end will do.
fn part_of_path(path: &Path, part: &str) -> Option<PartFit> {
    let names = names_of(path);
    let asked: Vec<&str> = part.split('/').collect();
    let (first, others) = asked.split_first()?;
    let fit = |run: &[&str]| {
        let (name, rest) = run.split_first()?;
        if rest != others {
            return None;
        }
        let before = name.strip_suffix(first)?;
        match before.chars().next_back() {
            None => Some(PartFit::Whole),
            Some(c) if !c.is_alphanumeric() => Some(PartFit::End),
            Some(_) => None,
        }
    };
    let fits = || names.windows(asked.len()).filter_map(fit);
    fits()
        .find(|fit| *fit == PartFit::Whole)
        .or_else(|| fits().next())
}

fn names_of(path: &Path) -> Vec<&str> {
    let name = |part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

/// The shortest part of a path that tells it from others, nearest to its end; `id` itself tells nothing.
pub(crate) fn telling_part(path: &Path, others: &[&Path], id: &str) -> Option<String> {
    let names = names_of(path);
    let tells = |part: &str| {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let Some(own) = part_of_path(path, part).filter(|_| part.chars().all(is_plain)) else {
            return false;
        };
        let mut fits = others.iter().map(|other| part_of_path(other, part));
        match own {
            PartFit::Whole => fits.all(|fit| fit != Some(PartFit::Whole)),
            PartFit::End => fits.all(|fit| fit.is_none()),
        }
    };
    let has_letters = |part: &str| part.chars().any(char::is_alphabetic);
    // A number is a day or a version: anything else says more.
    for wants_letters in [true, false] {
        for len in 1..=2 {
            for run in names.windows(len).rev() {
                if run.iter().any(|name| name.contains(id)) {
                    continue;
                }
                let whole = run.join("/");
                let found = ends_of(&whole)
                    .filter(|part| has_letters(part) || !wants_letters)
                    .find(|part| tells(part));
                if let Some(part) = found {
                    return Some(part.to_owned());
                }
            }
        }
    }
    None
}

/// The ends of the first of some names, with those behind it, the shortest first.
fn ends_of(names: &str) -> impl Iterator<Item = &str> {
    let first = names.split('/').next().unwrap_or(names);
    let starts = first.char_indices().filter_map(|(at, c)| {
        let next = at + c.len_utf8();
        (!c.is_alphanumeric() && next < first.len()).then_some(next)
    });
    let mut starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    starts.reverse();
    starts.into_iter().filter_map(|at| names.get(at..))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telling(path: &str, others: &[&str]) -> Option<String> {
        let others: Vec<&Path> = others.iter().map(Path::new).collect();
        telling_part(Path::new(path), &others, "0196f3a1-aaaa")
    }

    #[test]
    fn a_part_of_a_path_tells_copies_apart() {
        let cases = [
            ("/h/.claude/projects/-h-work-api/0196f3a1-aaaa.jsonl", "api"),
            (
                "/h/.claude/projects/-h-old-api/0196f3a1-aaaa.jsonl",
                "old-api",
            ),
            (
                "/h/.codex/sessions/2026/11/01/rollout-0196f3a1-aaaa.jsonl",
                "sessions",
            ),
            (
                "/h/.codex/archived_sessions/rollout-0196f3a1-aaaa.jsonl",
                "archived_sessions",
            ),
            ("/p/one/.agent/threads/0196f3a1-aaaa", "threads"),
        ];
        for (at, (path, expected)) in cases.iter().enumerate() {
            let others: Vec<&str> = cases.iter().map(|(other, _)| *other).collect();
            let others: Vec<&str> = others.into_iter().filter(|other| other != path).collect();
            let part = telling(path, &others).unwrap();
            // `api` is the end of two of them.
            let expected = if at == 0 { "work-api" } else { expected };
            assert_eq!(part, expected, "{path}");
        }
        assert_eq!(
            telling(cases[0].0, &[cases[2].0]).as_deref(),
            Some("api"),
            "the shortest end that tells"
        );
        assert_eq!(
            telling(
                "/p/one/.agent/threads/0196f3a1-aaaa",
                &["/p/two/.agent/threads/0196f3a1-aaaa"]
            ),
            Some("one".to_owned())
        );
        // What is the same but for a folder more is told by what stands before that.
        assert_eq!(
            telling(
                "/h/ann/.pi/0196f3a1-aaaa",
                &["/h/ann/.cache/laptop/.pi/0196f3a1-aaaa"]
            ),
            Some("ann/.pi".to_owned())
        );
        assert_eq!(telling("/a/0196f3a1-aaaa", &["/a/0196f3a1-aaaa"]), None);
    }

    #[test]
    fn ids_fit_by_their_ends_and_places() {
        let format = rethread_formats::by_name("pi").unwrap();
        let source = Source::new(format, "0196f3a1-aaaa".to_owned(), "/h/-x-api/s".into());
        let fit = |typed: &str| AskedId::parse(typed).fit(&source);
        assert_eq!(fit("0196"), Some(IdFit::Plain));
        assert_eq!(fit("0196F3A1-AAAA"), Some(IdFit::Plain));
        assert_eq!(fit("0196..aaa"), Some(IdFit::Shape));
        assert_eq!(fit("0196..aab"), None);
        assert_eq!(fit("0196f3a1-aaaa..aaaa"), None);
        assert_eq!(fit("0196@-x-api"), Some(IdFit::Shape));
        assert_eq!(fit("0196..aa@api"), Some(IdFit::ShapeOfEnd));
        assert_eq!(fit("0196@pi"), None);
        assert_eq!(fit("0197@api"), None);
    }
}
