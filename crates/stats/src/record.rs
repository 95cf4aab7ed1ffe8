//! Counting one conversation.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hasher as _;

use rethread_formats::Conversation;
use rethread_json::Tree;
use rethread_model::{
    Block, Bodies as _, Body, Entry, EntryIx, Kind, Message, ModelRef, Role, Session, ToolCall,
    ToolResult, Usage, Visibility,
};
use rethread_render::{MeasuredCall, measure_call};

use crate::ledger::{
    ActiveSpan, CallRow, Oddity, OddityKind, QUARTER_MS, ResponseRow, SessionLedger, SpanRow,
    TokenCounts,
};
use crate::odd_counts::{OddCounts, find_odd_counts};

/// After so long without a word, nobody was at work.
pub const ACTIVE_GAP_MS: i64 = 5 * 60 * 1000;

/// So many calls are remembered until their results come.
const WAITING_CALLS: usize = 1024;

/// No model takes or gives so many tokens in one response.
const HUGE_TOKENS: u64 = 1_000_000_000;

/// No response costs so many US dollars.
const HUGE_COST: f64 = 100_000.0;

/// A key of fewer bytes may be a number that other sessions use as well.
const SHORT_KEY: usize = 8;

/// Counts a conversation.
pub fn record_session(conversation: &Conversation) -> SessionLedger {
    let mut recorder = Recorder::new(conversation);
    for (ix, entry) in conversation.session.indexed() {
        recorder.add_entry(ix, entry);
    }
    recorder.finish()
}

/// A call whose result did not come yet.
struct WaitingCall {
    call: ToolCall,
    time: Option<i64>,
    is_inherited: bool,
}

/// What was said and done.
#[derive(Default)]
struct ActivityRows {
    spans: BTreeMap<Option<i64>, SpanRow>,
    calls: BTreeMap<(Option<i64>, u32), CallRow>,
    times: Vec<i64>,
}

impl ActivityRows {
    fn span(&mut self, time: Option<i64>) -> &mut SpanRow {
        let quarter = time.map(|time| time.div_euclid(QUARTER_MS));
        self.spans.entry(quarter).or_insert(SpanRow {
            quarter,
            ..SpanRow::default()
        })
    }
}

struct Recorder<'c> {
    conversation: &'c Conversation,
    session: &'c Session,
    ledger: SessionLedger,
    /// Places of responses by what identifies them.
    known: HashMap<u64, usize>,
    models: HashMap<(Option<String>, String), u32>,
    tools: HashMap<String, u32>,
    /// The model that answers where a message does not say.
    model: Option<ModelRef>,
    /// What the session itself did, and what it was copied of.
    own: ActivityRows,
    inherited: ActivityRows,
    /// Answers of models that say nothing of tokens, and the first of them.
    silent_answers: (u64, u32),
    waiting: HashMap<String, WaitingCall>,
    order: VecDeque<String>,
    odd: BTreeMap<OddityKind, Oddity>,
    tree: Tree,
}

impl<'c> Recorder<'c> {
    fn new(conversation: &'c Conversation) -> Self {
        Self {
            conversation,
            session: &conversation.session,
            ledger: SessionLedger::default(),
            known: HashMap::new(),
            models: HashMap::new(),
            tools: HashMap::new(),
            model: None,
            own: ActivityRows::default(),
            inherited: ActivityRows::default(),
            silent_answers: (0, 0),
            waiting: HashMap::new(),
            order: VecDeque::new(),
            odd: BTreeMap::new(),
            tree: Tree::default(),
        }
    }

