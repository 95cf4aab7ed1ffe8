//! All conversations of this machine: where they are, and how to find one.
//!
//! [`discover()`] asks every format where it keeps conversations, [`list()`] summarizes what is there,
//! and [`find()`] turns what a user types into one session.

mod copies;
mod discover;
mod find;
mod hashed;
mod kept;
mod known;
mod list;
mod neighbours;

pub use discover::{Discovery, discover};
pub use find::{Candidate, FindError, find, sources_at};
pub use kept::keep;
pub use known::{remember, remembered};
pub use list::{Listing, list};
