//! Finding conversations by what was said in them.
//!
//! What a query means is what a plain look at all texts gives: [`walk_all_texts`] gives the texts of a
//! conversation, [`Tokens`] their words, and [`TextMatcher`] says whether a text has what a [`Query`]
//! wants. [`search_sessions`] computes that for many conversations, with a full-text index
//! ([`TextIndex`]) where that knows them and by a scan where it does not, and orders what was found.

mod carried;
mod distance;
mod fold;
mod hit;
mod index;
mod input_text;
mod matcher;
mod near;
mod prefilter;
mod query;
mod scan;
mod search;
mod snippet;
mod texts;
mod tokens;
mod touched;

pub use carried::{CarriedConversation, walk_all_texts};
pub use distance::edit_distance;
pub use hit::{FoundSession, Hit, HitOrder, SearchedSession};
pub use index::{
    BuildReport, IndexState, PendingSessions, TextIndex, build_index, clear_index, pending_sessions,
};
pub use matcher::{TextMatch, TextMatcher};
pub use near::{NearMiss, NearResults, OtherWords, search_near};
pub use query::{
    FilterClause, FilterName, Has, Query, QueryError, SearchTerm, TermClause, parse_filter_word,
};
pub use search::{SearchRequest, SearchResults, search_sessions};
pub use snippet::{Snippet, SnippetLine, SnippetSize};
pub use texts::{SearchText, TextKind, TextPlace, TextRole, texts_up_to, walk_texts};
pub use tokens::{Token, TokenKind, Tokens};
pub use touched::{AskedPath, FileUse, TouchedFile};
