//! What records say about the whole session: title, place, times, counts. Lists and readers use the
//! same rules.

use std::collections::HashMap;
use std::path::Path;

use rethread_json::Value;
use rethread_model::{
    Activity, Agent, ConvertedFrom, Counts, Head, Kind, Link, LinkKind, ModelRef, Moment, Role,
    TitleSource, UsageRecord, Visibility, Workspace,
};

use super::SLUG;
use super::counted::CountedIds;
use super::ids::{Key, id_key};
use super::kinds::{RecordUse, SYNTHETIC};
use super::leaf::LastPrompt;
use super::record::TranscriptRecord;
use super::record_writer::OURS;
use super::store::{TranscriptName, file_stem, parent_of_agent};
use super::titles::{Titles, add_prompt};
use super::usage::{Sum, cost_state};
use crate::carry::converted_from;
use crate::kit::{SavedState, saved_struct};
use crate::times::Times;

/// So many sessions that records were copied from are told apart.
const SESSIONS: usize = 64;

/// What the records so far say.
#[derive(Clone, Debug, Default)]
pub(super) struct TranscriptFacts {
    pub(super) counts: Counts,
    /// When messages were written, but for those that were passed over.
    pub(super) activity: Activity,
    pub(super) last_prompt: LastPrompt,
    pub(super) version: Option<String>,
    /// The ids of sessions that records name, in the order in which they came.
    pub(super) sessions: Vec<String>,
    /// What responses used, where that is asked for.
    pub(super) sum: Option<Sum>,
    /// The session that the name of the file says.
    own: Option<String>,
    /// Whether the file is a sub-agent's.
    is_agent: bool,
    /// The record up to which a fork was copied.
    pub(super) fork_at: Option<String>,
    /// Whether that record was not met yet.
    copying: bool,
    agents: SubAgents,
    recorded: Vec<UsageRecord>,
    cwd: Option<String>,
    branch: Option<String>,
    model: Option<String>,
    /// When its messages were written.
    times: Times,
    /// When the first record was written that has a place in the session.
    begun: Option<Moment>,
    titles: Titles,
    /// The session that this one was converted from.
    converted_from: Option<ConvertedFrom>,
    /// When that was done.
    made: Option<Moment>,
    /// The responses that were counted, where counts are asked for.
    pub(super) counted: Option<CountedIds>,
    hidden: bool,
    links: Vec<Link>,
}

saved_struct!(TranscriptFacts {
    counts,
    activity,
    last_prompt,
    version,
    sessions,
    sum,
    own,
    is_agent,
    fork_at,
    copying,
    agents,
    recorded,
    cwd,
    branch,
    model,
    times,
    begun,
    titles,
    converted_from,
    made,
    counted,
    hidden,
    links,
});

impl TranscriptFacts {
    /// What is known from the name of a file.
    pub(super) fn of_file(path: &Path) -> Self {
        let named = TranscriptName::of(path);
        let is_agent = matches!(named, Some(TranscriptName::Agent(_)));
        let own = match named {
            Some(TranscriptName::Session(id)) => Some(id),
            _ => None,
        };
        Self {
            own,
            is_agent,
            ..Self::default()
        }
    }

    /// Whether enough is known that records may be passed over.
    pub(super) fn has_begun(&self) -> bool {
        self.cwd.is_some() && self.version.is_some() && self.titles.first_prompt.has_words()
    }

    /// Takes one more record into account.
    pub(super) fn add(&mut self, value: Value<'_>, record: &TranscriptRecord<'_>, part: RecordUse) {
        // Progress says where only while nothing else did: lists pass it over.
        if part != RecordUse::Bridge || !self.has_begun() {
            self.place(record);
        }
        match part {
            RecordUse::Entry(Kind::Message(role), visibility) => {
                self.count_message(record.moment());
                self.times.add_next(record.moment());
                if role == Role::User && visibility == Visibility::Visible {
                    self.prompt(record);
                } else if role == Role::User && visibility == Visibility::Injected {
                    self.title_of(record);
                }
                if role == Role::Tool {
                    self.agent_of_result(record);
                }
            }
            RecordUse::Response(_) => self.response(record),
            RecordUse::Title(source) => self.titles.give(source, record.text),
            RecordUse::Bridge => self.agent_of_progress(record),
            RecordUse::Fact => self.fact(value, record),
            _ => {}
        }
        let is_last_copy = |at: &String| record.uuid.is_some_and(|id| id.is_str(at));
        self.copying &= !self.fork_at.as_ref().is_some_and(is_last_copy);
    }

