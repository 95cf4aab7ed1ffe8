//! The law: index, scan, and a plain look at all that was said find the same messages.
//!
//! Conversations and queries are random. The plain look knows nothing of words, letters or files: every
//! word of the vocabulary says itself what it is found by.

use std::collections::BTreeMap;
use std::time::Duration;

use rethread_catalog::{Catalogue, IndexedBatch, IndexedSource};
use rethread_search::{
    HitOrder, Query, SearchRequest, SearchedSession, TextIndex, build_index, search_sessions,
};

use crate::store::{Said, Spelling, Store, searched, time_of};

/// A word with its spellings, and what it is found by: for each of its positions, any of these.
struct Word {
    spellings: &'static [&'static str],
    found_by: &'static [&'static [&'static str]],
    /// How somebody asks for it, and which of these that is.
    asked: &'static [(&'static str, &'static [&'static str])],
}

const WORDS: &[Word] = &[
    Word {
        spellings: &["redirect", "Redirect", "REDIRECT"],
        found_by: &[&["redirect"]],
        asked: &[("redirect", &["redirect"]), ("ReDirect", &["redirect"])],
    },
    Word {
        spellings: &["redirects"],
        found_by: &[&["redirects"]],
        asked: &[("redirects", &["redirects"])],
    },
    Word {
        spellings: &["café", "cafe\u{301}", "Café", "CAFE"],
        found_by: &[&["cafe"]],
        asked: &[
            ("café", &["cafe"]),
            ("cafe\u{301}", &["cafe"]),
            ("cafe", &["cafe"]),
        ],
    },
    Word {
        spellings: &["getUserName"],
        found_by: &[&["getusername", "get", "user", "name"]],
        asked: &[
            ("getusername", &["getusername"]),
            ("user", &["user"]),
            ("getUserName", &["getusername"]),
        ],
    },
    Word {
        spellings: &["get_user_name", "get.user.name"],
        found_by: &[&["get"], &["user"], &["name"]],
        asked: &[
            ("get_user_name", &["get", "user", "name"]),
            ("name", &["name"]),
        ],
    },
    Word {
        spellings: &["src/main.rs", "src\\main.rs"],
        found_by: &[&["src"], &["main"], &["rs"]],
        asked: &[
            ("src/main.rs", &["src", "main", "rs"]),
            ("main.rs", &["main", "rs"]),
        ],
    },
    Word {
        spellings: &["привет", "ПРИВЕТ"],
        found_by: &[&["привет"]],
        asked: &[("Привет", &["привет"])],
    },
    Word {
        spellings: &["ёлка", "елка", "е\u{308}лка"],
        found_by: &[&["елка"]],
        asked: &[("елка", &["елка"]), ("ёлка", &["елка"])],
    },
    Word {
        spellings: &["Ελλάδα", "ΕΛΛΑΔΑ"],
        found_by: &[&["ελλαδα"]],
        asked: &[("ελλάδα", &["ελλαδα"])],
    },
    Word {
        spellings: &["日本語"],
        found_by: &[&["日本"], &["本語"], &["語"]],
        asked: &[
            ("日本語", &["日本", "本語"]),
            ("日本", &["日本"]),
            ("本語", &["本語"]),
        ],
    },
    Word {
        spellings: &["中文"],
        found_by: &[&["中文"], &["文"]],
        asked: &[("中文", &["中文"])],
    },
    Word {
        spellings: &["한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"],
        found_by: &[&["한국"], &["국"]],
        asked: &[("한국", &["한국"])],
    },
    Word {
        spellings: &["مرحبا"],
        found_by: &[&["مرحبا"]],
        asked: &[("مرحبا", &["مرحبا"])],
    },
    Word {
        spellings: &["שלום"],
        found_by: &[&["שלום"]],
        asked: &[("שלום", &["שלום"])],
    },
    Word {
        spellings: &["नमस्ते"],
        found_by: &[&["नमस्ते"]],
        asked: &[("नमस्ते", &["नमस्ते"])],
    },
    Word {
        spellings: &["สวัสดี"],
        found_by: &[&["สวัสดี"]],
        asked: &[("สวัสดี", &["สวัสดี"])],
    },
    Word {
        spellings: &["გამარჯობა"],
        found_by: &[&["გამარჯობა"]],
        asked: &[("გამარჯობა", &["გამარჯობა"])],
    },
    Word {
        spellings: &["🦀", "👍🏽", "—", "=>"],
        found_by: &[],
        asked: &[],
    },
    Word {
        spellings: &["OpenCode", "opencode"],
        found_by: &[&["opencode"]],
        asked: &[("opencode", &["opencode"])],
    },
    Word {
        spellings: &["x1", "X1"],
        found_by: &[&["x1"]],
        asked: &[("x1", &["x1"])],
    },
    Word {
        spellings: &["a"],
        found_by: &[&["a"]],
        asked: &[("a", &["a"])],
    },
];

