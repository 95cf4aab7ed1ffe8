//! What conversations cost: tokens, money, time, tools and lines, counted by one law for all agents.
//!
//! A [`SessionLedger`] is what is counted of one session: a row for each response, and sums by quarters of
//! an hour of what was said and done. [`record_session()`] makes it of a conversation, and it can be kept as
//! bytes. `docs/statistics.md` is the law.

mod bytes;
mod law;
mod ledger;
mod odd_counts;
mod prices;
mod record;
mod report;

pub use bytes::{is_whole_ledger, load_ledger, save_ledger};
pub use law::{LeftOut, StatsSession};
pub use ledger::{
    ActiveSpan, CallRow, Oddity, OddityKind, QUARTER_MS, ResponseRow, SessionLedger, SpanRow,
    TokenCounts,
};
pub use prices::{ModelPrice, PriceSource, PriceTable};
pub use record::{ACTIVE_GAP_MS, record_session};
pub use report::{
    DaySums, ExplainedRow, FoundOddity, GroupBy, GroupKey, RowCost, StatsGroup, StatsReport,
    StatsRequest, StatsSums, UnpricedModel, full_model_name, report_stats,
};
