//! Ids of entries, held so that sessions of many entries stay small.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use rethread_json::Value;

/// How long an id can be that takes no memory of its own.
const SHORT: usize = 22;

/// The id of an entry. Most have eight digits, and some files any text.
#[derive(Clone, Debug)]
pub(crate) enum Id {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<str>),
}

impl Id {
    /// The member of that name, if it is a string.
    pub(crate) fn of(value: Value<'_>, key: &str) -> Option<Self> {
        Some(Self::from(value.get(key)?.str()?.as_ref()))
    }
}

impl Default for Id {
    fn default() -> Self {
        Self::from("")
    }
}

impl From<&str> for Id {
    fn from(id: &str) -> Self {
        let mut bytes = [0; SHORT];
        match (bytes.get_mut(..id.len()), u8::try_from(id.len())) {
            (Some(start), Ok(len)) => {
                start.copy_from_slice(id.as_bytes());
                Self::Short { len, bytes }
            }
            _ => Self::Long(id.into()),
        }
    }
}

impl Deref for Id {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Short { len, bytes } => {
                let id = bytes.get(..usize::from(*len)).unwrap_or_default();
                // They were copied from a string, so this is one.
                std::str::from_utf8(id).unwrap_or_default()
            }
            Self::Long(id) => id,
        }
    }
}

impl Borrow<str> for Id {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn ids_of_every_length_are_kept_and_found() {
        let all: Vec<String> = (0..50).map(|n| "ü".repeat(n)).collect();
        let index: HashMap<Id, usize> = all.iter().map(|id| (Id::from(&**id), id.len())).collect();
        for id in &all {
            assert_eq!(&*Id::from(&**id), id);
            assert_eq!(index.get(id.as_str()), Some(&id.len()));
        }
        assert_eq!(index.len(), all.len());
    }
}
