//! From what somebody types to a query.

use thiserror::Error;

use super::{FilterClause, FilterName, Query, SearchTerm, TermClause};

/// The longest query that is looked at, in bytes.
const LONGEST: usize = 64 << 10;
/// The most terms that a query may have.
const MOST_TERMS: usize = 4096;
/// The most regular expressions.
const MOST_REGEXES: usize = 16;

/// Why a query makes no sense.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryError {
    /// There is no such filter.
    #[error("`{name}:` is no filter")]
    UnknownFilter {
        /// What was typed before the colon.
        name: String,
        /// All that was typed.
        typed: String,
    },
    /// A filter cannot be that.
    #[error("`{filter}:{value}` is not known")]
    UnknownValue {
        /// The filter.
        filter: &'static str,
        /// What was typed behind it.
        value: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A filter without a value.
    #[error("`{filter}:` needs a value")]
    NoValue {
        /// The filter.
        filter: &'static str,
    },
    /// A quote that nobody closed.
    #[error("the quote that begins with `{start}` has no end")]
    OpenQuote {
        /// How it begins.
        start: String,
    },
    /// A regular expression that nobody closed.
    #[error("the expression that begins with `{start}` has no `/` at its end")]
    OpenRegex {
        /// How it begins.
        start: String,
    },
    /// A regular expression that cannot be used.
    #[error("the expression `/{pattern}/` cannot be used: {why}")]
    Regex {
        /// The expression.
        pattern: String,
        /// Why not.
        why: String,
    },
    /// `OR` without something on both sides.
    #[error("`OR` needs something to look for on both sides")]
    LooseOr,
    /// `OR` between things that it cannot join.
    #[error("`OR` joins words, or filters of the same name")]
    MixedOr,
    /// A query without any letters or digits.
    #[error("`{typed}` has no letters and no digits to look for")]
    NoWords {
        /// What was typed.
        typed: String,
    },
    /// A query that nobody types.
    #[error("the query is too long: it has {count} {what}, and at most {most} are looked for")]
    TooLong {
        /// How much there is.
        count: usize,
        /// Of what.
        what: &'static str,
        /// How much there may be.
        most: usize,
    },
}

impl QueryError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownFilter { typed, .. } => {
                let names = FilterName::ALL.map(|name| format!("`{}:`", name.word()));
                let quoted = typed.replace('"', "");
                Some(format!(
                    "there is {}; to look for the text, write '\"{quoted}\"'",
                    names.join(", ")
                ))
            }
            Self::UnknownValue { filter, known, .. } => {
                let known: Vec<String> = known.iter().map(|k| format!("`{filter}:{k}`")).collect();
                Some(format!("there is {}", known.join(", ")))
            }
            Self::OpenQuote { .. } => Some(
                "a shell takes quotes for itself: write '\"a phrase\"' to keep them".to_owned(),
            ),
            Self::OpenRegex { .. } => {
                Some("write `/expression/`, or the text in quotes: '\"/path\"'".to_owned())
            }
            Self::NoWords { .. } => {
                Some("`/expression/` looks for anything else, such as '/=>/'".to_owned())
            }
            Self::LooseOr => Some("to look for the word, write '\"OR\"'".to_owned()),
            _ => None,
        }
    }
}

/// A piece of a query.
enum Piece {
    Or,
    Term(SearchTerm),
    /// Only signs, no word.
    Nothing,
    Filter(FilterName, String),
}

struct SignedPiece {
    piece: Piece,
    is_negated: bool,
}

