//! Whether a value fits a schema, for what our schemas say: `$ref`, `anyOf`, `enum`, `type`, `items`,
//! `properties`, `required` and `additionalProperties`. Anything else in a schema is a mistake here.

use serde_json::Value;

const KNOWN: [&str; 12] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "format",
    "anyOf",
    "enum",
    "type",
    "items",
    "properties",
    "required",
];

/// What is wrong with a value, with the way to it; nothing if it fits.
pub(super) fn wrong(schema: &Value, value: &Value) -> Vec<String> {
    wrong_part(schema, schema, value)
}

/// The same for a part of a schema.
fn wrong_part(schema: &Value, part: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![(part, value, String::new())];
    while let Some((rules, value, at)) = todo.pop() {
        for key in rules.as_object().unwrap().keys() {
            let is_known = KNOWN.contains(&key.as_str()) || key == "additionalProperties";
            assert!(is_known, "`{key}` is not checked");
        }
        if let Some(name) = rules["$ref"].as_str() {
            let name = name.strip_prefix("#/$defs/").unwrap();
            todo.push((&schema["$defs"][name], value, at.clone()));
        }
        if let Some(either) = rules["anyOf"].as_array() {
            let fits = |one: &Value| wrong_part(schema, one, value).is_empty();
            if !either.iter().any(fits) {
                found.push(format!("{at}: fits none: {value}"));
            }
        }
        if let Some(words) = rules["enum"].as_array()
            && !words.contains(value)
        {
            found.push(format!("{at}: not one of the words: {value}"));
        }
        if let Some(kind) = rules["type"].as_str()
            && !is_a(kind, value)
        {
            found.push(format!("{at}: not a {kind}: {value}"));
        }
        if let (Some(items), Some(values)) = (rules.get("items"), value.as_array()) {
            let each = values.iter().enumerate();
            todo.extend(each.map(|(i, value)| (items, value, format!("{at}[{i}]"))));
        }
        let Some(members) = value.as_object() else {
            continue;
        };
        for name in rules["required"].as_array().into_iter().flatten() {
            if !members.contains_key(name.as_str().unwrap()) {
                found.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, value) in members {
            let at = format!("{at}.{name}");
            match (
                rules["properties"].get(name),
                &rules["additionalProperties"],
            ) {
                (Some(rules), _) => todo.push((rules, value, at)),
                (None, Value::Bool(false)) => found.push(format!("{at}: is not in the schema")),
                (None, Value::Null) => {}
                (None, others) => todo.push((others, value, at)),
            }
        }
    }
    found
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    }
}