/// Beginnings of words, which are asked for with a star.
const STARTS: &[&str] = &[
    "re", "redirect", "caf", "user", "ge", "прив", "x", "op", "日",
];

/// Random numbers that are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// What a message is found by: for each position, the terms there.
type Positions = Vec<&'static [&'static str]>;

#[derive(Clone)]
struct Message {
    said: Said,
    positions: Positions,
}

/// A part of a query, and what it means to the plain look.
#[derive(Clone, Debug)]
struct Term {
    asked: String,
    wanted: Vec<&'static str>,
    is_prefix: bool,
}

#[derive(Clone, Debug)]
struct Clause {
    any: Vec<Term>,
    is_negated: bool,
}

/// The plain look.
fn has_term(positions: &Positions, term: &Term) -> bool {
    let fits = |at: usize, wanted: &str, is_start: bool| {
        let terms = positions.get(at).copied().unwrap_or_default();
        terms
            .iter()
            .any(|t| *t == wanted || is_start && t.starts_with(wanted))
    };
    (0..positions.len()).any(|start| {
        let last = term.wanted.len() - 1;
        let mut words = term.wanted.iter().enumerate();
        words.all(|(at, wanted)| fits(start + at, wanted, term.is_prefix && at == last))
    })
}

fn is_found(positions: &Positions, query: &[Clause]) -> bool {
    query
        .iter()
        .all(|clause| clause.any.iter().any(|term| has_term(positions, term)) != clause.is_negated)
}

fn message(dice: &mut Dice, number: i64) -> Message {
    let mut text = String::new();
    let mut positions = Positions::new();
    for _ in 0..=dice.below(6) {
        let word = &WORDS[dice.below(WORDS.len())];
        text.push_str(dice.pick(word.spellings));
        text.push_str(dice.pick(&[" ", "\n", ", ", " \"", "\t- "]));
        positions.extend(word.found_by);
    }
    Message {
        said: Said {
            is_user: dice.below(2) == 0,
            text,
            spelling: dice.pick(&[Spelling::Raw, Spelling::Escaped, Spelling::AllEscaped]),
            number,
        },
        positions,
    }
}

fn term(dice: &mut Dice) -> Term {
    match dice.below(6) {
        0 => {
            let start: &'static str = dice.pick(STARTS);
            Term {
                asked: format!("{start}*"),
                wanted: vec![start],
                is_prefix: true,
            }
        }
        1 => {
            // Two words that follow each other, of scripts whose words are one position.
            let simple: Vec<&Word> = WORDS.iter().filter(|w| w.found_by.len() == 1).collect();
            let mut asked = String::from("\"");
            let mut wanted = Vec::new();
            for _ in 0..2 {
                let word = dice.pick(&simple);
                let (typed, terms) = dice.pick(word.asked);
                asked.push_str(typed);
                asked.push(' ');
                wanted.extend_from_slice(terms);
            }
            asked.push('"');
            Term {
                asked,
                wanted,
                is_prefix: false,
            }
        }
        _ => {
            let words: Vec<&Word> = WORDS.iter().filter(|w| !w.asked.is_empty()).collect();
            let word = dice.pick(&words);
            let (typed, terms) = dice.pick(word.asked);
            Term {
                asked: typed.to_owned(),
                wanted: terms.to_vec(),
                is_prefix: false,
            }
        }
    }
}

fn query(dice: &mut Dice) -> Vec<Clause> {
    let mut clauses = Vec::new();
    for at in 0..=dice.below(3) {
        let is_negated = at > 0 && dice.below(3) == 0;
        let mut any = vec![term(dice)];
        if !is_negated && dice.below(4) == 0 {
            any.push(term(dice));
        }
        clauses.push(Clause { any, is_negated });
    }
    clauses
}

fn typed(query: &[Clause]) -> String {
    let clause = |clause: &Clause| {
        let any: Vec<&str> = clause.any.iter().map(|term| term.asked.as_str()).collect();
        format!(
            "{}{}",
            if clause.is_negated { "-" } else { "" },
            any.join(" OR ")
        )
    };
    query.iter().map(clause).collect::<Vec<_>>().join(" ")
}

