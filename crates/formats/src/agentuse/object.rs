//! Objects that are written: in the order of keys that the program has, laid out as it does.

use rethread_json::{Object, Patch, Value, pretty};

/// What an object has by default, in order; none where a member is only there if it was given.
pub(super) type DefaultMembers<'a> = &'a [(&'a str, Option<Vec<u8>>)];

/// An object with these members in their order, each as it was given or else by default; then all
/// others that were given, as they were. An error names what is no object.
pub(super) fn merged_object(
    given: Option<Value<'_>>,
    name: &str,
    defaults: DefaultMembers<'_>,
) -> Result<Vec<u8>, String> {
    if given.is_some_and(|g| !g.is_object()) {
        return Err(format!("`{name}` is not an object"));
    }
    let mut object = Object::new();
    for (key, default) in defaults {
        let own = given.and_then(|g| g.get(key)).map(Value::raw);
        object = object.opt_raw(key, own.or(default.as_deref()));
    }
    for (key, value) in given.into_iter().flat_map(Value::members) {
        let Some(text) = key.text().filter(|t| !t.lossy) else {
            return Err(format!("`{name}` has a key that is not text"));
        };
        if !defaults.iter().any(|(known, _)| *known == text.text) {
            object = object.raw(&text.text, value.raw());
        }
    }
    Ok(object.finish())
}

/// An object as the program lays it out: two spaces a level, no line break at the end.
pub(super) fn laid_out(compact: &[u8]) -> Vec<u8> {
    pretty(compact, 2, 0)
}

/// Sets every member of `update` in an object, but for those.
pub(super) fn set_all<'a>(
    patch: &mut Patch<'a>,
    object: Value<'a>,
    update: Value<'_>,
    but: &[&str],
) {
    for (key, value) in update.members() {
        let Some(name) = key.str() else { continue };
        if !but.contains(&name.as_ref()) {
            patch.set(object, &name, value.raw());
        }
    }
}

/// Sets every member of `update` in the object of that name, which is made if it is missing.
pub(super) fn set_in<'a>(
    patch: &mut Patch<'a>,
    holder: Value<'a>,
    name: &str,
    update: Value<'_>,
    but: &[&str],
) -> Option<Value<'a>> {
    let Some(object) = holder.get(name).filter(|o| o.is_object()) else {
        patch.set(holder, name, update.raw());
        return None;
    };
    set_all(patch, object, update, but);
    Some(object)
}

/// A message with an update in it, as the program merges them: times, tokens and what a cache did
/// are merged member by member, all else of the user and the assistant is replaced.
pub(super) fn merged_message(message: Value<'_>, update: Value<'_>) -> Vec<u8> {
    let mut patch = Patch::new(message);
    if let Some(time) = update.get("time") {
        set_in(&mut patch, message, "time", time, &[]);
    }
    if let Some(user) = update.get("user") {
        set_in(&mut patch, message, "user", user, &[]);
    }
    if let Some(new) = update.get("assistant") {
        let assistant = set_in(&mut patch, message, "assistant", new, &["tokens"]);
        if let (Some(assistant), Some(new)) = (assistant, new.get("tokens")) {
            let tokens = set_in(&mut patch, assistant, "tokens", new, &["cache"]);
            if let (Some(tokens), Some(new)) = (tokens, new.get("cache")) {
                set_in(&mut patch, tokens, "cache", new, &[]);
            }
        }
    }
    let known = ["id", "sessionID", "time", "user", "assistant", "parts"];
    set_all(&mut patch, message, update, &known);
    patch.finish()
}

/// A part with an update in it: the members that it names are replaced.
pub(super) fn merged_part(part: Value<'_>, update: Value<'_>) -> Vec<u8> {
    let mut patch = Patch::new(part);
    set_all(&mut patch, part, update, &["id", "sessionID", "messageID"]);
    patch.finish()
}

#[cfg(test)]
mod tests {
    use rethread_json::{Document, compact};

    use super::*;

    fn merge(old: &str, new: &str, how: fn(Value<'_>, Value<'_>) -> Vec<u8>) -> String {
        let old = Document::parse(laid_out(old.as_bytes())).unwrap();
        let new = Document::parse(new.as_bytes().to_vec()).unwrap();
        let merged = how(old.root(), new.root());
        assert_eq!(laid_out(&merged), merged, "laid out as the program does");
        String::from_utf8(compact(&merged).unwrap()).unwrap()
    }

    #[test]
    fn messages_are_merged_as_the_program_does() {
        let old = r#"{"id":"M","time":{"created":1},"user":{"prompt":{"task":"a","user":"b"}},"assistant":{"system":["s"],"cost":0,"tokens":{"input":0,"output":0,"cache":{"read":0,"write":7}}}}"#;
        let new = r#"{"id":"X","time":{"completed":2},"user":{"prompt":{"task":"c"}},"assistant":{"cost":1.50,"tokens":{"input":5,"cache":{"read":3}}},"parts":[]}"#;
        assert_eq!(
            merge(old, new, merged_message),
            r#"{"id":"M","time":{"created":1,"completed":2},"user":{"prompt":{"task":"c"}},"assistant":{"system":["s"],"cost":1.50,"tokens":{"input":5,"output":0,"cache":{"read":3,"write":7}}}}"#
        );
        assert_eq!(
            merge(r#"{"id":"M"}"#, new, merged_message),
            r#"{"id":"M","time":{"completed":2},"user":{"prompt":{"task":"c"}},"assistant":{"cost":1.50,"tokens":{"input":5,"cache":{"read":3}}}}"#
        );
    }

    #[test]
    fn parts_are_merged_as_the_program_does() {
        let old = r#"{"type":"tool","state":{"status":"running","input":1},"id":"P"}"#;
        let new = r#"{"state":{"status":"completed"},"id":"X","more":[]}"#;
        assert_eq!(
            merge(old, new, merged_part),
            r#"{"type":"tool","state":{"status":"completed"},"id":"P","more":[]}"#
        );
    }

    #[test]
    fn members_come_in_order_and_unknown_ones_last() {
        let given = Document::parse(br#"{"z":1,"b":2}"#.to_vec()).unwrap();
        let defaults = [
            ("a", Some(b"0".to_vec())),
            ("b", Some(b"0".to_vec())),
            ("c", None),
        ];
        let object = merged_object(Some(given.root()), "x", &defaults).unwrap();
        assert_eq!(object, br#"{"a":0,"b":2,"z":1}"#);
    }
}
