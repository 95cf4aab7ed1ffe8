//! The fields of the index, and how its words are made.

use tantivy::Index;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token as IndexToken, TokenStream, Tokenizer};

use crate::tokens::Tokens;

/// The name under which the index knows our words.
const TOKENIZER: &str = "rethread";

/// The fields of a document, which is a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexFields {
    pub(super) text: Field,
    /// The row of the source in the catalogue.
    pub(super) session: Field,
    /// The entry, and the number of the text in it.
    pub(super) place: Field,
    pub(super) kind: Field,
    pub(super) time: Field,
    pub(super) words: Field,
    pub(super) digest: Field,
    /// The tool's name.
    pub(super) tool: Field,
    /// `error`, `image`.
    pub(super) flag: Field,
    /// Paths that a call touches.
    pub(super) path: Field,
}

pub(super) const SESSION: &str = "session";
pub(super) const PLACE: &str = "place";
pub(super) const KIND: &str = "kind";
pub(super) const TIME: &str = "time";
pub(super) const WORDS: &str = "words";
pub(super) const DIGEST: &str = "digest";

impl IndexFields {
    pub(super) fn schema() -> Schema {
        let mut schema = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        schema.add_text_field("text", TextOptions::default().set_indexing_options(words));
        schema.add_u64_field(SESSION, INDEXED | FAST);
        for name in [PLACE, KIND, WORDS, DIGEST] {
            schema.add_u64_field(name, FAST);
        }
        schema.add_i64_field(TIME, FAST);
        for name in ["tool", "flag", "path"] {
            schema.add_text_field(name, STRING);
        }
        schema.build()
    }

    /// The fields of an index; none if it has others.
    pub(super) fn of(schema: &Schema) -> Option<Self> {
        let field = |name: &str| schema.get_field(name).ok();
        Some(Self {
            text: field("text")?,
            session: field(SESSION)?,
            place: field(PLACE)?,
            kind: field(KIND)?,
            time: field(TIME)?,
            words: field(WORDS)?,
            digest: field(DIGEST)?,
            tool: field("tool")?,
            flag: field("flag")?,
            path: field("path")?,
        })
    }
}

/// Tells an index how words are made.
pub(super) fn register_tokenizer(index: &Index) {
    index.tokenizers().register(TOKENIZER, WordTokenizer);
}

#[derive(Clone, Copy, Debug)]
struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        WordStream {
            tokens: Tokens::of(text),
            token: IndexToken::default(),
        }
    }
}

struct WordStream<'a> {
    tokens: Tokens<'a>,
    token: IndexToken,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(next) = self.tokens.next_token() else {
            return false;
        };
        self.token.text.clear();
        self.token.text.push_str(&next.term);
        self.token.position = next.position as usize;
        self.token.position_length = 1;
        self.token.offset_from = next.range.start;
        self.token.offset_to = next.range.end;
        true
    }

    fn token(&self) -> &IndexToken {
        &self.token
    }

    fn token_mut(&mut self) -> &mut IndexToken {
        &mut self.token
    }
}
