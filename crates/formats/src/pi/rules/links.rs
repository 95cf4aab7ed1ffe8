//! Ids, and who names whom.

use std::collections::HashMap;

use crate::Weight;
use crate::check::known::shown_text;
use crate::kit::find_circles;

/// The ids of a file while it is read.
#[derive(Debug, Default)]
pub(super) struct CheckedLinks {
    /// The place of each id, and its line.
    ids: HashMap<String, (usize, u64)>,
    /// The parent that each entry names, by places; filled in at the end.
    parents: Vec<SeenParent>,
    refers: Vec<(&'static str, String, u64)>,
}

#[derive(Debug)]
struct SeenParent {
    child: usize,
    id: String,
    line: u64,
}

/// An entry whose parent stands below it.
struct LateParent {
    child: usize,
    line: u64,
}

/// Something that is wrong with a link.
#[derive(Debug)]
pub(super) struct LinkViolation {
    pub(super) weight: Weight,
    pub(super) line: u64,
    pub(super) rule: &'static str,
    pub(super) message: String,
}

impl CheckedLinks {
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Notes an entry; the line of another one with the same id.
    pub(super) fn add(&mut self, id: String, line: u64) -> Option<u64> {
        let place = self.ids.len();
        let (_, before) = *self.ids.entry(id).or_insert((place, line));
        (before != line).then_some(before)
    }

    /// Notes the parent of an entry that was just added.
    pub(super) fn parent(&mut self, child: &str, parent: &str, line: u64) {
        if let Some((child, first)) = self.ids.get(child).copied()
            && first == line
        {
            let id = parent.to_owned();
            self.parents.push(SeenParent { child, id, line });
        }
    }

    /// Notes that a field names another entry.
    pub(super) fn refers(&mut self, key: &'static str, id: &str, line: u64) {
        self.refers.push((key, id.to_owned(), line));
    }

    /// What is wrong, now that all ids are known.
    pub(super) fn wrong(self) -> Vec<LinkViolation> {
        let mut wrong = Vec::new();
        let mut parent_of: Vec<Option<usize>> = vec![None; self.ids.len()];
        let mut suspects = Vec::new();
        for parent in &self.parents {
            let line = parent.line;
            match self.ids.get(&parent.id) {
                None => wrong.push(LinkViolation {
                    weight: Weight::Error,
                    line,
                    rule: "orphan",
                    message: format!("the parent {} is nowhere", shown_text(&parent.id)),
                }),
                Some((place, at)) => {
                    parent_of[parent.child] = Some(*place);
                    if *at >= line {
                        suspects.push(LateParent {
                            child: parent.child,
                            line,
                        });
                        wrong.push(LinkViolation {
                            weight: Weight::Warning,
                            line,
                            rule: "parent-later",
                            message: format!("the parent stands below it, in line {at}"),
                        });
                    }
                }
            }
        }
        wrong.extend(circles(&parent_of, &suspects));
        for (key, id, line) in &self.refers {
            if !self.ids.contains_key(id) {
                wrong.push(LinkViolation {
                    weight: Weight::Warning,
                    line: *line,
                    rule: "unknown-entry",
                    message: format!("`{key}` names {}, which is nowhere", shown_text(id)),
                });
            }
        }
        wrong
    }
}

/// The circles of parents. Each has an entry whose parent stands below it, so only ways from those
/// are walked.
fn circles(parent_of: &[Option<usize>], suspects: &[LateParent]) -> Vec<LinkViolation> {
    let starts = suspects.iter().map(|late| late.child);
    let circles = find_circles(parent_of.len(), starts, |node| {
        parent_of.get(node).copied()?
    });
    // They come in the order of the suspects.
    let mut suspects = suspects.iter();
    let circles = circles.iter().filter_map(|circle| {
        let late = suspects.find(|late| late.child == circle.start)?;
        Some(LinkViolation {
            weight: Weight::Error,
            line: late.line,
            rule: "circle",
            message: "the way to the root goes in a circle".to_owned(),
        })
    });
    circles.collect()
}
