//! What formats have in common, written once: an agent's folder says only what is its own.

mod log;
mod records;

pub(crate) use log::{Flow, LogLine, LogVisitor, read_log, salvage_line, scan_log};
pub(crate) use records::{LogRecords, SourcePos};