    /// Where it was written, and by which version.
    fn place(&mut self, record: &TranscriptRecord<'_>) {
        let text = |value: Option<Value<'_>>| {
            let text = value.and_then(Value::str)?;
            (!text.is_empty()).then(|| text.into_owned())
        };
        if let Some(session) = record.session.and_then(Value::str)
            && self.sessions.len() < SESSIONS
            && !self.sessions.iter().any(|s| *s == session)
        {
            self.sessions.push(session.into_owned());
        }
        let is_ours = || record.type_name().is_some_and(|t| t == OURS);
        if record.uuid.is_none() && !is_ours() {
            return;
        }
        if self.cwd.is_none() {
            self.cwd = text(record.cwd);
        }
        update(&mut self.branch, record.branch);
        update(&mut self.version, record.version);
        if self.begun.is_none() {
            // What a person began stays theirs, whatever went on with it.
            let sdk = record.entrypoint.and_then(Value::str);
            self.hidden |= record.team || sdk.is_some_and(|e| e.starts_with("sdk-"));
            self.begun = record.moment();
        }
    }

    /// Takes where and when a record was written into account that was counted before.
    pub(super) fn ended(&mut self, record: &TranscriptRecord<'_>) {
        self.place(record);
        self.times.add_next(record.moment());
    }

    fn prompt(&mut self, record: &TranscriptRecord<'_>) {
        self.counts.user_messages += 1;
        self.title_of(record);
    }

    /// Takes into account what a session is called that begins with this.
    fn title_of(&mut self, record: &TranscriptRecord<'_>) {
        if !self.titles.first_prompt.has_words() && (self.is_agent || !record.side) {
            let queued = || record.attachment?.get("prompt");
            if let Some(content) = record.content().or_else(queued) {
                add_prompt(&mut self.titles.first_prompt, content);
            }
        }
    }

    fn response(&mut self, record: &TranscriptRecord<'_>) {
        self.times.add_next(record.moment());
        let id = record.message.and_then(|m| m.get("id")?.str());
        let blocks = record.content().into_iter().flat_map(Value::items);
        let is_call = |b: &Value<'_>| b.get("type").is_some_and(|t| t.is_str("tool_use"));
        let model = record.message.and_then(|m| m.get("model")?.str());
        let calls = blocks.filter(is_call).count();
        self.count_response(id.as_deref(), model.as_deref(), calls, record.moment());
        if let Some(sum) = &mut self.sum {
            let own = match (&self.own, record.session) {
                (Some(own), Some(session)) => session.is_str(own) && !self.copying,
                _ => !self.copying,
            };
            sum.add(record, own);
        }
    }

    /// Counts a record of a response; several of one are one message.
    pub(super) fn count_response(
        &mut self,
        id: Option<&str>,
        model: Option<&str>,
        calls: usize,
        time: Option<Moment>,
    ) {
        self.counts.tool_calls += calls as u64;
        let is_new = |id: &str| self.counted.as_mut().is_some_and(|c| c.insert(id));
        if id.is_none_or(is_new) {
            self.count_message(time);
            self.counts.assistant_messages += 1;
        }
        if let Some(model) = model.filter(|m| *m != SYNTHETIC)
            && self.model.as_deref() != Some(model)
        {
            self.model = Some(model.to_owned());
        }
    }

    /// Counts a message, with the time where that is known.
    pub(super) fn count_message(&mut self, time: Option<Moment>) {
        self.counts.messages += 1;
        self.activity.add_message(time);
    }

    /// Whether a title says the same as the one before it.
    pub(super) fn repeats_title(&self, source: TitleSource, record: &TranscriptRecord<'_>) -> bool {
        self.titles.repeats(source, record.text)
    }

    fn fact(&mut self, value: Value<'_>, record: &TranscriptRecord<'_>) {
        let text = || Some(record.text?.str()?.into_owned()).filter(|t| !t.trim().is_empty());
        match record.type_name().unwrap_or_default().as_ref() {
            "summary" => {
                let leaf = record
                    .leaf
                    .and_then(Value::str)
                    .map(std::borrow::Cow::into_owned);
                self.titles.summaries.extend(text().map(|t| (leaf, t)));
            }
            "last-prompt" => {
                if let Some(leaf) = record.leaf.and_then(Value::str) {
                    self.last_prompt.leaf = Some(leaf.into_owned());
                    self.last_prompt.explicit = record.explicit;
                }
            }
            "cost-state" => self.recorded = cost_state(value),
            "relocated" => self.cwd = text().or(self.cwd.take()),
            OURS => match value.get("carried") {
                Some(carried) if self.converted_from.is_none() => {
                    self.converted_from = converted_from(carried);
                    self.made = record.moment();
                }
                Some(_) => {}
                None => self.forked(value),
            },
            "continued-in" => self.link(LinkKind::ContinuedIn, text()),
            "derived-from" => {
                let from = ["derivedFromSessionId", "derivedFrom", "sourceSessionId"];
                let from = from.iter().find_map(|key| value.get(key)?.str());
                self.link(LinkKind::Continues, from.map(std::borrow::Cow::into_owned));
            }
            _ => {}
        }
    }

    /// What we note of a fork: the session and the record that it was copied from and up to.
    fn forked(&mut self, value: Value<'_>) {
        let text = |key| value.get(key).and_then(|v| Some(v.str()?.into_owned()));
        let Some(session) = text("forkOf") else {
            return;
        };
        self.fork_at = text("forkAt");
        self.copying = self.fork_at.is_some();
        if let Some(sum) = &mut self.sum {
            sum.is_fork = true;
        }
        self.links.retain(|l| l.kind != LinkKind::ForkOf);
        self.links.push(Link {
            entry: self.fork_at.clone(),
            ..link(LinkKind::ForkOf, session, None)
        });
    }

    fn link(&mut self, kind: LinkKind, session: Option<String>) {
        if let Some(session) = session {
            self.links.retain(|l| l.kind != kind);
            self.links.push(link(kind, session, None));
        }
    }

    /// A result names the sub-agent that its call started.
    fn agent_of_result(&mut self, record: &TranscriptRecord<'_>) {
        let agent = record.result.and_then(|r| r.get("agentId")?.str());
        let call = || {
            let mut blocks = record.content()?.items();
            blocks.find_map(|b| b.get("tool_use_id")?.str())
        };
        if let Some(agent) = agent {
            self.agent(&agent, call().as_deref());
        }
    }

    fn agent_of_progress(&mut self, record: &TranscriptRecord<'_>) {
        let agent = record.data.and_then(|d| d.get("agentId")?.str());
        let call = record.parent_call.and_then(Value::str);
        if let Some(agent) = agent {
            self.agent(&agent, call.as_deref());
        }
    }

    /// Notes a sub-agent, and the call that started it where that is known.
    pub(super) fn agent(&mut self, agent: &str, call: Option<&str>) {
        self.agents.add(agent, call.map(str::to_owned));
    }

    /// The id of the session that a file holds.
    pub(super) fn own_session(&self, path: &Path) -> String {
        let told = || self.sessions.first().cloned();
        self.own
            .clone()
            .or_else(told)
            .unwrap_or_else(|| file_stem(path))
    }

    /// The facts about the whole session. `has` says whether a record is in the file.
    pub(super) fn head(&self, path: &Path, has: &dyn Fn(&str) -> bool) -> Head {
        let named = TranscriptName::of(path);
        let own = self.own_session(path);
        let mut links = self.links.clone();
        let id = if let Some(TranscriptName::Agent(agent)) = &named {
            let parent = parent_of_agent(path).or_else(|| self.sessions.last().cloned());
            links.extend(parent.map(|p| link(LinkKind::Parent, p, None)));
            agent.clone()
        } else {
            let others = self.sessions.iter().filter(|s| **s != own);
            let others = others.filter(|_| self.sessions.contains(&own));
            links.extend(others.map(|s| link(LinkKind::Continues, s.clone(), None)));
            own
        };
        let agents = self.agents.list.iter();
        links.extend(agents.map(|(id, call)| link(LinkKind::SubAgent, id.clone(), call.clone())));
        let Times { first, last } = self.times;
        Head {
            id,
            format: SLUG,
            dialect: self.version.clone(),
            title: self.titles.best(has),
            agent: Agent {
                id: Some(SLUG.to_owned()),
                name: Some("Claude Code".to_owned()),
                version: self.version.clone(),
                ..Agent::default()
            },
            workspace: Workspace {
                path: self.cwd.clone(),
                encoded: project_folder(path),
                branch: self.branch.clone(),
                ..Workspace::default()
            },
            created: first.or(self.begun),
            updated: last.or(self.begun).or_else(|| changed(path)),
            model: self.model.clone().map(|id| ModelRef { provider: None, id }),
            links,
            recorded_usage: self.recorded.clone(),
            hidden: self.hidden || self.is_agent,
            converted_from: self.converted_from.clone(),
            made: self.made.or(self.begun),
            ..Head::default()
        }
    }

    /// What the session used: as the client added it up, else the sum of its responses.
    pub(super) fn used(&self) -> Option<rethread_model::Usage> {
        let sum = self.sum.as_ref()?;
        if self.recorded.is_empty() {
            return Some(sum.total());
        }
        let mut total = rethread_model::Usage::default();
        for record in &self.recorded {
            total += &record.usage;
        }
        total.scope = rethread_model::UsageScope::WithSubAgents;
        Some(total)
    }
}

