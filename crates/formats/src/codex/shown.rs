//! Events: what people saw, and its place beside what the model saw.

use rethread_json::Value;
use rethread_model::{Kind, Link, LinkKind, Role, Visibility};

use super::calls::{call_id, started_threads};
use super::draft::EntryPlace;
use super::entries::{Grow, Incoming};
use super::join::Pairs;
use super::record::Ev;
use super::said::{text_digest, text_digests};
use crate::fields::{filled_of, string_of};

impl Grow {
    /// Takes an event into account.
    pub(super) fn event(&mut self, event: Ev, i: &Incoming<'_>) {
        let payload = i.record.payload;
        match event {
            Ev::User => self.user_event(i),
            Ev::Agent => self.shown(i, |grow| &mut grow.agents),
            Ev::Thought => self.shown(i, |grow| &mut grow.thoughts),
            Ev::Call => self.call_event(i),
            Ev::Started | Ev::Quiet => self.unclaimed.push(i.raw),
            Ev::Complete => {
                self.close();
                if payload.get("error").is_some_and(|e| !e.is_null()) {
                    self.add(i, Kind::Event, Visibility::UiOnly);
                } else {
                    self.unclaimed.push(i.raw);
                }
            }
            Ev::Tokens => self.tokens(i),
            Ev::Compacted => {
                self.compacted(i, false);
            }
            Ev::RolledBack => {
                self.close();
                let turns = payload.get("num_turns").and_then(Value::u64);
                let turns = u32::try_from(turns.unwrap_or(0)).unwrap_or(u32::MAX);
                let entry = self.add(i, Kind::Event, Visibility::UiOnly);
                self.place_entry(entry, EntryPlace::Back(turns));
            }
            Ev::Title => {
                self.facts.title(payload);
                let entry = self.add(i, Kind::Title, Visibility::Visible);
                self.place_entry(entry, EntryPlace::Beside);
            }
            Ev::Notice => {
                let child = string_of(payload, "agent_thread_id");
                let call = string_of(payload, "event_id").unwrap_or_default();
                let is_known = !call.is_empty() && self.calls.get(&call).asked.is_some();
                self.child(child, if is_known { &call } else { "" });
                self.add(i, Kind::Event, Visibility::UiOnly);
            }
            Ev::Unread | Ev::Unknown => {
                self.add(i, Kind::Unknown, Visibility::UiOnly);
            }
        }
    }

    /// Words of the person as they were shown.
    fn user_event(&mut self, i: &Incoming<'_>) {
        let payload = i.record.payload;
        let marks = shown_marks(payload);
        match string_of(payload, "message") {
            Some(text) => self.facts.shown(&text),
            None => self.facts.user(payload),
        }
        let entry = if let Some(entry) = self.users.event(&marks) {
            self.claim_record(entry, i.raw);
            entry
        } else {
            let entry = self.add(i, Kind::Message(Role::User), Visibility::UiOnly);
            self.users.wait(&marks, entry);
            entry
        };
        self.name(entry, filled_of(payload, "id"));
    }

    /// Words of the model as they were shown.
    fn shown(&mut self, i: &Incoming<'_>, pairs: fn(&mut Self) -> &mut Pairs) {
        let marks = shown_marks(i.record.payload);
        if let Some(entry) = pairs(self).event(&marks) {
            self.claim_record(entry, i.raw);
            return;
        }
        let entry = self.add(i, Kind::Message(Role::Assistant), Visibility::UiOnly);
        pairs(self).wait(&marks, entry);
    }

    /// Something about a call: it belongs to the call and to its result.
    fn call_event(&mut self, i: &Incoming<'_>) {
        let payload = i.record.payload;
        let id = call_id(payload).unwrap_or_default();
        for child in started_threads(payload) {
            self.child(Some(child), &id);
        }
        let action = payload.get("action").map(search_mark);
        if let Some(entry) = action.and_then(|m| self.searches.event(&[m])) {
            self.claim_record(entry, i.raw);
            return;
        }
        let call = self.calls.get(&id);
        let known: Vec<usize> = call.asked.into_iter().chain(call.answered).collect();
        let alone = call.alone;
        if !id.is_empty() {
            call.events.push(i.raw);
            for entry in known.iter().copied().chain(alone) {
                self.claim_record(entry, i.raw);
            }
            if !known.is_empty() || alone.is_some() {
                return;
            }
        }
        let entry = self.add(i, Kind::Event, Visibility::UiOnly);
        if !id.is_empty() {
            self.calls.get(&id).alone = Some(entry);
        }
        if let Some(action) = action {
            self.searches.wait(&[action], entry);
        }
    }

    /// Notes a sub-agent that this session started.
    pub(super) fn child(&mut self, session: Option<String>, call: &str) {
        let Some(session) = session.filter(|s| !s.is_empty()) else {
            return;
        };
        let tool_call = Some(call.to_owned()).filter(|c| !c.is_empty());
        match self.children.iter_mut().find(|l| l.session == session) {
            Some(link) => link.tool_call = link.tool_call.take().or(tool_call),
            None => self.children.push(Link {
                kind: LinkKind::SubAgent,
                session,
                entry: None,
                tool_call,
            }),
        }
    }
}

/// What identifies the words of an event.
fn shown_marks(event: Value<'_>) -> Vec<u64> {
    let mut marks = Vec::new();
    for key in ["message", "text", "id"] {
        marks.extend(filled_of(event, key).map(|text| text_digest(&text)));
    }
    if event.get("content").is_some() {
        marks.extend(self::text_digests(event));
    }
    for key in ["summary_text", "raw_content"] {
        let texts = event.get(key).into_iter().flat_map(Value::items);
        marks.extend(texts.filter_map(|t| Some(text_digest(&t.str()?))));
    }
    marks
}

/// What identifies a search: older items have no id that their events could name.
pub(super) fn search_mark(action: Value<'_>) -> u64 {
    text_digest(&String::from_utf8_lossy(action.raw()))
}