impl Query {
    /// Reads a query: words, `"a phrase"`, `pre*`, `-without`, `a OR b`, `/regex/`, `filter:value`.
    pub fn parse(typed: &str) -> Result<Self, QueryError> {
        if typed.len() > LONGEST {
            return Err(QueryError::TooLong {
                count: typed.len(),
                what: "bytes",
                most: LONGEST,
            });
        }
        let mut query = Self::default();
        let mut reader = PieceReader { rest: typed };
        let mut joined: Option<SignedPieces> = None;
        let mut is_or = false;
        let mut terms = 0;
        let mut regexes = 0;
        while let Some(signed) = reader.next_piece()? {
            match &signed.piece {
                Piece::Or if is_or || joined.is_none() => return Err(QueryError::LooseOr),
                Piece::Or => {
                    is_or = true;
                    continue;
                }
                Piece::Nothing => continue,
                Piece::Term(SearchTerm::Regex(_)) => regexes += 1,
                Piece::Term(_) | Piece::Filter(..) => {}
            }
            terms += 1;
            for (count, what, most) in [
                (terms, "terms", MOST_TERMS),
                (regexes, "regular expressions", MOST_REGEXES),
            ] {
                if count > most {
                    return Err(QueryError::TooLong { count, what, most });
                }
            }
            match &mut joined {
                Some(before) if is_or => before.add(signed)?,
                _ => {
                    if let Some(done) = joined.replace(SignedPieces::new(signed)) {
                        done.add_to(&mut query);
                    }
                }
            }
            is_or = false;
        }
        if is_or {
            return Err(QueryError::LooseOr);
        }
        if let Some(done) = joined {
            done.add_to(&mut query);
        }
        if query.is_empty() && !typed.trim().is_empty() {
            let typed = typed.trim().to_owned();
            return Err(QueryError::NoWords { typed });
        }
        Ok(query)
    }
}

/// Reads one word of a command line that may be a filter; none where it is none that is known.
pub fn parse_filter_word(typed: &str) -> Option<Result<FilterClause, QueryError>> {
    let (is_negated, word) = match typed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, typed),
    };
    let (name, value) = word.split_once(':')?;
    let name = FilterName::named(name)?;
    let value = value.trim_matches('"').to_owned();
    Some(name.check_value(&value).map(|()| FilterClause {
        name,
        any: vec![value],
        is_negated,
    }))
}

/// Pieces that `OR` joins.
enum SignedPieces {
    Terms(TermClause),
    Filters(FilterClause),
}

impl SignedPieces {
    fn new(signed: SignedPiece) -> Self {
        let SignedPiece { piece, is_negated } = signed;
        match piece {
            Piece::Filter(name, value) => Self::Filters(FilterClause {
                name,
                any: vec![value],
                is_negated,
            }),
            Piece::Term(term) => Self::Terms(TermClause {
                any: vec![term],
                is_negated,
            }),
            Piece::Or | Piece::Nothing => Self::Terms(TermClause {
                any: Vec::new(),
                is_negated,
            }),
        }
    }

    fn add(&mut self, signed: SignedPiece) -> Result<(), QueryError> {
        if signed.is_negated {
            return Err(QueryError::MixedOr);
        }
        match (self, signed.piece) {
            (Self::Terms(clause), Piece::Term(term)) if !clause.is_negated => {
                clause.any.push(term);
                Ok(())
            }
            (Self::Filters(clause), Piece::Filter(name, value))
                if clause.name == name && !clause.is_negated =>
            {
                clause.any.push(value);
                Ok(())
            }
            _ => Err(QueryError::MixedOr),
        }
    }

    fn add_to(self, query: &mut Query) {
        match self {
            Self::Terms(clause) => query.terms.push(clause),
            Self::Filters(clause) => query.push_filter(clause),
        }
    }
}

struct PieceReader<'a> {
    rest: &'a str,
}

impl<'a> PieceReader<'a> {
    fn next_piece(&mut self) -> Result<Option<SignedPiece>, QueryError> {
        self.rest = self.rest.trim_start();
        if self.rest.is_empty() {
            return Ok(None);
        }
        let mut is_negated = false;
        if let Some(rest) = self.rest.strip_prefix('-')
            && rest.starts_with(|c: char| !c.is_whitespace() && c != '-')
        {
            is_negated = true;
            self.rest = rest;
        }
        let piece = if self.rest.starts_with('"') {
            let phrase = self.take_quoted()?;
            let is_prefix = self.take_star();
            words(phrase, is_prefix)
        } else if self.begins_regex() {
            self.take_regex()?
        } else {
            self.take_word()?
        };
        Ok(Some(SignedPiece { piece, is_negated }))
    }

