//! The head of a message, read in one go through its record.

use std::borrow::Cow;
use std::rc::Rc;

use rethread_json::{Passed, Skim, Strayed};
use rethread_model::{Kind, Role, Usage, Visibility};

use super::fields::{Times, usage};
use super::message::{
    Call, MessageHead, Said, first_line, folders, is_filled, kind, user_visibility,
};
use super::scan::Look;

/// What an object among the messages is.
pub(super) struct Seen {
    pub(super) head: MessageHead,
    /// Whether it is a message to the client: it has an id that is a text.
    pub(super) has_id: bool,
    /// Whether it is the end of a list instead, whatever else it says.
    pub(super) is_rewind: bool,
}

/// The head of the message in these bytes, which are known to be one JSON object.
pub(super) fn head_of(message: &[u8]) -> MessageHead {
    let seen = Heads::new(Look::Whole).see(&mut Skim::trusting(message));
    seen.map_or_else(|_| MessageHead::unknown(), |seen| seen.head)
}

/// What a message tells of the whole session.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The first line of what the person said.
    pub(super) prompt: Option<Box<str>>,
    /// Folders that the client told the model it works in.
    pub(super) folders: Vec<String>,
}

/// What the message in these bytes, one of the user, tells of the whole session. Few are asked.
pub(super) fn told(message: &[u8]) -> Told {
    let mut fields = Fields::default();
    let seen = Heads::new(Look::Whole).fill(&mut fields, &mut Skim::trusting(message));
    if seen.is_err() {
        return Told::default();
    }
    let mut texts = fields.content.parts().filter_map(part_text);
    let mut prompt = None;
    let mut first = None;
    while prompt.is_none()
        && let Some(text) = texts.next()
    {
        let text = text.str().unwrap_or_default();
        prompt = first_line(&text);
        first = first.or(Some(text));
    }
    Told {
        prompt,
        folders: folders(&first.unwrap_or_default()),
    }
}

/// Reads the heads of messages, one after the other.
#[derive(Debug)]
pub(super) struct Heads {
    look: Look,
    /// Whether somebody asks for the ids of messages.
    pub(super) with_ids: bool,
    /// The model that answered last, which mostly is the next one, too.
    model: Option<Rc<str>>,
    times: Times,
}

impl Heads {
    pub(super) fn new(look: Look) -> Self {
        Self {
            look,
            with_ids: true,
            model: None,
            times: Times::default(),
        }
    }

    /// Goes through an object: a message in a chat, a checkpoint or the log of prompts.
    pub(super) fn see(&mut self, skim: &mut Skim<'_>) -> Result<Seen, Strayed> {
        let mut fields = Fields::default();
        self.fill(&mut fields, skim)?;
        Ok(Seen {
            has_id: fields.id.is_some(),
            is_rewind: fields.is_rewind,
            head: fields.head(self.with_ids, &mut self.times),
        })
    }

