//! Lossless JSON and JSON lines: spans over the original bytes, patches, line scanning.
//!
//! Four layers, each usable alone:
//!
//! - [`Lines`] finds lines in a stream, of whatever size, with 64-bit offsets.
//! - [`Tree`] finds the values in a text of up to 4 GiB, and [`Value`] looks at
//!   them. The bytes stay as they are: every spelling of a number, every
//!   escape, every duplicate key and all white space is still there, and a
//!   [`Patch`] changes what it names and nothing else.
//! - [`Skim`] goes through a text once and leaves no tree: for a few values out of many.
//! - [`Pull`] reads a value of any size from a stream, event by event, in
//!   memory that does not grow with it.
//!
//! The grammar is RFC 8259, with three allowances for what programs really
//! write: a byte order mark may precede the value, strings may hold escapes of
//! lone surrogates, and strings may hold bytes that are not UTF-8. Nesting may
//! be as deep as the text is long; nothing here recurses.

mod alike;
mod block;
mod container;
mod error;
mod lines;
mod mend;
mod number;
mod object;
mod passed;
mod patch;
mod pull;
mod salvage;
mod scan;
mod skim;
mod text;
mod tree;
mod value;
mod write;

pub use alike::ObjectShape;
pub use error::{SyntaxError, SyntaxErrorKind};
pub use lines::{LINE_CAP, Line, LineBytes, LineSpan, Lines, split_lines};
pub use mend::{Damaged, Mended, find_damaged, mask_damaged, mend};
pub use object::{Array, Object};
pub use passed::Passed;
pub use patch::{InsertAt, Patch};
pub use pull::{Chunk, Event, Pull, PullError};
pub use salvage::{LineKind, Piece, classify, salvage};
pub use skim::{Key, Skim, Strayed};
pub use text::{Text, string_at};
pub use tree::{Document, Tree};
pub use value::{Items, Kind, Members, Value};
pub use write::{compact, pretty, quote, write_str};
