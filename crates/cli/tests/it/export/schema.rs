//! The JSON Schema in the docs, and whether a value fits it. It knows what our schema uses, and
//! no more.

use serde_json::Value;

pub(super) struct Schema(Value);

impl Schema {
    /// The schema that is written down.
    pub(super) fn stored() -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs/unified-ndjson.schema.json");
        let text = std::fs::read_to_string(path).unwrap();
        Self(serde_json::from_str(&text).unwrap())
    }

    /// What is wrong with a line.
    pub(super) fn wrong_line(&self, line: &Value) -> Option<String> {
        self.wrong(&self.0, line, "line")
    }

    /// What is wrong with an object that the schema has a name for.
    pub(super) fn wrong_object(&self, name: &str, object: &Value) -> Option<String> {
        let schema = &self.0["$defs"][name];
        assert!(schema.is_object(), "the schema has no `{name}`");
        self.wrong(schema, object, name)
    }

    fn wrong(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let said = |what: &str| Some(format!("{at}: {what}: {value}"));
        for (keyword, rule) in schema.as_object().unwrap() {
            let wrong = match keyword.as_str() {
                "$schema" | "title" | "description" | "$defs" => None,
                "$ref" => {
                    let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.wrong(&self.0["$defs"][name], value, at)
                }
                "oneOf" => {
                    let rules = rule.as_array().unwrap().iter();
                    let wrong: Vec<_> = rules.map(|r| self.wrong(r, value, at)).collect();
                    let fitting = wrong.iter().filter(|w| w.is_none()).count();
                    if fitting == 1 {
                        None
                    } else {
                        Some(format!("{at} fits {fitting} of several: {wrong:?}"))
                    }
                }
                "type" => {
                    let is = |name: &Value| match name.as_str().unwrap() {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "boolean" => value.is_boolean(),
                        "integer" => value.is_u64() || value.is_i64(),
                        "null" => value.is_null(),
                        other => panic!("nobody knows the type `{other}`"),
                    };
                    let fits = rule
                        .as_array()
                        .map_or_else(|| is(rule), |all| all.iter().any(is));
                    if fits { None } else { said("another type") }
                }
                "const" if value == rule => None,
                "enum" if rule.as_array().unwrap().contains(value) => None,
                "const" | "enum" => said("another word"),
                "required" => rule.as_array().unwrap().iter().find_map(|key| {
                    let is_there = value.get(key.as_str().unwrap()).is_some();
                    if is_there {
                        None
                    } else {
                        said(&format!("no {key}"))
                    }
                }),
                "properties" => rule.as_object().unwrap().iter().find_map(|(key, rule)| {
                    self.wrong(rule, value.get(key)?, &format!("{at}.{key}"))
                }),
                "items" => value
                    .as_array()?
                    .iter()
                    .enumerate()
                    .find_map(|(i, item)| self.wrong(rule, item, &format!("{at}[{i}]"))),
                "minimum" if value.as_u64() >= rule.as_u64() => None,
                "minimum" => said("too small"),
                "format" => {
                    assert_eq!(rule, "date-time");
                    let time = value.as_str()?.parse::<rethread_model::Moment>();
                    if time.is_ok() { None } else { said("no time") }
                }
                "pattern" => {
                    assert_eq!(rule, r"^1(\.|$)");
                    let text = value.as_str()?;
                    let fits = text == "1" || text.starts_with("1.");
                    if fits { None } else { said("another version") }
                }
                other => panic!("nobody knows the keyword `{other}`"),
            };
            if wrong.is_some() {
                return wrong;
            }
        }
        None
    }
}
