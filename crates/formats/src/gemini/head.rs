//! The head of a message, read in one go through its record.

use std::borrow::Cow;
use std::ops::Range;

use rethread_json::{ObjectShape, Passed, Skim, Strayed};
use rethread_model::{Kind, Role, Usage, Visibility};

use super::fields::{read_usage, time};
use super::message::{
    ContentFacts, FoundMessage, MessageHead, is_context, is_filled, message_kind, named_folders,
    user_visibility,
};
use super::nth::{Nth, Several};
use super::tools::{FoundCall, Tools};
use crate::few::{Rest, few_items};
use crate::first_prompt::FirstPrompt;
use crate::kit::ScanDepth;

/// What an object among the messages is.
pub(super) struct HeadObject<'a> {
    pub(super) message: FoundMessage<'a>,
    /// Whether it is a message to the client: it has an id that is a text.
    pub(super) has_id: bool,
    /// Whether it is the end of a list instead, whatever else it says.
    pub(super) is_rewind: bool,
}

/// What a message tells of the whole session.
#[derive(Debug, Default)]
pub(super) struct SessionClues {
    /// What the person said first.
    pub(super) prompt: FirstPrompt,
    /// Folders that the client told the model it works in.
    pub(super) folders: Vec<String>,
    /// Whether it begins with the context that the client injects.
    pub(super) begins_with_context: bool,
}

/// What the message in these bytes, one of the user, tells of the whole session. Few are asked.
pub(super) fn message_clues(message: &[u8]) -> SessionClues {
    let Ok(message) = Skim::trusting(message).pass() else {
        return SessionClues::default();
    };
    let [said, parts, message] = message.pick(["content", "parts", "message"]);
    let content = MessageContent {
        said,
        parts,
        message,
    };
    let mut texts = content.parts().filter_map(part_text);
    let mut prompt = FirstPrompt::default();
    let mut first = None;
    while !prompt.has_words()
        && let Some(text) = texts.next()
    {
        let text = text.str().unwrap_or_default();
        if !is_context(&text) {
            prompt.add(&text);
        }
        first = first.or(Some(text));
    }
    let first = first.unwrap_or_default();
    SessionClues {
        prompt,
        folders: named_folders(&first),
        begins_with_context: is_context(&first),
    }
}

/// Reads the heads of messages, one after the other.
#[derive(Debug)]
pub(super) struct Heads {
    look: ScanDepth,
    /// Whether somebody asks for the ids of messages.
    pub(super) with_ids: bool,
    /// The models that answered, each as long as it was the same.
    pub(super) models: Vec<Box<str>>,
    members: ObjectShape<Member>,
    call_members: ObjectShape<CallMember>,
    /// What tools were called in the messages.
    pub(super) tools: Tools,
}

impl Heads {
    pub(super) fn new(look: ScanDepth) -> Self {
        Self {
            look,
            with_ids: true,
            models: Vec::new(),
            members: ObjectShape::new(Member::of),
            call_members: ObjectShape::new(CallMember::of),
            tools: Tools::default(),
        }
    }