    fn fill<'a>(&mut self, fields: &mut Fields<'a>, skim: &mut Skim<'a>) -> Result<(), Strayed> {
        if !skim.enter_object() {
            return Err(Strayed);
        }
        let is_text = |value: &Passed<'_>| value.content().is_some();
        while let Some(key) = skim.next_key()? {
            match &*key.bytes() {
                b"toolCalls" => fields.calls = self.calls(skim)?,
                b"id" => fields.id = Some(skim.pass()?).filter(is_text),
                b"type" => fields.type_word = Some(skim.pass()?).filter(is_text),
                b"role" => fields.role = Some(skim.pass()?).filter(is_text),
                b"timestamp" => fields.time = Some(skim.pass()?),
                b"content" => fields.content.said = Some(skim.pass()?),
                b"parts" => fields.content.parts = Some(skim.pass()?),
                b"message" => fields.content.message = Some(skim.pass()?),
                b"messageId" => fields.number = skim.pass()?.u64(),
                b"sessionId" => fields.session = Some(skim.pass()?).filter(is_text),
                b"model" => fields.model = self.named(skim.pass()?),
                b"tokens" if self.look.with_usage() => fields.usage = usage(skim)?,
                b"$rewindTo" => fields.is_rewind = is_text(&skim.pass()?),
                _ => drop(skim.pass()?),
            }
        }
        Ok(())
    }

    fn named(&mut self, model: Passed<'_>) -> Option<Rc<str>> {
        let spelled = model.content()?;
        let known = self.model.as_deref().map(str::as_bytes);
        if known != Some(spelled) || spelled.contains(&b'\\') {
            self.model = Some(model.str()?.into());
        }
        self.model.clone()
    }

    /// The calls that stand beside a message.
    fn calls(&self, skim: &mut Skim<'_>) -> Result<Vec<Call>, Strayed> {
        let mut calls = Vec::new();
        if !skim.enter_array() {
            skim.pass()?;
            return Ok(calls);
        }
        while skim.next_item()? {
            calls.push(self.call(skim)?);
        }
        Ok(calls)
    }

    fn call(&self, skim: &mut Skim<'_>) -> Result<Call, Strayed> {
        let mut call = Call::default();
        if !skim.enter_object() {
            skim.pass()?;
            return Ok(call);
        }
        while let Some(key) = skim.next_key()? {
            let value = skim.pass()?;
            let text = || value.str().unwrap_or_default().into();
            match &*key.bytes() {
                b"id" => call.id = text(),
                // By it files are found that belong to the call.
                b"name" if self.look == Look::Whole => call.name = text(),
                b"agentId" => call.agent = value.str().map(Into::into),
                b"result" => call.has_result = !value.is_null(),
                _ => {}
            }
        }
        Ok(call)
    }
}

/// What the client lets the model say behind a summary of the past.
pub(super) const THANKS: &str = "Got it. Thanks for the additional context!";

/// What a message says, wherever it stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Content<'a> {
    pub(super) said: Option<Passed<'a>>,
    /// In checkpoints, and of some programs that write like the client.
    pub(super) parts: Option<Passed<'a>>,
    /// In the log of prompts.
    pub(super) message: Option<Passed<'a>>,
}

impl<'a> Content<'a> {
    /// Its parts: it is a text, one part or an array of either.
    pub(super) fn parts(self) -> impl Iterator<Item = Passed<'a>> {
        let content = self.said.filter(|c| !c.is_null()).or(self.parts);
        let content = content.or(self.message.filter(|m| m.content().is_some()));
        let lone = content.filter(|c| !c.is_array());
        lone.into_iter()
            .chain(content.into_iter().flat_map(Passed::items))
    }
}

/// The text of a part, not decoded: it is one, or it holds one.
pub(super) fn part_text(part: Passed<'_>) -> Option<Passed<'_>> {
    let is_text = |part: &Passed<'_>| part.content().is_some();
    let inside = || part.get("text").filter(is_text);
    Some(part).filter(is_text).or_else(inside)
}

#[derive(Default)]
struct Fields<'a> {
    id: Option<Passed<'a>>,
    type_word: Option<Passed<'a>>,
    role: Option<Passed<'a>>,
    time: Option<Passed<'a>>,
    content: Content<'a>,
    number: Option<u64>,
    session: Option<Passed<'a>>,
    model: Option<Rc<str>>,
    usage: Option<Usage>,
    calls: Vec<Call>,
    is_rewind: bool,
}

