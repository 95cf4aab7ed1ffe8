//! What a model would see: the path to an entry with compactions, summaries and edits applied.

use std::collections::{HashMap, HashSet};

use crate::{
    Block, Bodies, Body, Compaction, EntryIx, Kept, Kind, Message, ModelRef, NewEntry, Role,
    Session, SessionBuilder, Text, Visibility,
};

/// What a model would see at a point of a conversation.
///
/// It is a conversation itself, whose entries are the messages in their order: what shows sessions
/// shows it too. Bodies are decoded when they are asked for.
pub struct Context<'a> {
    /// The messages, one after the other.
    pub session: Session,
    /// The model that answers there, if one was chosen or answered.
    pub model: Option<ModelRef>,
    /// How much the model is to think, in the agent's own word.
    pub thinking_level: Option<String>,
    /// The messages, each with the entry of the conversation that it comes from.
    seen: Vec<(EntryIx, Seen)>,
    bodies: &'a dyn Bodies,
}

/// One message that a model sees.
enum Seen {
    /// What the entry says.
    Entry,
    /// What the entry says, with other content.
    Edited(Vec<Block>),
    /// A message that no entry says: a summary, or instructions.
    Made(Box<Message>),
}

impl<'a> Context<'a> {
    /// What a model would see at the end of a path from the root.
    ///
    /// The last compaction on the path counts: its instructions and its summary come first, then
    /// what it kept of the past, then what came after it. Of summaries of other branches the model
    /// sees the text; what is not meant for it, it does not see.
    pub fn new(session: &Session, bodies: &'a dyn Bodies, path: &[EntryIx]) -> Self {
        let mut made = Making {
            session,
            bodies,
            edits: edits(session, bodies, path),
            builder: SessionBuilder::new(session.head.clone()),
            seen: Vec::new(),
        };
        let kind = |ix: &EntryIx| session.entry(*ix).kind;
        let last = path.iter().rposition(|ix| kind(ix) == Kind::Compaction);
        let (before, after) = path.split_at(last.map_or(0, |at| at));
        if let Some(at) = last
            && let Body::Compaction(compaction) = bodies.body(path[at])
        {
            made.compaction(path[at], before, compaction);
        }
        for ix in after {
            made.entry(*ix, false);
        }
        Self {
            model: last_model(session, bodies, path),
            thinking_level: path.iter().rev().find_map(|ix| {
                let is_change = kind(ix) == Kind::ThinkingChange;
                match is_change.then(|| bodies.body(*ix))? {
                    Body::ThinkingChange(level) => Some(level),
                    _ => None,
                }
            }),
            session: made.builder.finish(),
            seen: made.seen,
            bodies,
        }
    }

    /// The entry of the conversation that a message comes from: it says the message, or the message
    /// was made of it.
    pub fn comes_from(&self, message: EntryIx) -> Option<EntryIx> {
        self.seen.get(message.get()).map(|(entry, _)| *entry)
    }
}

impl Bodies for Context<'_> {
    fn body(&self, ix: EntryIx) -> Body {
        match self.seen.get(ix.get()) {
            Some((entry, Seen::Entry)) => self.bodies.body(*entry),
            Some((entry, Seen::Edited(blocks))) => match self.bodies.body(*entry) {
                Body::Message(message) => Body::Message(Message {
                    blocks: blocks.clone(),
                    ..message
                }),
                other => other,
            },
            Some((_, Seen::Made(message))) => Body::Message(*message.clone()),
            None => Body::Unknown(None),
        }
    }
}

/// What entries contribute instead: other content, or nothing.
type Edits = HashMap<String, Option<Vec<Block>>>;

fn edits(session: &Session, bodies: &dyn Bodies, path: &[EntryIx]) -> Edits {
    let is_edit = |ix: &&EntryIx| session.entry(**ix).kind == Kind::ContextEdit;
    let mut edits = Edits::new();
    for ix in path.iter().filter(is_edit) {
        if let Body::ContextEdit(edit) = bodies.body(*ix)
            && edit.tool_call.is_none()
        {
            edits.insert(edit.target, edit.replacement);
        }
    }
    edits
}

/// The model that was chosen or that answered last.
fn last_model(session: &Session, bodies: &dyn Bodies, path: &[EntryIx]) -> Option<ModelRef> {
    let named = path.iter().rev().find_map(|ix| {
        let says = matches!(
            session.entry(*ix).kind,
            Kind::ModelChange | Kind::Message(Role::Assistant)
        );
        match says.then(|| bodies.body(*ix))? {
            Body::ModelChange(model) => Some(model),
            Body::Message(message) => message.model,
            _ => None,
        }
    });
    named.or_else(|| session.head.model.clone())
}