    /// Goes through an object: a message in a chat, a checkpoint or the log of prompts.
    pub(super) fn see<'a>(&mut self, skim: &mut Skim<'a>) -> Result<HeadObject<'a>, Strayed> {
        let mut fields = HeadFields::default();
        self.fill(&mut fields, skim)?;
        Ok(HeadObject {
            has_id: fields.id.is_some(),
            is_rewind: fields.is_rewind,
            message: FoundMessage {
                id: if self.with_ids {
                    fields.message_id()
                } else {
                    Cow::Borrowed("")
                },
                head: fields.head(&mut self.tools),
            },
        })
    }

    fn fill<'a>(
        &mut self,
        fields: &mut HeadFields<'a>,
        skim: &mut Skim<'a>,
    ) -> Result<(), Strayed> {
        if !skim.enter_alike(&mut self.members) {
            return Err(Strayed);
        }
        let is_text = |value: &Passed<'_>| value.content().is_some();
        while let Some(member) = skim.next_alike(&mut self.members)? {
            match member {
                Member::Calls => fields.calls = self.calls(skim)?,
                Member::Id => fields.id = Some(skim.pass()?).filter(is_text),
                Member::Type => fields.type_word = Some(skim.pass()?).filter(is_text),
                Member::Role => fields.role = Some(skim.pass()?).filter(is_text),
                Member::Time => fields.time = Some(skim.pass()?),
                Member::Content => fields.content.said = Some(skim.pass()?),
                Member::Parts => fields.content.parts = Some(skim.pass()?),
                Member::Message => fields.content.message = Some(skim.pass()?),
                Member::Number => fields.number = skim.pass()?.u64(),
                Member::Session => fields.session = Some(skim.pass()?).filter(is_text),
                Member::Model => fields.model = self.named(skim.pass()?),
                Member::Tokens if self.look == ScanDepth::Usage => fields.usage = read_usage(skim)?,
                Member::Tokens => fields.has_usage = skim.pass()?.is_object(),
                Member::Rewind => fields.is_rewind = is_text(&skim.pass()?),
                Member::Other => drop(skim.pass()?),
            }
        }
        Ok(())
    }

    fn named(&mut self, model: Passed<'_>) -> Option<Nth> {
        let spelled = model.content()?;
        let known = self.models.last().map(|model| model.as_bytes());
        if known != Some(spelled) || spelled.contains(&b'\\') {
            self.models.push(model.str()?.into());
        }
        Nth::new(self.models.len() - 1)
    }

    /// The message in bytes that are known to be one JSON object.
    pub(super) fn of<'a>(&mut self, message: &'a [u8]) -> FoundMessage<'a> {
        let seen = self.see(&mut Skim::trusting(message));
        seen.map_or_else(|_| FoundMessage::unknown(), |seen| seen.message)
    }

    /// The calls that stand beside a message.
    fn calls(&mut self, skim: &mut Skim<'_>) -> Result<Range<usize>, Strayed> {
        let start = self.tools.next_call();
        if skim.enter_array() {
            while skim.next_item()? {
                let call = self.call(skim)?;
                self.tools.call(call);
            }
        } else {
            skim.pass()?;
        }
        Ok(start..self.tools.next_call())
    }

    fn call(&mut self, skim: &mut Skim<'_>) -> Result<FoundCall, Strayed> {
        let mut call = FoundCall::default();
        if !skim.enter_alike(&mut self.call_members) {
            skim.pass()?;
            return Ok(call);
        }
        while let Some(member) = skim.next_alike(&mut self.call_members)? {
            let value = skim.pass()?;
            match member {
                CallMember::Id => call.id = self.tools.keep(Some(value)),
                // By it files are found that belong to the call.
                CallMember::Name if self.look == ScanDepth::Whole => {
                    call.name = self.tools.keep(Some(value));
                }
                CallMember::Agent if value.content().is_some() => {
                    call.agent = Some(self.tools.keep(Some(value)));
                }
                CallMember::Agent => call.agent = None,
                CallMember::Result => call.has_result = !value.is_null(),
                CallMember::Name | CallMember::Other => {}
            }
        }
        Ok(call)
    }
}

/// A member of a message.
#[derive(Clone, Copy, Debug)]
enum Member {
    Id,
    Type,
    Role,
    Time,
    Content,
    Parts,
    Message,
    Number,
    Session,
    Model,
    Tokens,
    Calls,
    Rewind,
    Other,
}

