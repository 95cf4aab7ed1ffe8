//! How the things that are said in a session follow each other.

use rethread_json::{Array, Object, Value};

/// How a list of things that are said makes a tree, where not each follows the one before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageTree {
    /// The places of those that follow others than the ones before them, in order, each with the
    /// place that it follows; none begins the conversation anew.
    pub parts: Vec<(usize, Option<usize>)>,
    /// The place where the conversation is, if that is not the last.
    pub end: Option<usize>,
}

impl MessageTree {
    /// The place that a place follows.
    pub fn parent_of(&self, place: usize) -> Option<usize> {
        match self.parts.binary_search_by_key(&place, |(at, _)| *at) {
            Ok(found) => self.parts.get(found).and_then(|(_, after)| *after),
            Err(_) => place.checked_sub(1),
        }
    }

    /// The way to where the conversation is, of so many things.
    pub fn active_path(&self, count: usize) -> Vec<usize> {
        let mut way = Vec::new();
        let mut met = vec![false; count];
        let mut at = self.end.or_else(|| count.checked_sub(1));
        while let Some(place) = at {
            // It may come from a file in which somebody made a circle.
            match met.get_mut(place) {
                Some(is_met) if !*is_met => *is_met = true,
                _ => break,
            }
            way.push(place);
            at = self.parent_of(place);
        }
        way.reverse();
        way
    }

    /// As JSON; none where each follows the one before it.
    pub(super) fn to_json(&self) -> Option<Vec<u8>> {
        if *self == Self::default() {
            return None;
        }
        let parts = self.parts.iter().fold(Array::new(), |all, (at, after)| {
            let after = after.map_or("null".to_owned(), |after| after.to_string());
            let part = Array::new().raw(at.to_string().as_bytes());
            all.raw(&part.raw(after.as_bytes()).finish())
        });
        let end = self.end.map(|end| end.to_string());
        let json = Object::new()
            .raw("parts", &parts.finish())
            .opt_raw("end", end.as_ref().map(String::as_bytes));
        Some(json.finish())
    }

    /// From JSON.
    pub(super) fn from_json(json: Value<'_>) -> Option<Self> {
        let number = |value: Value<'_>| usize::try_from(value.u64()?).ok();
        let part = |part: Value<'_>| {
            let mut items = part.items();
            let at = number(items.next()?)?;
            Some((at, items.next().and_then(number)))
        };
        let parts = json.get("parts")?.items().map(part);
        let mut parts: Vec<_> = parts.collect::<Option<_>>()?;
        parts.sort_unstable();
        Some(Self {
            parts,
            end: json.get("end").and_then(number),
        })
    }
}

#[cfg(test)]
mod tests {
    use rethread_json::Tree;

    use super::*;

    #[test]
    fn a_tree_and_the_way_in_it() {
        let shape = MessageTree {
            parts: vec![(3, Some(0)), (5, None), (6, Some(3))],
            end: None,
        };
        let json = shape.to_json().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&json),
            r#"{"parts":[[3,0],[5,null],[6,3]]}"#
        );
        let tree = Tree::parse(&json).unwrap();
        assert_eq!(
            MessageTree::from_json(tree.root(&json)),
            Some(shape.clone())
        );
        assert_eq!(shape.active_path(8), [0, 3, 6, 7]);
        let end = Some(4);
        assert_eq!(MessageTree { end, ..shape }.active_path(8), [0, 3, 4]);
        assert_eq!(MessageTree::default().to_json(), None);
    }

    #[test]
    fn a_circle_ends() {
        let parts = vec![(1, Some(2)), (2, Some(1))];
        assert_eq!(
            MessageTree {
                parts,
                end: Some(2)
            }
            .active_path(3),
            [1, 2]
        );
    }
}
