//! Steps of a conversation as records, each behind the one that it follows.

use rethread_disk::{Created, Mode, create, ensure_folder};
use rethread_json::Object;
use rethread_model::{LinkKind, Moment, Note, TitleSource};

use super::append::{given_steps, last_id, record_writer, refuse_agent};
use super::content::tool_id;
use super::message::{PreparedRecords, ResponseDefaults, prepare_new, prepare_records};
use super::record_writer::{Preserved, RecordWriter};
use super::store::{family_paths, file_stem, meta_file};
use super::{ClaudeCode, FORMAT, SLUG};
use crate::session_log::SessionLog;
use crate::{
    Appended, Attachments, Branches, Conversation, EntryRef, Files, Keeps, MessageInput, Source,
    StepKind, SubagentTranscript, SubagentWriter, TranscriptStep, WriteError, Writing,
};

/// Records hang from each other, and there are such for summaries.
pub(super) const KEEPS: Keeps = Keeps {
    branches: Branches::Plain,
    compactions: true,
    labels: false,
    // The vendor's API takes no pictures from its own model.
    attachments: Attachments {
        in_prompts: Files::Documents,
        in_answers: Files::Nothing,
        in_results: Files::Documents,
        addresses: true,
    },
};

impl SubagentWriter for ClaudeCode {
    /// Writes what a sub-agent said into a transcript of its own, with what describes it beside that.
    fn write_subagent(
        &self,
        w: &Writing<'_>,
        parent: &Source,
        agent: &SubagentTranscript<'_>,
    ) -> Result<Source, WriteError> {
        let w = &Writing { strict: true, ..*w };
        let (session, folder) = family_paths(&parent.path);
        let conversation =
            FORMAT
                .reader()
                .read(&Source::new(FORMAT, file_stem(&session), session))?;
        ensure_folder(&folder, &Mode::Private, w.durability)?;
        let count = std::fs::read_dir(&folder).map_or(0, Iterator::count) as u64;
        let salt = [b"agent", &count.to_le_bytes()[..]].concat();
        let id = w.env.uuid(&salt).simple().to_string();
        let id = format!("a{}", id.get(..16).unwrap_or(&id));
        let scribe = RecordWriter {
            agent: Some(id.clone()),
            parent: None,
            ..record_writer(&conversation)
        };
        let new = NewSteps {
            scribe,
            told: &new_steps(agent.told),
            salt: count,
            last: None,
        };
        let (scribe, _) = written(w, &conversation, new)?;
        let path = folder.join(format!("agent-{id}.jsonl"));
        let call = agent.call.map(|call| tool_id(call).into_owned());
        let meta = Object::new()
            .str("agentType", "general-purpose")
            .opt_str("description", agent.title)
            .opt_str("toolUseId", call.as_deref());
        for (path, bytes) in [
            (meta_file(&path), meta.finish()),
            (path.clone(), scribe.lines),
        ] {
            if create(&path, &bytes, Mode::Private, w.durability)? == Created::Existed {
                return Err(WriteError::Exists { id, path });
            }
        }
        Ok(Source::new(FORMAT, id, path))
    }

    /// Adds to what a sub-agent said.
    fn append_to_subagent(
        &self,
        w: &Writing<'_>,
        agent: &Source,
        messages: &[MessageInput],
    ) -> Result<Appended, WriteError> {
        let told = &given_steps(messages);
        let mut log = SessionLog::open(w, &agent.path)?;
        let conversation = FORMAT.reader().read(agent)?;
        let mut links = conversation.session.head.links.iter();
        let parent = links.find(|link| link.kind == LinkKind::Parent);
        let session = parent.map_or_else(|| agent.id.clone(), |link| link.session.clone());
        let scribe = RecordWriter {
            session,
            agent: Some(agent.id.clone()),
            ..record_writer(&conversation)
        };
        let times = conversation.session.entries().iter();
        let last = times.filter_map(|e| e.time).max();
        let salt = log.len()?;
        let new = NewSteps {
            scribe,
            told,
            salt,
            last,
        };
        let (scribe, mut written) = written(w, &conversation, new)?;
        written.appended.notes.extend(log.append(&scribe.lines)?);
        Ok(written.appended)
    }
}

/// A step to be written.
pub(super) struct NewStep<'a> {
    /// The step that it follows, by its place.
    pub(super) after: Option<usize>,
    pub(super) time: Option<Moment>,
    pub(super) what: StepInput<'a>,
}

/// What such a step is.
pub(super) enum StepInput<'a> {
    /// A message that a user gives.
    Given(&'a MessageInput),
    /// A step of a conversation.
    Step(&'a StepKind),
}

/// The steps of a conversation.
pub(super) fn new_steps(told: &[TranscriptStep]) -> Vec<NewStep<'_>> {
    let steps = told.iter().map(|one| NewStep {
        after: one.after,
        time: one.time,
        what: StepInput::Step(&one.step),
    });
    steps.collect()
}

/// A step that can be written.
enum Ready<'a> {
    Message(PreparedRecords),
    Compaction {
        summary: &'a str,
        kept: Option<usize>,
        tokens_before: Option<u64>,
    },
    Back,
}

