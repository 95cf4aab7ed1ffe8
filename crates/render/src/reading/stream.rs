//! The walk over a conversation.

use std::collections::{BTreeMap, VecDeque};

use rethread_model::{
    Block, Body, Entry, EntryIx, Level, Message, ModelRef, Role, Text, Thinking, ToolCall,
    ToolResult, Visibility,
};

use super::injected::{ClientText, classify_client_text, split_person_text};
use super::{LookAhead, OmittedItems, ReadingPart, Speaker, ToolUse, Turn, TurnItem, model_label};
use crate::notice::{Notice, entry_notice};
use crate::tool::{adjacent_result, only_results};
use crate::unknown::describe_unknown;
use crate::view::visibility_phrase;
use crate::{Options, View};

/// So many calls without a result are remembered by their tool's name.
const WAITING: usize = 512;

/// Gives a conversation piece by piece, in order.
pub(crate) struct Reading<'v> {
    view: &'v View<'v>,
    options: Options,
    ahead: LookAhead<'v>,
    ready: VecDeque<ReadingPart>,
    speaking: Option<TurnSpeaker>,
    /// A notice that may come again, and how often it came.
    held: Option<(Notice, u64)>,
    /// Whether the last thing that was said is that the person stopped the agent.
    is_interrupted: bool,
    /// The entry that the turn began with.
    last_begun: Option<EntryIx>,
    /// The model that answered last.
    model: Option<String>,
    /// What was left out of the turn, and what belongs to the next one.
    quiet: OmittedItems,
    next_quiet: OmittedItems,
    labels: BTreeMap<String, String>,
    /// Calls whose results were not found yet, with the names of their tools.
    waiting: VecDeque<(String, String)>,
}

/// Who speaks, by which model, and to whom.
#[derive(PartialEq)]
struct TurnSpeaker {
    speaker: Speaker,
    model: Option<String>,
    seen: Option<&'static str>,
}

/// Whose message is being read.
struct MessageSource<'e> {
    ix: EntryIx,
    entry: &'e Entry,
    speaker: Speaker,
    model: Option<String>,
    /// Whether its bookmark was shown.
    is_labelled: bool,
}

impl MessageSource<'_> {
    fn turn_speaker(&self) -> TurnSpeaker {
        TurnSpeaker {
            speaker: self.speaker.clone(),
            model: self.model.clone(),
            seen: match self.entry.visibility {
                Visibility::Injected if self.speaker == Speaker::Person => None,
                visibility => visibility_phrase(visibility),
            },
        }
    }
}

impl<'v> Reading<'v> {
    /// Reads these entries of a view.
    pub(crate) fn new(view: &'v View<'v>, entries: Vec<EntryIx>, options: Options) -> Self {
        Self {
            view,
            options,
            ahead: LookAhead::new(view, entries),
            ready: VecDeque::new(),
            speaking: None,
            held: None,
            is_interrupted: false,
            last_begun: None,
            model: view.session.head.model.as_ref().map(model_label),
            quiet: OmittedItems::default(),
            next_quiet: OmittedItems::default(),
            labels: view.labels_by_entry(),
            waiting: VecDeque::new(),
        }
    }

    /// Reads the entries that a view shows.
    pub(crate) fn of_view(view: &'v View<'v>, options: Options) -> Self {
        Self::new(view, view.shown_entries().collect(), options)
    }

    /// How many entries were read so far; what was given last is of the last of them.
    pub(crate) fn position(&self) -> usize {
        self.ahead.position()
    }

    fn read_entry(&mut self, ix: EntryIx, body: Body, taken: bool) {
        match body {
            Body::Message(message) => self.read_message(ix, message, taken),
            Body::Compaction(_) | Body::BranchSummary(_) => self.read_compaction(ix, body),
            Body::ModelChange(model) => {
                self.model = Some(model_label(&model));
                self.read_event(ix, Body::ModelChange(model), false);
            }
            Body::Event(event) => {
                let is_hook = event.name.to_lowercase().contains("hook");
                match event.level {
                    Level::Info => self.read_event(ix, Body::Event(event), is_hook),
                    _ if event.name == "turn_aborted" => self.read_interruption(ix),
                    Level::Warning | Level::Error => self.read_problem(ix, Body::Event(event)),
                }
            }
            other => self.read_event(ix, other, false),
        }
    }

