//! Homes of other machines and systems.

use rethread_catalog::HomeAsk;
use rethread_formats::Env;
use rethread_model::Note;

use crate::Error;

/// Opens the homes that are wanted beside the user's own; those of other machines are copied. Gives
/// the environment for the other verbs, and what was noticed. `progress` is told how many of how
/// many bytes of a home are copied.
pub fn open_homes(
    env: &Env,
    ask: &HomeAsk,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Env, Vec<Note>), Error> {
    Ok(rethread_catalog::open_homes(env, ask, progress)?)
}
