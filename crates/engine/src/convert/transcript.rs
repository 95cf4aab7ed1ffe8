//! A whole conversation as the steps that a format is told: what is said, in the tree that it makes.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::num::NonZeroU32;
use std::ops::Range;

use rethread_formats::carry::Scope;
use rethread_formats::{
    Branches, Conversation, FormatRef, Keeps, StepKind, TranscriptStep, left_ways,
};
use rethread_model::{
    Block, Bodies, Body, Context, EntryIx, Kept, Kind, Message, Role, Session, Visibility,
};

use super::calls::WaitingCalls;
use super::digests;
use super::messages::{Followers, MessageBuilder, is_said, may_be_said, path_to, preceding_entry};
use super::steps::{StepPosition, TranscriptSteps, followed_steps, without_paths};

/// What of a session is written.
pub(super) enum ConvertExtent {
    /// All of it.
    Whole,
    /// These steps.
    Steps(Vec<TranscriptStep>),
}

/// How a conversation is told to a format: what it leaves out is known before.
pub(super) struct TranscriptPlan<'a> {
    source: &'a Conversation,
    bodies: &'a dyn Bodies,
    keeps: Keeps,
    scope: Scope,
    /// The steps, where these are not those of all entries.
    list: Option<&'a [TranscriptStep]>,
    /// The ways that the format leaves out.
    ways: Vec<Range<usize>>,
    /// Whether ways may be told that the conversation left again.
    pub(super) has_left: bool,
}

impl<'a> TranscriptPlan<'a> {
    /// Of a conversation whose entries come from `bodies`. Where it parts, all steps are looked at once
    /// before they are told.
    pub(super) fn new(
        source: &'a Conversation,
        bodies: &'a dyn Bodies,
        to: FormatRef,
        scope: Scope,
    ) -> Self {
        let keeps = to.keeps();
        let mut telling = Self {
            source,
            bodies,
            keeps,
            scope,
            list: None,
            ways: Vec::new(),
            has_left: false,
        };
        if keeps.branches != Branches::None && has_branches(&source.session) {
            let mut seen = Vec::new();
            let steps = telling.steps().map(|(told, _)| told);
            let mut steps = steps.inspect(|told| seen.push(StepPosition::of_step(told)));
            let writer = to.writer();
            let ways = writer.map(|writer| writer.leaves_out(&mut steps));
            let ways = ways.unwrap_or_default();
            drop(steps);
            let left = left_ways(followed_steps(&seen, &ways).into_iter());
            // Formats that leave out nothing do not look.
            telling.has_left = seen.is_empty() || !left.is_empty();
            telling.ways = ways;
        }
        telling
    }

    /// Of what is to be written of a conversation.
    pub(super) fn of_extent(
        source: &'a Conversation,
        bodies: &'a dyn Bodies,
        extent: &'a ConvertExtent,
        to: FormatRef,
    ) -> Self {
        match extent {
            ConvertExtent::Whole => Self::new(source, bodies, to, Scope::Told),
            ConvertExtent::Steps(steps) => Self {
                source,
                bodies,
                keeps: to.keeps(),
                scope: Scope::Told,
                list: Some(steps),
                ways: Vec::new(),
                has_left: false,
            },
        }
    }

    /// The steps, each with the entry that it tells of; the active way last.
    pub(super) fn steps(&self) -> Box<dyn Iterator<Item = (TranscriptStep, Option<EntryIx>)> + '_> {
        if let Some(list) = self.list {
            return Box::new(list.iter().map(|told| (told.clone(), None)));
        }
        let plan = StepPlanner::new(self.source, self.bodies, self.keeps, self.scope);
        Box::new(without_paths(plan, &self.ways))
    }
}

/// The steps of a conversation, the active way last, as far as the format keeps them.
pub(super) fn transcript_steps(
    source: &Conversation,
    to: FormatRef,
    scope: Scope,
) -> TranscriptSteps {
    let mut steps = TranscriptSteps::default();
    for (told, from) in TranscriptPlan::new(source, source, to, scope).steps() {
        steps.push_step(told, from);
    }
    steps
}

/// Whether a conversation goes on in several ways from some place, or begins several times.
fn has_branches(session: &Session) -> bool {
    let followers = Followers::new(session);
    followers.first.len() > 1 || followers.of.iter().any(|list| list.len() > 1)
}

/// What is said in the place of a summary that cannot be read.
const NO_SUMMARY: &str = "(What came before was summed up here, and the summary cannot be read.)";

