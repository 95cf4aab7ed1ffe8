//! Adding to a session: prompts, answers, whole messages, and parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_json::{Document, Object, Patch, Place, Value, quote};
use rethread_model::Role;

use super::SLUG;
use super::object::{given, merged_message, merged_part};
use super::open::{Exchange, OpenSession};
use super::prepare::{
    bad, check_message, check_part, chosen_id, completed, message, part, text_part, with_system,
};
use super::steps::Step;
use super::unified::{self, ToolOutput, Unified};
use crate::{
    Appended, AskedEntry, MessageInput, Source, TextMessage, Unsaid, WriteError, Writing, picture,
};

/// What one message comes to: its id, and what is to be written.
type Planned = Result<(String, Vec<Step>), WriteError>;

/// Adds messages to a session.
pub(super) fn append(
    w: &Writing<'_>,
    source: &Source,
    messages: &[MessageInput],
) -> Result<Appended, WriteError> {
    write(w, source, messages.len(), |session, i| {
        match messages.get(i) {
            Some(message) => Adding {
                session,
                steps: Vec::new(),
            }
            .input(message),
            None => Err(bad("no message was given")),
        }
    })
}

/// Changes a message or a part in place, as the program merges an update.
pub(super) fn replace(
    w: &Writing<'_>,
    source: &Source,
    entry: &AskedEntry,
    message: &MessageInput,
) -> Result<Appended, WriteError> {
    let mut appended = write(w, source, 1, |session, _| {
        Adding {
            session,
            steps: Vec::new(),
        }
        .update(entry, message)
    })?;
    match appended.ids.pop() {
        Some(Err(e)) => Err(e),
        id => {
            appended.ids.extend(id);
            Ok(appended)
        }
    }
}

