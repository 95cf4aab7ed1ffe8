//! A whole conversation as the steps that a format is told: what is said, in the tree that it makes.

use std::collections::{BTreeMap, HashMap, HashSet};

use rethread_formats::carry::Scope;
use rethread_formats::{Branches, Conversation, FormatRef, Keeps, Step, Told};
use rethread_model::{
    Block, Bodies as _, Body, Context, EntryIx, Kept, Kind, Message, Role, Session, Visibility,
};

use super::calls::Waiting;
use super::marks;
use super::said::{Followers, Speech, before, is_said, may_be_said, way_to};
use super::steps::Steps;

/// The steps of a conversation, the active way last, as far as the format keeps them.
pub(super) fn steps(source: &Conversation, to: FormatRef, scope: Scope) -> Steps {
    let session = &source.session;
    let keeps = to.keeps();
    let way = session
        .leaf()
        .map(|leaf| way_to(session, leaf))
        .unwrap_or_default();
    let mut plan = Plan::new(source, keeps, (&way, scope));
    for ix in plan.order(&way) {
        plan.enter(ix);
        plan.entry(ix);
    }
    let end = way.last().and_then(|leaf| plan.places.get(leaf)?.1);
    if let Some(end) = end.filter(|end| end + 1 < plan.steps.told.len()) {
        let back = Told {
            after: Some(end),
            time: None,
            step: Step::Back,
        };
        plan.steps.push(back, None);
    }
    if keeps.labels {
        plan.labels();
    }
    let writer = to.writer();
    let ways = writer.map(|writer| writer.leaves_out(&plan.steps.told));
    plan.steps.without(&ways.unwrap_or_default())
}

/// What is said in the place of a summary that cannot be read.
const NO_SUMMARY: &str = "(What came before was summed up here, and the summary cannot be read.)";

struct Plan<'a> {
    source: &'a Conversation,
    session: &'a Session,
    keeps: Keeps,
    /// What counts as said.
    scope: Scope,
    /// What the model sees at the end, and in which of its messages an entry is.
    context: Context<'a>,
    seen: HashMap<EntryIx, EntryIx>,
    /// The entries behind the last compaction: what is not seen of them was taken away.
    is_recent: Vec<bool>,
    speech: Speech<'a>,
    steps: Steps,
    /// The steps of each entry so far: its first, and the one that what follows hangs from.
    places: HashMap<EntryIx, (Option<usize>, Option<usize>)>,
    /// The calls that wait where the conversation parts.
    waiting: HashMap<EntryIx, Waiting>,
    /// How many entries follow each.
    followers: Vec<usize>,
    last: Option<EntryIx>,
    /// What was said so far, where summaries are messages like others.
    said: HashSet<u64>,
}

impl<'a> Plan<'a> {
    fn new(source: &'a Conversation, keeps: Keeps, (way, scope): (&[EntryIx], Scope)) -> Self {
        let session = &source.session;
        let context = Context::new(session, source, &session.active_path());
        let indexed = context.session.indexed();
        let seen = indexed.filter_map(|(ix, _)| Some((context.comes_from(ix)?, ix)));
        let seen = seen.collect();
        let mut is_recent = vec![false; session.entries().len()];
        let is_compaction = |ix: &EntryIx| session.entry(*ix).kind == Kind::Compaction;
        let recent = way.iter().rposition(is_compaction).unwrap_or(0);
        for ix in way.get(recent..).unwrap_or_default() {
            is_recent[ix.get()] = true;
        }
        Self {
            source,
            session,
            keeps,
            context,
            seen,
            is_recent,
            scope,
            speech: Speech::new(source, keeps.attachments, scope),
            steps: Steps::default(),
            places: HashMap::new(),
            waiting: HashMap::new(),
            followers: vec![0; session.entries().len()],
            last: None,
            said: HashSet::new(),
        }
    }

    /// The entries in the order in which they are told: each behind the one that it follows, and the
    /// active way last wherever the conversation parts.
    fn order(&mut self, way: &[EntryIx]) -> Vec<EntryIx> {
        if self.keeps.branches == Branches::None {
            return way.to_vec();
        }
        let count = self.session.entries().len();
        let mut is_active = vec![false; count];
        for ix in way {
            is_active[ix.get()] = true;
        }
        // Both in the order in which they are visited, from the end: the active one first.
        let Followers { of, first } = Followers::new(self.session);
        let (mut following, mut waiting) = (of, first);
        self.followers = following.iter().map(Vec::len).collect();
        for list in following.iter_mut().chain([&mut waiting]) {
            list.sort_by_key(|ix| (!is_active[ix.get()], std::cmp::Reverse(*ix)));
        }
        let mut order = Vec::new();
        while let Some(ix) = waiting.pop() {
            order.push(ix);
            waiting.append(&mut following[ix.get()]);
        }
        order
    }