    fn add_entry(&mut self, ix: EntryIx, entry: &Entry) {
        let number = u32::try_from(ix.get() + 1).unwrap_or(u32::MAX);
        let time = self.time_of(entry, number);
        if entry.kind.is_message() {
            self.rows(entry.inherited).times.extend(time);
        }
        match self.conversation.body(ix) {
            Body::Message(message) => self.add_message(ix, entry, time, message),
            Body::Usage(record) => {
                let model = record.model.clone();
                self.add_response(ix, entry, time, &record.usage, model);
            }
            Body::Compaction(compaction) => {
                if let Some(usage) = &compaction.usage {
                    self.add_response(ix, entry, time, usage, None);
                }
            }
            Body::BranchSummary(branch) => {
                if let Some(usage) = &branch.usage {
                    self.add_response(ix, entry, time, usage, None);
                }
            }
            Body::ModelChange(model) => self.model = Some(model),
            Body::ThinkingChange(_)
            | Body::Label(_)
            | Body::Title(_)
            | Body::ContextEdit(_)
            | Body::Event(_)
            | Body::Unknown(_) => {}
        }
    }

    /// When an entry was written. One from before 1970 was written when no clock was set.
    fn time_of(&mut self, entry: &Entry, number: u32) -> Option<i64> {
        let time = entry.time?.millis();
        if time > 0 {
            return Some(time);
        }
        self.note(OddityKind::BadTime, number, 1, || {
            entry.time.map(|t| t.to_string()).unwrap_or_default()
        });
        None
    }

    fn add_message(&mut self, ix: EntryIx, entry: &Entry, time: Option<i64>, message: Message) {
        let mut is_first = true;
        if let Some(usage) = &message.usage {
            is_first = self.add_response(ix, entry, time, usage, message.model.clone());
        } else if is_answer_without_usage(entry, &message) {
            let number = u32::try_from(ix.get() + 1).unwrap_or(u32::MAX);
            self.look_for_odd_counts(ix, number);
            if self.silent_answers.0 == 0 {
                self.silent_answers.1 = number;
            }
            self.silent_answers.0 += 1;
        }
        if let Some(model) = &message.model {
            self.model = Some(model.clone());
        }
        if is_first {
            let is_prompt = message.role == Role::User
                && entry.visibility == Visibility::Visible
                && message.blocks.iter().any(is_said);
            let span = self.rows(entry.inherited).span(time);
            span.messages += 1;
            span.prompts += u64::from(is_prompt);
        }
        for block in message.blocks {
            match block {
                Block::ToolCall(call) => self.wait_for(WaitingCall {
                    call,
                    time,
                    is_inherited: entry.inherited,
                }),
                Block::ToolResult(result) => self.answer(result, time),
                _ => {}
            }
        }
    }

    /// Counts a response; false if it was counted before.
    fn add_response(
        &mut self,
        ix: EntryIx,
        entry: &Entry,
        time: Option<i64>,
        usage: &Usage,
        model: Option<ModelRef>,
    ) -> bool {
        let number = u32::try_from(ix.get() + 1).unwrap_or(u32::MAX);
        self.look_for_odd_counts(ix, number);
        let tokens = TokenCounts {
            input: usage.input,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_write_1h: usage.cache_write_1h,
            output: usage.output,
            reasoning: usage.reasoning,
        };
        let key = self.response_key(ix, entry, time, &tokens);
        if tokens.total() >= HUGE_TOKENS {
            self.note(OddityKind::HugeCount, number, 1, || {
                tokens.total().to_string()
            });
            return !self.known.contains_key(&key);
        }
        let cost = usage.cost.map(|cost| cost.usd);
        let is_amount = |cost: &f64| cost.is_finite() && (0.0..HUGE_COST).contains(cost);
        if let Some(bad) = cost.filter(|cost| !is_amount(cost)) {
            self.note(OddityKind::BadCost, number, 1, || bad.to_string());
        }
        let cost = cost.filter(is_amount);
        if let Some(row) = self
            .known
            .get(&key)
            .and_then(|at| self.ledger.responses.get_mut(*at))
        {
            // Early notes of a response hold placeholders.
            if tokens.output > row.tokens.output {
                row.tokens = tokens;
            }
            row.cost = match (row.cost, cost) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
            row.is_inherited &= entry.inherited;
            return false;
        }
        if tokens.total() == 0 && cost.is_none_or(|cost| cost == 0.0) {
            return true;
        }
        let model = model
            .or_else(|| self.model.clone())
            .or_else(|| self.session.head.model.clone())
            .map(|model| self.model_place(model));
        self.known.insert(key, self.ledger.responses.len());
        self.ledger.responses.push(ResponseRow {
            key,
            time,
            model,
            tokens,
            cost,
            is_inherited: entry.inherited,
            entry: number,
        });
        true
    }