    /// Something that only those want to see who ask for it.
    fn read_event(&mut self, ix: EntryIx, body: Body, is_hook: bool) {
        if !self.options.events {
            let count = if is_hook {
                &mut self.quiet.hooks
            } else {
                &mut self.quiet.events
            };
            *count += 1;
            return;
        }
        if let Some(notice) = entry_notice(body) {
            self.add_notice(ix, notice);
        }
    }

    /// An event that is a warning or an error.
    fn read_problem(&mut self, ix: EntryIx, body: Body) {
        if let Some(mut notice) = entry_notice(body) {
            notice.is_loud = true;
            self.add_notice(ix, notice);
        }
    }

    /// The person stopped the agent, which some clients write down twice.
    fn read_interruption(&mut self, ix: EntryIx) {
        if !self.is_interrupted {
            self.add_notice(ix, Notice::interrupted());
            self.is_interrupted = true;
        }
    }

    /// Adds a notice to the turn; before the first turn to one of the system.
    fn add_notice(&mut self, ix: EntryIx, notice: Notice) {
        if self.speaking.is_none() {
            let mut source = self.source_of(ix, Speaker::System, None);
            self.begin_turn(&mut source);
        }
        match &mut self.held {
            Some((held, count)) if held.is_same(&notice) => *count += 1,
            _ => {
                self.release_notice();
                self.held = Some((notice, 1));
            }
        }
        self.is_interrupted = false;
    }

    /// Gives the notice that was held back.
    fn release_notice(&mut self) {
        if let Some((mut notice, count)) = self.held.take() {
            if count > 1 {
                notice.line = format!("{} × {count}", notice.line);
            }
            self.ready
                .push_back(ReadingPart::Item(TurnItem::Notice(notice)));
        }
    }

    /// The conversation was cut, and goes on behind a summary.
    fn read_compaction(&mut self, ix: EntryIx, body: Body) {
        let mut source = self.source_of(ix, Speaker::Cut, None);
        self.begin_turn(&mut source);
        if let Some(notice) = entry_notice(body) {
            self.push_item(TurnItem::Notice(notice));
        }
        self.end_turn();
    }