/// Adds steps to a session. Those that follow no other go on from `start`, or from where the client
/// would go on.
pub(super) fn add_steps(
    w: &Writing<'_>,
    source: &Source,
    start: Option<&EntryRef>,
    told: &[NewStep<'_>],
) -> Result<Appended, WriteError> {
    refuse_agent(source)?;
    let mut log = SessionLog::open(w, &source.path)?;
    let conversation = FORMAT.reader().read(source)?;
    let mut scribe = record_writer(&conversation);
    if let Some(at) = start {
        scribe.parent = Some(place(&conversation, at)?);
    }
    let salt = log.len()?;
    let times = conversation.session.entries().iter();
    let last = times.filter(|e| !e.beside).filter_map(|e| e.time).max();
    let new = NewSteps {
        scribe,
        told,
        salt,
        last,
    };
    let (mut scribe, mut written) = written(w, &conversation, new)?;
    if !scribe.lines.is_empty() {
        let title = conversation.session.head.title.as_ref();
        let title = title.filter(|t| t.source == TitleSource::User);
        let title = title.map(|t| t.text.as_str());
        scribe.close(title, written.prompt.as_deref(), written.is_back);
        written.appended.notes.extend(log.append(&scribe.lines)?);
    }
    Ok(written.appended)
}

/// What came of steps that were written.
struct WrittenSteps {
    appended: Appended,
    /// What a person said last.
    prompt: Option<String>,
    /// Whether the conversation went back behind that.
    is_back: bool,
}

/// Steps that are to be written.
struct NewSteps<'a> {
    scribe: RecordWriter,
    told: &'a [NewStep<'a>],
    /// What makes ids of the same seed differ.
    salt: u64,
    /// When something was said last before them.
    last: Option<Moment>,
}

/// Writes steps as records.
fn written(
    w: &Writing<'_>,
    conversation: &Conversation,
    new: NewSteps<'_>,
) -> Result<(RecordWriter, WrittenSteps), WriteError> {
    let NewSteps {
        scribe,
        told,
        salt,
        last,
    } = new;
    let mut steps = ready(w, conversation, told, salt);
    if w.strict
        && let Some(at) = steps.iter().position(Result::is_err)
        && let Err(error) = steps.swap_remove(at)
    {
        return Err(error);
    }
    let mut teller = TranscriptWriter {
        w,
        salt,
        root: scribe.parent.clone(),
        scribe,
        told,
        last,
        written: Vec::with_capacity(told.len()),
        prompt: None,
        is_back: false,
        notes: Vec::new(),
    };
    let ids = steps.into_iter().enumerate();
    let ids = ids
        .map(|(at, step)| {
            let written = step.map(|step| teller.step(at, &step));
            let ids = written.as_ref().map_or_else(|_| Vec::new(), Clone::clone);
            teller.written.push(ids);
            written.map(|ids| ids.last().cloned().unwrap_or_default())
        })
        .collect();
    let TranscriptWriter {
        scribe,
        prompt,
        is_back,
        notes,
        ..
    } = teller;
    let written = WrittenSteps {
        appended: Appended { ids, notes },
        prompt,
        is_back,
    };
    Ok((scribe, written))
}

/// The record that an entry ends with.
fn place(conversation: &Conversation, at: &EntryRef) -> Result<String, WriteError> {
    let found = conversation.session.find(&at.id);
    let id = found.and_then(|entry| last_id(conversation, entry));
    id.ok_or_else(|| WriteError::NoEntry {
        id: at.id.clone(),
        path: conversation.source.path.clone(),
    })
}

/// Looks at all steps before one is written.
fn ready<'a>(
    w: &Writing<'_>,
    conversation: &Conversation,
    told: &[NewStep<'a>],
    salt: u64,
) -> Vec<Result<Ready<'a>, WriteError>> {
    let head = &conversation.session.head;
    let mut model = head.model.as_ref().map(|m| m.id.clone());
    let mut steps = Vec::with_capacity(told.len());
    for (i, told) in (salt..).zip(told) {
        let is_said = matches!(
            told.what,
            StepInput::Given(_) | StepInput::Step(StepKind::Message(_))
        );
        let response = is_said.then(|| {
            let salt = [b"response", &i.to_le_bytes()[..]].concat();
            format!("msg_{}", w.env.uuid(&salt).simple())
        });
        let defaults = ResponseDefaults {
            model: model.clone().unwrap_or_else(|| "unknown".to_owned()),
            response: response.unwrap_or_default(),
        };
        let mut said = |prepared: Result<PreparedRecords, WriteError>| {
            let message = free(prepared?, conversation)?;
            model = message.model.clone().or(model.take());
            Ok(Ready::Message(message))
        };
        steps.push(match &told.what {
            StepInput::Given(message) => said(prepare_records(message, &defaults)),
            StepInput::Step(StepKind::Message(message)) => said(prepare_new(message, &defaults)),
            StepInput::Step(StepKind::Compaction {
                summary,
                kept,
                tokens_before,
            }) => Ok(Ready::Compaction {
                summary,
                kept: *kept,
                tokens_before: *tokens_before,
            }),
            StepInput::Step(StepKind::Back) => Ok(Ready::Back),
            StepInput::Step(StepKind::BranchSummary(_) | StepKind::Label { .. }) => {
                Err(WriteError::Unsupported {
                    format: SLUG,
                    what: "bookmarks and summaries of branches",
                })
            }
        });
    }
    steps
}