impl Member {
    fn of(key: &[u8]) -> Self {
        match key {
            b"id" => Self::Id,
            b"type" => Self::Type,
            b"role" => Self::Role,
            b"timestamp" => Self::Time,
            b"content" => Self::Content,
            b"parts" => Self::Parts,
            b"message" => Self::Message,
            b"messageId" => Self::Number,
            b"sessionId" => Self::Session,
            b"model" => Self::Model,
            b"tokens" => Self::Tokens,
            b"toolCalls" => Self::Calls,
            b"$rewindTo" => Self::Rewind,
            _ => Self::Other,
        }
    }
}

/// A member of a call that stands beside a message.
#[derive(Clone, Copy, Debug)]
enum CallMember {
    Id,
    Name,
    Agent,
    Result,
    Other,
}

impl CallMember {
    fn of(key: &[u8]) -> Self {
        match key {
            b"id" => Self::Id,
            b"name" => Self::Name,
            b"agentId" => Self::Agent,
            b"result" => Self::Result,
            _ => Self::Other,
        }
    }
}

/// What the client lets the model say behind a summary of the past.
pub(super) const THANKS: &str = "Got it. Thanks for the additional context!";

/// What a message says, wherever it stands.
#[derive(Clone, Copy, Default)]
pub(super) struct MessageContent<'a> {
    pub(super) said: Option<Passed<'a>>,
    /// In checkpoints, and of some programs that write like the client.
    pub(super) parts: Option<Passed<'a>>,
    /// In the log of prompts.
    pub(super) message: Option<Passed<'a>>,
}

impl<'a> MessageContent<'a> {
    /// Its parts: it is a text, one part or an array of either.
    pub(super) fn parts(self) -> impl Iterator<Item = Passed<'a>> {
        let content = self.content();
        let lone = content.filter(|c| !c.is_array());
        lone.into_iter()
            .chain(few_items(content.unwrap_or_default()).0)
    }

    /// What stands behind the parts that are told apart.
    pub(super) fn more_parts(self) -> Option<Rest<'a>> {
        few_items(self.content()?).1
    }

    fn content(self) -> Option<Passed<'a>> {
        let content = self.said.filter(|c| !c.is_null()).or(self.parts);
        content.or(self.message.filter(|m| m.content().is_some()))
    }
}

/// The text of a part, not decoded: it is one, or it holds one.
pub(super) fn part_text(part: Passed<'_>) -> Option<Passed<'_>> {
    let is_text = |part: &Passed<'_>| part.content().is_some();
    let inside = || part.get("text").filter(is_text);
    Some(part).filter(is_text).or_else(inside)
}

#[derive(Default)]
struct HeadFields<'a> {
    id: Option<Passed<'a>>,
    type_word: Option<Passed<'a>>,
    role: Option<Passed<'a>>,
    time: Option<Passed<'a>>,
    content: MessageContent<'a>,
    number: Option<u64>,
    session: Option<Passed<'a>>,
    model: Option<Nth>,
    has_usage: bool,
    usage: Option<Usage>,
    calls: Range<usize>,
    is_rewind: bool,
}

impl<'a> HeadFields<'a> {
    fn head(&mut self, tools: &mut Tools) -> MessageHead {
        let word = self.type_word.or(self.role);
        let (kind, visibility) = word.map_or_else(|| message_kind(b""), kind_of);
        let mut head = MessageHead {
            kind,
            visibility,
            time: self.time.and_then(time),
            said: ContentFacts::default(),
        };
        match kind {
            Kind::Message(Role::User) => self.asked(&mut head, tools),
            Kind::Message(Role::Assistant) => self.answered(&mut head, tools),
            _ => {}
        }
        head
    }