/// Sub-agents with the calls that started them, each once.
#[derive(Clone, Debug, Default)]
struct SubAgents {
    list: Vec<(String, Option<String>)>,
    places: HashMap<Key, usize>,
}

impl SubAgents {
    fn add(&mut self, agent: &str, call: Option<String>) {
        let place = *self.places.entry(id_key(agent)).or_insert(self.list.len());
        match self.list.get_mut(place) {
            Some((_, known)) => *known = known.take().or(call),
            None => self.list.push((agent.to_owned(), call)),
        }
    }
}

impl SavedState for SubAgents {
    fn save(&self, out: &mut Vec<u8>) {
        self.list.save(out);
    }

    fn load(bytes: &mut &[u8]) -> Option<Self> {
        let mut agents = Self::default();
        for (agent, call) in <Vec<(String, Option<String>)>>::load(bytes)? {
            agents.add(&agent, call);
        }
        Some(agents)
    }
}

fn update(slot: &mut Option<String>, value: Option<Value<'_>>) {
    if let Some(value) = value
        && slot.as_deref().is_none_or(|known| !value.is_str(known))
        && let Some(text) = value.str().filter(|t| !t.is_empty())
    {
        *slot = Some(text.into_owned());
    }
}

fn link(kind: LinkKind, session: String, tool_call: Option<String>) -> Link {
    Link {
        kind,
        session,
        entry: None,
        tool_call,
    }
}

/// The folder of the project that a transcript is kept in.
fn project_folder(path: &Path) -> Option<String> {
    let mut folders = path.ancestors().skip(1);
    let project = folders.find(|f| {
        let above = f.parent().and_then(Path::file_name);
        above.is_some_and(|name| name == super::store::PROJECTS)
    })?;
    Some(project.file_name()?.to_str()?.to_owned())
}

fn changed(path: &Path) -> Option<Moment> {
    let modified = std::fs::metadata(path).and_then(|m| m.modified()).ok()?;
    jiff::Timestamp::try_from(modified).ok().map(Moment::from)
}