    fn source_of(
        &self,
        ix: EntryIx,
        speaker: Speaker,
        model: Option<&ModelRef>,
    ) -> MessageSource<'v> {
        let model = match speaker {
            Speaker::Agent => model.map(model_label).or_else(|| self.model.clone()),
            _ => None,
        };
        MessageSource {
            ix,
            entry: self.view.session.entry(ix),
            speaker,
            model,
            is_labelled: false,
        }
    }

    /// `taken` says that results of the message were shown with their calls.
    fn read_message(&mut self, ix: EntryIx, message: Message, taken: bool) {
        let entry = self.view.session.entry(ix);
        let role = match message.role {
            Role::User if taken || only_results(&message) => Role::Tool,
            role => role,
        };
        let speaker = match (role, &message.extension) {
            (Role::Assistant | Role::Tool, _) => Speaker::Agent,
            (_, Some(name)) if entry.visibility == Visibility::Visible => {
                Speaker::Extension(name.clone())
            }
            (Role::User, _) => Speaker::Person,
            (Role::System, _) => Speaker::System,
        };
        let mut source = self.source_of(ix, speaker, message.model.as_ref());
        if role == Role::Assistant && message.model.is_some() {
            self.model.clone_from(&source.model);
        }
        let is_injected = matches!(entry.visibility, Visibility::Injected | Visibility::Hidden)
            && role != Role::Assistant;
        let is_empty = message.blocks.is_empty() && message.error.is_none() && !taken;
        let extension = message.extension;
        let mut blocks = message.blocks.into_iter().peekable();
        while let Some(block) = blocks.next() {
            match block {
                Block::ToolCall(call) => {
                    let is_answered = adjacent_result(&call, blocks.peek()).is_some();
                    let result = match blocks.next_if(|_| is_answered) {
                        Some(Block::ToolResult(result)) => Some(result),
                        _ => None,
                    };
                    self.read_call(&mut source, call, result);
                }
                Block::Text(text) if is_injected => {
                    let all = classify_client_text(text.value, message.role, extension.as_deref());
                    self.read_client_texts(&mut source, all, true);
                }
                Block::Image(_) | Block::File(_) if is_injected && !self.options.injected => {
                    self.quiet.injected.push(("picture or file".to_owned(), 0));
                }
                other => self.read_block(&mut source, other),
            }
        }
        if let Some(error) = message.error {
            self.begin_turn(&mut source);
            self.push_item(TurnItem::Error(error));
        } else if is_empty && !is_injected {
            self.begin_turn(&mut source);
            self.push_item(TurnItem::Empty);
        }
    }

    fn read_block(&mut self, source: &mut MessageSource<'_>, block: Block) {
        let item = match block {
            Block::Text(text) if text.value.trim().is_empty() => return,
            Block::Text(text) if source.speaker == Speaker::Person => {
                return self.read_client_texts(source, split_person_text(text.value), false);
            }
            Block::Text(text) => TurnItem::Prose(text.value),
            Block::Aside { text, visibility } => return self.read_aside(source, text, visibility),
            Block::Thinking(thinking) => return self.read_thinking(source, thinking),
            Block::ToolCall(call) => return self.read_call(source, call, None),
            Block::ToolResult(result) => return self.read_result(source, result),
            Block::Image(media) => TurnItem::Image(media),
            Block::File(media) => TurnItem::File(media),
            Block::Unknown { type_name, raw } => {
                TurnItem::Unknown(describe_unknown(&type_name, &raw))
            }
        };
        self.begin_turn(source);
        self.push_item(item);
    }

    /// Text inside a message that is not for everyone.
    fn read_aside(&mut self, source: &mut MessageSource<'_>, text: Text, visibility: Visibility) {
        if text.value.trim().is_empty() {
            return;
        }
        match visibility {
            Visibility::Visible | Visibility::UiOnly => {
                self.begin_turn(source);
                self.push_item(TurnItem::Prose(text.value));
            }
            Visibility::Injected | Visibility::Hidden => {
                let all = classify_client_text(text.value, Role::User, None);
                self.read_client_texts(source, all, false);
            }
        }
    }

    /// What a client put into the conversation, or wrapped. `apart` says that it is a message of its
    /// own.
    fn read_client_texts(
        &mut self,
        source: &mut MessageSource<'_>,
        all: Vec<ClientText>,
        apart: bool,
    ) {
        for one in all {
            let item = match one {
                ClientText::Words(text) => TurnItem::Prose(text),
                ClientText::Typed(text) => TurnItem::Typed(text),
                ClientText::Printed(text) if text.trim().is_empty() => continue,
                ClientText::Printed(text) => {
                    // It belongs to the command before it, which the person typed.
                    if self.speaking.is_none() {
                        source.speaker = Speaker::Person;
                        self.begin_turn(source);
                    }
                    self.push_item(TurnItem::Printed(text));
                    continue;
                }
                ClientText::Interrupted => {
                    self.read_interruption(source.ix);
                    continue;
                }
                ClientText::Injected(injected) if self.options.injected => {
                    // Whoever speaks is not interrupted by it.
                    if apart && self.speaking.is_some() {
                        self.push_item(TurnItem::Injected(injected));
                        continue;
                    }
                    if apart {
                        source.speaker = Speaker::System;
                    }
                    TurnItem::Injected(injected)
                }
                ClientText::Injected(injected) if apart => {
                    self.quiet.count_injected(&injected);
                    continue;
                }
                ClientText::Injected(injected) => {
                    self.quiet_of(source).count_injected(&injected);
                    continue;
                }
            };
            if matches!(item, TurnItem::Typed(_)) {
                source.speaker = Speaker::Person;
            }
            self.begin_turn(source);
            self.push_item(item);
        }
    }

    fn read_thinking(&mut self, source: &mut MessageSource<'_>, thinking: Thinking) {
        if self.options.thinking {
            self.begin_turn(source);
            self.push_item(TurnItem::Thinking(thinking));
        } else {
            self.quiet_of(source).thinking += thinking.text.value.trim().len() as u64;
        }
    }

    fn read_call(
        &mut self,
        source: &mut MessageSource<'_>,
        call: ToolCall,
        result: Option<ToolResult>,
    ) {
        let result = result.or_else(|| self.ahead.take_result(&call.id));
        if result.is_none() && !call.id.is_empty() {
            if self.waiting.len() == WAITING {
                self.waiting.pop_front();
            }
            self.waiting.push_back((call.id.clone(), call.name.clone()));
        }
        if self.options.tools {
            self.begin_turn(source);
            self.push_item(TurnItem::Call(Box::new(ToolUse::new(call, result))));
        } else {
            self.quiet_of(source).calls += 1;
        }
    }

    /// A result that was too far from its call, or has none.
    fn read_result(&mut self, source: &mut MessageSource<'_>, result: ToolResult) {
        let at = self
            .waiting
            .iter()
            .position(|(id, _)| *id == result.call_id);
        let name = at.and_then(|at| self.waiting.remove(at));
        if self.options.tools {
            self.begin_turn(source);
            let call = ToolUse::result_alone(result, name.map(|(_, name)| name));
            self.push_item(TurnItem::Call(Box::new(call)));
        }
    }

    /// Whether the agent speaks already.
    fn goes_on(&self, source: &MessageSource<'_>) -> bool {
        source.speaker == Speaker::Agent && self.speaking == Some(source.turn_speaker())
    }

    /// Where to count what is left out of a message: it may be the first thing of its turn.
    fn quiet_of(&mut self, source: &MessageSource<'_>) -> &mut OmittedItems {
        if self.goes_on(source) || self.last_begun == Some(source.ix) {
            &mut self.quiet
        } else {
            &mut self.next_quiet
        }
    }

    /// Begins a turn, unless it goes on.
    fn begin_turn(&mut self, source: &mut MessageSource<'_>) {
        let label = || self.labels.get(self.view.session.id(source.ix)).cloned();
        let label = if std::mem::replace(&mut source.is_labelled, true) {
            None
        } else {
            label()
        };
        let goes_on = self.goes_on(source);
        // All of a message is one turn.
        let is_same = self.last_begun == Some(source.ix)
            && (self.speaking.as_ref()).is_some_and(|s| s.speaker == source.speaker);
        if goes_on || is_same {
            if let Some(label) = label {
                self.push_item(TurnItem::Label(label));
            }
            return;
        }
        self.end_turn();
        self.quiet = std::mem::take(&mut self.next_quiet);
        self.last_begun = Some(source.ix);
        let speaking = source.turn_speaker();
        self.ready.push_back(ReadingPart::Turn(Turn {
            ix: source.ix,
            speaker: speaking.speaker.clone(),
            model: speaking.model.clone(),
            time: source.entry.time,
            seen: speaking.seen,
            label,
        }));
        self.speaking = Some(speaking);
    }

    fn push_item(&mut self, item: TurnItem) {
        self.release_notice();
        self.is_interrupted = false;
        self.ready.push_back(ReadingPart::Item(item));
    }

    /// Says what was left out, and lets nobody speak.
    fn end_turn(&mut self) {
        self.release_notice();
        self.speaking = None;
        if !self.quiet.is_empty() {
            let quiet = std::mem::take(&mut self.quiet);
            self.ready.push_back(ReadingPart::Quiet(quiet));
        }
    }
}

impl Iterator for Reading<'_> {
    type Item = ReadingPart;

    fn next(&mut self) -> Option<ReadingPart> {
        while self.ready.is_empty() {
            let Some(step) = self.ahead.next_step() else {
                self.end_turn();
                self.quiet = std::mem::take(&mut self.next_quiet);
                self.end_turn();
                return self.ready.pop_front();
            };
            self.read_entry(step.ix, step.body, step.taken);
        }
        self.ready.pop_front()
    }
}
