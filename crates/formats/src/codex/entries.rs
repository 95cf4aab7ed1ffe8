//! From records to entries, one after the other.

use rethread_json::Value;
use rethread_model::{Kind, Link, Moment, RawRef, Role, SessionBuilder, Visibility};

use super::calls::{call_id, spawned_thread};
use super::draft::{Drafts, EntryDraft, EntryPlace};
use super::facts::RolloutFacts;
use super::join::{Calls, Pairs};
use super::line_head::LineHead;
use super::meta::SessionMeta;
use super::meter::{Added, Meter};
use super::record::{Item, RolloutRecord, RolloutType};
use super::said::{TOLD_ELSEWHERE, is_all_injected, text_digest, text_digests};
use super::shown::search_mark;
use crate::fields::{filled_of, is_true, string_of};

/// A session while it is read.
#[derive(Default)]
pub(super) struct Grow {
    pub(super) meta: Option<SessionMeta>,
    pub(super) drafts: Drafts,
    pub(super) facts: RolloutFacts,
    pub(super) meter: Meter,
    pub(super) unclaimed: Vec<RawRef>,
    /// The sessions of sub-agents that this one started.
    pub(super) children: Vec<Link>,
    pub(super) calls: Calls,
    pub(super) users: Pairs,
    pub(super) agents: Pairs,
    pub(super) thoughts: Pairs,
    pub(super) searches: Pairs,
    /// The settings of the turn.
    context: Option<RawRef>,
    model: Option<String>,
    effort: Option<String>,
    /// The response that may still go on.
    open: Option<usize>,
    /// The last response, while nobody counted its tokens.
    uncounted: Option<usize>,
    /// A compaction that may still be told of again, and whether the record that speaks did.
    compaction: Option<usize>,
    has_spoken: bool,
}

/// A record on its way to an entry.
#[derive(Clone, Copy)]
pub(super) struct Incoming<'a> {
    pub(super) record: RolloutRecord<'a>,
    pub(super) raw: RawRef,
    pub(super) time: Option<Moment>,
    pub(super) inherited: bool,
}

impl Grow {
    /// The model that answers last.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Takes one more record into account.
    pub(super) fn record(&mut self, record: &RolloutRecord<'_>, raw: RawRef, inherited: bool) {
        let time = record.time();
        let incoming = Incoming {
            record: *record,
            raw,
            time,
            inherited,
        };
        match record.what {
            RolloutType::Meta | RolloutType::Quiet => self.unclaimed.push(raw),
            RolloutType::Item(item) => self.item(item, &incoming),
            RolloutType::Event(event) => self.event(event, &incoming),
            RolloutType::TurnContext => self.turn_context(&incoming),
            RolloutType::Compacted => {
                self.compacted(&incoming, true);
            }
            RolloutType::Usage => self.usage(&incoming),
            RolloutType::Unread | RolloutType::Unknown => {
                self.add(&incoming, Kind::Unknown, Visibility::Visible);
            }
        }
    }

    /// Takes a record into account of which only the beginning is known.
    pub(super) fn add_giant(&mut self, found: &LineHead<'_>, raw: RawRef, inherited: bool) {
        let kind = match (found.outer, found.inner, found.role) {
            (b"response_item", b"message", b"user") => Kind::Message(Role::User),
            (b"response_item", b"message", b"assistant") => Kind::Message(Role::Assistant),
            (b"response_item", b"message", _) => Kind::Message(Role::System),
            (b"response_item", inner, _) if inner.ends_with(b"_output") => {
                Kind::Message(Role::Tool)
            }
            (b"response_item", inner, _) if inner.ends_with(b"_call") || inner == b"reasoning" => {
                Kind::Message(Role::Assistant)
            }
            (b"compacted", ..) => Kind::Compaction,
            (b"event_msg" | b"session_meta" | b"turn_context" | b"world_state", ..) => {
                self.unclaimed.push(raw);
                return;
            }
            _ => Kind::Unknown,
        };
        let time = str::from_utf8(found.time).ok();
        let mut draft = EntryDraft::new(kind, time.and_then(|time| time.parse().ok()), raw);
        draft.inherited = inherited;
        if kind == Kind::Message(Role::User) {
            draft.place = EntryPlace::Turn;
        }
        self.close();
        self.drafts.add(draft);
    }

    /// Adds an entry to the chain.
    pub(super) fn add(&mut self, i: &Incoming<'_>, kind: Kind, visibility: Visibility) -> usize {
        let mut draft = EntryDraft::new(kind, i.time, i.raw);
        draft.visibility = visibility;
        draft.inherited = i.inherited;
        self.drafts.add(draft)
    }