/// Refuses an id that the session has.
fn free(
    message: PreparedRecords,
    conversation: &Conversation,
) -> Result<PreparedRecords, WriteError> {
    match &message.id {
        Some(id) if conversation.session.find(id).is_some() => Err(WriteError::Exists {
            id: id.clone(),
            path: conversation.source.path.clone(),
        }),
        _ => Ok(message),
    }
}

/// A conversation while it is written.
struct TranscriptWriter<'a> {
    w: &'a Writing<'a>,
    /// What makes ids of the same seed differ.
    salt: u64,
    scribe: RecordWriter,
    /// What steps follow that follow no other.
    root: Option<String>,
    told: &'a [NewStep<'a>],
    /// The time of the last record: clients of 2025 go on from the one with the latest, the first of
    /// several.
    last: Option<Moment>,
    /// The ids of the records of each step so far.
    written: Vec<Vec<String>>,
    /// What a person said last.
    prompt: Option<String>,
    /// Whether the conversation went back.
    is_back: bool,
    notes: Vec<Note>,
}

impl TranscriptWriter<'_> {
    /// Writes a step. What comes next hangs from its last record.
    fn step(&mut self, at: usize, step: &Ready<'_>) -> Vec<String> {
        let after = self.told.get(at).and_then(|told| told.after);
        if after != at.checked_sub(1) {
            let ids = after.and_then(|after| self.written.get(after));
            self.scribe.parent = ids.and_then(|ids| ids.last().cloned());
            if after.is_none() {
                self.scribe.parent.clone_from(&self.root);
            }
        }
        match step {
            Ready::Message(message) => self.message(at, message),
            Ready::Compaction {
                summary,
                kept,
                tokens_before,
            } => {
                let time = self.told.get(at).and_then(|told| told.time);
                let (mark, said) = (self.fresh(at, 1), self.fresh(at, 0));
                let kept = kept
                    .map(|kept| self.between(kept, after))
                    .unwrap_or_default();
                let preserved = Preserved::new(&said, &kept);
                let first = self.time(time.unwrap_or_else(|| self.w.env.now()));
                let tokens = tokens_before.unwrap_or(0);
                self.scribe
                    .write_mark(&mark, first, tokens, preserved.as_ref());
                let second = self.time(first);
                self.scribe.summary(summary, &said, second);
                vec![mark, said]
            }
            Ready::Back => {
                self.is_back = true;
                self.scribe.parent.clone().into_iter().collect()
            }
        }
    }

    fn message(&mut self, at: usize, message: &PreparedRecords) -> Vec<String> {
        let id = message.id.clone().unwrap_or_else(|| self.fresh(at, 0));
        let asked = message.time.unwrap_or_else(|| self.w.env.now());
        if message.time.is_some() && self.last.is_some_and(|last| last >= asked) {
            self.notes.push(Note::remark(format!(
                "`{id}` is of the time of an earlier message; its record follows that"
            )));
        }
        let mut ids = Vec::with_capacity(message.sayings.len());
        // What comes next hangs from the last record, so that has the id.
        let numbers = (0..message.sayings.len()).rev();
        for (n, saying) in numbers.zip(&message.sayings) {
            let time = self.time(asked);
            let own = if n == 0 {
                id.clone()
            } else {
                self.fresh(at, n)
            };
            self.scribe.say(saying, &own, time);
            ids.push(own);
        }
        self.prompt = message.prompt.clone().or(self.prompt.take());
        ids
    }

    fn fresh(&self, at: usize, n: usize) -> String {
        let at = self.salt + at as u64;
        let salt = [at.to_le_bytes(), (n as u64).to_le_bytes()].concat();
        self.w.env.uuid(&salt).to_string()
    }

    /// The time of a record that asks for one: behind the one before, as far as the client's times
    /// can tell.
    fn time(&mut self, asked: Moment) -> Moment {
        let after =
            |last: Moment| Moment::from_millis(last.millis().saturating_add(1)).unwrap_or(last);
        let time = self.last.map_or(asked, |last| asked.max(after(last)));
        self.last = Some(time);
        time
    }

    /// The records from one step to another that comes behind it on its way.
    fn between(&self, first: usize, last: Option<usize>) -> Vec<String> {
        let mut ids = Vec::new();
        let mut at = last;
        while let Some(step) = at.filter(|step| *step >= first) {
            let written = self.written.get(step).map_or(&[][..], Vec::as_slice);
            ids.extend(written.iter().rev().cloned());
            at = self.told.get(step).and_then(|told| told.after);
        }
        ids.reverse();
        ids
    }
}