    /// What stands between quotes.
    fn take_quoted(&mut self) -> Result<&'a str, QueryError> {
        let inner = self.rest.strip_prefix('"').unwrap_or(self.rest);
        let end = inner.find('"').ok_or_else(|| QueryError::OpenQuote {
            start: beginning(self.rest),
        })?;
        self.rest = inner.get(end + 1..).unwrap_or_default();
        Ok(inner.get(..end).unwrap_or_default())
    }

    fn take_star(&mut self) -> bool {
        match self.rest.strip_prefix('*') {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Whether an expression begins here. A path such as `/usr/lib` is none: behind its second slash
    /// something follows.
    fn begins_regex(&self) -> bool {
        let Some(inner) = self.rest.strip_prefix('/') else {
            return false;
        };
        match regex_end(inner) {
            Some(end) => {
                let after = inner.get(end + 1..).unwrap_or_default();
                let after = after.strip_prefix('i').unwrap_or(after);
                after.is_empty() || after.starts_with(char::is_whitespace)
            }
            None => !inner.contains('/') && !inner.starts_with(char::is_alphanumeric),
        }
    }

    fn take_regex(&mut self) -> Result<Piece, QueryError> {
        let inner = self.rest.strip_prefix('/').unwrap_or_default();
        let end = regex_end(inner).ok_or_else(|| QueryError::OpenRegex {
            start: beginning(self.rest),
        })?;
        let pattern = inner.get(..end).unwrap_or_default().replace("\\/", "/");
        self.rest = inner.get(end + 1..).unwrap_or_default();
        let ignores_case = match self.rest.strip_prefix('i') {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        };
        if pattern.is_empty() {
            return Ok(Piece::Nothing);
        }
        Ok(Piece::Term(SearchTerm::regex(&pattern, ignores_case)?))
    }

    fn take_word(&mut self) -> Result<Piece, QueryError> {
        let end = self
            .rest
            .find(char::is_whitespace)
            .unwrap_or(self.rest.len());
        let word = self.rest.get(..end).unwrap_or_default();
        if let Some((name, value)) = word.split_once(':')
            && is_filter_like(name, value)
        {
            let filter = FilterName::named(name).ok_or_else(|| QueryError::UnknownFilter {
                name: name.to_owned(),
                typed: word.to_owned(),
            })?;
            self.rest = self.rest.get(name.len() + 1..).unwrap_or_default();
            let value = if self.rest.starts_with('"') {
                self.take_quoted()?
            } else {
                self.rest = self.rest.get(value.len()..).unwrap_or_default();
                value
            };
            filter.check_value(value)?;
            return Ok(Piece::Filter(filter, value.to_owned()));
        }
        // A quote in the middle of a word begins something else.
        let end = word.find('"').unwrap_or(end);
        let word = word.get(..end).unwrap_or_default();
        self.rest = self.rest.get(end..).unwrap_or_default();
        if word == "OR" {
            return Ok(Piece::Or);
        }
        Ok(match word.strip_suffix('*') {
            Some(start) => words(start, true),
            None => words(word, false),
        })
    }
}

/// Whether a word with a colon is meant as a filter: `http://…`, `std::fs` and `12:30` are not.
fn is_filter_like(name: &str, value: &str) -> bool {
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase());
    is_name
        && (FilterName::named(name).is_some()
            || !value.is_empty() && !value.starts_with([':', '/', '\\']))
}

fn words(typed: &str, is_prefix: bool) -> Piece {
    SearchTerm::words(typed, is_prefix).map_or(Piece::Nothing, Piece::Term)
}

/// Where the slash is that ends an expression.
fn regex_end(inner: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'/' if !is_escaped => return Some(at),
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}

