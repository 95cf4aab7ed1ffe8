//! `thread.json`: what describes a thread, over its original bytes.

use std::path::{Path, PathBuf};

use rethread_disk::{DiskError, read_small};
use rethread_json::{Document, InsertAt, Object, Patch, Value};
use rethread_model::{
    Agent, Counts, Head, Link, LinkKind, Moment, Title, TitleSource, Workspace, WorktreeRef,
};

use super::carrier::OURS;
use super::store::MANIFEST;
use super::tally::LogTally;
use super::version::Version;
use super::{SLUG, SPEC_VERSION};
use crate::OpenError;
use crate::carry::named;
use crate::fields::string_of;

/// A thread's description.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) path: PathBuf,
    document: Document,
}

/// The title of a thread that nobody named.
pub(crate) const NO_TITLE: &str = "New thread";

/// The agent of a thread for which nobody named one.
pub(crate) const NO_AGENT: &str = "rethread";

/// What is said of a new thread.
#[derive(Debug)]
pub(crate) struct NewManifest<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) created: Moment,
    pub(crate) agent: &'a Agent,
    pub(crate) workspace: &'a Workspace,
    /// Members of `metadata`, without our own.
    pub(crate) metadata: Vec<u8>,
}

impl Manifest {
    /// Reads a thread's description. A version that must be refused is an error.
    pub(crate) fn read(thread: &Path) -> Result<Self, OpenError> {
        let manifest = Self::read_any_version(thread)?;
        manifest.version().refuse(&manifest.path)?;
        Ok(manifest)
    }

    /// The same, whatever its version.
    pub(crate) fn read_any_version(thread: &Path) -> Result<Self, OpenError> {
        let path = thread.join(MANIFEST);
        let bytes = read_small(&path)?;
        Self::parse(path, bytes)
    }

    /// A description from its bytes.
    pub(crate) fn parse(path: PathBuf, bytes: Vec<u8>) -> Result<Self, OpenError> {
        let document = Document::parse(bytes).map_err(|e| OpenError::Damaged {
            path: path.clone(),
            line: Some(e.line as u64),
            why: e.to_string(),
        })?;
        if !document.root().is_object() {
            let why = "not a JSON object".to_owned();
            return Err(OpenError::Damaged {
                path,
                line: None,
                why,
            });
        }
        Ok(Self { path, document })
    }

    /// The bytes of a new thread's description.
    pub(crate) fn new_bytes(new: &NewManifest<'_>) -> Vec<u8> {
        let created = new.created.to_string();
        let agent = Object::new()
            .opt_str("id", new.agent.id.as_deref())
            .opt_str("name", new.agent.name.as_deref())
            .opt_str("version", new.agent.version.as_deref())
            .opt_str("protocol", new.agent.protocol.as_deref())
            .opt_raw(
                "protocolVersion",
                new.agent.protocol_version.as_deref().map(str::as_bytes),
            );
        let compact = Object::new()
            .str("specVersion", SPEC_VERSION)
            .str("threadId", new.id)
            .str("title", new.title)
            .str("createdAt", &created)
            .str("updatedAt", &created)
            .raw("agent", &agent.finish())
            .raw("context", &Self::context(new.workspace))
            .raw("stats", &stats(&Counts::default()))
            .raw("metadata", &new.metadata)
            .finish();
        let mut bytes = rethread_json::pretty(&compact, 2, 0);
        bytes.push(b'\n');
        bytes
    }

    /// The `context` object of a thread.
    pub(crate) fn context(workspace: &Workspace) -> Vec<u8> {
        let worktree = workspace.worktree.as_ref().map(|w| {
            // Git itself calls a checkout without a branch so.
            let branch = w.branch.as_deref().unwrap_or("HEAD");
            Object::new()
                .str("path", &w.path)
                .str("branch", branch)
                .finish()
        });
        Object::new()
            .opt_str("workingDir", workspace.path.as_deref())
            .opt_str("relativeDir", workspace.relative.as_deref())
            .opt_str("gitBranch", workspace.branch.as_deref())
            .opt_str("gitCommit", workspace.commit.as_deref())
            .opt_raw("worktree", worktree.as_deref())
            .finish()
    }