    /// A message's id. The log of prompts counts those of each session from 0.
    fn message_id(&self) -> Cow<'a, str> {
        match (self.number, self.session) {
            (Some(number), Some(session)) => {
                format!("{}:{number}", session.str().unwrap_or_default()).into()
            }
            _ => self.id.and_then(Passed::str).unwrap_or_default(),
        }
    }

    /// What a message of the user says. One of nothing but results, and what belongs to them, is
    /// one of tools.
    fn asked(&self, head: &mut MessageHead, tools: &mut Tools) {
        let (mut first, mut context) = (None, None);
        let mut has_prompt = false;
        let start = tools.next_answer();
        let mut is_answer = true;
        let is_text = |value: &Passed<'_>| value.content().is_some();
        for part in self.content.parts() {
            let [text, response, data, file] =
                part.pick(["text", "functionResponse", "inlineData", "fileData"]);
            let text = Some(part).filter(is_text).or(text.filter(is_text));
            if let Some(text) = text.filter(|_| !has_prompt) {
                let is_ours = first.is_none()
                    && user_visibility(text) == Visibility::Injected
                    && text.str().is_some_and(|text| is_context(&text));
                if is_ours {
                    context = Some(text);
                } else {
                    has_prompt = is_filled(text);
                    first = first.or(Some(text));
                }
            }
            if let Some(response) = response {
                let id = tools.keep(response.get("id"));
                tools.answer(id);
            } else if data.is_none() && file.is_none() {
                is_answer = false;
            }
        }
        let first = first.or(context);
        head.visibility = first.map_or(head.visibility, user_visibility);
        head.said.has_prompt = has_prompt && head.visibility == Visibility::Visible;
        if is_answer {
            head.said.answers = Several::new(&(start..tools.next_answer()));
        }
        if !head.said.answers.is_empty() && !head.said.has_prompt {
            head.kind = Kind::Message(Role::Tool);
            head.visibility = Visibility::Visible;
        }
    }

    fn answered(&mut self, head: &mut MessageHead, tools: &mut Tools) {
        let mut first = None;
        let beside = self.calls.clone();
        // Those in the content follow those beside it.
        let start = if beside.is_empty() {
            tools.next_call()
        } else {
            beside.start
        };
        // Those beside the content that are told in it, too.
        let mut told = Vec::new();
        for part in self.content.parts() {
            let [text, call] = part.pick(["text", "functionCall"]);
            let text = Some(part).filter(|p| p.content().is_some()).or(text);
            first = first.or(text.and_then(Passed::content));
            let Some(call) = call.filter(|c| !c.is_null()) else {
                continue;
            };
            let call = content_call(call, tools);
            let id = tools.bytes(call.id);
            let mut known = tools.between(beside.clone()).iter().enumerate();
            let known = known.find(|(at, known)| {
                !id.is_empty() && tools.bytes(known.id) == id && !told.contains(at)
            });
            match known {
                Some((at, _)) => told.push(at),
                None => tools.call(call),
            }
        }
        // The client says these itself: behind the context, and behind a summary.
        let begins = |start: &str| first.is_some_and(|f| f.starts_with(start.as_bytes()));
        head.said.is_thanks = begins(THANKS);
        if head.said.is_thanks || begins("Got it. Thanks for the context!") {
            head.visibility = Visibility::Injected;
        }
        head.said.calls = Several::new(&(start..tools.next_call()));
        head.said.model = self.model;
        head.said.has_usage = self.has_usage || self.usage.is_some();
        head.said.usage = self.usage.map(Box::new);
    }
}

/// What a message of this type or role is. Nobody escapes letters in one that is known, but may.
fn kind_of(word: Passed<'_>) -> (Kind, Visibility) {
    match message_kind(word.content().unwrap_or_default()) {
        (Kind::Unknown, _) => message_kind(word.str().unwrap_or_default().as_bytes()),
        known => known,
    }
}

/// A call in the content of a message.
fn content_call(call: Passed<'_>, tools: &mut Tools) -> FoundCall {
    let [id, name, agent] = call.pick(["id", "name", "agentId"]);
    let agent = agent.filter(|agent| agent.content().is_some());
    FoundCall {
        id: tools.keep(id),
        name: tools.keep(name),
        has_result: false,
        agent: agent.map(|agent| tools.keep(Some(agent))),
    }
}