    /// Adds a record to an entry; one that comes too late for that is put aside.
    pub(super) fn claim_record(&mut self, entry: usize, raw: RawRef) {
        match self.drafts.get_mut(entry) {
            Some(draft) => draft.claim(raw),
            None => self.unclaimed.push(raw),
        }
    }

    pub(super) fn name(&mut self, entry: usize, id: Option<String>) {
        if let (Some(draft), Some(id)) = (self.drafts.get_mut(entry), id) {
            draft.name(id);
        }
    }

    /// The response is over: what the model says next is another.
    pub(super) fn close(&mut self) {
        self.open = None;
        self.compaction = None;
    }

    fn item(&mut self, item: Item, i: &Incoming<'_>) {
        let payload = i.record.payload;
        match item {
            Item::Message => self.message(i),
            Item::AgentMessage => {
                self.close();
                let entry = self.add(i, Kind::Message(Role::User), Visibility::Injected);
                self.name(entry, filled_of(payload, "id"));
                self.place_entry(entry, EntryPlace::Turn);
            }
            Item::Reasoning => {
                let entry = self.response(i);
                let mut texts = vec![];
                for key in ["summary", "content"] {
                    let parts = payload.get(key).into_iter().flat_map(Value::items);
                    texts.extend(parts.filter_map(|p| string_of(p, "text")));
                }
                texts.extend(filled_of(payload, "id"));
                for text in texts {
                    if let Some(event) = self.thoughts.item(&[text_digest(&text)], entry) {
                        self.drafts.merge(event, entry);
                    }
                }
            }
            Item::Call => {
                let entry = self.response(i);
                self.call(i, entry);
            }
            Item::HostedCall => {
                let entry = self.response(i);
                let action = payload.get("action").map(search_mark);
                let event = action.and_then(|m| self.searches.item(&[m], entry));
                if let Some(event) = event {
                    self.drafts.merge(event, entry);
                }
                self.call(i, entry);
            }
            Item::Output => self.output(i),
            Item::Compaction => {
                self.compacted(i, false);
            }
        }
    }

    fn message(&mut self, i: &Incoming<'_>) {
        let payload = i.record.payload;
        let role = string_of(payload, "role").unwrap_or_default();
        if role == "assistant" {
            let entry = self.response(i);
            let mut marks = text_digests(payload);
            marks.extend(filled_of(payload, "id").map(|id| text_digest(&id)));
            if let Some(event) = self.agents.item(&marks, entry) {
                self.drafts.merge(event, entry);
            }
            return;
        }
        self.close();
        // The client knows no difference from a prompt, and counts it as one.
        let is_told = is_true(payload, TOLD_ELSEWHERE) && !is_all_injected(payload);
        let (kind, visibility) = match role.as_str() {
            "user" if is_told || is_all_injected(payload) => (Role::User, Visibility::Injected),
            "user" => (Role::User, Visibility::Visible),
            "developer" | "system" => (Role::System, Visibility::Injected),
            "tool" => (Role::Tool, Visibility::Visible),
            _ => (Role::System, Visibility::Visible),
        };
        let entry = self.add(i, Kind::Message(kind), visibility);
        self.name(entry, filled_of(payload, "id"));
        if kind == Role::User {
            self.facts.user(payload);
            if visibility == Visibility::Visible || is_told {
                self.place_entry(entry, EntryPlace::Turn);
            }
            if let Some(event) = self.users.item(&text_digests(payload), entry) {
                self.drafts.merge(event, entry);
            }
        }
    }

    pub(super) fn place_entry(&mut self, entry: usize, place: EntryPlace) {
        if let Some(draft) = self.drafts.get_mut(entry) {
            draft.place = place;
        }
    }

    /// The entry of the response that an item belongs to: the open one, or a new one.
    fn response(&mut self, i: &Incoming<'_>) -> usize {
        self.compaction = None;
        let open = self.open.filter(|e| self.drafts.get_mut(*e).is_some());
        let entry = if let Some(entry) = open {
            self.claim_record(entry, i.raw);
            entry
        } else {
            let entry = self.add(i, Kind::Message(Role::Assistant), Visibility::Visible);
            self.uncounted = Some(entry);
            if let Some(context) = self.context {
                self.claim_record(entry, context);
            }
            entry
        };
        self.open = Some(entry);
        self.name(entry, filled_of(i.record.payload, "id"));
        entry
    }