impl Fields<'_> {
    fn head(&mut self, with_id: bool, times: &mut Times) -> MessageHead {
        let word = self.type_word.or(self.role);
        let (kind, visibility) = word.map_or_else(|| kind(b""), kind_of);
        let mut head = MessageHead {
            id: if with_id {
                self.message_id()
            } else {
                String::new()
            },
            kind,
            visibility,
            time: self.time.and_then(|t| times.read(t)),
            said: Said::default(),
        };
        match kind {
            Kind::Message(Role::User) => self.asked(&mut head),
            Kind::Message(Role::Assistant) => self.answered(&mut head),
            _ => {}
        }
        head
    }

    /// A message's id. The log of prompts counts those of each session from 0.
    fn message_id(&self) -> String {
        let text = |value: Option<Passed<'_>>| value.and_then(Passed::str).map(Cow::into_owned);
        match (self.number, self.session) {
            (Some(number), Some(session)) => {
                format!("{}:{number}", session.str().unwrap_or_default())
            }
            _ => text(self.id).unwrap_or_default(),
        }
    }

    /// What a message of the user says. One of nothing but results, and what belongs to them, is
    /// one of tools.
    fn asked(&self, head: &mut MessageHead) {
        let mut first = None;
        let mut has_prompt = false;
        let mut answers = Vec::new();
        let mut is_answer = true;
        let is_text = |value: &Passed<'_>| value.content().is_some();
        for part in self.content.parts() {
            let [text, response, data, file] =
                part.pick(["text", "functionResponse", "inlineData", "fileData"]);
            let text = Some(part).filter(is_text).or(text.filter(is_text));
            if let Some(text) = text.filter(|_| !has_prompt) {
                has_prompt = is_filled(text);
                first = first.or(Some(text));
            }
            if let Some(response) = response {
                let id = response.get("id").and_then(Passed::str);
                answers.push(id.unwrap_or_default().into());
            } else if data.is_none() && file.is_none() {
                is_answer = false;
            }
        }
        head.visibility = first.map_or(head.visibility, user_visibility);
        head.said.has_prompt = has_prompt && head.visibility == Visibility::Visible;
        if is_answer {
            head.said.answers = answers;
        }
        if !head.said.answers.is_empty() && !head.said.has_prompt {
            head.kind = Kind::Message(Role::Tool);
            head.visibility = Visibility::Visible;
        }
    }

    fn answered(&mut self, head: &mut MessageHead) {
        let mut first = None;
        let beside = self.calls.len();
        // Those beside the content that are told in it, too.
        let mut told = Vec::new();
        for part in self.content.parts() {
            let [text, call] = part.pick(["text", "functionCall"]);
            let text = Some(part).filter(|p| p.content().is_some()).or(text);
            first = first.or(text.and_then(Passed::content));
            let Some(call) = call.filter(|c| !c.is_null()) else {
                continue;
            };
            let call = content_call(call);
            let mut known = self.calls.iter().take(beside).enumerate();
            let known = known.find(|(at, known)| {
                !known.id.is_empty() && known.id == call.id && !told.contains(at)
            });
            match known {
                Some((at, _)) => told.push(at),
                None => self.calls.push(call),
            }
        }
        // The client says these itself: behind the context, and behind a summary.
        let begins = |start: &str| first.is_some_and(|f| f.starts_with(start.as_bytes()));
        head.said.is_thanks = begins(THANKS);
        if head.said.is_thanks || begins("Got it. Thanks for the context!") {
            head.visibility = Visibility::Injected;
        }
        head.said.calls = std::mem::take(&mut self.calls);
        head.said.model = self.model.take();
        head.said.usage = self.usage.map(Box::new);
    }
}

/// What a message of this type or role is. Nobody escapes letters in one that is known, but may.
fn kind_of(word: Passed<'_>) -> (Kind, Visibility) {
    match kind(word.content().unwrap_or_default()) {
        (Kind::Unknown, _) => kind(word.str().unwrap_or_default().as_bytes()),
        known => known,
    }
}

/// A call in the content of a message.
fn content_call(call: Passed<'_>) -> Call {
    let [id, name, agent] = call.pick(["id", "name", "agentId"]);
    let text = |value: Option<Passed<'_>>| -> Box<str> {
        value.and_then(Passed::str).unwrap_or_default().into()
    };
    Call {
        id: text(id),
        name: text(name),
        has_result: false,
        agent: agent.and_then(Passed::str).map(Into::into),
    }
}
