//! All conversations of this machine: where they are, and how to find one.
//!
//! [`discover()`] asks every format where it keeps conversations, [`list()`] summarizes what is there,
//! reading only what changed since the last time ([`Catalogue`]), and [`find()`] turns what a user types
//! into one session. [`open_homes()`] adds the homes of other
//! machines and systems, and [`ShortIds`] says what to call a session.

mod asked_id;
mod asked_workspace;
mod catalogue;
mod copies;
mod discover;
mod find;
mod homes;
mod kept;
mod known;
mod list;
mod neighbours;
mod path;
mod remote;
mod short_ids;
mod whereabouts;

pub use asked_workspace::{AskedWorkspace, is_path};
pub use catalogue::{
    CatalogedSource, Catalogue, CatalogueState, IndexedBatch, IndexedEntries, IndexedSource,
    KeptLedger, RowId, clear_catalogue,
};
pub use discover::{Discovery, discover};
pub use find::{Candidate, FindError, find, holds_none, source_of, sources_at, why_none_at};
pub use homes::{
    BudgetSettings, Dollars, HomeAsk, HomeError, PriceSettings, StatsSettings, open_homes,
    stats_settings,
};
pub use kept::keep;
pub use known::{remember, remembered};
pub use list::{Listing, list, list_with};
pub use path::absolute;
pub use short_ids::ShortIds;
pub use whereabouts::{moved_workspace, named_workspace};
