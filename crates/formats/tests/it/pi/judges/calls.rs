//! Calls of a session manager: made to ours, and written down for the judge.

use rethread_formats::pi::{SessionError, SessionManager};
use rethread_json::{Array, Object, quote};

use super::view::or_null;

/// Stands for an argument that is left out.
const UNDEFINED: &[u8] = b"{\"undefined\":true}";

/// Something that can be asked of a session manager. Entries are named by their places, and the
/// places go round; a place beyond all of them is an entry that is not there.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Message(String),
    ThinkingLevel(String),
    Model(String, String),
    Compaction {
        summary: String,
        kept: Option<usize>,
        tokens: u64,
        details: Option<String>,
        from_hook: Option<bool>,
    },
    Custom(String, Option<String>),
    CustomMessage {
        custom_type: String,
        content: String,
        display: bool,
        details: Option<String>,
    },
    Label(usize, Option<String>),
    Name(String),
    Branch(usize),
    ResetLeaf,
    BranchWithSummary {
        to: Option<usize>,
        summary: String,
        details: Option<String>,
        from_hook: Option<bool>,
    },
    BranchedSession(usize),
}

/// The place of an entry that is not there.
pub(super) const NOBODY: usize = usize::MAX;

/// The id of the entry at a place.
fn id(session: &SessionManager, place: usize) -> String {
    let entries = session.entries();
    if place == NOBODY || entries.is_empty() {
        return "nobody".to_owned();
    }
    entries[place % entries.len()].id().to_owned()
}

impl Call {
    /// The call as the judge is told of it: a list of the method and its arguments.
    pub(super) fn told(&self, session: &SessionManager) -> Vec<u8> {
        let quoted = |place: &usize| quote(&id(session, *place));
        let maybe = |place: &Option<usize>| or_null(place.map(|p| id(session, p)).as_deref());
        let (method, args) = match self {
            Self::Message(json) => ("appendMessage", vec![json.clone().into()]),
            Self::ThinkingLevel(level) => ("appendThinkingLevelChange", vec![quote(level)]),
            Self::Model(provider, model) => {
                ("appendModelChange", vec![quote(provider), quote(model)])
            }
            Self::Compaction {
                summary,
                kept,
                tokens,
                details,
                from_hook,
            } => {
                let tokens = tokens.to_string().into_bytes();
                let more = [tokens, json(details.as_deref()), truth(*from_hook)];
                let args = [quote(summary), maybe(kept)].into_iter().chain(more);
                ("appendCompaction", args.collect())
            }
            Self::Custom(custom_type, data) => (
                "appendCustomEntry",
                vec![quote(custom_type), json(data.as_deref())],
            ),
            Self::CustomMessage {
                custom_type,
                content,
                display,
                details,
            } => {
                let (custom_type, content) = (quote(custom_type), quote(content));
                let args = vec![
                    custom_type,
                    content,
                    truth(Some(*display)),
                    json(details.as_deref()),
                ];
                ("appendCustomMessageEntry", args)
            }
            Self::Label(target, label) => {
                let label = label.as_deref().map(quote);
                let label = label.unwrap_or_else(|| UNDEFINED.to_vec());
                ("appendLabelChange", vec![quoted(target), label])
            }
            Self::Name(name) => ("appendSessionInfo", vec![quote(name)]),
            Self::Branch(to) => ("branch", vec![quoted(to)]),
            Self::ResetLeaf => ("resetLeaf", Vec::new()),
            Self::BranchWithSummary {
                to,
                summary,
                details,
                from_hook,
            } => {
                let args = vec![
                    maybe(to),
                    quote(summary),
                    json(details.as_deref()),
                    truth(*from_hook),
                ];
                ("branchWithSummary", args)
            }
            Self::BranchedSession(leaf) => ("createBranchedSession", vec![quoted(leaf)]),
        };
        let list = Array::new().str(method);
        args.iter().fold(list, |list, arg| list.raw(arg)).finish()
    }

    /// Makes the call to ours. What it gives is as the judge tells it.
    pub(super) fn make(&self, session: &mut SessionManager) -> Vec<u8> {
        let error = |e: SessionError| Object::new().str("error", &e.to_string()).finish();
        self.gave(session).unwrap_or_else(error)
    }

    fn gave(&self, session: &mut SessionManager) -> Result<Vec<u8>, SessionError> {
        let bytes = |text: &Option<String>| text.clone().map(String::into_bytes);
        let added = match self {
            Self::Message(json) => session.append_message_json(json.as_bytes()),
            Self::ThinkingLevel(level) => session.append_thinking_level_change(level),
            Self::Model(provider, model) => session.append_model_change(provider, model),
            Self::Compaction {
                summary,
                kept,
                tokens,
                details,
                from_hook,
            } => {
                let (kept, details) = (kept.map(|p| id(session, p)), bytes(details));
                let (kept, details) = (kept.as_deref(), details.as_deref());
                session.append_compaction(summary, kept, *tokens, details, *from_hook)
            }
            Self::Custom(custom_type, data) => {
                session.append_custom_entry(custom_type, bytes(data).as_deref())
            }
            Self::CustomMessage {
                custom_type,
                content,
                display,
                details,
            } => {
                let (content, details) = (content.as_str(), bytes(details));
                session.append_custom_message(custom_type, content, *display, details.as_deref())
            }
            Self::Label(target, label) => {
                session.append_label_change(&id(session, *target), label.as_deref())
            }
            Self::Name(name) => session.append_session_info(name),
            Self::BranchWithSummary {
                to,
                summary,
                details,
                from_hook,
            } => {
                let (to, details) = (to.map(|p| id(session, p)), bytes(details));
                let (to, details) = (to.as_deref(), details.as_deref());
                session.branch_with_summary(to, summary, details, *from_hook)
            }
            Self::Branch(to) => {
                session.branch(&id(session, *to))?;
                return Ok(b"null".to_vec());
            }
            Self::ResetLeaf => {
                session.reset_leaf();
                return Ok(b"null".to_vec());
            }
            Self::BranchedSession(leaf) => {
                let file = session.create_branched_session(&id(session, *leaf))?;
                return Ok(or_null(file.and_then(|path| path.to_str())));
            }
        };
        Ok(quote(&added?))
    }
}

fn json(text: Option<&str>) -> Vec<u8> {
    text.map_or(UNDEFINED, str::as_bytes).to_vec()
}

fn truth(value: Option<bool>) -> Vec<u8> {
    match value {
        None => UNDEFINED.to_vec(),
        Some(value) => value.to_string().into_bytes(),
    }
}
