//! The list of messages as the client keeps it while it reads a log: a message with an id that is
//! there replaces it, and whole ends of the list, or all of it, can be replaced.
//!
//! Nothing is forgotten here: what left the list stays as a branch.

use std::collections::{HashMap, HashSet};

use rethread_model::{Kind, RawRef, Role, Texts};

use super::index::{Index, Sought};
use super::message::{FoundMessage, MessageHead};
use super::nth::Nth;
use super::tools::Tools;

/// All messages that ever were in the list, and those that are.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub(super) drafts: Vec<ReplayedEntry>,
    /// Their ids, in the same order: entries get them when nothing else is needed any more.
    pub(super) ids: Texts,
    /// The list, by places in `drafts`.
    pub(super) live: Vec<usize>,
    /// The last message with each id, in the list or not.
    index: Index,
    /// Ids that two messages have at the same time.
    pub(super) clashes: Vec<String>,
    /// The versions before the last one of a message, the oldest first.
    earlier: HashMap<usize, Vec<RawRef>>,
    /// The messages that go on with a list that they replaced.
    continued: HashMap<usize, Continued>,
    /// The models that answered.
    pub(super) models: Vec<Box<str>>,
    /// The tools that were called in the messages.
    pub(super) tools: Tools,
}

/// An entry to be.
#[derive(Debug)]
pub(super) struct ReplayedEntry {
    pub(super) head: MessageHead,
    parent: Option<Nth>,
    /// Whether it never was in the list: a record that is no message.
    pub(super) beside: bool,
    /// The version that speaks: the last one.
    pub(super) origin: RawRef,
    is_live: bool,
}

impl ReplayedEntry {
    fn new(head: MessageHead, raw: RawRef) -> Self {
        Self {
            head,
            parent: None,
            beside: false,
            origin: raw,
            is_live: false,
        }
    }

    /// The message before it in the list.
    pub(super) fn parent(&self) -> Option<usize> {
        self.parent.map(Nth::at)
    }
}

/// How a message goes on with a list that it replaced, where the chain of parents was cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Continued {
    /// The last message of that list.
    pub(super) last: usize,
    /// Whether it is a summary in the place of it.
    pub(super) sums_up: bool,
}

/// What became of the list when it was rewound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewound {
    /// It ends before that message now.
    Before,
    /// There is no such message: the client drops all.
    Emptied,
}

impl Replay {
    /// Adds a message, or another version of one that is in the list. What
    /// somebody else says is no version of it.
    pub(super) fn message(&mut self, message: FoundMessage<'_>, raw: RawRef) {
        let sought = self.index.sought(&message.id);
        let known = self.index.get(sought, &message.id, &self.ids);
        match known.filter(|at| self.is_live(*at)) {
            Some(at) if self.is_version(at, &message) => self.again(at, message.head, raw),
            Some(_) => {
                self.clashes.push(message.id.to_string());
                self.add(sought, message, raw);
            }
            None => self.add(sought, message, raw),
        }
    }

    /// Whether a message is in the list.
    fn is_live(&self, at: usize) -> bool {
        self.drafts.get(at).is_some_and(|draft| draft.is_live)
    }

    /// Whether a message is another version of one that is known.
    fn is_version(&self, at: usize, message: &FoundMessage<'_>) -> bool {
        let is_answer = |head: &MessageHead| head.kind == Kind::Message(Role::Assistant);
        let known = self.drafts.get(at);
        let by_same = known.is_some_and(|d| is_answer(&d.head) == is_answer(&message.head));
        by_same && self.id(at) == message.id
    }

    /// Adds a message at the end of the list, which others may replace.
    fn add(&mut self, id: Sought, message: FoundMessage<'_>, raw: RawRef) {
        let is_named = !message.id.is_empty();
        self.list(message, raw);
        if is_named {
            self.index.set(id, self.drafts.len() - 1, &self.ids);
        }
    }

    /// Adds a message at the end of a list that is written as a whole, where none replaces another.
    pub(super) fn list(&mut self, message: FoundMessage<'_>, raw: RawRef) {
        let parent = self.live.last().copied().and_then(Nth::new);
        self.live.push(self.drafts.len());
        let draft = ReplayedEntry {
            parent,
            is_live: true,
            ..ReplayedEntry::new(message.head, raw)
        };
        self.draft(&message.id, draft);
    }

    /// Keeps a record that has no place in the list.
    pub(super) fn beside(&mut self, head: MessageHead, raw: RawRef) {
        let draft = ReplayedEntry {
            beside: true,
            ..ReplayedEntry::new(head, raw)
        };
        self.draft("", draft);
    }

    fn draft(&mut self, id: &str, draft: ReplayedEntry) {
        self.drafts.push(draft);
        // Beyond four thousand million bytes of ids, the rest have none.
        if self.ids.push(id).is_none() {
            self.ids.push("");
        }
    }

