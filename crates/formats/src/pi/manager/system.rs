//! The instructions that hold at some point: all that were given before, as one.

use rethread_json::{Array, Object, Tree, Value};

use super::content::Content;
use crate::RawJson;

/// One message of the system in the place of all among these messages, as of that time; none if
/// there are none. A compaction brings it along, because the messages that it replaces would be
/// lost with what they said.
pub(super) fn all_as_one(messages: &[RawJson], millis: i64) -> Option<Vec<u8>> {
    let mut all = Instructions::default();
    for json in messages {
        let tree = Tree::parse(json).unwrap_or_default();
        let message = tree.root(json);
        if message
            .get("role")
            .is_some_and(|role| role.is_str("system"))
        {
            all.add(message);
        }
    }
    all.finish(millis)
}

#[derive(Debug, Default)]
struct Instructions {
    /// Whether one says when it was given.
    is_dated: bool,
    texts: Vec<String>,
    sections: NamedValues,
    tools: NamedValues,
}

/// Values by name, in the order in which the names came. What is set again stays in its place.
#[derive(Debug, Default)]
struct NamedValues(Vec<(String, Vec<u8>)>);

impl NamedValues {
    fn set(&mut self, name: &str, json: &[u8]) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => json.clone_into(value),
            None => self.0.push((name.to_owned(), json.to_owned())),
        }
    }

    fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }
}

impl Instructions {
    fn add(&mut self, message: Value<'_>) {
        let time = message.get("timestamp");
        self.is_dated |= time.is_some_and(|time| !time.is_null());
        let text = lines(&Content::of(message.get("content")));
        if !text.is_empty() {
            self.texts.push(text);
        }
        for (name, value) in message.get("sections").into_iter().flat_map(Value::members) {
            let name = name.str().unwrap_or_default();
            if value.is_null() {
                self.sections.remove(&name);
            } else {
                self.sections.set(&name, value.raw());
            }
        }
        for (name, _) in tools(message, "toolsRemoved") {
            self.tools.remove(&name);
        }
        for (name, tool) in tools(message, "toolsAdded") {
            self.tools.set(&name, tool.raw());
        }
    }

    fn finish(self, millis: i64) -> Option<Vec<u8>> {
        let (sections, tools) = (self.sections.0, self.tools.0);
        if !self.is_dated && tools.is_empty() {
            return None;
        }
        let add = |all: Object, (name, value): &(String, Vec<u8>)| all.raw(name, value);
        let sections = sections.iter().fold(Object::new(), add);
        let add = |all: Array, (_, tool): &(String, Vec<u8>)| all.raw(tool);
        let tools = tools.iter().fold(Array::new(), add);
        let message = Object::new()
            .str("role", "system")
            .str("content", &self.texts.join("\n\n"));
        let sections = (!sections.is_empty()).then(|| sections.finish());
        let tools = (!tools.is_empty()).then(|| tools.finish());
        let message = message
            .opt_raw("sections", sections.as_deref())
            .opt_raw("toolsAdded", tools.as_deref());
        Some(message.i64("timestamp", millis).finish())
    }
}

/// The text, that of several blocks on lines of their own.
fn lines(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block.kind() {
                super::BlockKind::Text { text } => Some(text.as_str()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// The tools in a list, each with its name.
fn tools<'a>(message: Value<'a>, key: &str) -> impl Iterator<Item = (String, Value<'a>)> {
    let tools = message.get(key).into_iter().flat_map(Value::items);
    tools.map(|tool| {
        let name = tool.get("name").and_then(Value::str);
        (name.unwrap_or_default().into_owned(), tool)
    })
}
