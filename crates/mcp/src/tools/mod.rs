//! The tools: one table, from which clients are told of them and by which they are called.

mod list;
mod messages;
mod read;
mod search;
mod stats;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use self::list::newest_conversations;
pub(crate) use self::read::{ReadArguments, read_window};
use crate::answer::{ToolAnswer, ToolError};
use crate::arguments::read_arguments;
use crate::library::LibraryOptions;
use crate::progress::CallProgress;

/// An answer as it goes to the client.
pub(crate) struct SentAnswer {
    pub(crate) text: String,
    pub(crate) data: Value,
}

type CallFunction = dyn Fn(&LibraryOptions, JsonObject, &CallProgress) -> Result<SentAnswer, ToolError>
    + Send
    + Sync;

/// A tool.
#[derive(Clone)]
pub(crate) struct ToolEntry {
    /// How clients see it.
    pub(crate) tool: Tool,
    /// What it does.
    pub(crate) call: Arc<CallFunction>,
}

/// What a tool is called and what is said of it.
struct ToolDescription {
    name: &'static str,
    title: &'static str,
    text: &'static str,
    /// Whether it changes nothing.
    is_read_only: bool,
}

impl ToolEntry {
    fn new<A, D>(
        about: &ToolDescription,
        run: fn(&LibraryOptions, &A, &CallProgress) -> Result<ToolAnswer<D>, ToolError>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        D: Serialize + JsonSchema + 'static,
    {
        let annotations = ToolAnnotations::with_title(about.title)
            .read_only(about.is_read_only)
            .destructive(false)
            .idempotent(about.is_read_only)
            .open_world(false);
        let mut tool = Tool::new(about.name, about.text, Arc::new(JsonObject::new()))
            .with_title(about.title)
            .with_input_schema::<A>()
            .with_output_schema::<D>()
            .with_annotations(annotations);
        strip_formats(Arc::make_mut(&mut tool.input_schema));
        tool.output_schema
            .as_mut()
            .map(Arc::make_mut)
            .map(strip_formats);
        let name = about.name;
        let call = move |library: &LibraryOptions, arguments, progress: &CallProgress| {
            let arguments = read_arguments(name, arguments)?;
            let answer = run(library, &arguments, progress)?;
            let data = serde_json::to_value(&answer.data)
                .map_err(|e| ToolError::new(format!("the answer cannot be written: {e}")))?;
            Ok(SentAnswer {
                text: answer.text,
                data,
            })
        };
        Self {
            tool,
            call: Arc::new(call),
        }
    }
}

/// Removes what Rust calls its numbers, which no client knows.
fn strip_formats(schema: &mut JsonObject) {
    schema.remove("format");
    for value in schema.values_mut() {
        match value {
            Value::Object(inner) => strip_formats(inner),
            Value::Array(items) => {
                let objects = items.iter_mut().filter_map(Value::as_object_mut);
                objects.for_each(strip_formats);
            }
            _ => {}
        }
    }
}

/// All tools that a client may call.
pub(crate) fn tool_table(library: &LibraryOptions) -> Vec<ToolEntry> {
    let mut tools = vec![
        search::entry(),
        read::entry(),
        list::entry(),
        stats::entry(),
    ];
    if library.messages.is_some() {
        tools.extend([messages::send_entry(), messages::inbox_entry()]);
    }
    tools
}