    /// Links a call with what is known of it.
    fn call(&mut self, i: &Incoming<'_>, entry: usize) {
        let Some(id) = call_id(i.record.payload) else {
            return;
        };
        let call = self.calls.get(&id);
        (call.asked, call.item) = (Some(entry), Some(i.raw));
        call.spawns = i
            .record
            .payload
            .get("name")
            .is_some_and(|n| n.is_str("spawn_agent"));
        if let Some(event) = call.alone.take() {
            self.drafts.merge(event, entry);
        }
    }

    fn output(&mut self, i: &Incoming<'_>) {
        self.close();
        let payload = i.record.payload;
        let entry = self.add(i, Kind::Message(Role::Tool), Visibility::Visible);
        self.name(entry, filled_of(payload, "id"));
        let Some(id) = call_id(payload) else { return };
        let call = self.calls.get(&id);
        call.answered = Some(entry);
        // The call itself, too: it has the name of the tool.
        let about: Vec<RawRef> = call.item.into_iter().chain(call.events.clone()).collect();
        let alone = call.alone.take();
        let spawner = call.asked.filter(|_| call.spawns);
        for raw in about {
            self.claim_record(entry, raw);
        }
        if let Some(event) = alone {
            self.drafts.merge(event, entry);
        }
        if let Some(spawner) = spawner {
            self.claim_record(spawner, i.raw);
            self.child(spawned_thread(payload), &id);
        }
    }

    fn turn_context(&mut self, i: &Incoming<'_>) {
        self.open = None;
        self.context = Some(i.raw);
        let payload = i.record.payload;
        let mut changed = false;
        let model = filled_of(payload, "model");
        if model.is_some() && model != self.model {
            self.model = model;
            self.add(i, Kind::ModelChange, Visibility::Visible);
            changed = true;
        }
        let effort = filled_of(payload, "effort");
        if effort.is_some() && effort != self.effort {
            self.effort = effort;
            self.add(i, Kind::ThinkingChange, Visibility::Visible);
            changed = true;
        }
        if !changed {
            self.unclaimed.push(i.raw);
        }
    }

    /// The past was replaced. Up to three records tell it, in any order, with nothing said between.
    pub(super) fn compacted(&mut self, i: &Incoming<'_>, speaks: bool) -> usize {
        self.open = None;
        self.uncounted = None;
        let open = self.compaction.filter(|_| !(speaks && self.has_spoken));
        let entry = if let Some(entry) = open {
            self.claim_record(entry, i.raw);
            self.has_spoken |= speaks;
            entry
        } else {
            self.has_spoken = speaks;
            self.add(i, Kind::Compaction, Visibility::Visible)
        };
        self.compaction = Some(entry);
        if !speaks {
            self.name(entry, filled_of(i.record.payload, "id"));
        }
        entry
    }

    /// One response was recorded by itself.
    fn usage(&mut self, i: &Incoming<'_>) {
        self.meter.recorded();
        self.open = None;
        let key = filled_of(i.record.payload, "response_id");
        let entry = match self.uncounted.take() {
            Some(entry) => {
                self.claim_record(entry, i.raw);
                entry
            }
            None => self.beside(i),
        };
        if let Some(draft) = self.drafts.get_mut(entry) {
            draft.usage_key = key;
        }
    }

    pub(super) fn tokens(&mut self, i: &Incoming<'_>) {
        let info = i.record.payload.get("info");
        let added = info.map(|info| self.meter.count(info, Some(i.raw)));
        let Some(Added::Some { before, .. }) = added else {
            self.unclaimed.push(i.raw);
            return;
        };
        self.open = None;
        let entry = match self.uncounted.take() {
            Some(entry) => {
                if let Some(before) = before {
                    self.claim_record(entry, before);
                }
                self.claim_record(entry, i.raw);
                return;
            }
            None => self.beside(i),
        };
        if let (Some(draft), Some(before)) = (self.drafts.get_mut(entry), before) {
            draft.origin.insert(0, before);
        }
    }

    /// Tokens that belong to no response.
    fn beside(&mut self, i: &Incoming<'_>) -> usize {
        let entry = self.add(i, Kind::Usage, Visibility::Visible);
        self.place_entry(entry, EntryPlace::Beside);
        entry
    }

    /// Finishes all entries.
    pub(super) fn finish(self) -> SessionBuilder {
        // The settings of a turn, and totals, may have been claimed after they were put aside.
        self.drafts.finish(self.unclaimed)
    }
}
