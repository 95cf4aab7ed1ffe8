//! The verbs of Rethread as functions that return plain values.
//!
//! Nothing in here prints, asks, or reads the environment; the command line, and whatever else
//! comes to stand on this, passes in an [`Env`] and shows what comes back.

mod check;
mod edit;
mod entry;
mod error;
mod hooks;
mod list;
mod overview;
mod path;
mod remove;
mod sample;
mod show;
mod trust;
mod when;
mod worktree;

pub use check::{Checked, check};
pub use edit::{append, fork, init, new, rename, replace};
pub use error::Error;
pub use hooks::{HookReport, HookStep, Outcome};
pub use list::{Filter, Listed, Sort, list};
pub use overview::{AgentLine, Overview, overview};
pub use path::absolute;
pub use remove::{Removed, remove};
pub use rethread_catalog::{Candidate, FindError, find};
pub use rethread_disk::Durability;
pub use rethread_formats::{
    Appended, AskedEntry, Conversation, Env, EnvError, FORMATS, Fork, Format, Made, MessageInput,
    NewSession, OpenError, Source, TextMessage, Unsaid, Violation, Weight, WriteError, Writing,
    by_name,
};
pub use sample::{Sample, sample};
pub use show::{Shown, copy_raw, copy_rows, raw_files, raw_rows, show};
pub use trust::{Trusted, revoke, trusted};
pub use when::{Bound, NotAMoment, moment};
pub use worktree::{
    AddWorktree, AddedWorktree, Consent, ListedWorktree, RemovedWorktree, add_worktree,
    list_worktrees, remove_worktree, wants_worktree,
};
