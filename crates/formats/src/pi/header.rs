//! The header of a session: the first value of its file.

use std::io::Read;
use std::path::Path;

use rethread_disk::{DiskError, open_read};
use rethread_json::{Tree, Value, split_lines};
use rethread_model::{Agent, Head, Link, LinkKind, ModelRef, Moment, Note, Workspace};

use super::{Flavour, VERSION};
use crate::error::read_failed;
use crate::fields::{is_true, string_of};
use crate::kit::saved_struct;

/// How much of a file is looked at to find its header.
const LOOK: u64 = 1024 * 1024;

/// What the header says.
#[derive(Clone, Debug, Default)]
pub(super) struct HeaderFacts {
    pub(super) id: String,
    /// The version as spelled; none in the first one.
    version: Option<String>,
    created: Option<Moment>,
    cwd: Option<String>,
    parent: Option<String>,
    model: Option<ModelRef>,
    hidden: bool,
}

saved_struct!(HeaderFacts {
    id,
    version,
    created,
    cwd,
    parent,
    model,
    hidden,
});

impl HeaderFacts {
    /// The header that a value is; none if it is something else.
    pub(super) fn of(value: Value<'_>) -> Option<Self> {
        if !is_header_line(value) {
            return None;
        }
        let version = value.get("version").filter(|v| !v.is_null());
        Some(Self {
            id: string_of(value, "id")?,
            version: version.map(spelled),
            created: string_of(value, "timestamp").and_then(|t| t.parse().ok()),
            cwd: string_of(value, "cwd"),
            parent: string_of(value, "parentSession").or_else(|| string_of(value, "branchedFrom")),
            model: string_of(value, "modelId").map(|id| ModelRef {
                provider: string_of(value, "provider"),
                id,
            }),
            hidden: is_true(value, "internal") && has_whole_workflow(value),
        })
    }

    /// The version as a number; the first one is not spelled.
    fn number(&self) -> Option<f64> {
        self.version
            .as_deref()
            .map_or(Some(1.0), |v| v.trim().parse().ok())
    }

    /// Whether entries have no ids and follow each other as they stand.
    pub(super) fn is_linear(&self) -> bool {
        self.number().is_some_and(|n| n < 2.0)
    }

    /// Something to say about the version.
    pub(super) fn note(&self, path: &Path) -> Option<Note> {
        let spelled = self.version.as_deref().unwrap_or("1");
        let message = match self.number() {
            #[allow(clippy::cast_precision_loss, reason = "a version is a small number")]
            Some(n) if n <= VERSION as f64 => return None,
            Some(_) => format!("written in version {spelled}; read as version {VERSION}"),
            None => format!("`{spelled}` is no version; read as version {VERSION}"),
        };
        Some(Note::remark(message).at(path))
    }

    /// The facts about the whole session.
    pub(super) fn head(self, flavour: &Flavour, path: &Path) -> Head {
        let link = |session| Link {
            kind: LinkKind::ForkOf,
            session,
            entry: None,
            tool_call: None,
        };
        Head {
            id: self.id,
            format: flavour.slug,
            dialect: Some(self.version.unwrap_or_else(|| "1".to_owned())),
            agent: Agent {
                id: Some(flavour.slug.to_owned()),
                name: Some(flavour.agent.to_owned()),
                ..Agent::default()
            },
            workspace: Workspace {
                path: self.cwd.filter(|cwd| !cwd.is_empty()),
                encoded: encoded_folder(path),
                ..Workspace::default()
            },
            created: self.created,
            model: self.model,
            links: self.parent.map(link).into_iter().collect(),
            hidden: self.hidden,
            ..Head::default()
        }
    }
}

/// Whether a value says that it is a header, usable or not.
pub(super) fn is_header_line(value: Value<'_>) -> bool {
    value.get("type").is_some_and(|t| t.is_str("session"))
}

fn spelled(version: Value<'_>) -> String {
    version.str().map_or_else(
        || String::from_utf8_lossy(version.raw()).into_owned(),
        std::borrow::Cow::into_owned,
    )
}

/// Atomic hides sessions of its workflows, but only those that say which stage of which run.
fn has_whole_workflow(value: Value<'_>) -> bool {
    let said = |key| {
        let word = value.at(&["workflow", key]).and_then(Value::str);
        word.is_some_and(|w| !w.trim().is_empty())
    };
    ["runId", "stageId", "stageName"].into_iter().all(said)
}

fn encoded_folder(path: &Path) -> Option<String> {
    let name = path.parent()?.file_name()?.to_str()?;
    let is_encoded = name.len() >= 4 && name.starts_with("--") && name.ends_with("--");
    is_encoded.then(|| name.to_owned())
}

/// The header of a file, from its beginning; none if it is no session.
pub(super) fn first_header(path: &Path) -> Result<Option<HeaderFacts>, DiskError> {
    let mut start = Vec::new();
    let read = open_read(path)?.take(LOOK).read_to_end(&mut start);
    read.map_err(read_failed(path))?;
    let mut tree = Tree::default();
    let whole = |line: &[u8], tree: &mut Tree| tree.parse_into(line).is_ok();
    let line = split_lines(&start).find(|(_, line)| whole(line, &mut tree));
    Ok(line.and_then(|(_, line)| HeaderFacts::of(tree.root(line))))
}
