//! The same session in several places: a description that git carried along is not a session.

use std::collections::BTreeMap;

use rethread_formats::{FormatRef, Source};

/// Leaves out what only describes a session that is whole somewhere else. `source_of` gives, for
/// each item, the session it stands for.
pub(crate) fn without_mere_descriptions<T>(
    items: Vec<T>,
    source_of: impl Fn(&T) -> Option<Source>,
) -> Vec<T> {
    let mut places: BTreeMap<(FormatRef, String), usize> = BTreeMap::new();
    for source in items.iter().filter_map(&source_of) {
        *places.entry((source.format, source.id)).or_default() += 1;
    }
    if places.values().all(|n| *n == 1) {
        return items;
    }
    let whole = |source: &Source| source.format.store().is_whole(source);
    // Only those in several places are looked at again.
    let mut whole_somewhere: BTreeMap<(FormatRef, String), bool> = BTreeMap::new();
    for source in items.iter().filter_map(&source_of) {
        let key = (source.format, source.id.clone());
        if places.get(&key).is_some_and(|n| *n > 1) {
            *whole_somewhere.entry(key).or_default() |= whole(&source);
        }
    }
    let keeps = |item: &T| {
        let Some(source) = source_of(item) else {
            return true;
        };
        let key = (source.format, source.id.clone());
        !whole_somewhere.get(&key).copied().unwrap_or(false) || whole(&source)
    };
    items.into_iter().filter(keeps).collect()
}