    /// Goes to where an entry begins.
    fn enter(&mut self, ix: EntryIx) {
        let parent = before(self.session.entry(ix));
        if parent != self.last {
            let waiting = parent.and_then(|parent| self.waiting.get(&parent));
            self.speech.calls.waiting = waiting.cloned().unwrap_or_default();
        }
        self.last = Some(ix);
    }

    /// The step that the next one follows.
    fn end(&self, ix: EntryIx) -> Option<usize> {
        let parent = before(self.session.entry(ix))?;
        self.places.get(&parent).and_then(|steps| steps.1)
    }

    fn entry(&mut self, ix: EntryIx) {
        let entry = self.session.entry(ix);
        let (first, start) = (self.steps.told.len(), self.end(ix));
        match entry.kind {
            Kind::Message(_) if self.is_said(ix) => {
                if let Some(message) = self.message(ix) {
                    self.say(ix, &message, start);
                }
            }
            Kind::Compaction => self.compaction(ix, start),
            Kind::BranchSummary => {
                if let Body::BranchSummary(branch) = self.source.body(ix) {
                    self.branch_summary(ix, branch.summary.value, start);
                }
            }
            _ => {}
        }
        let is_told = self.steps.told.len() > first;
        let steps = if is_told {
            (Some(first), Some(self.steps.told.len() - 1))
        } else {
            (None, start)
        };
        self.places.insert(ix, steps);
        if self.followers.get(ix.get()).is_some_and(|n| *n > 1) {
            self.waiting.insert(ix, self.speech.calls.waiting.clone());
        }
    }

    /// What an entry says, as the model sees it where it does; none if that was taken away.
    fn message(&self, ix: EntryIx) -> Option<Message> {
        let body = match self.seen.get(&ix) {
            Some(seen) => self.context.body(*seen),
            None if self.is_recent[ix.get()] => return None,
            None => self.source.body(ix),
        };
        match body {
            Body::Message(message) => Some(message),
            _ => None,
        }
    }

    fn step(&mut self, ix: EntryIx, after: Option<usize>, step: Step) -> usize {
        let time = self.session.entry(ix).time;
        self.steps.push(Told { after, time, step }, Some(ix))
    }

    /// Says a message behind a step; gives the last step then.
    fn say(&mut self, ix: EntryIx, message: &Message, after: Option<usize>) -> Option<usize> {
        let entry = self.session.entry(ix);
        let is_told = entry.kind.is_message() && entry.visibility == Visibility::Injected;
        self.say_so(ix, message, is_told, after)
    }

    /// As [`Self::say`], where it is known whether the client told it.
    fn say_so(
        &mut self,
        ix: EntryIx,
        message: &Message,
        is_told: bool,
        mut after: Option<usize>,
    ) -> Option<usize> {
        self.speech.speaker = Some(ix);
        self.speech.begins = after.is_none();
        self.speech
            .say(message, self.session.entry(ix).time, is_told);
        for said in std::mem::take(&mut self.speech.messages) {
            if !self.keeps.compactions {
                self.said.extend(&said.marks);
            }
            after = Some(self.step(ix, after, Step::Message(said.message)));
        }
        after
    }

    fn branch_summary(&mut self, ix: EntryIx, summary: String, start: Option<usize>) {
        if summary.trim().is_empty() {
            return;
        }
        if self.keeps.branches == Branches::SummedUp {
            self.step(ix, start, Step::BranchSummary(summary));
        } else {
            self.say(ix, &words(&summary), start);
        }
    }

    /// Tells of a compaction. What was kept of the past and does not reach up to it is said again.
    fn compaction(&mut self, ix: EntryIx, start: Option<usize>) {
        let Body::Compaction(compaction) = self.source.body(ix) else {
            return;
        };
        let summary = compaction.summary.as_ref().map(|text| text.value.clone());
        let summary = summary.filter(|text| !text.trim().is_empty());
        let mut way = way_to(self.session, ix);
        way.pop();
        let kept = self.kept(&way, summary.as_deref(), &compaction.kept);
        if !self.keeps.compactions {
            self.summed_up(ix, summary.as_deref(), &kept, start);
            return;
        }
        let summary = summary.unwrap_or_else(|| NO_SUMMARY.to_owned());
        let is_end = match &kept {
            Again::Entries(kept) => {
                let told = |ix: &&EntryIx| self.places.get(ix).is_some_and(|s| s.0.is_some());
                let (kept, all) = (kept.iter().filter(told), way.iter().filter(told));
                let kept: Vec<&EntryIx> = kept.collect();
                let all: Vec<&EntryIx> = all.collect();
                all.ends_with(&kept)
            }
            Again::Messages(_) => false,
        };
        let first = match &kept {
            Again::Entries(kept) if is_end => kept
                .iter()
                .find_map(|ix| self.places.get(ix).and_then(|s| s.0)),
            _ => None,
        };
        let mut after = Some(self.step(
            ix,
            start,
            Step::Compaction {
                summary,
                kept: first,
                tokens_before: compaction.tokens_before,
            },
        ));
        match kept {
            Again::Entries(_) if is_end => {}
            Again::Entries(kept) => {
                for entry in kept {
                    if let Some(message) = self.message(entry).filter(|_| self.is_said(entry)) {
                        let is_told = self.session.entry(entry).visibility == Visibility::Injected;
                        after = self.say_so(ix, &message, is_told, after);
                    }
                }
            }
            Again::Messages(messages) => {
                for message in &messages {
                    after = self.say(ix, message, after);
                }
            }
        }
    }

