//! The verbs of Rethread as functions that return plain values.
//!
//! Nothing in here prints, asks, or reads the environment; the command line, and whatever else
//! comes to stand on this, passes in an [`Env`] and shows what comes back.

mod agents;
mod check;
mod context;
mod convert;
mod edit;
mod entry;
mod error;
mod export;
mod filter;
mod homes;
mod hooks;
mod incoming;
mod list;
mod open_page;
mod overview;
mod remove;
mod resume;
mod sample;
mod session_names;
mod show;
mod subagents;
mod suggest;
mod trust;
mod when;
mod worktree;

pub use agents::{AgentInfo, agents};
pub use check::{Checked, check, checkable, nothing_to_check};
pub use context::{Point, native_context, point};
pub use convert::{
    AGENTS, Conversion, ConvertAsk, Converted, Fate, KINDS, Restoration, RestoreAsk, Restored,
    Restorer, Trim, Way, arrivals, conversions, convert, judge, restorable,
};
pub use edit::{append, branch, fork, init, label, migrate, new, rename, replace};
pub use error::Error;
pub use export::{
    Chosen, ExportAsk, ExportForms, Exported, Pages, Pictures, Target, choose, export_file_name,
    export_html, export_markdown, export_ndjson, export_notes, export_source, show_ndjson,
};
pub use filter::{Filter, check_homes, format_named};
pub use homes::open_homes;
pub use hooks::{HookReport, HookStep, Outcome};
pub use incoming::Incoming;
pub use list::{Listed, Sort, list};
pub use open_page::{open_in_browser, write_cached_page, write_page};
pub use overview::{AgentLine, Overview, overview};
pub use remove::{Removable, Removed, removable_by_filter, removable_by_name, remove};
pub use resume::{Continued, ResumeAsk, resume};
pub use rethread_catalog::{Candidate, FindError, HomeAsk, HomeError, ShortIds, absolute, find};
pub use rethread_disk::Durability;
pub use rethread_formats::{
    AgentKey, Appended, AskedEntry, Can, Conversation, Env, EnvError, FORMATS, Fork, FormatRef,
    Made, MessageInput, Migrated, NativeContext, NewSession, OpenError, ProjectKey, Resume, Source,
    TextMessage, Unsaid, Violation, Weight, WriteError, Writing, by_name, last_name, local_path,
};
pub use sample::{Sample, SampleCopy, clear_sample, kept_sample, sample, temporary_sample};
pub use session_names::SessionNames;
pub use show::{
    Part, Shown, agent_name, copy_raw, copy_rows, listed_as, raw_files, raw_rows, show,
};
pub use trust::{Trusted, revoke, trusted};
pub use when::{Bound, NotAMoment, moment};
pub use worktree::{
    AddWorktree, AddedWorktree, Consent, ListedWorktree, RemovedWorktree, add_worktree,
    list_worktrees, remove_worktree, wants_worktree,
};