/// The steps of a conversation while they are made, entry by entry.
struct StepPlanner<'a> {
    source: &'a Conversation,
    bodies: &'a dyn Bodies,
    session: &'a Session,
    keeps: Keeps,
    /// What counts as said.
    scope: Scope,
    /// What the model sees at the end, and in which of its messages an entry is.
    context: Context<'a>,
    seen: HashMap<EntryIx, EntryIx>,
    /// The entries behind the last compaction: what is not seen of them was taken away.
    is_recent: Vec<bool>,
    speech: MessageBuilder<'a>,
    /// The entries that are not told yet.
    order: std::vec::IntoIter<EntryIx>,
    /// The last entry on the way to where the session is.
    end: Option<EntryIx>,
    is_over: bool,
    /// The steps that are made and not given yet.
    ready: VecDeque<(TranscriptStep, Option<EntryIx>)>,
    /// How many steps were made.
    count: usize,
    /// The steps of each entry so far, by its place: its first, and the one that what follows hangs
    /// from.
    places: Vec<EntrySteps>,
    /// The calls that wait where the conversation parts.
    waiting: HashMap<EntryIx, WaitingCalls>,
    /// How many entries follow each.
    followers: Vec<usize>,
    last: Option<EntryIx>,
    /// What was said so far, where summaries are messages like others.
    said: HashSet<u64>,
}

/// The steps that an entry became.
#[derive(Clone, Copy, Default)]
struct EntrySteps {
    first: Option<NonZeroU32>,
    last: Option<NonZeroU32>,
}

impl EntrySteps {
    fn new(first: Option<usize>, last: Option<usize>) -> Self {
        let number = |step: usize| NonZeroU32::new(u32::try_from(step + 1).ok()?);
        Self {
            first: first.and_then(number),
            last: last.and_then(number),
        }
    }

    fn first(self) -> Option<usize> {
        self.first.map(|step| step.get() as usize - 1)
    }

    fn last(self) -> Option<usize> {
        self.last.map(|step| step.get() as usize - 1)
    }
}

impl Iterator for StepPlanner<'_> {
    type Item = (TranscriptStep, Option<EntryIx>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(step) = self.ready.pop_front() {
                return Some(step);
            }
            if let Some(ix) = self.order.next() {
                self.enter_entry(ix);
                self.add_entry(ix);
            } else if std::mem::replace(&mut self.is_over, true) {
                return None;
            } else {
                self.finish_steps();
            }
        }
    }
}

impl<'a> StepPlanner<'a> {
    fn new(source: &'a Conversation, bodies: &'a dyn Bodies, keeps: Keeps, scope: Scope) -> Self {
        let session = &source.session;
        let way = session
            .leaf()
            .map(|leaf| path_to(session, leaf))
            .unwrap_or_default();
        let context = Context::new(session, bodies, &session.active_path());
        let indexed = context.session.indexed();
        let seen = indexed.filter_map(|(ix, _)| Some((context.comes_from(ix)?, ix)));
        let seen = seen.collect();
        let mut is_recent = vec![false; session.entries().len()];
        let is_compaction = |ix: &EntryIx| session.entry(*ix).kind == Kind::Compaction;
        let recent = way.iter().rposition(is_compaction).unwrap_or(0);
        for ix in way.get(recent..).unwrap_or_default() {
            is_recent[ix.get()] = true;
        }
        let mut speech = MessageBuilder::new(source, bodies, keeps.attachments, scope);
        speech.wants_marks = !keeps.compactions;
        let mut plan = Self {
            source,
            bodies,
            session,
            keeps,
            context,
            seen,
            is_recent,
            scope,
            speech,
            order: Vec::new().into_iter(),
            end: way.last().copied(),
            is_over: false,
            ready: VecDeque::new(),
            count: 0,
            places: vec![EntrySteps::default(); session.entries().len()],
            waiting: HashMap::new(),
            followers: vec![0; session.entries().len()],
            last: None,
            said: HashSet::new(),
        };
        plan.order = plan.writing_order(&way).into_iter();
        plan
    }

    /// Adds what comes behind all that is said.
    fn finish_steps(&mut self) {
        let end = self.end.and_then(|leaf| self.steps_of(leaf).last());
        if let Some(end) = end.filter(|end| end + 1 < self.count) {
            let back = TranscriptStep {
                after: Some(end),
                time: None,
                step: StepKind::Back,
            };
            self.push_step(back, None);
        }
        if self.keeps.labels {
            self.add_labels();
        }
    }

    fn push_step(&mut self, told: TranscriptStep, from: Option<EntryIx>) -> usize {
        self.ready.push_back((told, from));
        self.count += 1;
        self.count - 1
    }

