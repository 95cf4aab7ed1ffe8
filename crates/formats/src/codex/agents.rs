//! The sub-agents of a session: files of their own in the same home, which name it as their parent.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rethread_model::Moment;

use super::meta::{Beginning, read_beginning};
use super::store::{RolloutName, SESSIONS, home_of, list_logs};
use crate::{Conversation, Source};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// No session is looked at for more days than these.
const LONGEST: usize = 3660;

/// What was made while a session went on, by names: in its own folder, and in those of the days from
/// its first to its last.
pub(super) fn near_subagents(session: &Conversation) -> Vec<Source> {
    let head = &session.session.head;
    // What was converted was made after it was said.
    let made = match read_beginning(&session.source.path) {
        Beginning::Session(meta) => meta.created,
        Beginning::Nameless | Beginning::Other => None,
    };
    let times = || [head.created, head.updated, made].into_iter().flatten();
    let Some((first, last)) = times().min().zip(times().max()) else {
        return Vec::new();
    };
    // Names are of local time.
    let (first, last) = (first.millis(), last.millis());
    let (first, last) = (first - DAY_MS, last + DAY_MS);
    let day = |millis| {
        let time: Option<Moment> = Moment::from_millis(millis);
        let day = time.map(|time| time.to_string());
        day.and_then(|day| Some(day.get(..10)?.to_owned()))
    };
    let (Some(from), Some(to)) = (day(first), day(last)) else {
        return Vec::new();
    };
    let fits = |name: &str| {
        let day = name.strip_prefix("rollout-").and_then(|n| n.get(..10));
        day.is_some_and(|day| (from.as_str()..=to.as_str()).contains(&day))
    };
    let path = &session.source.path;
    let mut folders: Vec<PathBuf> = path.parent().map(Path::to_owned).into_iter().collect();
    if let Some(sessions) = home_of(path).map(|home| home.join(SESSIONS)) {
        let step = usize::try_from(DAY_MS).unwrap_or(usize::MAX);
        let days = (first..last.saturating_add(DAY_MS)).step_by(step);
        for day in days.take(LONGEST).filter_map(day) {
            let mut folder = sessions.clone();
            folder.extend(day.split('-'));
            folders.push(folder);
        }
        folders.push(sessions);
    }
    let mut met = HashSet::new();
    folders.retain(|folder| met.insert(folder.clone()));
    folders
        .iter()
        .flat_map(|folder| list_logs(folder, &fits))
        .collect()
}

/// The session that a file names as its parent. What a file says of itself stays so, and whoever
/// converts all sessions of a home asks for each of them again.
pub(super) fn parent_of(path: &Path) -> Option<String> {
    static KNOWN: Mutex<Option<HashMap<PathBuf, Option<String>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(parent) = known.get(path) {
        return parent.clone();
    }
    RolloutName::of(path)?;
    let Beginning::Session(meta) = read_beginning(path) else {
        return None;
    };
    known.insert(path.to_owned(), meta.parent.clone());
    meta.parent
}