    pub(crate) fn root(&self) -> Value<'_> {
        self.document.root()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.document.bytes()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.document.into_bytes()
    }

    pub(crate) fn version(&self) -> Version {
        Version::of(self.root())
    }

    fn text(&self, path: &[&str]) -> Option<String> {
        Some(self.root().at(path)?.str()?.into_owned())
    }

    /// The thread's id, as the file has it.
    pub(crate) fn id(&self) -> Option<String> {
        self.text(&["threadId"]).filter(|id| !id.is_empty())
    }

    /// When the last message was written, as the file has it.
    pub(crate) fn updated(&self) -> Option<Moment> {
        self.text(&["updatedAt"])?.parse().ok()
    }

    /// What is known of the thread as a whole.
    pub(crate) fn head(&self, folder_name: &str) -> Head {
        let root = self.root();
        let moment = |key| string_of(root, key).and_then(|t| t.parse().ok());
        let agent = root.get("agent");
        let of_agent = |key| string_of(agent?, key);
        let context = root.get("context");
        let of_context = |key| string_of(context?, key);
        let protocol_version = agent
            .and_then(|a| a.get("protocolVersion"))
            .map(|v| String::from_utf8_lossy(v.raw()).into_owned());
        let worktree = context.and_then(|c| c.get("worktree")).and_then(|w| {
            Some(WorktreeRef {
                path: string_of(w, "path")?,
                branch: string_of(w, "branch"),
            })
        });
        Head {
            id: self.id().unwrap_or_else(|| folder_name.to_owned()),
            format: SLUG,
            dialect: self.version().spelled().map(str::to_owned),
            title: string_of(root, "title")
                .filter(|t| !t.trim().is_empty())
                .map(|text| Title {
                    text,
                    source: TitleSource::Stored,
                }),
            agent: Agent {
                id: of_agent("id"),
                name: of_agent("name"),
                version: of_agent("version"),
                role: None,
                protocol: of_agent("protocol"),
                protocol_version,
            },
            workspace: Workspace {
                path: of_context("workingDir"),
                relative: of_context("relativeDir"),
                root: None,
                encoded: None,
                remote: None,
                branch: of_context("gitBranch"),
                commit: of_context("gitCommit"),
                worktree,
            },
            created: moment("createdAt"),
            updated: moment("updatedAt"),
            converted_from: root.at(&["metadata", OURS]).and_then(named),
            links: string_of(root, "parentThreadId")
                .map(|session| Link {
                    kind: LinkKind::ForkOf,
                    session,
                    entry: None,
                    tool_call: None,
                })
                .into_iter()
                .collect(),
            ..Head::default()
        }
    }

    /// The counts that the file has.
    pub(crate) fn counts(&self) -> Counts {
        let stats = self.root().get("stats");
        let count = |name| {
            let count = stats.and_then(|s| s.get(name)).and_then(Value::u64);
            count.unwrap_or(0)
        };
        Counts {
            messages: count("messageCount"),
            user_messages: count("userMessageCount"),
            assistant_messages: count("agentMessageCount"),
            tool_calls: count("toolCallCount"),
            usage: None,
        }
    }

    /// The length of the log when we last wrote to it, where we did.
    pub(crate) fn noted_log_len(&self) -> Option<u64> {
        self.root().at(&["metadata", "rethread", "logBytes"])?.u64()
    }

    /// The same file with the title changed.
    pub(crate) fn with_title(&self, title: &str) -> Vec<u8> {
        let mut patch = Patch::new(self.root());
        patch.set(self.root(), "title", &rethread_json::quote(title));
        patch.finish()
    }

    /// The same file with the truth about the log in it.
    pub(crate) fn with_log(&self, tally: &LogTally, log_len: u64) -> Vec<u8> {
        let mut patch = Patch::new(self.root());
        self.patch_log(&mut patch, tally, log_len);
        patch.finish()
    }

    /// The description of a copy of this thread.
    pub(crate) fn forked(
        &self,
        fork: &ForkedManifest<'_>,
        tally: &LogTally,
        log_len: u64,
    ) -> Vec<u8> {
        let root = self.root();
        let mut patch = Patch::new(root);
        self.complete(&mut patch, fork);
        let parent = self.id().unwrap_or_else(|| fork.folder_name.to_owned());
        let created = rethread_json::quote(&fork.created.to_string());
        patch.set(root, "threadId", &rethread_json::quote(fork.id));
        if let Some(title) = fork.title {
            patch.set(root, "title", &rethread_json::quote(title));
        }
        patch.set(root, "createdAt", &created);
        if tally.last_time.is_none() {
            patch.set(root, "updatedAt", &created);
        }
        if let Some(context) = fork.context {
            patch.set(root, "context", context);
        }
        let parent = rethread_json::quote(&parent);
        if root.get("parentThreadId").is_some() {
            patch.set(root, "parentThreadId", &parent);
        } else {
            patch.insert(root, "parentThreadId", &parent, InsertAt::After("stats"));
        }
        self.patch_log(&mut patch, tally, log_len);
        patch.finish()
    }

    /// Adds what a new description must have and the original lacks.
    fn complete<'a>(&'a self, patch: &mut Patch<'a>, fork: &ForkedManifest<'_>) {
        let root = self.root();
        let lacks = |key: &str| root.get(key).is_none();
        if lacks("specVersion") {
            patch.insert(
                root,
                "specVersion",
                &rethread_json::quote(SPEC_VERSION),
                InsertAt::First,
            );
        }
        if lacks("title") && fork.title.is_none() {
            patch.insert(
                root,
                "title",
                &rethread_json::quote(NO_TITLE),
                InsertAt::After("threadId"),
            );
        }
        if lacks("agent") {
            let agent = Object::new()
                .str("id", NO_AGENT)
                .str("name", NO_AGENT)
                .finish();
            patch.insert(root, "agent", &agent, InsertAt::After("updatedAt"));
        }
    }

    fn patch_log<'a>(&'a self, patch: &mut Patch<'a>, tally: &LogTally, log_len: u64) {
        let root = self.root();
        if let Some(time) = &tally.last_time {
            patch.set(root, "updatedAt", &rethread_json::quote(time));
        }
        let counts = &tally.counts;
        match root.get("stats").filter(|s| s.is_object()) {
            Some(object) => {
                for (key, value) in count_fields(counts) {
                    patch.set(object, key, value.to_string().as_bytes());
                }
            }
            None => patch.set(root, "stats", &stats(counts)),
        }
        let len = log_len.to_string();
        let note = Object::new().u64("logBytes", log_len).finish();
        match root.get("metadata") {
            None => {
                let metadata = Object::new().raw("rethread", &note).finish();
                patch.set(root, "metadata", &metadata);
            }
            Some(metadata) if metadata.is_object() => match metadata.get("rethread") {
                Some(ours) if ours.is_object() => patch.set(ours, "logBytes", len.as_bytes()),
                Some(_) => {}
                None => patch.insert(metadata, "rethread", &note, InsertAt::Last),
            },
            // Somebody keeps something else there. It is not ours to change, so the log is counted
            // anew each time.
            Some(_) => {}
        }
    }
}

/// What a copy of a thread does not take from the original.
#[derive(Debug)]
pub(crate) struct ForkedManifest<'a> {
    pub(crate) id: &'a str,
    pub(crate) folder_name: &'a str,
    pub(crate) created: Moment,
    pub(crate) title: Option<&'a str>,
    /// A new `context` object, where the work goes on elsewhere.
    pub(crate) context: Option<&'a [u8]>,
}

fn count_fields(counts: &Counts) -> [(&'static str, u64); 4] {
    [
        ("messageCount", counts.messages),
        ("userMessageCount", counts.user_messages),
        ("agentMessageCount", counts.assistant_messages),
        ("toolCallCount", counts.tool_calls),
    ]
}

fn stats(counts: &Counts) -> Vec<u8> {
    count_fields(counts)
        .into_iter()
        .fold(Object::new(), |o, (key, n)| o.u64(key, n))
        .finish()
}

/// Whether the file is simply not there.
pub(crate) fn is_missing(e: &OpenError) -> bool {
    matches!(e, OpenError::Disk(DiskError::NotFound { .. }))
}
