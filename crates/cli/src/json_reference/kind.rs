//! What the reference is made of: answers of commands, their objects, fields and types.

use serde_json::{Map, Value, json};

/// The type of a field.
pub(crate) enum Kind {
    Text,
    /// A moment in UTC, in ISO 8601.
    Time,
    Integer,
    Number,
    Flag,
    /// Any JSON at all, as somebody else wrote it.
    Any,
    /// One of these words.
    Word(&'static [&'static str]),
    OrNull(&'static Kind),
    List(&'static Kind),
    /// An object whose names are data.
    Map(&'static Kind),
    Object(&'static Object),
    /// One of several objects.
    OneOf(&'static [&'static Object]),
}

pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) is_always: bool,
    pub(crate) means: &'static str,
}

/// A field that is always there.
pub(crate) const fn always(name: &'static str, kind: Kind, means: &'static str) -> Field {
    Field {
        name,
        kind,
        is_always: true,
        means,
    }
}

/// A field that is there where it has something to say.
pub(crate) const fn maybe(name: &'static str, kind: Kind, means: &'static str) -> Field {
    Field {
        is_always: false,
        ..always(name, kind, means)
    }
}

/// The name of a field that stands for all that have no row of their own.
pub(crate) const ANY_OTHER: &str = "*";

/// An object with all that it can hold.
pub(crate) struct Object {
    /// What it is called in schemas and headings.
    pub(crate) name: &'static str,
    pub(crate) means: &'static str,
    /// Its fields in order; several objects may share a group.
    pub(crate) groups: &'static [&'static [Field]],
}

impl Object {
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The objects that its fields may hold.
    pub(crate) fn inner(&self) -> Vec<&'static Object> {
        self.fields()
            .flat_map(|field| field.kind.objects())
            .collect()
    }
}

/// What a command prints with `--json`.
pub(crate) struct JsonAnswer {
    /// The name of its schema.
    pub(crate) name: &'static str,
    /// How it is called.
    pub(crate) call: &'static str,
    pub(crate) means: &'static str,
    /// The objects; each one that is printed is one of these.
    pub(crate) objects: &'static [&'static Object],
}

impl Kind {
    /// The objects that a value of this type may hold.
    fn objects(&self) -> Vec<&'static Object> {
        match self {
            Self::OrNull(inner) | Self::List(inner) | Self::Map(inner) => inner.objects(),
            Self::Object(object) => vec![object],
            Self::OneOf(objects) => objects.to_vec(),
            _ => Vec::new(),
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Time => json!({ "type": "string", "format": "date-time" }),
            Self::Integer => json!({ "type": "integer" }),
            Self::Number => json!({ "type": "number" }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Any => json!({}),
            Self::Word(words) => json!({ "enum": words }),
            Self::OrNull(inner) => json!({ "anyOf": [inner.schema(), { "type": "null" }] }),
            Self::List(inner) => json!({ "type": "array", "items": inner.schema() }),
            Self::Map(inner) => {
                json!({ "type": "object", "additionalProperties": inner.schema() })
            }
            Self::Object(object) => reference(object),
            Self::OneOf(objects) => one_of(objects),
        }
    }
}

fn reference(object: &Object) -> Value {
    json!({ "$ref": format!("#/$defs/{}", object.name) })
}

/// The schema of one of several objects.
pub(crate) fn one_of(objects: &[&'static Object]) -> Value {
    match objects {
        [one] => reference(one),
        several => json!({ "anyOf": several.iter().map(|one| reference(one)).collect::<Vec<_>>() }),
    }
}

/// All objects that these hold, themselves among them, each once.
pub(crate) fn with_inner(objects: &[&'static Object]) -> Vec<&'static Object> {
    let mut all: Vec<&'static Object> = Vec::new();
    let mut next: Vec<&'static Object> = objects.iter().rev().copied().collect();
    while let Some(object) = next.pop() {
        if all.iter().any(|known| std::ptr::eq(*known, object)) {
            continue;
        }
        all.push(object);
        next.extend(object.inner().into_iter().rev());
    }
    all
}

/// The schema of an object.
pub(crate) fn definition(object: &Object) -> Value {
    let mut properties = Map::new();
    let mut others = json!(false);
    for field in object.fields() {
        if field.name == ANY_OTHER {
            others = field.kind.schema();
            continue;
        }
        let mut schema = field.kind.schema();
        schema["description"] = json!(field.means);
        properties.insert(field.name.to_owned(), schema);
    }
    let required: Vec<&str> = object
        .fields()
        .filter(|field| field.is_always)
        .map(|field| field.name)
        .collect();
    json!({
        "description": object.means,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": others,
    })
}
