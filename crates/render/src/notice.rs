//! Entries that are no messages, in a few words.

use rethread_model::{Body, Compaction, ContextEdit, Level, ModelRef, UsageRecord};

/// An entry in a few words, with the text that it carries. Untrusted, not yet neutral.
pub(crate) struct Notice {
    pub(crate) line: String,
    pub(crate) text: Option<String>,
    pub(crate) is_error: bool,
    /// Whether a reader should see it: trouble, or a cut of the conversation.
    pub(crate) is_loud: bool,
}

impl Notice {
    /// Whether another one says the same, and nothing else.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.text.is_none() && other.text.is_none() && self.line == other.line
    }

    /// The person stopped the agent.
    pub(crate) fn interrupted() -> Self {
        Self {
            line: "interrupted by the person".to_owned(),
            text: None,
            is_error: false,
            is_loud: true,
        }
    }
}

/// What an entry says, if it is no message.
pub(crate) fn entry_notice(body: Body) -> Option<Notice> {
    let mut is_error = false;
    let (line, text) = match body {
        Body::Message(_) => return None,
        Body::ModelChange(model) => (format!("model: {}", model_name(&model)), None),
        Body::ThinkingChange(level) => (format!("thinking: {level}"), None),
        Body::Compaction(c) => (compaction_line(&c), c.summary.map(|t| t.value)),
        Body::BranchSummary(b) => ("back from another branch".to_owned(), Some(b.summary.value)),
        Body::Label(l) => match l.label {
            Some(label) => (format!("label on {}: {label}", l.target), None),
            None => (format!("label on {} cleared", l.target), None),
        },
        Body::Title(title) => match title.text {
            Some(text) => (format!("title: {text}"), None),
            None => ("title cleared".to_owned(), None),
        },
        Body::ContextEdit(edit) => (context_edit(&edit), None),
        Body::Usage(u) => (usage_line(&u), None),
        Body::Event(event) => {
            is_error = event.level == Level::Error;
            let word = match event.level {
                Level::Info => "event",
                Level::Warning => "warning",
                Level::Error => "error",
            };
            let line = match event.name.as_str() {
                "" => word.to_owned(),
                name if name == word => word.to_owned(),
                name => format!("{word}: {name}"),
            };
            (line, event.text.map(|t| t.value))
        }
        Body::Unknown(Some(name)) => (format!("[unknown record: {name}]"), None),
        Body::Unknown(None) => ("[unknown record]".to_owned(), None),
    };
    Some(Notice {
        line,
        text: text.filter(|t| !t.trim().is_empty()),
        is_error,
        is_loud: is_error,
    })
}

/// A model's name, with who serves it.
pub(crate) fn model_name(model: &ModelRef) -> String {
    match &model.provider {
        Some(provider) => format!("{provider}/{}", model.id),
        None => model.id.clone(),
    }
}

fn compaction_line(c: &Compaction) -> String {
    let tokens = match (c.tokens_before, c.tokens_after) {
        (Some(before), Some(after)) => Some(format!("{before} → {after} tokens")),
        (Some(before), None) => Some(format!("{before} tokens before")),
        (None, Some(after)) => Some(format!("{after} tokens after")),
        (None, None) => None,
    };
    let facts: Vec<String> = c.trigger.clone().into_iter().chain(tokens).collect();
    if facts.is_empty() {
        "compacted".to_owned()
    } else {
        format!("compacted ({})", facts.join(", "))
    }
}

fn context_edit(edit: &ContextEdit) -> String {
    let verb = match edit.replacement {
        Some(_) => "replaced in",
        None => "removed from",
    };
    let target = &edit.target;
    match &edit.tool_call {
        Some(call) => format!("result of {call} in {target} {verb} the context"),
        None => format!("{target} {verb} the context"),
    }
}

fn usage_line(record: &UsageRecord) -> String {
    let u = &record.usage;
    let model = record.model.as_ref().map(model_name);
    let facts: Vec<String> = record.purpose.clone().into_iter().chain(model).collect();
    let facts = match facts.as_slice() {
        [] => String::new(),
        facts => format!(" ({})", facts.join(", ")),
    };
    let cost = u.cost.map(|c| format!(", ${:.4}", c.usd));
    format!(
        "usage{facts}: {} tokens in, {} out{}",
        u.all_input(),
        u.output,
        cost.unwrap_or_default()
    )
}

/// Counts equal lines that follow each other, so that they are shown once.
#[derive(Default)]
pub(crate) struct RepeatedLines {
    last: Option<(String, u64)>,
}

impl RepeatedLines {
    /// Takes a line; gives back the one before when this is another.
    pub(crate) fn push(&mut self, line: String) -> Option<String> {
        match &mut self.last {
            Some((last, count)) if *last == line => {
                *count += 1;
                None
            }
            _ => self.last.replace((line, 1)).map(spell_repeated),
        }
    }

    /// The line that is still waiting.
    pub(crate) fn take(&mut self) -> Option<String> {
        self.last.take().map(spell_repeated)
    }
}

fn spell_repeated((line, count): (String, u64)) -> String {
    match count {
        1 => line,
        n => format!("{line} × {n}"),
    }
}
