//! A session as the document that `opencode import` takes: for where there is no database yet, because
//! only the client makes one.

use std::collections::HashMap;
use std::path::Path;

use rethread_disk::{Created, Mode, create, ensure_folder, remove_file};
use rethread_json::{Array, Object, Passed, Skim};

use super::carrier::{SESSION, Tables, bad_input};
use super::own::spelled_row;
use crate::carry::{Put, join_checked};
use crate::{WriteError, Writing};

/// The tables of a session: those of 1.18, as far as a session is in them.
pub(super) const SCHEMA: &str = include_str!("schema.sql");

/// Writes a session, and each sub-agent that came along, as a document into a folder. Nothing that is
/// there is touched.
pub(super) fn put(
    w: &Writing<'_>,
    folder: &Path,
    family: &[Tables],
    ids: &[String],
) -> Result<Put, WriteError> {
    let near = folder.ancestors().find(|f| f.is_dir()).unwrap_or(folder);
    let mode = Mode::like(near)?;
    ensure_folder(folder, &mode, w.durability)?;
    let mut made = Vec::new();
    let mut write = |tables: &Tables, id: &str| {
        let path = join_checked(folder, &format!("{id}.json"))?;
        let bytes = document(tables).ok_or_else(|| bad_input("a row is damaged"))?;
        match create(&path, &bytes, mode, w.durability)? {
            Created::New => made.push(path.clone()),
            Created::Existed => {
                let id = id.to_owned();
                return Err(WriteError::Exists { id, path });
            }
        }
        Ok(path)
    };
    // Its own comes last: it is there when the others are.
    let mut all = family.iter().zip(ids).rev();
    let written = all.try_fold(None, |_, (tables, id)| write(tables, id).map(Some));
    match written {
        Ok(Some(path)) => Ok(Put::Document {
            path,
            command: "opencode import",
        }),
        Ok(None) => Err(bad_input("there is no session in it")),
        Err(e) => {
            for path in made {
                let _ = remove_file(&path);
            }
            Err(e)
        }
    }
}

/// The document of a session: what it is, and its messages with their parts.
fn document(tables: &Tables) -> Option<Vec<u8>> {
    let session = tables.get(SESSION)?.first()?;
    let info = info(Skim::checking(session).pass().ok()?);
    let mut parts: HashMap<String, Array> = HashMap::new();
    for line in tables.get("part").into_iter().flatten() {
        let row = Skim::checking(line).pass().ok()?;
        let message = row.get("message_id")?.str()?.into_owned();
        let of_message = parts.entry(message).or_default();
        *of_message = std::mem::take(of_message).raw(&spelled_row(row.get("data")?, Some(row)));
    }
    let mut messages = Array::new();
    for line in tables.get("message").into_iter().flatten() {
        let row = Skim::checking(line).pass().ok()?;
        let own = parts.remove(&*row.get("id")?.str()?).unwrap_or_default();
        let message = Object::new()
            .raw("info", &spelled_row(row.get("data")?, Some(row)))
            .raw("parts", &own.finish());
        messages = messages.raw(&message.finish());
    }
    let whole = Object::new()
        .raw("info", &info)
        .raw("messages", &messages.finish());
    let mut bytes = rethread_json::pretty(&whole.finish(), 2, 0);
    bytes.push(b'\n');
    Some(bytes)
}

/// What a session is, in the words of the client's exports.
fn info(row: Passed<'_>) -> Vec<u8> {
    const COLUMNS: [(&str, &str); 10] = [
        ("id", "id"),
        ("slug", "slug"),
        ("project_id", "projectID"),
        ("parent_id", "parentID"),
        ("directory", "directory"),
        ("path", "path"),
        ("title", "title"),
        ("version", "version"),
        ("metadata", "metadata"),
        ("revert", "revert"),
    ];
    let said = |column: &str| row.get(column).filter(|v| !v.is_null()).map(Passed::raw);
    let object = COLUMNS.iter().fold(Object::new(), |object, (column, key)| {
        object.opt_raw(key, said(column))
    });
    let time = Object::new()
        .opt_raw("created", said("time_created"))
        .opt_raw("updated", said("time_updated"));
    object.raw("time", &time.finish()).finish()
}
