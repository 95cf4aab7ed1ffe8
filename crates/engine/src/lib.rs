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
mod follow;
mod homes;
mod hooks;
mod incoming;
mod list;
mod open_page;
mod overview;
mod queried;
mod query_filter;
mod remove;
mod resume;
mod sample;
mod search;
mod search_library;
mod session_names;
mod show;
mod stats;
mod subagents;
mod suggest;
mod trust;
mod when;
mod worktree;

pub use agents::{AgentInfo, list_agents};
pub use check::{Checked, check_paths, nothing_to_check, paths_to_check};
pub use context::{ContextPoint, context_point, native_context};
pub use convert::{
    AGENTS, Conversion, ConvertOptions, ConvertOutcome, Converted, ItemFate, KINDS, Restoration,
    RestoreOptions, Restored, Restorer, Trim, arrivals_in, conversions, convert_session,
    judging_client, restorable_sessions,
};
pub use edit::{
    append_messages, branch_session, fork_session, init_project, migrate_session, new_session,
    rename_session, replace_message, set_label,
};
pub use error::Error;
pub use export::{
    ChosenSessions, ConversationWithFiles, ExportForms, ExportSelection, ExportTarget, Exported,
    PageOutput, choose_sessions, export_file_name, export_html, export_markdown, export_ndjson,
    export_notes, export_source, show_ndjson,
};
pub use filter::{Filter, check_homes, format_named};
pub use follow::{
    Followed, FollowedMessages, LibraryFollow, SessionFollow, WatchMethod, follow_library,
    follow_session,
};
pub use homes::open_homes;
pub use hooks::{HookOutcome, HookReport, HookStep};
pub use incoming::IncomingData;
pub use list::{Listed, Sort, list};
pub use open_page::{open_in_browser, write_cached_page, write_page};
pub use overview::{AgentLine, DayCount, Overview, overview};
pub use query_filter::{TimeSpan, asked_span};
pub use remove::{Removable, Removed, removable_by_filter, removable_by_name, remove_session};
pub use resume::{ResumeCommand, ResumeOptions, resume_session};
pub use rethread_catalog::{Candidate, FindError, HomeAsk, HomeError, ShortIds, absolute, find};
pub use rethread_disk::Durability;
pub use rethread_formats::{
    AgentKey, Appended, Can, Conversation, EntryRef, Env, EnvError, FORMATS, Fork, FormatRef, Made,
    MessageDefaults, MessageInput, Migrated, NativeContext, NewSession, OpenError, ProjectKey,
    Resume, Source, TextMessage, Violation, Weight, WriteError, Writing, by_name, last_name,
    local_path,
};
pub use rethread_search::{
    FileUse, FilterClause, FilterName, Hit, HitOrder, NearMiss, OtherWords, Query, QueryError,
    Snippet, SnippetLine, SnippetSize, TextKind, TextMatcher, TextRole, TouchedFile,
    parse_filter_word,
};
pub use rethread_stats::{
    DaySums, ExplainedRow, FoundOddity, GroupBy, GroupKey, LeftOut, OddityKind, PriceSource,
    PriceTable, RowCost, StatsGroup, StatsReport, StatsSums, TokenCounts, UnpricedModel,
};
pub use sample::{Sample, SampleCopy, clear_sample, kept_sample, temporary_sample, write_sample};
pub use search::{
    ConversationPart, FoundConversation, FoundPlace, SearchAnswer, SearchOptions, search,
};
pub use search_library::{IndexOverview, SearchLibrary, clear_search_cache};
pub use session_names::SessionNames;
pub use show::{
    Part, Shown, agent_name, copy_raw, copy_rows, listed_as, raw_files, raw_rows, show,
};
pub use stats::{BudgetState, Stats, StatsOptions, month_budget, stats, workspace_labels};
pub use trust::{TrustedHooks, revoke_trust, trusted_hooks};
pub use when::{Bound, NotAMoment, parse_moment};
pub use worktree::{
    AddWorktree, AddedWorktree, Consent, ListedWorktree, RemovedWorktree, add_worktree,
    list_worktrees, remove_worktree, wants_worktree,
};
