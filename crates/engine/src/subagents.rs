//! Sessions of sub-agents count with the sessions that started them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rethread_formats::{Conversation, Source, Want, summarize};
use rethread_model::{State, Summary, UsageScope};

/// Takes the sessions of sub-agents out of a list, and adds what is in them to the sessions that
/// started them. One whose parent is not in the list stays.
pub(crate) fn with_parents(sessions: Vec<Summary>) -> Vec<Summary> {
    if !sessions.iter().any(Summary::is_subagent) {
        return sessions;
    }
    let above = Ancestors::of_sessions(&sessions);
    let mut folded = sessions.clone();
    for (session, above) in sessions.iter().zip(&above.lists) {
        if let Some(root) = above.last().and_then(|root| folded.get_mut(*root)) {
            add_subagent(root, session);
        }
    }
    let mut is_root = above.lists.iter().map(Vec::is_empty);
    folded.retain(|_| is_root.next().unwrap_or(true));
    folded
}

/// For each session the place of the one that started it, and so on up; its own where nobody did.
pub(crate) fn root_places(sessions: &[Summary]) -> Vec<usize> {
    if !sessions.iter().any(Summary::is_subagent) {
        return (0..sessions.len()).collect();
    }
    let above = Ancestors::of_sessions(sessions).lists.into_iter();
    let root = |(at, above): (usize, Vec<usize>)| above.last().copied().unwrap_or(at);
    above.enumerate().map(root).collect()
}

/// Adds what is in sessions of sub-agents to all sessions above them, and keeps them in the list.
pub(crate) fn with_own_counts(sessions: &[Summary]) -> Vec<Summary> {
    let above = Ancestors::of_sessions(sessions);
    let mut counted = sessions.to_vec();
    for (session, above) in sessions.iter().zip(&above.lists) {
        for at in above {
            if let Some(ancestor) = counted.get_mut(*at) {
                add_subagent(ancestor, session);
            }
        }
    }
    counted
}

/// The sessions that started others.
struct Ancestors {
    /// For each session the places of those above it in the list, the nearest first. A circle of parents
    /// has none, and so stays as it is.
    lists: Vec<Vec<usize>>,
}

impl Ancestors {
    fn of_sessions(sessions: &[Summary]) -> Self {
        let key = |s: &Summary, id: &str| (s.head.format, id.to_lowercase());
        let mut places: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
        for (i, session) in sessions.iter().enumerate() {
            places
                .entry(key(session, &session.head.id))
                .or_default()
                .push(i);
        }
        // A store may be there twice: the parent is the one that lies nearest.
        let parent = |i: usize| {
            let session = sessions.get(i)?;
            let found = places.get(&key(session, session.parent()?))?.iter();
            let others = found.copied().filter(|p| *p != i);
            let near = |p: &usize| {
                sessions
                    .get(*p)
                    .map(|s| shared_folders(&s.path, &session.path))
            };
            others.max_by_key(near)
        };
        let list = |i: usize| {
            let mut above = Vec::new();
            let mut seen = BTreeSet::from([i]);
            let mut at = i;
            while let Some(up) = parent(at) {
                if !seen.insert(up) {
                    return Vec::new();
                }
                above.push(up);
                at = up;
            }
            above
        };
        Self {
            lists: (0..sessions.len()).map(list).collect(),
        }
    }
}

/// Counts a sub-agent with a session above it.
fn add_subagent(to: &mut Summary, from: &Summary) {
    let usage = to.counts.usage;
    let told = usage.filter(|u| u.scope == UsageScope::WithSubAgents);
    to.counts += &from.counts;
    to.counts.usage = told.or(to.counts.usage);
    to.activity += &from.activity;
    to.size = to.size.saturating_add(from.size);
    let all = to.subagents.get_or_insert_default();
    all.sessions += 1;
    all.counts += &from.counts;
    all.size = all.size.saturating_add(from.size);
    to.notes.extend(from.notes.iter().cloned());
}

/// What a list says of a session that was found by its path, where its sub-agents lie elsewhere: with
/// what is in them.
pub(crate) fn with_own_subagents(source: &Source, summary: Summary) -> Summary {
    if summary.state != State::Ready {
        return summary;
    }
    match source.format.reader().read(source) {
        Ok(conversation) => of_conversation(&conversation, summary),
        Err(_) => summary,
    }
}

/// The same of a session that was read.
pub(crate) fn of_conversation(conversation: &Conversation, summary: Summary) -> Summary {
    let agents = conversation.source.format.reader().subagents(conversation);
    let place = (summary.path.clone(), summary.head.id.clone());
    let mut all = vec![summary.clone()];
    all.extend(agents.iter().map(|agent| summarize(agent, Want::WHOLE)));
    let found = with_parents(all).into_iter();
    let mut same = found.filter(|s| (&s.path, &s.head.id) == (&place.0, &place.1));
    same.next().unwrap_or(summary)
}

/// How many folders two paths have in common.
fn shared_folders(one: &Path, other: &Path) -> usize {
    let both = one.components().zip(other.components());
    both.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use rethread_model::{Link, LinkKind, Usage};

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

    #[test]
    fn usage_that_holds_the_sub_agents_is_not_added_to() {
        let used = |id: &str, parent, output, scope| {
            let mut summary = session(id, parent, 1);
            summary.counts.usage = Some(Usage {
                output,
                scope,
                ..Usage::default()
            });
            summary
        };
        let all = vec![
            used("all", None, 10, UsageScope::WithSubAgents),
            used("of-all", Some("all"), 4, UsageScope::Response),
            used("own", None, 10, UsageScope::Cumulative),
            used("of-own", Some("own"), 4, UsageScope::Response),
        ];
        let output = |s: Summary| s.counts.usage.map(|u| u.output);
        let counted: Vec<_> = with_parents(all).into_iter().map(output).collect();
        assert_eq!(counted, [Some(10), Some(14)]);
    }

    #[test]
    fn of_two_copies_of_a_store_each_keeps_its_own() {
        let at = |path: &str, id: &str, parent, messages| Summary {
            path: path.into(),
            ..session(id, parent, messages)
        };
        let all = vec![
            at("/a/p/top", "top", None, 1),
            at("/a/p/top/leaf", "leaf", Some("top"), 10),
            at("/b/p/top", "top", None, 2),
            at("/b/p/top/leaf", "leaf", Some("top"), 20),
        ];
        let messages = |s: Summary| s.counts.messages;
        let counted: Vec<_> = with_parents(all).into_iter().map(messages).collect();
        assert_eq!(counted, [11, 22]);
    }
}
