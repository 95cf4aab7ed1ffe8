//! Adding to a session: prompts, answers, whole messages, and parts.

mod json;
mod said;
mod update;

use rethread_json::{Document, Value};

use super::AgentUse;
use super::open::LockedExchanges;
use super::steps::WriteStep;
use crate::kit::{GivenMessage, bad_message, read_message, read_object};
use crate::{
    Appended, Editor, EntryRef, MessageDefaults, MessageInput, Source, WriteError, Writing,
};

impl Editor for AgentUse {
    /// Changes a message or a part in place, as the program merges an update.
    fn replace(
        &self,
        w: &Writing<'_>,
        source: &Source,
        entry: &EntryRef,
        message: &MessageInput,
    ) -> Result<Appended, WriteError> {
        let mut appended = write_messages(w, source, 1, |session, _| {
            Adding {
                session,
                steps: Vec::new(),
            }
            .update(entry, message)
        })?;
        match appended.ids.pop() {
            Some(Err(e)) => Err(e),
            id => {
                appended.ids.extend(id);
                Ok(appended)
            }
        }
    }
}

/// What one message comes to: its id, and what is to be written.
type Planned = Result<(String, Vec<WriteStep>), WriteError>;

/// Plans so many messages, then writes what could be planned. With `strict`, nothing is written
/// unless all of it can be.
pub(super) fn write_messages(
    w: &Writing<'_>,
    source: &Source,
    count: usize,
    plan: impl Fn(&mut LockedExchanges<'_>, usize) -> Planned,
) -> Result<Appended, WriteError> {
    let mut session = LockedExchanges::lock(w, source)?;
    let mut planned: Vec<Planned> = Vec::with_capacity(count);
    for i in 0..count {
        let one = plan(&mut session, i);
        if w.strict && one.is_err() {
            return one.map(|_| Appended::default());
        }
        planned.push(one);
    }
    let mut ids: Vec<Result<String, WriteError>> = Vec::with_capacity(count);
    let mut failed = false;
    for one in planned {
        let id = one.and_then(|(id, steps)| {
            if failed {
                return Err(bad_message(
                    "not written, because one before it could not be",
                ));
            }
            session.carry_out(steps).inspect_err(|_| failed = true)?;
            Ok(id)
        });
        ids.push(id);
    }
    let notes = if ids.iter().any(Result::is_ok) {
        session.touch()
    } else {
        session.notes
    };
    Ok(Appended { ids, notes })
}

/// One message while it is planned.
pub(in crate::agentuse) struct Adding<'s, 'a> {
    pub(in crate::agentuse) session: &'s mut LockedExchanges<'a>,
    pub(in crate::agentuse) steps: Vec<WriteStep>,
}

impl Adding<'_, '_> {
    fn step(&mut self, step: WriteStep) {
        self.session.plan(&step);
        self.steps.push(step);
    }

    pub(in crate::agentuse) fn input(mut self, input: &MessageInput) -> Planned {
        let id = match read_message(input, own_object)? {
            GivenMessage::Native(document) => self.own(document.root()),
            GivenMessage::New(mut new) => {
                // Of what is converted, the session says which model it is of.
                if matches!(input, MessageInput::Message(_)) {
                    new.default_model = None;
                }
                self.message(&new)
            }
        };
        let id = id.map_err(|e| e.in_message(input))?;
        Ok((id, self.steps))
    }
}

/// A message or a part in the format's own words: it has neither role nor content.
fn own_object(root: Value<'_>, _: &MessageDefaults) -> Option<Result<Document, String>> {
    let has = |key: &&str| root.get(key).is_some();
    let is_unified = ["role", "content", "uuid"].iter().any(has);
    let is_message = ["user", "assistant", "parts"].iter().any(has);
    let is_own = has(&"type") || is_message && !is_unified;
    is_own.then(|| read_object(root.raw()))
}
