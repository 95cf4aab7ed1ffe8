//! What a list counts of sessions and their sub-agents.

use std::collections::BTreeMap;

use rethread_engine::{Filter, Sort, list};
use rethread_formats::Env;
use rethread_model::Summary;

use crate::world::World;

fn listed(w: &World, subagents: bool) -> Vec<Summary> {
    let home = Some(w.home.clone());
    let env = Env::from_variables(BTreeMap::new(), home, w.project.clone()).unwrap();
    let filter = Filter {
        subagents,
        hidden: true,
        ..Filter::default()
    };
    list(&env, &filter, Sort::Tokens, &|_, _| {})
        .unwrap()
        .sessions
}

/// Messages, calls and tokens of a session.
fn counted(sessions: &[Summary], id: &str) -> Option<[u64; 3]> {
    let counts = sessions.iter().find(|s| s.head.id == id)?.counts;
    let tokens = counts.usage.unwrap().total();
    Some([counts.messages, counts.tool_calls, tokens])
}

/// A sub-agent is not in the list, and what is in it counts with its parent, once.
#[track_caller]
pub(crate) fn assert_counted_once(w: &World, parent: &str, child: &str) {
    let (apart, together) = (listed(w, true), listed(w, false));
    let (own, of_child) = (
        counted(&apart, parent).unwrap(),
        counted(&apart, child).unwrap(),
    );
    assert!(of_child[2] > 0, "{of_child:?}");
    assert_eq!(counted(&together, child), None);
    let sum = std::array::from_fn(|i| own[i] + of_child[i]);
    assert_eq!(counted(&together, parent), Some(sum));
}
