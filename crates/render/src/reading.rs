//! A conversation as people read it, whatever it is written as: who speaks, what they say, what tools
//! did, and how much is quiet.
//!
//! [`Reading`] walks over the entries of a view once and gives [`ReadingPart`]s in order: the heading of a
//! turn, what was said and done in it, and what was left out. One message is held at a time, and the
//! few ahead of it that bring the results of its calls.

mod ahead;
mod call;
mod change;
mod injected;
mod input;
mod last;
mod names;
mod output;
mod quiet;
mod stream;
mod turn;

pub(crate) use ahead::LookAhead;
pub(crate) use call::{CallKind, CallOutcome, ToolUse};
pub(crate) use change::{Change, ChangedLine, FileChange, LineMark, is_patch};
pub(crate) use injected::{ClientText, InjectedText, classify_client_text};
pub(crate) use input::{COMMANDS, CONTENTS, CallInput, InputMember, InputValue};
pub use last::{first_of_last, start_of};
pub(crate) use names::{agent_word, model_label, relative_path};
pub(crate) use output::ToolOutput;
pub(crate) use quiet::OmittedItems;
pub(crate) use stream::Reading;
pub(crate) use turn::{ReadingPart, Speaker, Turn, TurnItem};
