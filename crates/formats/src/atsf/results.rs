//! Results of tools that arrive after the message with the call was written.
//!
//! The format keeps a call and its result in one object, so a late result is written into the
//! message of its call. All other lines keep their bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use memchr::memmem;
use rethread_disk::{DiskError, LockedLog};
use rethread_json::{Array, LineSpan, Lines, Object, Patch, Tree, Value, quote};

use super::splice::{LineChange, splice_lines};
use crate::error::read_failed;
use crate::fields::string_of;
use crate::{WriteError, Writing};

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolOutput {
    pub(crate) call_id: String,
    pub(crate) name: Option<String>,
    pub(crate) output: String,
    pub(crate) is_error: bool,
}

impl ToolOutput {
    fn status(&self) -> &'static str {
        if self.is_error { "failed" } else { "completed" }
    }

    /// The line with this result in it, and the id of its message; none if the call is not in it.
    pub(crate) fn written_into(&self, line: &[u8]) -> Option<(Vec<u8>, String)> {
        memmem::find(line, self.call_id.as_bytes())?;
        let tree = Tree::parse(line).ok()?;
        let root = tree.root(line);
        let call = self.call(root)?;
        let mut patch = Patch::new(root);
        patch.set(call, "status", &quote(self.status()));
        patch.set(call, "output", &quote(&self.output));
        let id = string_of(root, "id").unwrap_or_default();
        Some((patch.finish(), id))
    }

    fn call<'a>(&self, message: Value<'a>) -> Option<Value<'a>> {
        let fits = |c: &Value<'_>| c.get("toolCallId").is_some_and(|v| v.is_str(&self.call_id));
        message.get("toolCalls")?.items().find(fits)
    }

    /// A message of its own for a result whose call is nowhere.
    pub(crate) fn orphan(&self, id: &str, timestamp: &str) -> Vec<u8> {
        let call = Object::new()
            .str("toolCallId", &self.call_id)
            .str("name", self.name.as_deref().unwrap_or("unknown"))
            .str("status", self.status())
            .str("output", &self.output)
            .finish();
        Object::new()
            .str("id", id)
            .str("role", "agent")
            .str("timestamp", timestamp)
            .raw("content", b"[]")
            .raw("toolCalls", &Array::new().raw(&call).finish())
            .finish()
    }
}

/// Writes results into the messages of their calls. Gives, for each, the id of that message, or
/// none if the call is not in the log.
pub(crate) fn write_into_log(
    w: &Writing<'_>,
    log: &mut LockedLog,
    outputs: &[ToolOutput],
) -> Result<Vec<Option<String>>, WriteError> {
    let homes = find_homes(log, outputs)?;
    let mut changes: BTreeMap<u64, LineChange> = BTreeMap::new();
    for (output, home) in outputs.iter().zip(&homes) {
        let Some(home) = home else { continue };
        let change = match changes.entry(home.span.offset) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(LineChange::of(log, home.span)?),
        };
        if let Some((line, _)) = output.written_into(&change.line) {
            change.line = line;
        }
    }
    if !changes.is_empty() {
        splice_lines(w, log, changes.into_values())?;
    }
    Ok(homes
        .into_iter()
        .map(|home| home.map(|h| h.message))
        .collect())
}

struct ResultHolder {
    span: LineSpan,
    message: String,
}

/// The last line that holds each call.
fn find_homes(
    log: &LockedLog,
    outputs: &[ToolOutput],
) -> Result<Vec<Option<ResultHolder>>, DiskError> {
    let mut homes: Vec<Option<ResultHolder>> = outputs.iter().map(|_| None).collect();
    let mut lines = Lines::new(log.reader(0));
    let failed = read_failed(log.path());
    while let Some(line) = lines.next_line().map_err(failed)? {
        let Some(bytes) = line.whole() else { continue };
        for (output, home) in outputs.iter().zip(&mut homes) {
            if let Some((_, message)) = output.written_into(bytes) {
                *home = Some(ResultHolder {
                    span: line.span,
                    message,
                });
            }
        }
    }
    Ok(homes)
}