    /// Says a summary, behind all that it sums up, and what took the place of the past and is not in
    /// it.
    fn summed_up(
        &mut self,
        ix: EntryIx,
        summary: Option<&str>,
        kept: &Again,
        start: Option<usize>,
    ) {
        let mut after = start;
        if let Some(summary) = summary {
            after = self.say(ix, &words(summary), after);
        }
        let Again::Messages(messages) = kept else {
            return;
        };
        for message in messages {
            let role = match message.role {
                Role::Assistant => "assistant",
                Role::User | Role::Tool | Role::System => "user",
            };
            let mut blocks = message.blocks.iter();
            let is_new = |block: &Block| {
                let mark = marks::said(self.source, role, block);
                !self.said.contains(&mark)
            };
            if blocks.any(is_new) {
                after = self.say(ix, message, after);
            }
        }
    }

    fn is_said(&self, ix: EntryIx) -> bool {
        may_be_said(self.session.entry(ix), self.scope)
    }

    /// What the model still sees of the past behind the summary.
    fn kept(&self, way: &[EntryIx], summary: Option<&str>, kept: &Kept) -> Again {
        let place = |id: &str| way.iter().position(|ix| self.session.id(*ix) == id);
        let list = |entries: &[EntryIx]| Again::Entries(entries.to_vec());
        match kept {
            Kept::Nothing => Again::Entries(Vec::new()),
            Kept::From(id) => list(place(id).and_then(|at| way.get(at..)).unwrap_or_default()),
            Kept::Range { first, last } => {
                let range = place(first).zip(place(last));
                list(range.and_then(|(a, b)| way.get(a..=b)).unwrap_or_default())
            }
            Kept::Entries(ids) => {
                let ids: HashSet<&str> = ids.iter().map(String::as_str).collect();
                let is_kept = |ix: &&EntryIx| ids.contains(self.session.id(**ix));
                Again::Entries(way.iter().filter(is_kept).copied().collect())
            }
            Kept::UserMessages => {
                let by_user = |ix: &&EntryIx| {
                    let entry = self.session.entry(**ix);
                    entry.kind == Kind::Message(Role::User) && is_said(entry)
                };
                Again::Entries(way.iter().filter(by_user).copied().collect())
            }
            Kept::Replacement(messages) => {
                // The summary is among them, where it can be told apart.
                let is_summary = |message: &&Message| {
                    let said = |block: &Block| match (block, summary) {
                        (Block::Text(text), Some(summary)) => text.value.contains(summary),
                        _ => false,
                    };
                    message.blocks.iter().any(said)
                };
                let others = messages.iter().filter(|m| !is_summary(m));
                Again::Messages(others.cloned().collect())
            }
        }
    }

    /// Bookmarks, behind all that is said.
    fn labels(&mut self) {
        let all = self.session.indexed();
        let named: HashMap<&str, EntryIx> = all.map(|(ix, _)| (self.session.id(ix), ix)).collect();
        // What is on an entry now, and the record that says so.
        let mut labels: BTreeMap<EntryIx, (EntryIx, String)> = BTreeMap::new();
        for (ix, entry) in self.session.indexed() {
            if entry.kind != Kind::Label {
                continue;
            }
            let Body::Label(change) = self.source.body(ix) else {
                continue;
            };
            let Some(on) = named.get(change.target.as_str()) else {
                continue;
            };
            match change.label {
                Some(text) => labels.insert(*on, (ix, text)),
                None => labels.remove(on),
            };
        }
        for (on, (ix, text)) in labels {
            if let Some((Some(_), Some(on))) = self.places.get(&on).copied() {
                let after = self.steps.told.len().checked_sub(1);
                self.step(ix, after, Step::Label { on, text });
            }
        }
    }
}

/// What a model sees of the past behind a summary.
enum Again {
    /// What these entries say.
    Entries(Vec<EntryIx>),
    /// These messages.
    Messages(Vec<Message>),
}

fn words(text: &str) -> Message {
    Message::new(Role::User, vec![Block::text(text)])
}
