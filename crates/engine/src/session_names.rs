//! What to call the sessions of a list.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rethread_catalog::{Listing, ShortIds};
use rethread_model::Summary;

/// What to call the sessions of a list.
#[derive(Debug, Default)]
pub struct SessionNames {
    library: ShortIds,
    /// Sessions at paths that the user named, which nothing else leads to, by their paths and ids.
    elsewhere: HashMap<(PathBuf, String), NameAtPath>,
}

#[derive(Debug)]
struct NameAtPath {
    /// The path as the user typed it.
    typed: String,
    /// What to call it there, where it is not the only one.
    id: Option<String>,
}

impl SessionNames {
    /// The names of everything that was found.
    pub(crate) fn of_library(found: &Listing) -> Self {
        Self {
            library: ShortIds::new(&found.sources, &found.sessions),
            elsewhere: HashMap::new(),
        }
    }

    /// A name of a session that every command takes, as long as nothing new appears.
    pub fn name_of(&self, session: &Summary) -> String {
        let key = (session.path.clone(), session.head.id.clone());
        match self.elsewhere.get(&key) {
            Some(NameAtPath {
                typed,
                id: Some(id),
            }) => format!("{typed}#{id}"),
            Some(NameAtPath { typed, id: None }) => typed.clone(),
            None => self.library.name(session),
        }
    }

    /// Calls sessions at a path that will not stay by their ids alone.
    pub fn forget_path(&mut self, typed: &str) {
        self.elsewhere.retain(|_, name| name.typed != typed);
    }

    /// Adds what is at a path that the user named, unless the library knows it.
    pub(crate) fn add_path(&mut self, typed: &str, there: &[Summary], known: &HashSet<&Path>) {
        let ids = ShortIds::new(&[], there);
        for session in there.iter().filter(|s| !known.contains(s.path.as_path())) {
            let key = (session.path.clone(), session.head.id.clone());
            let name = NameAtPath {
                typed: typed.to_owned(),
                id: (there.len() > 1).then(|| ids.short_id(&session.head.id)),
            };
            self.elsewhere.insert(key, name);
        }
    }
}
