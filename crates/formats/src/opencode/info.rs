//! What a message that is added says of itself.

use rethread_json::{Document, InsertAt, Object, Patch, Tree, quote};

use super::append::OpenSession;
use super::draft::MessageDraft;
use crate::WriteError;

impl OpenSession<'_, '_> {
    /// What the message itself says. The format's own words stay; what is missing is added.
    pub(super) fn info(&self, draft: &MessageDraft, time: i64) -> Result<Vec<u8>, WriteError> {
        let bad = |why: &str| WriteError::BadMessage {
            line: None,
            why: why.to_owned(),
        };
        let named = draft.model.as_ref().or(self.model.as_ref());
        let named = named
            .ok_or_else(|| bad("no model is known: name one with `--model PROVIDER/MODEL`"))?;
        let provider = named.provider.as_deref();
        let provider = provider.or(self.model.as_ref().and_then(|m| m.provider.as_deref()));
        let provider = provider.unwrap_or("unknown");
        let mut fields: Vec<(&str, Vec<u8>)> = Vec::new();
        let times = Object::new().i64("created", time);
        if draft.is_answer {
            let parent = self.last_user.as_deref();
            let parent =
                parent.ok_or_else(|| bad("an answer needs a message of the user before it"))?;
            let usage = &draft.usage;
            let cache = Object::new().u64("read", usage.cache_read).u64(
                "write",
                usage.cache_write.saturating_add(usage.cache_write_1h),
            );
            let tokens = Object::new()
                .u64("input", usage.input)
                .u64("output", usage.output.saturating_sub(usage.reasoning))
                .u64("reasoning", usage.reasoning)
                .raw("cache", &cache.finish());
            let path = Object::new()
                .str("cwd", &self.directory)
                .str("root", &self.root);
            let waits = draft.parts.iter().any(|p| is_call(p));
            let finish = if waits { "tool-calls" } else { "stop" };
            fields.push(("parentID", quote(parent)));
            fields.push(("role", quote("assistant")));
            fields.push(("mode", quote(&self.agent)));
            fields.push(("agent", quote(&self.agent)));
            fields.push(("path", path.finish()));
            fields.push(("cost", b"0".to_vec()));
            fields.push(("tokens", tokens.finish()));
            fields.push(("modelID", quote(&named.id)));
            fields.push(("providerID", quote(provider)));
            fields.push(("time", times.i64("completed", time).finish()));
            fields.push(("finish", quote(draft.finish.as_deref().unwrap_or(finish))));
        } else {
            let model = Object::new()
                .str("providerID", provider)
                .str("modelID", &named.id);
            fields.push(("role", quote("user")));
            fields.push(("time", times.finish()));
            fields.push(("agent", quote(&self.agent)));
            fields.push(("model", model.finish()));
        }
        let given = draft.info.clone().unwrap_or_else(|| b"{}".to_vec());
        let given = Document::parse(given).map_err(|e| bad(&e.to_string()))?;
        let root = given.root();
        let mut patch = Patch::new(root);
        for (key, value) in &fields {
            // An answer belongs to a question of this session, whatever it was an answer to.
            if *key == "parentID" && root.get(key).is_some() {
                patch.set(root, key, value);
            } else if root.get(key).is_none() {
                patch.insert(root, key, value, InsertAt::Last);
            }
        }
        Ok(patch.finish())
    }
}

fn is_call(part: &[u8]) -> bool {
    let tree = Tree::parse(part);
    tree.is_ok_and(|tree| {
        tree.root(part)
            .get("type")
            .is_some_and(|t| t.is_str("tool"))
    })
}
