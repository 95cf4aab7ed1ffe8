//! The entries of a session, made of its messages in order.

use rethread_model::{EntryIx, Kind, Link, LinkKind, NewEntry, RawRef, SessionBuilder, Visibility};

use super::facts::SessionFacts;
use super::kinds::PartRole;
use super::said::PlacedMessage;

/// Adds entries for messages in order, and gives the sessions of sub-agents that they started.
pub(super) fn add_entries(
    builder: &mut SessionBuilder,
    said: &[PlacedMessage],
    facts: &SessionFacts,
) -> Vec<Link> {
    let mut chain = Chain {
        builder,
        last: None,
        is_reverted: false,
        leaf: None,
        taken_back: false,
        links: Vec::new(),
        inherited: facts.fork.as_ref().map_or(0, |f| f.messages),
        copied: 0,
    };
    let mut rest = said;
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        if let Some(revert) = facts.revert.as_ref().filter(|r| *r.message == *first.id) {
            let part = revert.part.as_deref();
            if let Some((stay, go)) = part.and_then(|part| first.parted(part)) {
                chain.message(&stay);
                chain.go_on_here();
                chain.rest(&go);
                continue;
            }
            chain.take_back(part.is_some());
        }
        match others.split_first() {
            Some((summary, others)) if first.asks_for_compaction() && summary.is_summary => {
                chain.compaction(first, summary);
                rest = others;
            }
            _ if first.asks_for_compaction() => {
                chain.add(&first.id, Kind::Event, first, &first.origin());
            }
            _ => chain.message(first),
        }
        chain.after_message();
    }
    let Chain {
        is_reverted,
        leaf,
        links,
        ..
    } = chain;
    if is_reverted {
        builder.set_leaf(leaf);
    }
    links
}

struct Chain<'a> {
    builder: &'a mut SessionBuilder,
    last: Option<EntryIx>,
    /// Whether something was taken back.
    is_reverted: bool,
    /// Where the client goes on, once something was taken back.
    leaf: Option<EntryIx>,
    /// The message that is added now is the first that is taken back, and itself stays in part.
    taken_back: bool,
    links: Vec<Link>,
    /// How many messages were copied from another session.
    inherited: u64,
    copied: u64,
}

impl Chain<'_> {
    fn take_back(&mut self, in_part: bool) {
        if in_part {
            self.taken_back = true;
        } else {
            self.go_on_here();
        }
    }

    fn go_on_here(&mut self) {
        if !self.is_reverted {
            self.is_reverted = true;
            self.leaf = self.last;
        }
    }

    fn after_message(&mut self) {
        if std::mem::take(&mut self.taken_back) {
            self.go_on_here();
        }
    }

    fn add(
        &mut self,
        id: &str,
        kind: Kind,
        said: &PlacedMessage,
        origin: &[RawRef],
    ) -> Option<EntryIx> {
        self.add_seen(id, kind, said, origin, Visibility::Visible)
    }

    fn add_seen(
        &mut self,
        id: &str,
        kind: Kind,
        said: &PlacedMessage,
        origin: &[RawRef],
        visibility: Visibility,
    ) -> Option<EntryIx> {
        let ix = self.builder.add(&NewEntry {
            id,
            parent: self.last,
            kind,
            time: said.time,
            visibility,
            origin,
        });
        let Some(ix) = ix else {
            for raw in origin {
                self.builder.unclaimed(*raw);
            }
            return None;
        };
        self.builder.entry(ix).inherited = self.copied < self.inherited;
        self.last = Some(ix);
        Some(ix)
    }

    fn message(&mut self, said: &PlacedMessage) {
        let ix = self.rest(said);
        self.counted(ix, said);
    }

    /// Adds a message, or those parts of one that were taken back, behind the tries that failed.
    fn rest(&mut self, said: &PlacedMessage) -> Option<EntryIx> {
        self.tries(said);
        let kind = said.role.map_or(Kind::Unknown, Kind::Message);
        self.add_seen(&said.id, kind, said, &said.origin(), said.visibility())
    }

    fn tries(&mut self, said: &PlacedMessage) {
        for part in said.parts.iter().filter(|p| p.kind == PartRole::Retry) {
            let seen = Visibility::UiOnly;
            self.add_seen(&part.id, Kind::Event, said, &[part.record], seen);
        }
    }

    fn compaction(&mut self, asked: &PlacedMessage, summary: &PlacedMessage) {
        self.tries(summary);
        let origin: Vec<RawRef> = asked.origin().into_iter().chain(summary.origin()).collect();
        let ix = self.add(&summary.id, Kind::Compaction, summary, &origin);
        if let Some(ix) = ix {
            self.builder.alias(ix, &asked.id);
        }
        self.copied += 1;
        self.counted(ix, summary);
    }

    fn counted(&mut self, ix: Option<EntryIx>, said: &PlacedMessage) {
        self.copied += 1;
        if let Some(ix) = ix.filter(|_| said.has_usage) {
            self.builder.set_usage_key(ix, &said.id);
        }
        for (call, session) in said.parts.iter().filter_map(|p| p.child.as_deref()) {
            self.links.push(Link {
                kind: LinkKind::SubAgent,
                session: session.clone(),
                entry: Some(said.id.to_string()),
                tool_call: Some(call.clone()).filter(|c| !c.is_empty()),
            });
        }
    }
}
