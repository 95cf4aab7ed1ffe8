//! A conversation as people read it, whatever it is written as: who speaks, what they say, what tools
//! did, and how much is quiet.
//!
//! [`Reading`] walks over the entries of a view once and gives [`Part`]s in order: the heading of a
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

pub(crate) use ahead::Ahead;
pub(crate) use call::{Call, Deed, Outcome};
pub(crate) use change::{Change, FileChange, Line, Mark, is_patch};
pub(crate) use injected::{Injected, Told, told};
pub(crate) use input::{COMMANDS, CONTENTS, Input, Member, Value};
pub use last::{first_of_last, start_of};
pub(crate) use names::{agent_word, model_label, relative};
pub(crate) use output::{Output, size};
pub(crate) use quiet::Quiet;
pub(crate) use stream::Reading;
pub(crate) use turn::{Item, Part, Speaker, Turn};