    fn again(&mut self, at: usize, mut head: MessageHead, raw: RawRef) {
        if let Some(draft) = self.drafts.get_mut(at) {
            // A version that does not say what the answer cost, and who gave it, takes nothing back:
            // the client leaves both out when it resumes a session and writes all of it anew.
            let before = &mut draft.head.said;
            let said = &mut head.said;
            said.usage = said.usage.take().or_else(|| before.usage.take());
            said.has_usage |= before.has_usage;
            said.model = said.model.or(before.model);
            draft.head = head;
            let before = std::mem::replace(&mut draft.origin, raw);
            self.earlier.entry(at).or_default().push(before);
        }
    }

    /// Takes a message and all after it out of the list.
    pub(super) fn rewind(&mut self, id: &str) -> Rewound {
        // From the end, so that a walk is as long as what goes.
        let found = self.live.iter().rposition(|at| self.id(*at) == id);
        let gone = self.live.split_off(found.unwrap_or(0));
        self.leave(&gone);
        match found {
            Some(_) => Rewound::Before,
            None => Rewound::Emptied,
        }
    }

    /// Notes that messages are no longer in the list.
    fn leave(&mut self, gone: &[usize]) {
        for at in gone {
            if let Some(draft) = self.drafts.get_mut(*at) {
                draft.is_live = false;
            }
        }
    }

