//! What somebody changed in a session that carries its original: single blocks of what is said.

use std::collections::HashMap;

use rethread_formats::{Conversation, MessageInput};
use rethread_json::{Tree, Value};
use rethread_model::EntryIx;

use super::said::Said;
use super::{marks, plan, said, unified};

/// What is different from what was written.
pub(super) struct Changes {
    /// The blocks that say something else now, by their place among all, in the words that every
    /// format takes.
    pub(super) blocks: Vec<(usize, Vec<u8>)>,
    /// What was said since.
    pub(super) later: Vec<MessageInput>,
}

impl Changes {
    /// Compares what is said with what was; none if something is missing.
    pub(super) fn since(here: &Conversation, before: &[u64]) -> Option<Self> {
        let mut changes = Self {
            blocks: Vec::new(),
            later: Vec::new(),
        };
        let mut at = 0;
        for said in said::all(here) {
            let Some(was) = before.get(at..).filter(|rest| !rest.is_empty()) else {
                changes.later.push(said.input);
                continue;
            };
            let was = was.get(..said.marks.len())?;
            if was != said.marks {
                let blocks = blocks(&said.input);
                let now = said.marks.iter().zip(blocks);
                for (i, (was, (now, block))) in was.iter().zip(now).enumerate() {
                    if was != now {
                        changes.blocks.push((at + i, block));
                    }
                }
            }
            at += said.marks.len();
        }
        (at == before.len()).then_some(changes)
    }

    /// The same changes to the original; none if it cannot be told what they are changes of.
    pub(super) fn edits(
        &self,
        here: &Conversation,
        original: &Conversation,
        before: &[u64],
    ) -> Option<Edits> {
        let said = Original::of(original, here);
        let places = said.places(before);
        let edits = self.blocks.iter().map(|(at, now)| {
            let place = places.get(*at).copied().flatten()?;
            let was = said.blocks.get(place)?;
            let same = |other: &&Block| other.from == was.from && other.json == was.json;
            Some(Edit {
                place,
                entry: was.from?,
                was: Words::of(&was.json)?,
                now: Words::of(now)?,
                same: said.blocks.iter().filter(same).count(),
                before: said.blocks.get(..place)?.iter().filter(same).count(),
            })
        });
        let edits: Vec<Edit> = edits.collect::<Option<_>>()?;
        let fit = edits.iter().all(|edit| edit.was.is_like(&edit.now));
        fit.then_some(Edits(edits))
    }
}

/// Changes to an original.
pub(super) struct Edits(pub(super) Vec<Edit>);

/// A change of one block of an original.
pub(super) struct Edit {
    /// Its place among all that is said.
    place: usize,
    /// The entry that says it.
    pub(super) entry: EntryIx,
    /// What it said.
    pub(super) was: Words,
    /// What it says now.
    pub(super) now: Words,
    /// How many blocks of the entry said the same, and how many of them before this one.
    pub(super) same: usize,
    pub(super) before: usize,
}

impl Edits {
    /// Whether these changes, and no others, were made.
    pub(super) fn are_all_in(
        &self,
        here: &Conversation,
        original: &Conversation,
        changed: &Conversation,
    ) -> bool {
        let words = |conversation| {
            let said = Original::of(conversation, here);
            let words = said
                .blocks
                .into_iter()
                .map(|b| Words::of(&b.json).ok_or(b.json));
            words.collect::<Vec<_>>()
        };
        let mut wanted = words(original);
        for edit in &self.0 {
            if let Some(words) = wanted.get_mut(edit.place) {
                *words = Ok(edit.now.clone());
            }
        }
        wanted == words(changed)
    }
}

/// What a block says, as far as it can be said differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// A text, or a thought.
    Text(String),
    /// What a tool is given, as JSON.
    Input(Vec<u8>),
    /// What a tool gave, and whether it failed.
    Output(String, bool),
}

impl Words {
    fn of(block: &[u8]) -> Option<Self> {
        let tree = Tree::parse(block).ok()?;
        let block = tree.root(block);
        let text = |key: &str| Some(block.get(key)?.str()?.into_owned());
        match block.get("type")?.str()?.as_ref() {
            "text" | "thinking" => text("text").map(Self::Text),
            "tool_use" => Some(Self::Input(block.get("input")?.raw().to_vec())),
            "tool_result" => {
                let failed = block.get("is_error").and_then(Value::bool) == Some(true);
                Some(Self::Output(text("output")?, failed))
            }
            _ => None,
        }
    }

    /// Whether one can take the place of the other. Not every format can say that a tool failed.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(_), Self::Text(_)) | (Self::Input(_), Self::Input(_)) => true,
            (Self::Output(_, was), Self::Output(_, is)) => was == is,
            _ => false,
        }
    }
}

/// All that is said in an original, as it was told to the format that carries it.
struct Original {
    blocks: Vec<Block>,
}

struct Block {
    from: Option<EntryIx>,
    role: String,
    json: Vec<u8>,
}

impl Original {
    fn of(original: &Conversation, carrier: &Conversation) -> Self {
        let mut all = Vec::new();
        let mut add = |from: Option<EntryIx>, message: &MessageInput| {
            let role = role(message).unwrap_or_default();
            all.extend(blocks(message).into_iter().map(|json| Block {
                from,
                role: role.clone(),
                json,
            }));
        };
        if carrier.source.format == unified::SLUG {
            for Said { input, from, .. } in said::all(original) {
                add(from, &input);
            }
        } else {
            let steps = plan::steps(original, carrier.format.keeps());
            for (from, message) in steps.said() {
                add(from, message);
            }
        }
        Self { blocks: all }
    }

    /// Where each block that the carrier had is among these. It may have put things in other words,
    /// or left some out.
    fn places(&self, carried: &[u64]) -> Vec<Option<usize>> {
        let mut marked: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, block) in self.blocks.iter().enumerate() {
            for mark in marks::possible(&block.role, &block.json) {
                marked.entry(mark).or_default().push(place);
            }
        }
        let mut next = 0;
        let place = |mark: &u64| {
            let places = marked.get(mark)?;
            let found = *places.get(places.partition_point(|place| *place < next))?;
            next = found + 1;
            Some(found)
        };
        carried.iter().map(place).collect()
    }
}

/// The blocks of a message that we made.
fn blocks(message: &MessageInput) -> Vec<Vec<u8>> {
    let MessageInput::Json { bytes, .. } = message else {
        return Vec::new();
    };
    let Ok(tree) = Tree::parse(bytes) else {
        return Vec::new();
    };
    let content = tree.root(bytes).get("content");
    let blocks = content.into_iter().flat_map(Value::items);
    blocks.map(|block| block.raw().to_vec()).collect()
}

fn role(message: &MessageInput) -> Option<String> {
    let MessageInput::Json { bytes, .. } = message else {
        return None;
    };
    let tree = Tree::parse(bytes).ok()?;
    Some(tree.root(bytes).get("role")?.str()?.into_owned())
}