/// A context while it is made.
struct Making<'a> {
    session: &'a Session,
    bodies: &'a dyn Bodies,
    edits: Edits,
    builder: SessionBuilder,
    seen: Vec<(EntryIx, Seen)>,
}

impl Making<'_> {
    fn compaction(&mut self, at: EntryIx, before: &[EntryIx], compaction: Compaction) {
        if let Some(system) = compaction.system {
            self.made(at, Role::System, system, "instructions");
        }
        // Messages that took the place of the past are all that is left of it.
        let is_replaced = matches!(compaction.kept, Kept::Replacement(_));
        let summary = compaction.summary.filter(|_| !is_replaced);
        self.summary(at, compaction.question, summary);
        let place = |id: &str| before.iter().position(|ix| self.session.id(*ix) == id);
        match compaction.kept {
            Kept::Nothing => {}
            Kept::From(id) => {
                let from = place(&id).unwrap_or(before.len());
                self.kept(before.get(from..).unwrap_or_default());
            }
            Kept::Range { first, last } => {
                if let (Some(first), Some(last)) = (place(&first), place(&last)) {
                    self.kept(before.get(first..=last).unwrap_or_default());
                }
            }
            Kept::Entries(ids) => {
                let ids: HashSet<String> = ids.into_iter().collect();
                let is_kept = |ix: &&EntryIx| ids.contains(self.session.id(**ix));
                let kept: Vec<EntryIx> = before.iter().filter(is_kept).copied().collect();
                self.kept(&kept);
            }
            Kept::UserMessages => {
                let by_user = |ix: &&EntryIx| {
                    let entry = self.session.entry(**ix);
                    entry.kind == Kind::Message(Role::User)
                        && entry.visibility == Visibility::Visible
                };
                let kept: Vec<EntryIx> = before.iter().filter(by_user).copied().collect();
                self.kept(&kept);
            }
            Kept::Replacement(messages) => {
                for message in messages {
                    let role = message.role;
                    self.push(at, role, Seen::Made(Box::new(message)));
                }
            }
        }
    }

    /// Adds what stands in place of the past.
    fn summary(&mut self, at: EntryIx, question: Option<Text>, summary: Option<Text>) {
        let role = match question {
            Some(_) => Role::Assistant,
            None => Role::User,
        };
        if let Some(question) = question {
            self.made(at, Role::User, question, "compaction_question");
        }
        if let Some(summary) = summary {
            self.made(at, role, summary, "compaction_summary");
        }
    }

    fn kept(&mut self, entries: &[EntryIx]) {
        for ix in entries {
            self.entry(*ix, true);
        }
    }

    /// Adds what the model sees of an entry. Instructions from before a compaction are no longer
    /// in force.
    fn entry(&mut self, ix: EntryIx, is_kept: bool) {
        let entry = self.session.entry(ix);
        let is_for_model = matches!(entry.visibility, Visibility::Visible | Visibility::Injected);
        match entry.kind {
            Kind::Message(Role::System) if is_kept => {}
            Kind::Message(role) if is_for_model => match self.edits.remove(self.session.id(ix)) {
                None => self.push(ix, role, Seen::Entry),
                Some(None) => {}
                Some(Some(blocks)) => self.push(ix, role, Seen::Edited(blocks)),
            },
            // An older summary that is an answer to a question was kept like any other answer.
            Kind::Compaction if is_kept => {
                if let Body::Compaction(older) = self.bodies.body(ix)
                    && older.question.is_some()
                {
                    self.summary(ix, older.question, older.summary);
                }
            }
            Kind::BranchSummary => {
                if let Body::BranchSummary(branch) = self.bodies.body(ix)
                    && !branch.summary.value.is_empty()
                {
                    self.made(ix, Role::User, branch.summary, "branch_summary");
                }
            }
            _ => {}
        }
    }

    /// Adds a message that no entry says.
    fn made(&mut self, at: EntryIx, role: Role, text: Text, word: &str) {
        let mut message = Message::new(role, vec![Block::Text(text)]);
        message.extension = Some(word.to_owned());
        self.push(at, role, Seen::Made(Box::new(message)));
    }

    fn push(&mut self, at: EntryIx, role: Role, seen: Seen) {
        let entry = self.session.entry(at);
        let visibility = match seen {
            Seen::Made(_) => Visibility::Injected,
            Seen::Entry | Seen::Edited(_) => entry.visibility,
        };
        let parent = self.builder.len().checked_sub(1).and_then(EntryIx::new);
        let added = self.builder.add(&NewEntry {
            id: self.session.id(at),
            parent,
            kind: Kind::Message(role),
            time: entry.time,
            visibility,
            origin: &[],
        });
        if added.is_some() {
            self.seen.push((at, seen));
        }
    }
}