/// Plans so many messages, then writes what could be planned. With `strict`, nothing is written
/// unless all of it can be.
fn write(
    w: &Writing<'_>,
    source: &Source,
    count: usize,
    plan: impl Fn(&mut OpenSession<'_>, usize) -> Planned,
) -> Result<Appended, WriteError> {
    let mut session = OpenSession::lock(w, source)?;
    let mut planned: Vec<Planned> = Vec::with_capacity(count);
    for i in 0..count {
        let one = plan(&mut session, i);
        if w.strict && one.is_err() {
            return one.map(|_| Appended::default());
        }
        planned.push(one);
    }
    let mut ids: Vec<Result<String, WriteError>> = Vec::with_capacity(count);
    let mut failed = false;
    for one in planned {
        let id = one.and_then(|(id, steps)| {
            if failed {
                return Err(bad("not written, because one before it could not be"));
            }
            session.carry_out(steps).inspect_err(|_| failed = true)?;
            Ok(id)
        });
        ids.push(id);
    }
    let notes = if ids.iter().any(Result::is_ok) {
        session.touch()?
    } else {
        session.notes
    };
    Ok(Appended { ids, notes })
}

/// One message while it is planned.
struct Adding<'s, 'a> {
    session: &'s mut OpenSession<'a>,
    steps: Vec<Step>,
}

impl Adding<'_, '_> {
    fn step(&mut self, step: Step) {
        self.session.plan(&step);
        self.steps.push(step);
    }

    fn input(mut self, input: &MessageInput) -> Planned {
        let id = match input {
            MessageInput::Text(text) => self.text(text)?,
            MessageInput::Json {
                bytes,
                line,
                unsaid,
            } => self.json(bytes, unsaid).map_err(|e| at_line(e, *line))?,
        };
        Ok((id, self.steps))
    }

    fn text(&mut self, said: &TextMessage) -> Result<String, WriteError> {
        match said.role {
            Role::User if !said.images.is_empty() => Err(WriteError::Unsupported {
                format: SLUG,
                what: "pictures in prompts",
            }),
            Role::User => self.prompt(&said.text),
            Role::Assistant | Role::Tool => self.answer(said),
            Role::System => self.system(&said.text),
        }
    }

    /// A prompt is the task of the first exchange. Where there is a task, it is what the user adds
    /// to it: in the exchange that nobody answered yet, else in a new one.
    fn prompt(&mut self, text: &str) -> Result<String, WriteError> {
        if let Some(last) = self.session.last() {
            let document = self.session.read(&last.message())?;
            let root = document.root();
            let prompt = root.at(&["user", "prompt"]).filter(|p| p.is_object());
            if let Some(prompt) = prompt.filter(|p| p.get("user").is_none())
                && !self.session.is_answered(&last, root)?
            {
                let mut patch = Patch::new(root);
                patch.set(prompt, "user", &quote(text));
                self.step(Step::Replace(last.message(), patch.finish()));
                return Ok(last.id);
            }
        }
        let task = self.session.task()?;
        match task {
            None => self.exchange(None, (text, None), &[]),
            Some(task) => self.exchange(None, (&task, Some(text)), &[]),
        }
    }

    /// A new exchange, with parts that were given.
    fn exchange(
        &mut self,
        said: Option<Value<'_>>,
        prompt: (&str, Option<&str>),
        parts: &[Value<'_>],
    ) -> Result<String, WriteError> {
        let chosen = said.map(chosen_id).transpose()?.flatten();
        let id = chosen.unwrap_or_else(|| self.session.ids.next());
        let folder = self.session.exchange_folder(&id);
        let is_known = self.session.exchanges.iter().any(|e| e.id == id);
        if is_known || std::fs::symlink_metadata(&folder).is_ok() {
            return Err(WriteError::Exists { id, path: folder });
        }
        let message = message(self.session, &id, said, prompt)?;
        let mut written: Vec<(String, Vec<u8>)> = Vec::new();
        for given in parts {
            let (part_id, bytes) = part(self.session, &id, *given)?;
            if written.iter().any(|(known, _)| *known == part_id) {
                let path = folder.clone();
                return Err(WriteError::Exists { id: part_id, path });
            }
            written.push((part_id, bytes));
        }
        self.step(Step::Exchange {
            folder,
            message,
            parts: written,
        });
        Ok(id)
    }

    /// A text of the agent completes the exchange.
    fn answer(&mut self, said: &TextMessage) -> Result<String, WriteError> {
        let exchange = self.session.asked()?;
        let mut parts = Vec::new();
        if !said.text.is_empty() || said.images.is_empty() {
            parts.push(text_part(self.session, &said.text));
        }
        for path in &said.images {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let (bytes, mime) = picture::read(path)?;
            let data = STANDARD.encode(bytes);
            let file = Object::new()
                .str("type", "file")
                .str("mime", mime)
                .str("filename", &name)
                .str("url", &format!("data:{mime};base64,{data}"));
            parts.push(file.finish());
        }
        let id = self.add_parts(&exchange, &parts)?;
        let bytes = completed(self.session, &exchange, said.model.as_deref())?;
        self.step(Step::Replace(exchange.message(), bytes));
        Ok(id)
    }

    /// Adds parts to an exchange; gives the id of the first.
    fn add_parts(&mut self, exchange: &Exchange, parts: &[Vec<u8>]) -> Result<String, WriteError> {
        let mut first = None;
        for bytes in parts {
            let document = given(bytes).map_err(bad)?;
            let (id, bytes) = part(self.session, &exchange.id, document.root())?;
            let path = exchange.part(&id);
            if self.session.part(&id).is_some() {
                return Err(WriteError::Exists { id, path });
            }
            first.get_or_insert(id);
            self.step(Step::Create(path, bytes));
        }
        first.ok_or_else(|| bad("there is nothing in it"))
    }

    /// A system prompt belongs to an exchange that nobody answered yet.
    fn system(&mut self, text: &str) -> Result<String, WriteError> {
        let exchange = self.session.asked()?;
        let document = self.session.read(&exchange.message())?;
        if self.session.is_answered(&exchange, document.root())? {
            return Err(bad(
                "the last message was answered; a system prompt comes before that",
            ));
        }
        let bytes = with_system(document.root(), text);
        self.step(Step::Replace(exchange.message(), bytes));
        Ok(exchange.id)
    }

    fn json(&mut self, bytes: &[u8], unsaid: &Unsaid) -> Result<String, WriteError> {
        let document = given(bytes).map_err(bad)?;
        let root = document.root();
        if unified::is_unified(root) && root.get("type").is_none() {
            return self.unified(root, unsaid);
        }
        if root.get("type").is_some() {
            return self.bare_part(root);
        }
        if !["user", "assistant", "parts"]
            .iter()
            .any(|key| root.get(key).is_some())
        {
            return Err(bad("neither a message, nor a part with its `type`"));
        }
        let parts: Vec<Value<'_>> = match root.get("parts") {
            None => Vec::new(),
            Some(parts) if parts.is_array() => parts.items().collect(),
            Some(_) => return Err(bad("`parts` is not an array")),
        };
        let task = self.session.task()?.unwrap_or_default();
        let is_said = root.at(&["user", "prompt", "task"]).is_some();
        self.exchange(Some(root), (if is_said { "" } else { &task }, None), &parts)
    }

    /// A part by itself goes to the last exchange. A call that is known there goes on.
    fn bare_part(&mut self, value: Value<'_>) -> Result<String, WriteError> {
        let call = value.get("callID").and_then(Value::str);
        let known = match call {
            Some(call) => self.session.call(&call)?,
            None => None,
        };
        if let Some((exchange, path)) = known {
            return self.update_part(&exchange, &path, value);
        }
        let exchange = self.session.asked()?;
        self.add_parts(&exchange, &[value.raw().to_vec()])
    }

    fn unified(&mut self, root: Value<'_>, unsaid: &Unsaid) -> Result<String, WriteError> {
        let role = unified::role(root, unsaid.role).map_err(bad)?;
        let said = unified::read(root, self.session.now()).map_err(bad)?;
        let mut id = None;
        for result in &said.results {
            let placed = self.result(result)?;
            id.get_or_insert(placed);
        }
        match role {
            Role::User if said.parts.is_empty() => {}
            Role::User => return self.prompt(&said.text),
            Role::System => return self.system(&said.text),
            Role::Assistant | Role::Tool => return self.unified_answer(&said, id),
        }
        id.ok_or_else(|| bad("there is nothing in it"))
    }

    fn unified_answer(&mut self, said: &Unified, id: Option<String>) -> Result<String, WriteError> {
        let exchange = self.session.asked()?;
        let id = match id {
            Some(id) if said.parts.is_empty() => id,
            _ => self.add_parts(&exchange, &said.parts)?,
        };
        let mut update = Object::new();
        let is_done = said.parts.iter().all(|p| {
            let document = Document::parse(p.clone());
            document.is_ok_and(|d| d.root().at(&["state", "status"]).is_none())
        });
        if is_done {
            let time = Object::new().i64("completed", self.session.now()).finish();
            update = update.raw("time", &time);
        }
        if let Some(assistant) = &said.assistant {
            let old = self.session.read(&exchange.message())?;
            update = update.raw("assistant", &added(old.root(), assistant)?);
        }
        if !update.is_empty() {
            let update = given(&update.finish()).map_err(bad)?;
            self.update_message(&exchange, update.root())?;
        }
        Ok(id)
    }

    /// A result is written into the part of its call.
    fn result(&mut self, result: &ToolOutput) -> Result<String, WriteError> {
        let now = self.session.now();
        let Some((exchange, path)) = self.session.call(&result.call_id)? else {
            let exchange = self.session.asked()?;
            return self.add_parts(&exchange, &[result.orphan(now)]);
        };
        let document = self.session.read(&path)?;
        let state = result.state(document.root().get("state"), now);
        let update = given(&Object::new().raw("state", &state).finish()).map_err(bad)?;
        self.update_part(&exchange, &path, update.root())
    }

    fn update_part(
        &mut self,
        exchange: &Exchange,
        path: &std::path::Path,
        update: Value<'_>,
    ) -> Result<String, WriteError> {
        let document = self.session.read(path)?;
        let state = document.root().get("state");
        let update = given(&gone_on(state, update, self.session.now())?).map_err(bad)?;
        let bytes = merged_part(document.root(), update.root());
        let id = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        check_part(&bytes, self.session, &exchange.id, &id)?;
        self.step(Step::Replace(path.to_owned(), bytes));
        Ok(id)
    }

    fn update_message(
        &mut self,
        exchange: &Exchange,
        update: Value<'_>,
    ) -> Result<String, WriteError> {
        let document = self.session.read(&exchange.message())?;
        let bytes = merged_message(document.root(), update);
        check_message(&bytes, self.session, &exchange.id)?;
        self.step(Step::Replace(exchange.message(), bytes));
        Ok(exchange.id.clone())
    }

    /// An update of a message, or of one part.
    fn update(mut self, entry: &AskedEntry, input: &MessageInput) -> Planned {
        let exchanges = &self.session.exchanges;
        let exchange = exchanges.iter().find(|e| e.id == entry.id).cloned();
        let part = self.session.part(&entry.id);
        let update = match input {
            MessageInput::Json { bytes, .. } => given(bytes).map_err(bad)?,
            MessageInput::Text(said) => {
                let text = quote(&said.text);
                let update = match &exchange {
                    Some(exchange) => self.prompt_with(exchange, &text)?,
                    None => Object::new().raw("text", &text).finish(),
                };
                given(&update).map_err(bad)?
            }
        };
        let id = match (exchange, part) {
            (Some(exchange), _) => {
                self.update_message(&exchange, update.root())?;
                let parts = update
                    .root()
                    .get("parts")
                    .into_iter()
                    .flat_map(Value::items);
                for given in parts {
                    self.update_or_add(&exchange, given)?;
                }
                exchange.id
            }
            (None, Some((exchange, path))) => self.update_part(&exchange, &path, update.root())?,
            (None, None) => {
                let path = self.session.exchange_folder("");
                let id = entry.id.clone();
                return Err(WriteError::NoEntry { id, path });
            }
        };
        Ok((id, self.steps))
    }

    /// The prompt of an exchange with another text: what the user added, else the task.
    fn prompt_with(&self, exchange: &Exchange, text: &[u8]) -> Result<Vec<u8>, WriteError> {
        let document = self.session.read(&exchange.message())?;
        let prompt = document.root().at(&["user", "prompt"]);
        let prompt = given(prompt.map_or(&b"{}"[..], Value::raw)).map_err(bad)?;
        let key = match prompt.root().get("user") {
            Some(_) => "user",
            None => "task",
        };
        let mut patch = Patch::new(prompt.root());
        patch.set(prompt.root(), key, text);
        let user = Object::new().raw("prompt", &patch.finish()).finish();
        Ok(Object::new().raw("user", &user).finish())
    }

    fn update_or_add(&mut self, exchange: &Exchange, value: Value<'_>) -> Result<(), WriteError> {
        let id = value.get("id").and_then(Value::str);
        let call = value.get("callID").and_then(Value::str);
        let mut known = id.and_then(|id| self.session.part(&id));
        if let (None, Some(call)) = (&known, call) {
            known = self.session.call(&call)?;
        }
        match known {
            Some((exchange, path)) => self.update_part(&exchange, &path, value).map(drop),
            None => self.add_parts(exchange, &[value.raw().to_vec()]).map(drop),
        }
    }
}

/// An update of a call whose state does not repeat what is known: its input stays, it began when it
/// began, and it ends now.
fn gone_on(old: Option<Value<'_>>, update: Value<'_>, now: i64) -> Result<Vec<u8>, WriteError> {
    let document = given(update.raw()).map_err(bad)?;
    let mut patch = Patch::new(document.root());
    let state = document.root().get("state").filter(|s| s.is_object());
    if let (Some(old), Some(state)) = (old, state) {
        if let Some(input) = old.get("input").filter(|_| state.get("input").is_none()) {
            patch.insert(state, "input", input.raw(), Place::After("status"));
        }
        let status = state.get("status").and_then(Value::str).unwrap_or_default();
        let has_ended = matches!(status.as_ref(), "completed" | "error");
        if state.get("time").is_none() && (has_ended || status == "running") {
            let start = old.at(&["time", "start"]).map(Value::raw);
            let start = start.map_or_else(|| now.to_string().into_bytes(), <[u8]>::to_vec);
            let end = now.to_string().into_bytes();
            let end = has_ended.then_some(end.as_slice());
            let time = Object::new().raw("start", &start).opt_raw("end", end);
            patch.set(state, "time", &time.finish());
        }
    }
    Ok(patch.finish())
}

/// What a response adds to the answer: its tokens to those that are there.
fn added(message: Value<'_>, assistant: &[u8]) -> Result<Vec<u8>, WriteError> {
    let new = given(assistant).map_err(bad)?;
    let mut patch = Patch::new(new.root());
    let paths: [&[&str]; 4] = [
        &["input"],
        &["output"],
        &["cache", "read"],
        &["cache", "write"],
    ];
    for path in paths {
        let old = message
            .at(&["assistant", "tokens"])
            .and_then(|t| t.at(path));
        let old = old.and_then(Value::u64).unwrap_or(0);
        if let Some(value) = new.root().get("tokens").and_then(|t| t.at(path)) {
            let sum = value.u64().unwrap_or(0).saturating_add(old);
            patch.replace(value, sum.to_string().as_bytes());
        }
    }
    Ok(patch.finish())
}

fn at_line(e: WriteError, line: u64) -> WriteError {
    match e {
        WriteError::BadMessage { why, .. } => WriteError::BadMessage {
            line: Some(line),
            why,
        },
        other => other,
    }
}
