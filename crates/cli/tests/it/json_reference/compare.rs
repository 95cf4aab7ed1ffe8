//! Commands that are run, and what they print compared with the schemas.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::table::kind::{JsonAnswer, definition, one_of, with_inner};
use super::{all_answers, validator};
use crate::world::{self, World};

/// A world whose commands are compared with their schemas.
pub(super) struct Schemas {
    pub(super) w: World,
    pub(super) all: BTreeMap<&'static str, Value>,
    seen: RefCell<BTreeSet<&'static str>>,
    wrong: RefCell<Vec<String>>,
}

impl Schemas {
    pub(super) fn new(w: World) -> Self {
        let all = all_answers().map(|answer| (answer.name, schema(answer)));
        Self {
            w,
            all: all.collect(),
            seen: RefCell::default(),
            wrong: RefCell::default(),
        }
    }

    /// Runs a command; each line of its answer must fit, and each line that it says beside.
    pub(super) fn run(&self, name: &'static str, args: &[&str]) -> Vec<Value> {
        let mut command = self.w.command(args);
        command.arg("--json");
        let answer = world::answer(command.output().unwrap());
        let twice = answer.out.lines().flat_map(names_twice);
        let twice = twice.map(|field| format!("{args:?}: `{field}` stands twice in an object"));
        self.wrong.borrow_mut().extend(twice);
        let lines: Vec<Value> = answer.out.lines().map(with_halves).collect();
        for line in &lines {
            self.compare(name, line, args);
        }
        for line in answer.err.lines().map(world::json) {
            let kind = if line.get("error").is_some() {
                "error"
            } else {
                "note"
            };
            self.compare(kind, &line, args);
        }
        lines
    }

    /// The same for a command that must have something to say.
    pub(super) fn says(&self, name: &'static str, args: &[&str]) -> Vec<Value> {
        let lines = self.run(name, args);
        if lines.is_empty() {
            let mut wrong = self.wrong.borrow_mut();
            wrong.push(format!("{args:?} printed nothing"));
        }
        lines
    }

    fn compare(&self, name: &'static str, value: &Value, args: &[&str]) {
        let found = validator::wrong(&self.all[name], value).into_iter();
        let mut wrong = self.wrong.borrow_mut();
        wrong.extend(found.map(|what| format!("{args:?}: {name}{what}")));
        self.seen.borrow_mut().insert(name);
    }

    /// All must have fitted, and all of these must have been there.
    pub(super) fn end(&self, names: impl IntoIterator<Item = &'static str>) {
        let wrong = self.wrong.borrow();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let seen = self.seen.borrow();
        let missing: Vec<&str> = names.into_iter().filter(|n| !seen.contains(n)).collect();
        assert_eq!(missing, [""; 0], "nothing printed these");
    }
}

/// The names that an object has twice, but for those in what somebody else wrote.
pub(super) fn names_twice(line: &str) -> Vec<String> {
    let document = rethread_json::Document::parse(line.as_bytes().to_vec()).unwrap();
    let mut todo = vec![document.root()];
    let mut found = Vec::new();
    while let Some(value) = todo.pop() {
        todo.extend(value.items());
        let mut names = BTreeSet::new();
        for (name, value) in value.members() {
            let name = name.str().unwrap().into_owned();
            if !["input", "raw", "details", "structured"].contains(&name.as_str()) {
                todo.push(value);
            }
            found.extend((!names.insert(name.clone())).then_some(name));
        }
    }
    found
}

/// A line of an answer. Half of a character stays as it stands, which this reader refuses: any other
/// character will do.
fn with_halves(line: &str) -> Value {
    let read = serde_json::from_str(line);
    read.unwrap_or_else(|_| world::json(&line.replace("\\ud", "\\u0")))
}

/// The schema of what one command prints on a line.
pub(super) fn schema(answer: &JsonAnswer) -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": answer.call,
        "description": answer.means,
    });
    if let Value::Object(members) = one_of(answer.objects) {
        for (key, value) in members {
            schema[key] = value;
        }
    }
    let all = with_inner(answer.objects).into_iter();
    let defs: Map<String, Value> = all.map(|o| (o.name.to_owned(), definition(o))).collect();
    schema["$defs"] = Value::Object(defs);
    schema
}