    /// Puts another list in place of this one; what has no id is no message. A message that was there
    /// before, in this list or an earlier one, is the same, and stands where the new list has it: the
    /// client writes all of it anew when it resumes a session.
    pub(super) fn replace(&mut self, list: Vec<(FoundMessage<'_>, RawRef)>) {
        let old = std::mem::take(&mut self.live);
        self.leave(&old);
        let mut first_new = None;
        let mut summary = None;
        let known_before = self.drafts.len();
        for (message, raw) in list {
            if message.head.said.is_thanks {
                let asked = self.live.last().copied();
                summary = summary.or(asked.filter(|at| self.is_new_question(*at, known_before)));
            }
            if message.id.is_empty() {
                self.beside(message.head, raw);
                continue;
            }
            let sought = self.index.sought(&message.id);
            let known = self.index.get(sought, &message.id, &self.ids);
            let known = known.filter(|at| self.is_version(*at, &message));
            if let Some(at) = known.filter(|at| !self.is_live(*at)) {
                self.keep(at, message.head, raw);
                continue;
            }
            let is_first = self.live.is_empty();
            self.message(message, raw);
            first_new = first_new.or(self.live.last().copied().filter(|_| is_first));
        }
        let live: HashSet<usize> = self.live.iter().copied().collect();
        let last = old.into_iter().rev().find(|at| !live.contains(at));
        if let Some((first, last)) = summary.or(first_new).zip(last) {
            let sums_up = summary.is_some();
            self.continued.insert(first, Continued { last, sums_up });
        }
    }

    /// No more messages come: what only they would need goes.
    pub(super) fn settle(&mut self) {
        self.index = Index::default();
    }

    /// Nothing but the ids is needed any more.
    pub(super) fn into_ids(self) -> Texts {
        self.ids
    }

    /// How a message goes on with a list that it replaced, if it does.
    pub(super) fn continued(&self, at: usize) -> Option<Continued> {
        self.continued.get(&at).copied()
    }

    /// What a message is to the session: one that sums up what came before is no message.
    pub(super) fn kind(&self, at: usize, draft: &ReplayedEntry) -> Kind {
        match self.continued(at) {
            Some(continued) if continued.sums_up => Kind::Compaction,
            _ => draft.head.kind,
        }
    }

    /// The versions of a message before the last one, the oldest first.
    pub(super) fn earlier(&self, at: usize) -> &[RawRef] {
        self.earlier.get(&at).map_or(&[], Vec::as_slice)
    }

    /// The records of all versions of a message, the oldest first.
    pub(super) fn records(&self, at: usize) -> impl Iterator<Item = RawRef> {
        let last = self.drafts.get(at).map(|draft| draft.origin);
        self.earlier(at).iter().copied().chain(last)
    }

    /// Whether somebody else than the model says this, for the first time since there were so many.
    fn is_new_question(&self, at: usize, count: usize) -> bool {
        let kind = self.drafts.get(at).map(|draft| draft.head.kind);
        at >= count && kind == Some(Kind::Message(Role::User))
    }

    /// Puts a message that is known at the end of the list, in another version.
    fn keep(&mut self, at: usize, head: MessageHead, raw: RawRef) {
        let parent = self.live.last().copied().and_then(Nth::new);
        self.live.push(at);
        self.again(at, head, raw);
        if let Some(draft) = self.drafts.get_mut(at) {
            draft.parent = parent;
            draft.is_live = true;
        }
    }

    /// The id of a message; empty where it has none.
    pub(super) fn id(&self, at: usize) -> &str {
        u32::try_from(at).map_or("", |at| self.ids.get(at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raw(record: u32) -> RawRef {
        RawRef { part: 0, record }
    }

    fn message(id: &str) -> FoundMessage<'_> {
        FoundMessage {
            id: id.into(),
            ..FoundMessage::unknown()
        }
    }

    fn ids(replay: &Replay) -> Vec<&str> {
        replay.live.iter().map(|at| replay.id(*at)).collect()
    }

    #[test]
    fn the_same_id_replaces_and_a_rewind_leaves_a_branch() {
        let mut replay = Replay::default();
        for (i, id) in (0..).zip(["a", "b", "c", "b"]) {
            replay.message(message(id), raw(i));
        }
        assert_eq!(ids(&replay), ["a", "b", "c"]);
        let records: Vec<RawRef> = replay.records(1).collect();
        assert_eq!(records, [raw(1), raw(3)]);
        assert_eq!(replay.rewind("b"), Rewound::Before);
        replay.message(message("b"), raw(4));
        assert_eq!(ids(&replay), ["a", "b"]);
        assert_eq!(replay.drafts.len(), 4, "the old ones stay");
        assert_eq!(replay.drafts[3].parent(), Some(0));
        assert_eq!(replay.rewind("nowhere"), Rewound::Emptied);
        assert!(replay.live.is_empty());
    }

    #[test]
    fn a_message_stands_where_the_last_list_has_it() {
        let mut replay = Replay::default();
        for (i, id) in (0..).zip(["a", "b", "c"]) {
            replay.message(message(id), raw(i));
        }
        let lists: [(&[&str], &[usize]); 4] = [
            (&["a", "c"], &[0, 2]),
            // Emptied but for something new, and then all of it anew.
            (&["x"], &[3]),
            (&["x", "a", "b", "c"], &[3, 0, 1, 2]),
            (&["s", "c"], &[4, 2]),
        ];
        for (list, places) in lists {
            replay.replace(list.iter().map(|id| (message(id), raw(9))).collect());
            assert_eq!(replay.live, places, "{list:?}");
        }
        assert_eq!(replay.drafts.len(), 5);
        assert_eq!(replay.continued(3).unwrap().last, 2);
        assert_eq!(
            replay.continued(4).unwrap().last,
            1,
            "the last that is not in the list"
        );
    }

    /// What the client does, told in its own way.
    fn client(steps: &[StepKind]) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        let set = |list: &mut Vec<String>, id: &String| {
            if !list.contains(id) {
                list.push(id.clone());
            }
        };
        for step in steps {
            match step {
                StepKind::Message(id) => set(&mut list, id),
                StepKind::Rewind(id) => {
                    let at = list.iter().position(|known| known == id);
                    list.truncate(at.unwrap_or(0));
                }
                StepKind::Replace(ids) => {
                    list.clear();
                    for id in ids {
                        set(&mut list, id);
                    }
                }
            }
        }
        list
    }

    #[derive(Clone, Debug)]
    enum StepKind {
        Message(String),
        Rewind(String),
        Replace(Vec<String>),
    }

    fn step() -> impl Strategy<Value = StepKind> {
        prop_oneof![
            6 => "[a-f]".prop_map(StepKind::Message),
            2 => "[a-g]".prop_map(StepKind::Rewind),
            1 => proptest::collection::vec("[a-f]", 0..5).prop_map(StepKind::Replace),
        ]
    }

    proptest! {
        #[test]
        fn the_list_is_the_clients_and_a_chain(steps in proptest::collection::vec(step(), 0..40)) {
            let mut replay = Replay::default();
            let mut records = 0;
            let mut next = || { records += 1; raw(records) };
            for step in &steps {
                match step {
                    StepKind::Message(id) => replay.message(message(id), next()),
                    StepKind::Rewind(id) => { replay.rewind(id); }
                    StepKind::Replace(ids) => {
                        replay.replace(ids.iter().map(|id| (message(id), next())).collect());
                    }
                }
            }
            prop_assert_eq!(ids(&replay), client(&steps));
            // Following parents from the last gives exactly the list.
            let mut chain = Vec::new();
            let mut at = replay.live.last().copied();
            while let Some(ix) = at {
                chain.push(ix);
                at = replay.drafts[ix].parent();
            }
            chain.reverse();
            prop_assert_eq!(&chain, &replay.live);
            // Every record is somewhere, once.
            let drafts = 0..replay.drafts.len();
            let mut all: Vec<RawRef> = drafts.flat_map(|at| replay.records(at)).collect();
            all.sort();
            prop_assert_eq!(all, (1..=records).map(raw).collect::<Vec<_>>());
        }
    }
}