    fn steps_of(&self, ix: EntryIx) -> EntrySteps {
        self.places.get(ix.get()).copied().unwrap_or_default()
    }

    /// The entries in the order in which they are told: each behind the one that it follows, and the
    /// active way last wherever the conversation parts.
    fn writing_order(&mut self, way: &[EntryIx]) -> Vec<EntryIx> {
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
    fn enter_entry(&mut self, ix: EntryIx) {
        let parent = preceding_entry(self.session.entry(ix));
        if parent != self.last {
            let waiting = parent.and_then(|parent| self.waiting.get(&parent));
            self.speech.calls.waiting = waiting.cloned().unwrap_or_default();
        }
        self.last = Some(ix);
    }

    /// The step that the next one follows.
    fn step_before(&self, ix: EntryIx) -> Option<usize> {
        let parent = preceding_entry(self.session.entry(ix))?;
        self.steps_of(parent).last()
    }

    fn add_entry(&mut self, ix: EntryIx) {
        let entry = self.session.entry(ix);
        let (first, start) = (self.count, self.step_before(ix));
        match entry.kind {
            Kind::Message(_) if self.is_said(ix) => {
                if let Some(message) = self.model_message(ix) {
                    self.add_message(ix, &message, start);
                }
            }
            Kind::Compaction => self.add_compaction(ix, start),
            Kind::BranchSummary => {
                if let Body::BranchSummary(branch) = self.bodies.body(ix) {
                    self.branch_summary(ix, branch.summary.value, start);
                }
            }
            _ => {}
        }
        let steps = if self.count > first {
            EntrySteps::new(Some(first), Some(self.count - 1))
        } else {
            EntrySteps::new(None, start)
        };
        if let Some(place) = self.places.get_mut(ix.get()) {
            *place = steps;
        }
        if self.followers.get(ix.get()).is_some_and(|n| *n > 1) {
            self.waiting.insert(ix, self.speech.calls.waiting.clone());
        }
    }

    /// What an entry says, as the model sees it where it does; none if that was taken away.
    fn model_message(&self, ix: EntryIx) -> Option<Message> {
        let body = match self.seen.get(&ix) {
            Some(seen) => self.context.body(*seen),
            None if self.is_recent[ix.get()] => return None,
            None => self.bodies.body(ix),
        };
        match body {
            Body::Message(message) => Some(message),
            _ => None,
        }
    }

    fn add_step(&mut self, ix: EntryIx, after: Option<usize>, step: StepKind) -> usize {
        let time = self.session.entry(ix).time;
        self.push_step(TranscriptStep { after, time, step }, Some(ix))
    }

    /// Says a message behind a step; gives the last step then.
    fn add_message(
        &mut self,
        ix: EntryIx,
        message: &Message,
        after: Option<usize>,
    ) -> Option<usize> {
        let entry = self.session.entry(ix);
        let is_told = entry.kind.is_message() && entry.visibility == Visibility::Injected;
        self.say_so(ix, message, is_told, after)
    }

    /// As [`Self::add_message`], where it is known whether the client told it.
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
            .add_message(message, self.session.entry(ix).time, is_told);
        for said in std::mem::take(&mut self.speech.messages) {
            self.said.extend(&said.marks);
            if let Some(message) = said.message {
                after = Some(self.add_step(ix, after, StepKind::Message(message)));
            }
        }
        after
    }

    fn branch_summary(&mut self, ix: EntryIx, summary: String, start: Option<usize>) {
        if summary.trim().is_empty() {
            return;
        }
        if self.keeps.branches == Branches::SummedUp {
            self.add_step(ix, start, StepKind::BranchSummary(summary));
        } else {
            self.add_message(ix, &text_message(&summary), start);
        }
    }

