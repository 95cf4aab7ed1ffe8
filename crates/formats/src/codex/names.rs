//! The names that people gave their sessions: one file a home, to which the client only appends.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rethread_disk::read_small;
use rethread_json::{Tree, split_lines};

use crate::fields::string_of;

/// The file in a home.
pub(super) const INDEX: &str = "session_index.jsonl";

type NamesById = Arc<HashMap<String, String>>;

/// The names of a home as they were when the file had this length and time.
struct CachedNames {
    index: PathBuf,
    stamp: (u64, Option<SystemTime>),
    names: NamesById,
}

/// The names that were read last: a list asks once for every session of a home.
static KEPT: Mutex<Option<CachedNames>> = Mutex::new(None);

/// The name of a session in a home.
pub(super) fn name_of(home: &Path, id: &str) -> Option<String> {
    names(&home.join(INDEX))?.get(id).cloned()
}

fn names(index: &Path) -> Option<NamesById> {
    let meta = std::fs::metadata(index).ok()?;
    let stamp = (meta.len(), meta.modified().ok());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(k) = kept.as_ref()
        && k.index == index
        && k.stamp == stamp
    {
        return Some(k.names.clone());
    }
    let names = NamesById::new(read(&read_small(index).ok()?));
    *kept = Some(CachedNames {
        index: index.to_owned(),
        stamp,
        names: names.clone(),
    });
    Some(names)
}

/// The last name of each session; lines that are none are passed over, as the client does.
fn read(bytes: &[u8]) -> HashMap<String, String> {
    let mut tree = Tree::default();
    let mut names = HashMap::new();
    for (_, line) in split_lines(bytes) {
        if tree.parse_into(line).is_err() {
            continue;
        }
        let entry = tree.root(line);
        let name = string_of(entry, "thread_name").map(|n| n.trim().to_owned());
        if let (Some(id), Some(name)) = (string_of(entry, "id"), name)
            && !name.is_empty()
        {
            names.insert(id, name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_counts_and_damage_is_passed_over() {
        let names = read(
            b"{\"id\":\"a\",\"thread_name\":\"one\"}\n\0\0\n{\"id\":\"b\"}\n\
              {\"id\":\"a\",\"thread_name\":\" two \"}\n{\"id\":\"a\",\"thread_name\":\" \"}\n{\"id\":",
        );
        assert_eq!(names.len(), 1);
        assert_eq!(names.get("a").map(String::as_str), Some("two"));
    }
}
