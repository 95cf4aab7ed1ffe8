//! A whole conversation, with its branches, as entries of a session.

use crate::pi::carrier::OURS;
use crate::pi::manager::{SessionError, SessionManager};
use crate::{Attachments, Branches, Files, Keeps, StepKind};

/// A session has entries for all of it.
pub(crate) const KEEPS: Keeps = Keeps {
    branches: Branches::SummedUp,
    compactions: true,
    labels: true,
    attachments: Attachments {
        in_prompts: Files::Pictures,
        in_answers: Files::Nothing,
        in_results: Files::Pictures,
        addresses: false,
    },
};

/// The entries that a step became.
pub(in crate::pi) struct StepEntries {
    pub(in crate::pi) first: String,
    pub(in crate::pi) last: String,
}

pub(in crate::pi) fn go_to(
    session: &mut SessionManager,
    anchor: Option<&String>,
) -> Result<(), SessionError> {
    if let Some(id) = anchor {
        return session.branch(id);
    }
    session.reset_leaf();
    Ok(())
}

/// Where a step goes on.
#[derive(Clone, Copy)]
pub(in crate::pi) struct StepAnchor<'a> {
    /// The entry that it follows; none begins the conversation.
    pub(in crate::pi) entry: Option<&'a String>,
    /// Whether the session is there already.
    pub(in crate::pi) goes_on: bool,
}

/// Adds what is no message.
pub(in crate::pi) fn add_step(
    session: &mut SessionManager,
    step: &StepKind,
    anchor: StepAnchor<'_>,
    made: &[StepEntries],
) -> Result<String, SessionError> {
    if let StepKind::BranchSummary(summary) = step {
        return session.branch_with_summary(anchor.entry.map(String::as_str), summary, None, None);
    }
    if !anchor.goes_on {
        go_to(session, anchor.entry)?;
    }
    match step {
        StepKind::Compaction {
            summary,
            kept,
            tokens_before,
        } => {
            let kept = kept
                .and_then(|kept| made.get(kept))
                .map(|e| e.first.as_str());
            session.append_compaction(summary, kept, tokens_before.unwrap_or(0), None, None)
        }
        StepKind::Label { on, text } => {
            let on = made.get(*on).map_or("", |entries| entries.last.as_str());
            session.append_label_change(on, Some(text))
        }
        // A session is where its last entry is; this one says nothing.
        StepKind::Back => session.append_custom_entry(OURS, None),
        StepKind::Message(_) | StepKind::BranchSummary(_) => Ok(String::new()),
    }
}
