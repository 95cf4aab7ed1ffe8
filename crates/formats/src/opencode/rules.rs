//! Whether a store is as the client wants it: what would make it lose, skip or refuse something.

use std::collections::BTreeSet;
use std::path::Path;

use rethread_json::{Tree, Value};
use rusqlite::Connection;

use super::database::{AskError, with_database};
use super::writing::missing_column;
use super::{OpenCode, database, session_rows};
use crate::fields::string_of;
use crate::{OpenError, Reader, Rules, Store, Violation, Weight};

/// The headings under which the rules stand.
const DATABASE: &str = "Looking into a database";
const MESSAGES: &str = "What the client wants";

impl Rules for OpenCode {
    /// Measures what is at a path; none if it is not ours.
    fn check(&self, path: &Path, out: &mut dyn FnMut(Violation)) -> Result<Option<u64>, OpenError> {
        if self.at_path(path).is_empty() {
            return Ok(None);
        }
        if database::is_database(path) {
            let found = with_database(path, |db| of_database(db, path))?;
            found.into_iter().for_each(out);
            return Ok(Some(1));
        }
        // Other ways of keeping sessions are not written any more: what is damaged in them is all.
        let mut files = BTreeSet::new();
        for source in self.at_path(path) {
            let format = super::OpenCode;
            if database::is_database(&source.path) {
                if files.insert(source.path.clone()) {
                    let found = with_database(&source.path, |db| of_database(db, &source.path))?;
                    found.into_iter().for_each(&mut *out);
                }
                continue;
            }
            files.extend(format.files(&source)?);
            match format.read(&source) {
                Ok(conversation) => {
                    for note in conversation.notes {
                        let at = note.path.unwrap_or_else(|| source.path.clone());
                        out(Violation {
                            weight: Weight::Error,
                            path: at,
                            line: note.line,
                            rule: "damaged",
                            section: "Damage",
                            message: note.message,
                        });
                    }
                }
                Err(e) => out(violation(&source.path, "damaged", "Damage", e.to_string())),
            }
        }
        Ok(Some(files.len() as u64))
    }
}

fn violation(path: &Path, rule: &'static str, section: &'static str, message: String) -> Violation {
    Violation {
        weight: Weight::Error,
        path: path.to_owned(),
        line: None,
        rule,
        section,
        message,
    }
}

fn of_database(db: &Connection, path: &Path) -> Result<Vec<Violation>, AskError> {
    let mut found = Vec::new();
    for table in ["project", "session", "message", "part"] {
        if !session_rows::has_table(db, table)? {
            let message = format!("there is no table `{table}`");
            found.push(violation(path, "missing-table", DATABASE, message));
            return Ok(found);
        }
        // Only these tables: the others are not ours to look into.
        let mut query = db.prepare(&format!("PRAGMA integrity_check({table})"))?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let said: String = row.get(0)?;
            if said != "ok" {
                found.push(violation(path, "integrity", DATABASE, said));
            }
        }
    }
    if let Some(message) = missing_column(db)? {
        found.push(violation(path, "missing-column", DATABASE, message));
        return Ok(found);
    }
    for (rule, sql, what) in LINKS {
        let mut query = db.prepare(sql)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (id, other): (String, String) = (row.get(0)?, row.get(1)?);
            let message = what.replace("{}", &id).replace("[]", &other);
            found.push(violation(path, rule, MESSAGES, message));
        }
    }
    let mut said = Checked {
        path,
        found: &mut found,
        messages: BTreeSet::new(),
        answers: Vec::new(),
    };
    said.messages(db)?;
    said.parts(db)?;
    Ok(found)
}

/// Rows that name a row which is not there.
const LINKS: [(&str, &str, &str); 3] = [
    (
        "no-project",
        "SELECT id, project_id FROM session WHERE project_id NOT IN (SELECT id FROM project)
            ORDER BY id",
        "the session `{}` is of project `[]`, which is not there",
    ),
    (
        "no-session",
        "SELECT id, session_id FROM message WHERE session_id NOT IN (SELECT id FROM session)
            ORDER BY id",
        "the message `{}` is of session `[]`, which is not there",
    ),
    (
        "no-message",
        "SELECT id, message_id FROM part WHERE message_id NOT IN (SELECT id FROM message)
            ORDER BY id",
        "the part `{}` is of message `[]`, which is not there",
    ),
];