/// The messages that a search finds, by session and time, in the order in which sessions are told.
fn found(
    query: &Query,
    sessions: &[SearchedSession<'_>],
    index: Option<&TextIndex>,
) -> Vec<(String, Vec<i64>)> {
    let request = SearchRequest {
        query,
        since: None,
        until: None,
        order: HitOrder::Relevance,
        now: 1_790_000_000_000,
    };
    let results = search_sessions(&request, sessions, index, &|_, _| {});
    assert!(results.notes.is_empty(), "{:?}", results.notes);
    let one = |found: &rethread_search::FoundSession| {
        let id = sessions[found.session as usize].summary.head.id.clone();
        (id, found.hits.iter().map(|hit| hit.time.unwrap()).collect())
    };
    results.found.iter().map(one).collect()
}

struct World {
    store: Store,
    dice: Dice,
    sessions: BTreeMap<String, Vec<Message>>,
    number: i64,
}

impl World {
    fn messages(&mut self) -> Vec<Message> {
        let count = 1 + self.dice.below(6);
        let mut all = Vec::new();
        for _ in 0..count {
            self.number += 1;
            all.push(message(&mut self.dice, self.number));
        }
        all
    }

    fn write(&mut self, id: &str, is_added: bool) {
        let mut messages = self.messages();
        // A conversation begins with somebody who asks.
        if let Some(first) = messages.first_mut() {
            first.said.is_user |= !is_added;
        }
        let said: Vec<Said> = messages.iter().map(|m| m.said.clone()).collect();
        self.store.write(id, &said, is_added);
        let known = self.sessions.entry(id.to_owned()).or_default();
        if !is_added {
            known.clear();
        }
        known.extend(messages);
    }

    /// Adds to some sessions, writes some anew, removes some.
    fn change_some(&mut self) {
        let ids: Vec<String> = self.sessions.keys().cloned().collect();
        for id in ids {
            match self.dice.below(8) {
                0 | 1 => self.write(&id, true),
                2 => self.write(&id, false),
                3 => {
                    self.store.remove(&id);
                    self.sessions.remove(&id);
                }
                _ => {}
            }
        }
        for _ in 0..2 {
            let id = format!("5e550000-0000-4000-8000-{:012}", self.number);
            self.write(&id, false);
        }
    }

    fn check(&mut self, queries: usize) -> usize {
        let catalogue = Catalogue::open(&self.store.env);
        let listing = self.store.list(&catalogue);
        let sessions = searched(&listing);
        let listed = listing.sessions.iter().chain(&listing.empty);
        let states: Vec<_> = listed.map(|s| (&s.head.id, &s.state, &s.notes)).collect();
        assert_eq!(sessions.len(), self.sessions.len(), "{states:#?}");
        let index = TextIndex::open(&self.store.env, &catalogue, &mut Vec::new());
        let known = index.as_ref().map_or(0, |index| {
            sessions.iter().filter(|s| index.has(s.cataloged)).count()
        });
        for _ in 0..queries {
            let asked = query(&mut self.dice);
            let typed = typed(&asked);
            let query = Query::parse(&typed).unwrap_or_else(|e| panic!("{typed}: {e}"));
            let scanned = found(&query, &sessions, None);
            let indexed = found(&query, &sessions, index.as_ref());
            assert_eq!(indexed, scanned, "index and scan, {typed}");
            let mut sorted: Vec<(String, Vec<i64>)> = scanned;
            for (_, times) in &mut sorted {
                times.sort_unstable();
            }
            sorted.sort_unstable();
            let mut plain = Vec::new();
            for (id, messages) in &self.sessions {
                let hits = messages.iter().filter(|m| is_found(&m.positions, &asked));
                let times: Vec<i64> = hits.map(|m| time_of(m.said.number)).collect();
                if !times.is_empty() {
                    plain.push((id.clone(), times));
                }
            }
            assert_eq!(sorted, plain, "scan and plain look, {typed}");
        }
        known
    }

    fn update_index(&self) {
        let catalogue = Catalogue::open(&self.store.env);
        let listing = self.store.list(&catalogue);
        let report = build_index(&self.store.env, &catalogue, &searched(&listing), &|_, _| {});
        assert_eq!(report.stopped, None);
    }

    /// Writes a batch down that is never committed, as a process that is killed would.
    fn leave_batch(&self) {
        let catalogue = Catalogue::open(&self.store.env);
        let listing = self.store.list(&catalogue);
        let sources = searched(&listing).into_iter().filter_map(|s| {
            Some(IndexedSource {
                row: s.cataloged.row?,
                upto: s.cataloged.read_upto.unwrap_or(IndexedSource::WHOLE),
                entries: None,
            })
        });
        let batch = IndexedBatch {
            opstamp: u64::from(u32::MAX),
            sources: sources.collect(),
        };
        assert!(catalogue.record_batch(&batch));
    }
}

#[test]
fn index_scan_and_plain_look_find_the_same() {
    let mut served_by_index = 0;
    for seed in 1..=3_u64 {
        let mut world = World {
            store: Store::new(),
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            sessions: BTreeMap::new(),
            number: 0,
        };
        for _ in 0..16 {
            let id = format!("5e550000-0000-4000-8000-{:012}", world.number);
            world.write(&id, false);
        }
        world.check(40);
        // Only what settled keeps its row from one look to the next.
        std::thread::sleep(Duration::from_millis(2100));
        world.update_index();
        served_by_index += world.check(60);
        for _ in 0..3 {
            world.change_some();
            served_by_index += world.check(40);
            world.leave_batch();
            world.check(10);
            world.update_index();
            served_by_index += world.check(20);
        }
    }
    assert!(
        served_by_index > 50,
        "only {served_by_index} sessions were known to the index"
    );
}
