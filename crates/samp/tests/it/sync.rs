//! Two folders, kept the same by copying files at random moments in random order.

use std::{collections::BTreeMap, collections::BTreeSet, fs};

use proptest::prelude::*;

use crate::post::{NOW, Post};

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// Somebody on one side writes to one of both readers.
    Send { left: bool, writer: u8, reader: u8 },
    /// One log is copied to the other side, or a part of it, as a sync tool may in the middle.
    Copy { left: bool, writer: u8, whole: bool },
    /// The other side has the log under the name of a conflict copy.
    Conflict { left: bool, writer: u8, name: u8 },
    /// A reader looks.
    Look { left: bool },
    /// A writer makes its log shorter.
    Compact { left: bool, writer: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    let (left, writer) = (any::<bool>(), 0..2_u8);
    prop_oneof![
        4 => (left, writer.clone(), 0..2_u8).prop_map(|(left, writer, reader)| Step::Send { left, writer, reader }),
        3 => (left, writer.clone(), any::<bool>()).prop_map(|(left, writer, whole)| Step::Copy { left, writer, whole }),
        1 => (left, writer.clone(), 0..2_u8).prop_map(|(left, writer, name)| Step::Conflict { left, writer, name }),
        3 => left.prop_map(|left| Step::Look { left }),
        1 => (left, writer).prop_map(|(left, writer)| Step::Compact { left, writer }),
    ]
}

struct Sides {
    left: Post,
    right: Post,
    /// What each reader was shown.
    shown: BTreeMap<(bool, usize), Vec<String>>,
    sent: Vec<BTreeSet<String>>,
}

const READERS: [&str; 2] = ["rae", "roy"];

impl Sides {
    fn side(&self, left: bool) -> &Post {
        if left { &self.left } else { &self.right }
    }

    /// Writers live on one side each.
    fn writer(left: bool, writer: u8) -> String {
        format!("{}{writer}", if left { "left" } else { "right" })
    }

    fn log(left: bool, writer: u8) -> String {
        format!("log-{}.jsonl", Self::writer(left, writer))
    }

    fn run(&mut self, number: usize, step: &Step) {
        match *step {
            Step::Send {
                left,
                writer,
                reader,
            } => {
                let text = format!("message {number}");
                let reader = usize::from(reader);
                // Clocks differ, and go back.
                let ts = NOW + i64::try_from(number * 7 % 5).unwrap();
                self.side(left)
                    .send(&Self::writer(left, writer), READERS[reader], &text, ts);
                self.sent[reader].insert(text);
            }
            Step::Copy {
                left,
                writer,
                whole,
            } => {
                self.copy(left, writer, &Self::log(left, writer), whole);
            }
            Step::Conflict { left, writer, name } => {
                let name = format!(
                    "log-{}.sync-conflict-{name}.jsonl",
                    Self::writer(left, writer)
                );
                self.copy(left, writer, &name, true);
            }
            Step::Look { left } => self.look(left),
            Step::Compact { left, writer } => {
                let me = crate::post::alias(&Self::writer(left, writer));
                rethread_samp::compact(
                    &self.side(left).folder,
                    &me,
                    rethread_samp::Durability::None,
                )
                .unwrap();
            }
        }
    }

    /// Brings one log from where it is written to the other side: a new file in place of the old.
    fn copy(&self, left: bool, writer: u8, name: &str, whole: bool) {
        let Ok(mut bytes) = fs::read(self.side(left).path(&Self::log(left, writer))) else {
            return;
        };
        if !whole {
            bytes.truncate(bytes.len() * 2 / 3);
        }
        let to = self.side(!left);
        to.put("incoming", bytes);
        fs::rename(to.path("incoming"), to.path(name)).unwrap();
    }

    fn look(&mut self, left: bool) {
        for (reader, name) in READERS.iter().enumerate() {
            let shown = self.side(left).inbox(name, NOW + 10).bodies;
            self.shown.entry((left, reader)).or_default().extend(shown);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn both_sides_end_with_the_same_messages_each_shown_once(
        steps in proptest::collection::vec(step(), 1..60)
    ) {
        let mut sides = Sides {
            left: Post::new(),
            right: Post::new(),
            shown: BTreeMap::new(),
            sent: vec![BTreeSet::new(); READERS.len()],
        };
        for (number, step) in steps.iter().enumerate() {
            sides.run(number, step);
        }
        // In the end everything has arrived.
        for left in [true, false] {
            for writer in 0..2 {
                sides.copy(left, writer, &Sides::log(left, writer), true);
            }
        }
        sides.look(true);
        sides.look(false);
        for ((left, reader), shown) in &sides.shown {
            let set: BTreeSet<String> = shown.iter().cloned().collect();
            prop_assert_eq!(set.len(), shown.len(), "left {}: each once: {:?}", left, shown);
            prop_assert_eq!(&set, &sides.sent[*reader], "left {}: all", left);
        }
    }
}
