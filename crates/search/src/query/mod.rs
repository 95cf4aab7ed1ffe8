//! What somebody looks for.

mod filter;
mod parse;
mod term;

pub use filter::{FilterClause, FilterName, Has};
pub use parse::{QueryError, parse_filter_word};
pub use term::{SearchTerm, TermClause};

/// What somebody looks for: every clause is wanted.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words, phrases, beginnings of words and regular expressions, all in one text.
    pub terms: Vec<TermClause>,
    /// What else is wanted of a conversation or a text.
    pub filters: Vec<FilterClause>,
}

impl Query {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.filters.is_empty()
    }

    /// Adds what a flag says: any of these values.
    pub fn add_filter(&mut self, name: FilterName, values: &[String]) -> Result<(), QueryError> {
        if values.is_empty() {
            return Ok(());
        }
        for value in values {
            name.check_value(value)?;
        }
        self.push_filter(FilterClause {
            name,
            any: values.to_vec(),
            is_negated: false,
        });
        Ok(())
    }

    /// Adds a filter. One that can be only one thing at a time may be any of those that are named.
    fn push_filter(&mut self, clause: FilterClause) {
        let is_joined = clause.name.has_one_value() && !clause.is_negated;
        let same = self
            .filters
            .iter_mut()
            .find(|known| is_joined && known.name == clause.name && !known.is_negated);
        match same {
            Some(known) => known.any.extend(clause.any),
            None => self.filters.push(clause),
        }
    }

    /// The clauses of terms that a text must have.
    pub fn wanted_terms(&self) -> impl Iterator<Item = &TermClause> {
        self.terms.iter().filter(|clause| !clause.is_negated)
    }

    /// A query for any of the terms that this one wants, to mark them.
    #[must_use]
    pub fn any_term(&self) -> Self {
        let any: Vec<SearchTerm> = self
            .wanted_terms()
            .flat_map(|clause| clause.any.iter().cloned())
            .collect();
        Self {
            terms: vec![TermClause {
                any,
                is_negated: false,
            }],
            filters: Vec::new(),
        }
    }

    /// The filters of a name.
    pub fn filters_of(&self, name: FilterName) -> impl Iterator<Item = &FilterClause> {
        self.filters
            .iter()
            .filter(move |clause| clause.name == name)
    }

    /// Whether a filter of this name is there.
    pub fn has_filter(&self, name: FilterName) -> bool {
        self.filters_of(name).next().is_some()
    }

    /// Whether texts are looked at, and not only what a list knows of conversations.
    pub fn asks_for_texts(&self) -> bool {
        !self.terms.is_empty() || self.filters.iter().any(|f| !f.name.is_in_lists())
    }
}