    /// What identifies a response, also in other files: its own id; else its entry's id with what it says;
    /// else its place in this session.
    fn response_key(
        &self,
        ix: EntryIx,
        entry: &Entry,
        time: Option<i64>,
        tokens: &TokenCounts,
    ) -> u64 {
        let mut hasher = KeyHasher::new();
        if let Some(key) = self.session.usage_key(ix) {
            hasher.add(key.as_bytes());
            if key.len() < SHORT_KEY {
                hasher.add(self.session.head.id.as_bytes());
            }
            return hasher.finish();
        }
        let id = self.session.id(ix);
        if id.is_empty() || entry.time.is_none() {
            hasher.add(self.session.head.id.as_bytes());
            hasher.add(&ix.get().to_le_bytes());
            return hasher.finish();
        }
        hasher.add(id.as_bytes());
        hasher.add(&time.unwrap_or_default().to_le_bytes());
        for part in tokens.parts() {
            hasher.add(&part.to_le_bytes());
        }
        hasher.finish()
    }

    fn model_place(&mut self, model: ModelRef) -> u32 {
        let next = u32::try_from(self.ledger.models.len()).unwrap_or(u32::MAX);
        let key = (model.provider.clone(), model.id.clone());
        *self.models.entry(key).or_insert_with(|| {
            self.ledger.models.push(model);
            next
        })
    }

    fn rows(&mut self, is_inherited: bool) -> &mut ActivityRows {
        if is_inherited {
            &mut self.inherited
        } else {
            &mut self.own
        }
    }

    fn wait_for(&mut self, waiting: WaitingCall) {
        let id = waiting.call.id.clone();
        if let Some(before) = self.waiting.insert(id.clone(), waiting) {
            // A source that writes a call anew has it once; without an id, each is its own.
            if id.is_empty() {
                self.count_call(before, None, None);
            }
        } else {
            self.order.push_back(id);
        }
        while self.order.len() > WAITING_CALLS {
            let oldest = self.order.pop_front();
            if let Some(call) = oldest.and_then(|id| self.waiting.remove(&id)) {
                self.count_call(call, None, None);
            }
        }
    }

    fn answer(&mut self, result: ToolResult, time: Option<i64>) {
        if let Some(call) = self.waiting.remove(&result.call_id) {
            self.order.retain(|id| *id != result.call_id);
            self.count_call(call, Some(result), time);
        }
    }

