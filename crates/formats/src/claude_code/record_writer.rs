//! Records as the client writes them.

use rethread_json::{Array, Object, quote};
use rethread_model::Moment;

/// The version whose manners new records follow, where a session names none.
pub(super) const VERSION: &str = "2.1.325";

/// The longest prompt that `last-prompt` repeats, in characters.
const PROMPT: usize = 200;

/// The type of the record that holds what the client has no place for. It skips types that it does
/// not know.
pub(super) const OURS: &str = "rethread";

/// Writes records of one session, each behind the one before.
#[derive(Clone, Debug)]
pub(super) struct RecordWriter {
    pub(super) session: String,
    pub(super) cwd: Option<String>,
    pub(super) version: String,
    pub(super) branch: Option<String>,
    /// The sub-agent that the records are of.
    pub(super) agent: Option<String>,
    /// The record that the next one follows.
    pub(super) parent: Option<String>,
    /// The records so far.
    pub(super) lines: Vec<u8>,
}

/// Something that is said in one record, ready to be written.
#[derive(Clone, Debug)]
pub(super) struct Saying {
    /// `user` or `assistant`.
    pub(super) type_name: &'static str,
    /// The message, as JSON.
    pub(super) message: Vec<u8>,
    /// Whether the client is said to have put it there.
    pub(super) meta: bool,
    /// Ids of calls that had to be changed, as JSON: the new one and the one that was given.
    pub(super) ids: Option<Vec<u8>>,
}

/// What of the past the model still sees behind a summary.
pub(super) struct Preserved<'a> {
    /// The summary.
    anchor: &'a str,
    first: &'a str,
    last: &'a str,
    ids: &'a [String],
}

impl<'a> Preserved<'a> {
    /// These records, behind this summary; none if there are none.
    pub(super) fn new(anchor: &'a str, ids: &'a [String]) -> Option<Self> {
        Some(Self {
            anchor,
            first: ids.first()?,
            last: ids.last()?,
            ids,
        })
    }

    fn segment(&self) -> Vec<u8> {
        Object::new()
            .str("headUuid", self.first)
            .str("anchorUuid", self.anchor)
            .str("tailUuid", self.last)
            .finish()
    }

    fn messages(&self) -> Vec<u8> {
        let ids = self
            .ids
            .iter()
            .fold(Array::new(), |all, id| all.raw(&quote(id)));
        let ids = ids.finish();
        Object::new()
            .str("anchorUuid", self.anchor)
            .raw("uuids", &ids)
            .raw("allUuids", &ids)
            .finish()
    }
}

impl RecordWriter {
    /// Writes what is said, under this id.
    pub(super) fn say(&mut self, saying: &Saying, id: &str, time: Moment) {
        let mut record = self
            .opened(self.parent.as_deref())
            .str("type", saying.type_name)
            .raw("message", &saying.message);
        if saying.meta {
            record = record.bool("isMeta", true);
        }
        let record = record.opt_raw("rethreadToolIds", saying.ids.as_deref());
        self.closed(record, id, time);
    }

    /// Writes the mark of a compaction, which begins the chain of records anew.
    pub(super) fn write_mark(
        &mut self,
        id: &str,
        time: Moment,
        tokens: u64,
        preserved: Option<&Preserved<'_>>,
    ) {
        let metadata = Object::new()
            .str("trigger", "manual")
            .u64("preTokens", tokens)
            .opt_raw(
                "preservedSegment",
                preserved.map(Preserved::segment).as_deref(),
            )
            .opt_raw(
                "preservedMessages",
                preserved.map(Preserved::messages).as_deref(),
            );
        let record = self
            .opened(None)
            .opt_str("logicalParentUuid", self.parent.as_deref())
            .str("type", "system")
            .str("subtype", "compact_boundary")
            .str("content", "Conversation compacted")
            .bool("isMeta", false)
            .str("level", "info")
            .raw("compactMetadata", &metadata.finish());
        self.closed(record, id, time);
    }

    /// Writes the summary behind such a mark.
    pub(super) fn summary(&mut self, summary: &str, id: &str, time: Moment) {
        let message = Object::new().str("role", "user").str("content", summary);
        let record = self
            .opened(self.parent.as_deref())
            .str("type", "user")
            .raw("message", &message.finish())
            .bool("isVisibleInTranscriptOnly", true)
            .bool("isCompactSummary", true);
        self.closed(record, id, time);
    }

    /// The beginning of a record that hangs from another.
    fn opened(&self, parent: Option<&str>) -> Object {
        let parent = parent.map_or(b"null".to_vec(), quote);
        Object::new()
            .raw("parentUuid", &parent)
            .bool("isSidechain", self.agent.is_some())
            .str("userType", "external")
            .opt_str("cwd", self.cwd.as_deref())
            .str("sessionId", &self.session)
            .str("version", &self.version)
            .str("gitBranch", self.branch.as_deref().unwrap_or_default())
            .opt_str("agentId", self.agent.as_deref())
    }

    /// Ends a record; the next one follows it.
    fn closed(&mut self, record: Object, id: &str, time: Moment) {
        let record = record.str("uuid", id).str("timestamp", &time.to_string());
        self.line(&record.finish());
        self.parent = Some(id.to_owned());
    }

    /// Writes what stands behind all messages, where lists of the client look: the title, and what
    /// was said last and where. If the conversation went back, it goes on there whatever hangs from it.
    pub(super) fn close(&mut self, title: Option<&str>, prompt: Option<&str>, is_back: bool) {
        if let Some(title) = title {
            self.title(title);
        }
        if let Some(leaf) = self.parent.clone() {
            let prompt = prompt.map(shortened);
            let record = Object::new()
                .str("type", "last-prompt")
                .opt_str("lastPrompt", prompt.as_deref())
                .str("leafUuid", &leaf);
            let record = if is_back {
                record.bool("explicit", true)
            } else {
                record
            };
            let record = record.str("sessionId", &self.session);
            self.line(&record.finish());
        }
    }

    /// Writes a title.
    pub(super) fn title(&mut self, title: &str) {
        let record = Object::new()
            .str("type", "custom-title")
            .str("customTitle", title)
            .str("sessionId", &self.session);
        self.line(&record.finish());
    }

    /// Adds a whole record.
    pub(super) fn line(&mut self, record: &[u8]) {
        self.lines.extend_from_slice(record);
        self.lines.push(b'\n');
    }
}

fn shortened(prompt: &str) -> String {
    let mut words = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() > PROMPT {
        words = words.chars().take(PROMPT).collect();
        words.push('…');
    }
    words
}
