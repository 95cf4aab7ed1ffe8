//! Originals that travel along: the files of a session, packed into text that any format can hold.
//!
//! What is packed is one stream of zstd, as base64, in [pieces](PIECE) that are short enough for a
//! line each, with a [`Seal`] that says what must come out of it. [`OriginalFile`] is a file of a session
//! before it is packed, [`CarriedFile`] one that came along in an export, and [`CarriedOriginal`] all that came
//! along in a session that was converted.
//!
//! ```
//! use std::io::Read as _;
//! use rethread_formats::carry::{Unpack, pack_content};
//!
//! let mut text = String::new();
//! let packed = pack_content(&mut &b"as it was"[..], &mut |piece| Ok(text.push_str(piece)))?;
//! let mut out = String::new();
//! Unpack::new(text.as_bytes(), packed.seal)?.read_to_string(&mut out)?;
//! assert_eq!(out, "as it was");
//! # Ok::<(), std::io::Error>(())
//! ```

mod carried_original;
mod files;
mod object;
mod origin;
mod own;
mod pack;
mod put;
mod put_journal;
mod shape;
mod unpack;
mod verify;

pub use carried_original::{
    CarriedAgent, CarriedOriginal, CarriedOriginalError, PackedFiles, PackedOriginal, Scope,
};
pub use files::{OriginalFile, original_files};
pub use object::{CarriedFile, write_object};
pub use own::{NamedFile, own_files, rows_folder};
pub use pack::{PIECE, Packed, Seal, pack_content};
pub use put::{InstallTarget, Put, SessionFiles, is_same_file, join_checked};
pub use put_journal::remove_unfinished;
pub use shape::MessageTree;
pub use unpack::Unpack;
pub use verify::damaged_originals;

pub(crate) use carried_original::{in_lines, visit_lines};
pub(crate) use object::carried_files;
pub(crate) use origin::{converted_from, named};
pub(crate) use put::put_files;
