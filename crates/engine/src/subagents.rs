//! Sessions of sub-agents count with the sessions that started them.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::Summary;

/// Takes the sessions of sub-agents out of a list, and adds what is in them to the sessions that
/// started them. One whose parent is not in the list stays.
pub(crate) fn with_parents(sessions: Vec<Summary>) -> Vec<Summary> {
    if !sessions.iter().any(Summary::is_subagent) {
        return sessions;
    }
    let key = |s: &Summary, id: &str| (s.head.format, id.to_lowercase());
    let places: BTreeMap<(&str, String), usize> = sessions
        .iter()
        .enumerate()
        .map(|(i, s)| (key(s, &s.head.id), i))
        .collect();
    let parent = |i: usize| {
        let session = sessions.get(i)?;
        let found = places.get(&key(session, session.parent()?))?;
        Some(*found).filter(|p| *p != i)
    };
    // Who has no parent in the list; a circle of parents has none, and so stays as it is.
    let mut roots = BTreeMap::new();
    for i in 0..sessions.len() {
        let mut seen = BTreeSet::from([i]);
        let mut at = i;
        while let Some(up) = parent(at) {
            if !seen.insert(up) {
                at = i;
                break;
            }
            at = up;
        }
        if at != i {
            roots.insert(i, at);
        }
    }
    let mut folded = sessions.clone();
    for (child, root) in &roots {
        if let (Some(from), Some(to)) = (sessions.get(*child), folded.get_mut(*root)) {
            to.counts += &from.counts;
            to.size = to.size.saturating_add(from.size);
            to.notes.extend(from.notes.iter().cloned());
        }
    }
    let mut place = 0..;
    folded.retain(|_| place.next().is_some_and(|i| !roots.contains_key(&i)));
    folded
}

#[cfg(test)]
mod tests {
    use rethread_model::{Link, LinkKind};

    use super::*;

    fn session(id: &str, parent: Option<&str>, messages: u64) -> Summary {
        let mut summary = Summary::default();
        summary.head.id = id.to_owned();
        summary.head.links = parent
            .map(|session| Link {
                kind: LinkKind::Parent,
                session: session.to_owned(),
                entry: None,
                tool_call: None,
            })
            .into_iter()
            .collect();
        summary.counts.messages = messages;
        summary.size = messages * 10;
        summary
    }

    #[test]
    fn counts_go_to_the_root_and_orphans_and_circles_stay() {
        let all = vec![
            session("leaf", Some("MID"), 1),
            session("mid", Some("top"), 2),
            session("top", None, 4),
            session("orphan", Some("gone"), 8),
            session("a", Some("b"), 16),
            session("b", Some("a"), 32),
            session("self", Some("self"), 64),
        ];
        let counted: Vec<(String, u64, u64)> = with_parents(all)
            .into_iter()
            .map(|s| (s.head.id, s.counts.messages, s.size))
            .collect();
        let expected = [
            ("top", 7, 70),
            ("orphan", 8, 80),
            ("a", 16, 160),
            ("b", 32, 320),
            ("self", 64, 640),
        ];
        assert_eq!(
            counted,
            expected.map(|(id, n, size)| (id.to_owned(), n, size))
        );
    }
}
