//! What messages say about the whole session: title, counts, times, model, usage. Lists and readers
//! use the same rules.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rethread_model::{
    Activity, Counts, Head, Kind, Link, LinkKind, ModelRef, Moment, Role, Title, TitleSource,
    Usage, Visibility,
};

use super::entries::repeated_messages;
use super::head::message_clues;
use super::project::find_workspace;
use super::replay::{Replay, ReplayedEntry};
use super::scan::Scanned;
use crate::first_prompt::FirstPrompt;
use crate::times::Times;

/// How much was said, and when: also what left the list, because it was taken back or summed up, as in
/// formats that keep branches. Of each id the last version counts.
pub(super) fn count_replay(replay: &Replay, usage: bool) -> (Counts, Activity) {
    let mut counts = Counts::default();
    let mut activity = Activity::default();
    let repeats = repeated_messages(replay);
    for (at, draft) in replay.drafts.iter().enumerate() {
        let is_repeat = repeats.get(at).copied().flatten().is_some();
        let Kind::Message(role) = replay.kind(at, draft) else {
            continue;
        };
        if is_repeat {
            continue;
        }
        counts.messages += 1;
        activity.add_message(draft.head.time);
        match role {
            Role::User if draft.head.visibility != Visibility::Injected => {
                counts.user_messages += 1;
            }
            Role::Assistant => counts.assistant_messages += 1,
            _ => {}
        }
        counts.tool_calls += draft.head.said.calls.places().len() as u64;
    }
    if usage {
        counts.usage = Some(total(replay));
    }
    (counts, activity)
}

fn total(replay: &Replay) -> Usage {
    let mut nameless = Vec::new();
    let mut named: HashMap<&str, &Usage> = HashMap::new();
    for (draft, id) in replay.drafts.iter().zip(replay.ids.iter()) {
        match &draft.head.said.usage {
            Some(usage) if id.is_empty() => nameless.push(&**usage),
            Some(usage) => drop(named.insert(id, usage)),
            None => {}
        }
    }
    let mut sum = Usage::default();
    for usage in named.into_values().chain(nameless) {
        sum += usage;
    }
    sum
}

/// The facts about the whole session.
pub(super) fn session_head(path: &Path, id: &str, found: &Scanned) -> Head {
    let Scanned { meta, replay, .. } = found;
    let mut head = meta.head(path, id);
    let drafts = || replay.live.iter().filter_map(|at| replay.drafts.get(*at));
    let mut times = Times::default();
    let repeats = repeated_messages(replay);
    for (at, draft) in replay.drafts.iter().enumerate() {
        let is_repeat = repeats.get(at).copied().flatten().is_some();
        if draft.head.kind.is_message() && !is_repeat {
            times.add(draft.head.time);
        }
    }
    let changed = || {
        let modified = std::fs::metadata(path).and_then(|m| m.modified()).ok()?;
        jiff::Timestamp::try_from(modified).ok().map(Moment::from)
    };
    times.fill(&mut head);
    head.updated = head.updated.or_else(changed);
    let told =
        |d: &ReplayedEntry| message_clues(&found.part.read(d.origin.record).unwrap_or_default());
    let mut prompts = drafts().filter(|d| d.head.said.has_prompt);
    let title = |text: String, source| Title { text, source };
    head.title = if let Some(summary) = &meta.summary {
        Some(title(summary.clone(), TitleSource::Summary))
    } else {
        let mut first = FirstPrompt::default();
        while !first.has_words()
            && let Some(draft) = prompts.next()
        {
            first = first.or(told(draft).prompt);
        }
        first.title()
    };
    let mut last_first = drafts().rev();
    let model = last_first.find_map(|d| replay.models.get(d.head.said.model?.at()));
    head.model = model.map(|id| ModelRef {
        provider: None,
        id: id.to_string(),
    });
    // The first message of the user may have it before what the user said.
    let by_user = drafts().filter(|d| d.head.kind == Kind::Message(Role::User));
    let is_injected = |d: &ReplayedEntry| d.head.visibility == Visibility::Injected;
    let contexts = by_user.enumerate().filter_map(|(n, d)| {
        let told = (n == 0 || is_injected(d)).then(|| told(d))?;
        (is_injected(d) || told.begins_with_context).then_some(told.folders)
    });
    let mut folders = contexts;
    let folders = folders.find(|folders| !folders.is_empty());
    head.workspace = find_workspace(path, meta, &folders.unwrap_or_default());
    head.links.extend(sub_agents(replay));
    head
}

/// The sub-agents that tools started, each once.
fn sub_agents(replay: &Replay) -> Vec<Link> {
    let tools = &replay.tools;
    let mut seen = HashSet::new();
    let calls = replay.drafts.iter().flat_map(|d| tools.calls(&d.head.said));
    let started = calls.filter_map(|call| Some((tools.text(call.agent?), call.id)));
    started
        .filter(|(agent, _)| seen.insert(agent.clone()))
        .map(|(agent, call)| Link {
            kind: LinkKind::SubAgent,
            session: agent.into_owned(),
            entry: None,
            tool_call: Some(tools.text(call).into_owned()),
        })
        .collect()
}
