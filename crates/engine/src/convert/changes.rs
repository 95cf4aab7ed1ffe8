//! What somebody changed in a session that carries its original: single blocks of what is said, and
//! what was said since.

use std::collections::HashMap;

use rethread_formats::carry::{CarriedAgent, Shape};
use rethread_formats::{Conversation, MessageInput};
use rethread_json::{Tree, Value};
use rethread_model::EntryIx;

use super::since::{From, Onward, Since, since};
use super::spoken::{Line, Spoken};
use super::{marks, plan, said, steps, unified};

/// What was said in a session when it was written, block by block.
pub(super) struct Before {
    pub(super) marks: Vec<u64>,
    pub(super) shape: Shape,
}

impl Before {
    /// Of a sub-agent.
    pub(super) fn of(carried: &CarriedAgent) -> Self {
        Self {
            marks: carried.marks.clone(),
            shape: carried.shape.clone(),
        }
    }
}

/// What is different from what was written.
pub(super) struct Changes {
    /// The blocks that say something else now, by their place among all, in the words that every
    /// format takes.
    pub(super) blocks: Vec<(usize, Vec<u8>)>,
    /// What was said since.
    pub(super) since: Since,
}

impl Changes {
    /// Compares what is said with what was; none if something is missing.
    pub(super) fn since(here: &Conversation, before: &Before) -> Option<Self> {
        let spoken = Spoken::of(here);
        let all = Self::in_all(&spoken, before);
        // Something new may stand where something stood that was taken back.
        let is_new = all.as_ref().is_none_or(|all| {
            let changed = all.blocks.iter().map(|(place, _)| place);
            let way = before.shape.way(before.marks.len());
            all.since.went_back && changed.clone().any(|place| !way.contains(place))
        });
        let on_the_way = is_new.then(|| Self::on_the_way(&spoken, before)).flatten();
        let changes = on_the_way
            .or(all)
            .map(|changes| changes.without_masks(here));
        let is_straight = |changes: &Self| changes.since.straight().is_some();
        match changes {
            Some(changes) if is_straight(&changes) => Some(changes),
            changes => Self::masked(&spoken, here, before).or(changes),
        }
    }

    /// The same changes without what only the client did, to save room.
    fn without_masks(mut self, here: &Conversation) -> Self {
        self.blocks.retain(|(_, block)| !is_masked(here, block));
        self
    }

    /// The client wrote the way to where the conversation was once more, with some outputs masked, and
    /// went on from there. None if anything else is different.
    fn masked(spoken: &Spoken, here: &Conversation, before: &Before) -> Option<Self> {
        let was = before.shape.way(before.marks.len());
        let mut blocks = Vec::new();
        let mut at = 0;
        let mut way = spoken
            .way()
            .into_iter()
            .filter_map(|at| spoken.lines.get(at));
        while let Some(rest) = was.get(at..).filter(|rest| !rest.is_empty()) {
            let line = way.next()?;
            let places = rest.get(..line.said.marks.len())?;
            compare(line, places.to_vec(), &before.marks, &mut blocks)?;
            at += places.len();
        }
        let messages: Vec<MessageInput> = way.map(|line| line.said.input.clone()).collect();
        let is_mask = |(_, block): &(usize, Vec<u8>)| is_masked(here, block);
        if blocks.is_empty() || !blocks.iter().all(is_mask) {
            return None;
        }
        let from = From::End;
        let onward = (!messages.is_empty()).then_some(Onward { from, messages });
        Some(Self {
            blocks: Vec::new(),
            since: Since {
                ways: onward.into_iter().collect(),
                went_back: false,
            },
        })
    }

    /// Everything is where it was.
    fn in_all(spoken: &Spoken, before: &Before) -> Option<Self> {
        let places = spoken.places();
        let last = |line: Option<usize>| Some(places.get(line?)?.end.saturating_sub(1));
        let mut blocks = Vec::new();
        let mut known = 0_usize;
        for (line, place) in spoken.lines.iter().zip(&places) {
            if place.start >= before.marks.len() {
                break;
            }
            if last(line.after) != before.shape.before(place.start) {
                return None;
            }
            compare(line, place.clone().collect(), &before.marks, &mut blocks)?;
            known += 1;
        }
        let count = before.marks.len();
        if last(known.checked_sub(1)) != count.checked_sub(1) {
            return None;
        }
        let end = before.shape.end.or_else(|| count.checked_sub(1));
        let since = since(spoken, known, |line| last(Some(line)), end);
        Some(Self { blocks, since })
    }

    /// Only the way to where the conversation is was left: some clients delete what was taken back
    /// when they go on.
    fn on_the_way(spoken: &Spoken, before: &Before) -> Option<Self> {
        let way = before.shape.way(before.marks.len());
        let is_cut = way.len() < before.marks.len();
        let is_straight = spoken.shape() == Shape::default();
        if !is_cut || !is_straight {
            return None;
        }
        let mut blocks = Vec::new();
        let (mut at, mut known) = (0, 0);
        for line in &spoken.lines {
            let Some(rest) = way.get(at..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            let places = rest.get(..line.said.marks.len())?;
            compare(line, places.to_vec(), &before.marks, &mut blocks)?;
            at += places.len();
            known += 1;
        }
        let end = *way.last().filter(|_| at == way.len())?;
        let since = since(
            spoken,
            known,
            |line| (line + 1 == known).then_some(end),
            Some(end),
        );
        Some(Self { blocks, since })
    }

    /// The same changes to the original; none if it cannot be told what they are changes of.
    pub(super) fn edits(
        &self,
        here: &Conversation,
        original: &Conversation,
        before: &Before,
    ) -> Option<Edits> {
        let said = Original::of(original, here);
        let places = said.places(&before.marks);
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

/// Whether a block is the result of a tool of which the client only left a part in its file.
fn is_masked(here: &Conversation, block: &[u8]) -> bool {
    match Words::of(block) {
        Some(Words::Output(output, _)) => here.format.is_masked(&output),
        _ => false,
    }
}

/// Notes the blocks of a line that were others; none if there were fewer.
fn compare(
    line: &Line,
    places: Vec<usize>,
    before: &[u64],
    changed: &mut Vec<(usize, Vec<u8>)>,
) -> Option<()> {
    let was: Vec<u64> = places
        .iter()
        .map(|place| before.get(*place).copied())
        .collect::<Option<_>>()?;
    if was != line.said.marks {
        let now = line.said.marks.iter().zip(blocks(&line.said.input));
        for ((place, was), (now, block)) in places.into_iter().zip(was).zip(now) {
            if was != *now {
                changed.push((place, block));
            }
        }
    }
    Some(())
}

/// The entry of an original that says the last of what was said up to a place, if it says nothing
/// more than that; none if that cannot be told.
pub(super) fn entry_at(
    (here, original): (&Conversation, &Conversation),
    before: &Before,
    place: usize,
) -> Option<EntryIx> {
    let said = Original::of(original, here);
    let found = said.places(&before.marks).get(place).copied().flatten()?;
    let entry = said.blocks.get(found)?.from?;
    let is_over = |rest: &[Block]| rest.iter().all(|block| block.from != Some(entry));
    is_over(said.blocks.get(found + 1..)?).then_some(entry)
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
            for Line { said, .. } in Spoken::of(original).lines {
                add(said.from, &said.input);
            }
        } else {
            let all = plan::steps(original, carrier.format);
            for (from, words) in all.said() {
                match words {
                    steps::Words::Message(message) => add(from, message),
                    steps::Words::Summary(text) => add(from, &said::summary(original, text).input),
                }
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
