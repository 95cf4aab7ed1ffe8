//! The same session in several places: a description that git carried along is not a session.

use std::collections::BTreeMap;

use rethread_formats::{Source, by_name};

/// Leaves out what only describes a session that is whole somewhere else. `source_of` gives, for
/// each item, the session it stands for.
pub(crate) fn without_mere_descriptions<T>(
    items: Vec<T>,
    source_of: impl Fn(&T) -> Source,
) -> Vec<T> {
    let mut places: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
    for item in &items {
        let source = source_of(item);
        *places.entry((source.format, source.id)).or_default() += 1;
    }
    if places.values().all(|n| *n == 1) {
        return items;
    }
    let whole = |source: &Source| by_name(source.format).is_none_or(|f| f.is_whole(source));
    // Only those in several places are looked at again.
    let mut whole_somewhere: BTreeMap<(&'static str, String), bool> = BTreeMap::new();
    for item in &items {
        let source = source_of(item);
        let key = (source.format, source.id.clone());
        if places.get(&key).is_some_and(|n| *n > 1) {
            *whole_somewhere.entry(key).or_default() |= whole(&source);
        }
    }
    let keeps = |item: &T| {
        let source = source_of(item);
        let key = (source.format, source.id.clone());
        !whole_somewhere.get(&key).copied().unwrap_or(false) || whole(&source)
    };
    items.into_iter().filter(keeps).collect()
}