    /// Tells of a compaction. What was kept of the past and does not reach up to it is said again.
    fn add_compaction(&mut self, ix: EntryIx, start: Option<usize>) {
        let Body::Compaction(compaction) = self.bodies.body(ix) else {
            return;
        };
        let summary = compaction.summary.as_ref().map(|text| text.value.clone());
        let summary = summary.filter(|text| !text.trim().is_empty());
        let mut way = path_to(self.session, ix);
        way.pop();
        let kept = self.kept_past(&way, summary.as_deref(), &compaction.kept);
        if !self.keeps.compactions {
            self.summed_up(ix, summary.as_deref(), &kept, start);
            return;
        }
        let summary = summary.unwrap_or_else(|| NO_SUMMARY.to_owned());
        let is_end = match &kept {
            KeptPast::Entries(kept) => {
                let told = |ix: &&EntryIx| self.steps_of(**ix).first().is_some();
                let (kept, all) = (kept.iter().filter(told), way.iter().filter(told));
                let kept: Vec<&EntryIx> = kept.collect();
                let all: Vec<&EntryIx> = all.collect();
                all.ends_with(&kept)
            }
            KeptPast::Messages(_) => false,
        };
        let first = match &kept {
            KeptPast::Entries(kept) if is_end => {
                kept.iter().find_map(|ix| self.steps_of(*ix).first())
            }
            _ => None,
        };
        let mut after = Some(self.add_step(
            ix,
            start,
            StepKind::Compaction {
                summary,
                kept: first,
                tokens_before: compaction.tokens_before,
            },
        ));
        match kept {
            KeptPast::Entries(_) if is_end => {}
            KeptPast::Entries(kept) => {
                for entry in kept {
                    if let Some(message) = self.model_message(entry).filter(|_| self.is_said(entry))
                    {
                        let is_told = self.session.entry(entry).visibility == Visibility::Injected;
                        after = self.say_so(ix, &message, is_told, after);
                    }
                }
            }
            KeptPast::Messages(messages) => {
                for message in &messages {
                    after = self.add_message(ix, message, after);
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
        kept: &KeptPast,
        start: Option<usize>,
    ) {
        let mut after = start;
        if let Some(summary) = summary {
            after = self.add_message(ix, &text_message(summary), after);
        }
        let KeptPast::Messages(messages) = kept else {
            return;
        };
        for message in messages {
            let role = match message.role {
                Role::Assistant => "assistant",
                Role::User | Role::Tool | Role::System => "user",
            };
            let mut blocks = message.blocks.iter();
            let is_new = |block: &Block| {
                let mark = digests::spoken_digest(self.source, role, block);
                !self.said.contains(&mark)
            };
            if blocks.any(is_new) {
                after = self.add_message(ix, message, after);
            }
        }
    }

    fn is_said(&self, ix: EntryIx) -> bool {
        may_be_said(self.session.entry(ix), self.scope)
    }

    /// What the model still sees of the past behind the summary.
    fn kept_past(&self, way: &[EntryIx], summary: Option<&str>, kept: &Kept) -> KeptPast {
        let place = |id: &str| way.iter().position(|ix| self.session.id(*ix) == id);
        let list = |entries: &[EntryIx]| KeptPast::Entries(entries.to_vec());
        match kept {
            Kept::Nothing => KeptPast::Entries(Vec::new()),
            Kept::From(id) => list(place(id).and_then(|at| way.get(at..)).unwrap_or_default()),
            Kept::Range { first, last } => {
                let range = place(first).zip(place(last));
                list(range.and_then(|(a, b)| way.get(a..=b)).unwrap_or_default())
            }
            Kept::Entries(ids) => {
                let ids: HashSet<&str> = ids.iter().map(String::as_str).collect();
                let is_kept = |ix: &&EntryIx| ids.contains(self.session.id(**ix));
                KeptPast::Entries(way.iter().filter(is_kept).copied().collect())
            }
            Kept::UserMessages => {
                let by_user = |ix: &&EntryIx| {
                    let entry = self.session.entry(**ix);
                    entry.kind == Kind::Message(Role::User) && is_said(entry)
                };
                KeptPast::Entries(way.iter().filter(by_user).copied().collect())
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
                KeptPast::Messages(others.cloned().collect())
            }
        }
    }

    /// Bookmarks, behind all that is said.
    fn add_labels(&mut self) {
        let all = self.session.indexed();
        let named: HashMap<&str, EntryIx> = all.map(|(ix, _)| (self.session.id(ix), ix)).collect();
        // What is on an entry now, and the record that says so.
        let mut labels: BTreeMap<EntryIx, (EntryIx, String)> = BTreeMap::new();
        for (ix, entry) in self.session.indexed() {
            if entry.kind != Kind::Label {
                continue;
            }
            let Body::Label(change) = self.bodies.body(ix) else {
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
            let steps = self.steps_of(on);
            if let Some((_, on)) = steps.first().zip(steps.last()) {
                let after = self.count.checked_sub(1);
                self.add_step(ix, after, StepKind::Label { on, text });
            }
        }
    }
}

/// What a model sees of the past behind a summary.
enum KeptPast {
    /// What these entries say.
    Entries(Vec<EntryIx>),
    /// These messages.
    Messages(Vec<Message>),
}

fn text_message(text: &str) -> Message {
    Message::new(Role::User, vec![Block::text(text)])
}
