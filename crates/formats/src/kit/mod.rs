//! What formats have in common, written once: an agent's folder says only what is its own.

mod body;
mod content;
mod hash;
mod head;
mod input;
mod linear;
mod log;
mod records;
mod scan;
mod state;
mod store;
mod summary_state;
mod thread;

pub(crate) use body::{CHANGED, decode_record, giant_block, giant_body, unreadable_body};
pub(crate) use content::{
    InlineData, base64_start, content_blocks, data_url, inline_blob, is_data_url, media_block,
    object_input, output_text, parsed_input, plain_input, unknown_block, url_blob,
};
pub(crate) use hash::TextHasher;
pub(crate) use head::{
    HeadField, HeadOwner, HeadValue, head_fields, head_text, plain_members, plain_word, word_behind,
};
pub(crate) use input::{
    GivenMessage, bad_message, given_time, read_message, read_object, read_unified, unified_message,
};
pub(crate) use linear::{LinearDialect, LinearEntry, read_linear, summarize_linear};
pub(crate) use log::{Flow, LogLine, LogVisitor, read_log, salvage_line, scan_log};
pub(crate) use records::{LogRecords, SourcePos};
pub use scan::SavedScan;
pub(crate) use scan::{SaveScan, ScanDepth, scan_question, scan_resumably};
pub use state::SavedState;
pub(crate) use state::{saved_enum, saved_struct};
pub(crate) use store::{
    LogFolders, SourceSink, agent_folders, begins_with, folder_entries, is_absent, known_roots,
    read_error, require_file, sorted_entries,
};
pub use summary_state::SUMMARY_VERSION;
pub(crate) use thread::find_circles;