struct Checked<'a> {
    path: &'a Path,
    found: &'a mut Vec<Violation>,
    messages: BTreeSet<String>,
    /// Answers, and what they are answers to.
    answers: Vec<(String, String)>,
}

impl Checked<'_> {
    fn add(&mut self, rule: &'static str, message: String) {
        self.found
            .push(violation(self.path, rule, MESSAGES, message));
    }

    fn messages(&mut self, db: &Connection) -> Result<(), AskError> {
        self.each(db, "message", |checked, id, info| {
            let role = string_of(info, "role").unwrap_or_default();
            let needed: &[&[&str]] = match role.as_str() {
                "user" => &[
                    &["time", "created"],
                    &["agent"],
                    &["model", "providerID"],
                    &["model", "modelID"],
                ],
                "assistant" => &[
                    &["time", "created"],
                    &["parentID"],
                    &["mode"],
                    &["agent"],
                    &["path", "cwd"],
                    &["path", "root"],
                    &["cost"],
                    &["tokens", "input"],
                    &["tokens", "output"],
                    &["tokens", "reasoning"],
                    &["tokens", "cache", "read"],
                    &["tokens", "cache", "write"],
                    &["modelID"],
                    &["providerID"],
                ],
                _ => {
                    checked.add("role", format!("the message `{id}` is of role `{role}`"));
                    return;
                }
            };
            checked.needs("message", id, info, needed);
            checked.messages.insert(id.to_owned());
            let parent = string_of(info, "parentID").map(|parent| (id.to_owned(), parent));
            checked.answers.extend(parent);
        })?;
        for (id, parent) in std::mem::take(&mut self.answers) {
            if !self.messages.contains(&parent) {
                let message = format!("the message `{id}` answers `{parent}`, which is not there");
                self.add("no-question", message);
            }
        }
        Ok(())
    }

    fn parts(&mut self, db: &Connection) -> Result<(), AskError> {
        self.each(db, "part", |checked, id, part| {
            let type_name = string_of(part, "type").unwrap_or_default();
            let status = part.at(&["state", "status"]).and_then(Value::str);
            let needed: &[&[&str]] = match type_name.as_str() {
                "" => &[&["type"]],
                "text" | "reasoning" => &[&["text"]],
                "file" => &[&["mime"], &["url"]],
                "tool" => match status.as_deref() {
                    Some("completed") => &[
                        &["callID"],
                        &["tool"],
                        &["state", "input"],
                        &["state", "output"],
                        &["state", "title"],
                        &["state", "metadata"],
                        &["state", "time", "start"],
                        &["state", "time", "end"],
                    ],
                    Some("error") => &[
                        &["callID"],
                        &["tool"],
                        &["state", "input"],
                        &["state", "error"],
                    ],
                    Some("pending" | "running") => &[&["callID"], &["tool"], &["state", "input"]],
                    _ => {
                        let status = status.unwrap_or_default();
                        let message = format!("the call in part `{id}` is of status `{status}`");
                        checked.add("status", message);
                        return;
                    }
                },
                _ => &[],
            };
            checked.needs("part", id, part, needed);
        })
    }

    fn needs(&mut self, what: &str, id: &str, value: Value<'_>, needed: &[&[&str]]) {
        for path in needed.iter().filter(|path| value.at(path).is_none()) {
            let message = format!("the {what} `{id}` has no `{}`", path.join("."));
            self.add("required-field", message);
        }
    }

    fn each(
        &mut self,
        db: &Connection,
        table: &str,
        mut check: impl FnMut(&mut Self, &str, Value<'_>),
    ) -> Result<(), AskError> {
        let mut query = db.prepare(&format!("SELECT id, data FROM {table} ORDER BY id"))?;
        let mut rows = query.query([])?;
        let mut tree = Tree::default();
        while let Some(row) = rows.next()? {
            let id: String = row.get(0)?;
            let data = row.get_ref(1)?.as_bytes().unwrap_or_default();
            if tree.parse_into(data).is_ok() && tree.root(data).is_object() {
                check(self, &id, tree.root(data));
            } else {
                let message = format!("the data of {table} `{id}` is no JSON object");
                self.add("json", message);
            }
        }
        Ok(())
    }
}
