//! A whole conversation, with its branches, as entries of a session.

use super::edit::settle;
use super::message::from_new;
use super::{open, refused};
use crate::pi::Flavour;
use crate::pi::carry::OURS;
use crate::pi::manager::{SessionError, SessionManager};
use crate::{Attachments, Branches, Files, Keeps, Source, Step, Told, WriteError, Writing};

/// A session has entries for all of it.
pub(crate) const KEEPS: Keeps = Keeps {
    branches: Branches::SummedUp,
    compactions: true,
    labels: true,
    agents: false,
    attachments: Attachments {
        in_prompts: Files::Pictures,
        in_answers: Files::Nothing,
        in_results: Files::Pictures,
        addresses: false,
    },
};

/// The entries that a step became.
struct Entries {
    first: String,
    last: String,
}

/// Writes a conversation into a session that was just made.
pub(crate) fn tell(
    flavour: &Flavour,
    w: &Writing<'_>,
    source: &Source,
    told: &[Told],
) -> Result<(), WriteError> {
    let mut session = open(flavour, w, source)?;
    // A title may stand before all that is said.
    let root = session.leaf_id().map(str::to_owned);
    let mut made: Vec<Entries> = Vec::with_capacity(told.len());
    for (at, one) in told.iter().enumerate() {
        let anchor = match one.after.and_then(|after| made.get(after)) {
            Some(entries) => Some(&entries.last),
            None => root.as_ref(),
        };
        let goes_on = one.after == at.checked_sub(1);
        let entries = match &one.step {
            Step::Message(message) => {
                if !goes_on {
                    go(&mut session, anchor).map_err(|e| refused(e, flavour, &source.path))?;
                }
                let parts = from_new(message, &session);
                session.set_time(message.time.or(one.time));
                let mut ids = Vec::with_capacity(parts.len());
                for part in parts {
                    let added = part.append_to(&mut session);
                    ids.push(added.map_err(|e| refused(e, flavour, &source.path))?);
                }
                ids
            }
            step => {
                session.set_time(one.time);
                let added = add(&mut session, step, (anchor, goes_on), &made);
                vec![added.map_err(|e| refused(e, flavour, &source.path))?]
            }
        };
        let first = entries.first().cloned().unwrap_or_default();
        let last = entries.last().cloned().unwrap_or_default();
        made.push(Entries { first, last });
    }
    session.set_time(None);
    settle(flavour, w, source, &session)
}

fn go(session: &mut SessionManager, anchor: Option<&String>) -> Result<(), SessionError> {
    if let Some(id) = anchor {
        return session.branch(id);
    }
    session.reset_leaf();
    Ok(())
}

/// Adds what is no message.
fn add(
    session: &mut SessionManager,
    step: &Step,
    (anchor, goes_on): (Option<&String>, bool),
    made: &[Entries],
) -> Result<String, SessionError> {
    if let Step::BranchSummary(summary) = step {
        return session.branch_with_summary(anchor.map(String::as_str), summary, None, None);
    }
    if !goes_on {
        go(session, anchor)?;
    }
    match step {
        Step::Compaction {
            summary,
            kept,
            tokens_before,
        } => {
            let kept = kept
                .and_then(|kept| made.get(kept))
                .map(|e| e.first.as_str());
            session.append_compaction(summary, kept, tokens_before.unwrap_or(0), None, None)
        }
        Step::Label { on, text } => {
            let on = made.get(*on).map_or("", |entries| entries.last.as_str());
            session.append_label_change(on, Some(text))
        }
        // A session is where its last entry is; this one says nothing.
        Step::Back => session.append_custom_entry(OURS, None),
        Step::Message(_) | Step::BranchSummary(_) => Ok(String::new()),
    }
}