    fn count_call(&mut self, waiting: WaitingCall, result: Option<ToolResult>, end: Option<i64>) {
        let WaitingCall {
            call,
            time,
            is_inherited,
        } = waiting;
        let MeasuredCall {
            tool,
            is_failed,
            duration_ms,
            lines_added,
            lines_removed,
        } = measure_call(call, result);
        let waited = time.zip(end).map(|(start, end)| (end - start).max(0));
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is finite and not negative, and casts of floats keep to the limits"
        )]
        let noted = duration_ms.map(|ms| ms as u64);
        let took = noted.or(waited.and_then(|ms| u64::try_from(ms).ok()));
        let next = u32::try_from(self.ledger.tools.len()).unwrap_or(u32::MAX);
        let place = *self.tools.entry(tool).or_insert_with_key(|tool| {
            self.ledger.tools.push(tool.clone());
            next
        });
        let quarter = time.map(|time| time.div_euclid(QUARTER_MS));
        let rows = self.rows(is_inherited);
        let row = rows.calls.entry((quarter, place)).or_insert(CallRow {
            quarter,
            tool: place,
            ..CallRow::default()
        });
        row.calls += 1;
        row.failed += u64::from(is_failed);
        row.duration_ms = row.duration_ms.saturating_add(took.unwrap_or(0));
        if lines_added + lines_removed > 0 {
            let span = rows.span(time);
            span.lines_added += lines_added;
            span.lines_removed += lines_removed;
        }
    }

    /// Looks at the records of an entry for numbers that its reader took for nothing.
    fn look_for_odd_counts(&mut self, ix: EntryIx, number: u32) {
        let mut odd = OddCounts::default();
        for raw in self.session.origin(ix) {
            if let Ok(record) = self.conversation.native.read(*raw) {
                find_odd_counts(&mut self.tree, &record, &mut odd);
            }
        }
        let (tokens, example) = odd.tokens;
        self.note(OddityKind::BadCount, number, tokens, || example);
        let (costs, example) = odd.costs;
        self.note(OddityKind::BadCost, number, costs, || example);
    }

    fn note(&mut self, kind: OddityKind, entry: u32, count: u64, example: impl FnOnce() -> String) {
        if count > 0 {
            let odd = self.odd.entry(kind).or_insert_with(|| Oddity {
                kind,
                count: 0,
                entry,
                example: example(),
            });
            odd.count += count;
        }
    }

    fn finish(mut self) -> SessionLedger {
        let order = std::mem::take(&mut self.order);
        for id in order {
            if let Some(call) = self.waiting.remove(&id) {
                self.count_call(call, None, None);
            }
        }
        let head = &self.session.head;
        if let (Some(first), Some(last)) = (head.created, head.updated)
            && last < first
        {
            self.note(OddityKind::EndsBeforeStart, 0, 1, || {
                format!("{first} – {last}")
            });
        }
        if self.ledger.responses.is_empty() {
            let (count, first) = self.silent_answers;
            self.note(OddityKind::NoUsage, first, count, String::new);
        }
        self.ledger.is_all_inherited =
            self.own.spans.is_empty() && !self.inherited.spans.is_empty();
        let rows = if self.ledger.is_all_inherited {
            self.inherited
        } else {
            self.own
        };
        self.ledger.spans = rows.spans.into_values().collect();
        self.ledger.calls = rows.calls.into_values().collect();
        self.ledger.active = active_spans(rows.times);
        self.ledger.oddities = self.odd.into_values().collect();
        self.ledger
    }
}

/// The times in which something went on.
fn active_spans(mut times: Vec<i64>) -> Vec<ActiveSpan> {
    times.sort_unstable();
    let mut spans: Vec<ActiveSpan> = Vec::new();
    for time in times {
        match spans.last_mut() {
            Some(last) if time - last.end <= ACTIVE_GAP_MS => last.end = time,
            _ => spans.push(ActiveSpan {
                start: time,
                end: time,
            }),
        }
    }
    spans
}

/// Whether a model answered, and nobody noted what that used. What a client writes in a model's name has
/// no model.
fn is_answer_without_usage(entry: &Entry, message: &Message) -> bool {
    entry.kind == Kind::Message(Role::Assistant)
        && !entry.inherited
        && entry.visibility == Visibility::Visible
        && message.model.is_some()
}

fn is_said(block: &Block) -> bool {
    match block {
        Block::Text(text) => !text.value.trim().is_empty(),
        Block::Image(_) | Block::File(_) => true,
        Block::Aside { .. }
        | Block::Thinking(_)
        | Block::ToolCall(_)
        | Block::ToolResult(_)
        | Block::Unknown { .. } => false,
    }
}

/// A hash that is the same in every process.
struct KeyHasher(
    #[allow(
        deprecated,
        reason = "its successor has keys of its own in each process"
    )]
    std::hash::SipHasher,
);

impl KeyHasher {
    #[allow(
        deprecated,
        reason = "its successor has keys of its own in each process"
    )]
    fn new() -> Self {
        Self(std::hash::SipHasher::new())
    }

    /// Adds a part, which ends before the next one begins.
    fn add(&mut self, part: &[u8]) {
        self.0.write_u64(part.len() as u64);
        self.0.write(part);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_more_than_five_minutes_are_none_of_the_time() {
        let minute = 60_000;
        let spans = active_spans(vec![9 * minute, 0, 4 * minute, 15 * minute, 16 * minute]);
        let span = |start, end| ActiveSpan {
            start: start * minute,
            end: end * minute,
        };
        assert_eq!(spans, [span(0, 9), span(15, 16)]);
    }
}
