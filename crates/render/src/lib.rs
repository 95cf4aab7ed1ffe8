//! Showing a conversation: text, Markdown, HTML and the unified JSON vocabulary.
//!
//! Everything is written to a [`Write`](std::io::Write) that the caller brings, one body at a time:
//! memory follows the longest message, not the conversation. There are many small writes, so the
//! caller buffers. Nothing here prints, reads the environment or asks the clock.
//!
//! Text from conversations is untrusted. What reaches a terminal or a Markdown file goes through
//! [`Plain`] or [`OneLine`]; what reaches an HTML page is made harmless in the same way and escaped;
//! what reaches JSON is escaped by JSON itself, and where it is printed, [`InertJson`] also spells what
//! JSON allows in strings (DEL and beyond) as escapes.

mod chart;
mod html;
mod json;
mod markdown;
mod measured_call;
mod media;
mod neutral;
mod notice;
mod numbers;
mod outline;
mod picture;
mod reading;
mod sums;
mod text;
mod tool;
mod unified;
mod unknown;
mod utf8;
mod view;
mod workspace;

pub use chart::{DayCalendar, draw_bar, draw_calendar, draw_gauge};
pub use html::{
    HTML_GENERATOR, Html, IndexRow, PageContext, SessionTarget, html_index, write_html,
};
pub use json::InertJson;
pub use markdown::write_markdown;
pub use measured_call::{MeasuredCall, measure_call};
pub use neutral::{OneLine, Plain, cell, fit, neutral, one_line, width};
pub use numbers::{byte_count, dollars, short_count};
pub use outline::{draw_tree, tree_json};
pub use picture::{PictureBar, StatsPicture, write_stats_picture};
pub use reading::{first_of_last, start_of};
pub use text::{TextPart, walk_text_parts, write_text, write_turns};
pub use unified::{
    Envelope, Export, OriginalWriter, RecordForm, WrittenMessage, context_object, export_record,
    message_lines, message_object, session_object, session_record, summary_entries, workspace_path,
};
pub use utf8::Utf8;
pub use view::{Options, SourceInfo, Style, View, exported_times};
pub use workspace::encode_workspace;