/// How something begins, for an error.
fn beginning(text: &str) -> String {
    let start: String = text.chars().take(20).collect();
    if start.len() < text.len() {
        format!("{start}…")
    } else {
        start
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(query: &Query) -> String {
        let sign = |is_negated| if is_negated { "-" } else { "" };
        let mut all = Vec::new();
        for clause in &query.terms {
            let any: Vec<String> = clause.any.iter().map(term).collect();
            all.push(format!("{}{}", sign(clause.is_negated), any.join("|")));
        }
        for clause in &query.filters {
            let any = clause.any.join("|");
            let name = clause.name.word();
            all.push(format!("{}{name}:{any}", sign(clause.is_negated)));
        }
        all.join(" ")
    }

    fn term(term: &SearchTerm) -> String {
        match term {
            SearchTerm::Words { words, is_prefix } => {
                format!("{}{}", words.join("+"), if *is_prefix { "*" } else { "" })
            }
            SearchTerm::Regex(regex) => format!("/{regex}/"),
        }
    }

    #[test]
    fn queries_are_read() {
        for (typed, expected) in [
            ("redirect Cookie", "redirect cookie"),
            ("\"a phrase\" more", "a+phrase more"),
            ("pre* \"two wor\"*", "pre* two+wor*"),
            ("a -b -\"c d\"", "a -b -c+d"),
            ("a OR b c OR d OR e", "a|b c|d|e"),
            ("/fn \\w+\\/x/ /A/i", "/fn \\w+/x/ /A/"),
            ("get_user_name src/main.rs", "get+user+name src+main+rs"),
            (
                "/usr/lib/x std::fs http://a.b 12:30",
                "usr+lib+x std+fs http+a+b 12+30",
            ),
            (
                "agent:codex dir:\"my api\" x",
                "x agent:codex|x dir:my api"
                    .replace("codex|x", "codex")
                    .as_str(),
            ),
            (
                "agent:codex agent:pi -agent:gemini",
                "agent:codex|pi -agent:gemini",
            ),
            (
                "agent:a OR agent:b file:x file:y",
                "agent:a|b file:x file:y",
            ),
            ("日本語 語 日*", "日本+本語 語* 日*"),
            ("\"本語 b\"", "本語+語+b"),
            ("=> a - b -- c", "a b c"),
            ("say\"hi there\"", "say hi+there"),
        ] {
            let query = Query::parse(typed).unwrap_or_else(|e| panic!("{typed}: {e}"));
            assert_eq!(shown(&query), expected, "{typed}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_told_with_what_there_is() {
        for (typed, error, hint) in [
            ("agnet:codex", "`agnet:` is no filter", "`agent:`"),
            ("role:boss", "`role:boss` is not known", "`role:user`"),
            ("has:bug", "`has:bug` is not known", "`has:error`"),
            ("file:", "`file:` needs a value", ""),
            (
                "\"open",
                "the quote that begins with `\"open` has no end",
                "a shell",
            ),
            (
                "/(a/",
                "the expression `/(a/` cannot be used: unclosed group",
                "",
            ),
            (
                "/(open",
                "the expression that begins with `/(open` has no `/` at its end",
                "/expression/",
            ),
            ("OR a", "`OR` needs something", ""),
            ("a OR", "`OR` needs something", ""),
            ("a OR agent:b", "`OR` joins words", ""),
            ("a OR -b", "`OR` joins words", ""),
            ("=>", "`=>` has no letters", "/expression/"),
        ] {
            let e = Query::parse(typed).expect_err(typed);
            assert!(e.to_string().starts_with(error), "{typed}: {e}");
            assert!(
                e.hint().unwrap_or_default().contains(hint),
                "{typed}: {e:?}"
            );
        }
    }

    #[test]
    fn long_and_hostile_queries_are_read_or_refused() {
        let many = "word ".repeat(1000);
        assert_eq!(Query::parse(&many).unwrap().terms.len(), 1000);
        assert!(Query::parse(&"a ".repeat(60_000)).is_err());
        assert!(Query::parse(&"x".repeat(10_000)).is_ok());
        assert!(Query::parse("/((a{1000}){1000}){1000}/").is_err());
        assert!(Query::parse(&format!("/{}{}/", "(".repeat(1000), ")".repeat(1000))).is_err());
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused(typed in "[a-zé日 :\"/*()|\\\\OR-]{0,40}") {
            let _ = Query::parse(&typed);
        }
    }
}
