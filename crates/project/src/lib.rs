//! Git facts about a folder: root, branch, commit, worktrees.
//!
//! Everything is read straight from the files in `.git`, because starting a
//! process for each folder would be slow. The `git` program is asked only where
//! the files cannot tell: repositories that keep their references in a reftable,
//! addresses of remotes, and where a history begins. It is started so that nothing of the
//! repository's own configuration runs.
//!
//! Nothing here fails. A `.git` that is damaged, foreign or half written gives
//! fewer facts, never an error, and no read is longer than its purpose needs.
//! Nothing here writes, but for making and removing worktrees, which the `git`
//! program does.
//!
//! ```
//! use std::path::Path;
//! use rethread_project::{Repository, relative};
//!
//! if let Some(repository) = Repository::find(Path::new("src")) {
//!     let branch = repository.branch().unwrap_or_else(|| "detached".to_owned());
//!     let inside = relative(repository.root(), Path::new("src"));
//!     assert!(!branch.is_empty() && !inside.is_empty());
//! }
//! ```

mod boundary;
mod change;
mod config;
mod file;
mod path;
mod program;
mod refs;
mod repository;
mod settings;
mod worktree;

pub use boundary::{confine_to, is_folder, is_visible, upward};
pub use change::GitError;
pub use path::relative;
pub use repository::Repository;
pub use settings::LeftOff;
pub use worktree::Worktree;
