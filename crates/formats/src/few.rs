//! Lists of blocks that may be of any length: a block takes far more memory than the two characters
//! that it can be written with.

use std::borrow::Cow;

use memchr::memchr_iter;
use rethread_json::{Passed, Skim, Strayed, Value};
use rethread_model::{Block, Json};

/// So many blocks of one message are told apart. What is behind them is kept as it stands, as one
/// block.
pub(crate) const MOST: usize = 10_000;

/// Members of a block that hold blocks.
const INSIDE: [&str; 6] = [
    "content",
    "output",
    "parts",
    "result",
    "blocks",
    "attachments",
];

/// Members of a block that hold objects with such members.
const AROUND: [&str; 3] = ["functionResponse", "state", "output"];

/// A block for each item of a list, and one for what is behind so many of them.
pub(crate) fn few_blocks<'a, V: JsonValue<'a>>(
    list: V,
    block: impl FnMut(V) -> Block,
) -> Vec<Block> {
    let (items, rest) = few_items(list);
    items.map(block).chain(rest.map(Rest::block)).collect()
}

/// The end of a list, whose items are not told apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'a> {
    count: usize,
    /// The items and what stands between them.
    raw: &'a [u8],
}

impl Rest<'_> {
    /// The block that stands for them.
    pub(crate) fn block(self) -> Block {
        let list = [b"[", self.raw, b"]"].concat();
        Block::Unknown {
            type_name: format!("{} more blocks", self.count),
            raw: Json::from(list),
        }
    }
}

/// Stands for the records of a message that hold still more blocks.
pub(crate) fn more_records(count: usize) -> Block {
    Block::Unknown {
        type_name: format!("{count} more records"),
        raw: Json::new(b"null"),
    }
}

/// A JSON value of either kind.
pub(crate) trait JsonValue<'a>: Copy {
    fn list(self) -> impl Iterator<Item = Self>;
    fn bytes(self) -> &'a [u8];
    /// Where it begins.
    fn start(self) -> usize;
    fn member(self, name: &str) -> Option<Self>;
    /// What stands between the quotes of a string.
    fn content(self) -> Option<&'a [u8]>;
    /// A string, without escapes.
    fn str(self) -> Option<Cow<'a, str>>;
}

macro_rules! json_value {
    ($value:ident) => {
        impl<'a> JsonValue<'a> for $value<'a> {
            fn list(self) -> impl Iterator<Item = Self> {
                self.items()
            }

            fn bytes(self) -> &'a [u8] {
                self.raw()
            }

            fn start(self) -> usize {
                self.span().start
            }

            fn member(self, name: &str) -> Option<Self> {
                self.get(name)
            }

            fn content(self) -> Option<&'a [u8]> {
                $value::content(self)
            }

            fn str(self) -> Option<Cow<'a, str>> {
                $value::str(self)
            }
        }
    };
}

json_value!(Value);
json_value!(Passed);

/// The items of a list that are told apart, and what is behind them.
pub(crate) fn few_items<'a, V: JsonValue<'a>>(
    list: V,
) -> (impl Iterator<Item = V>, Option<Rest<'a>>) {
    let (count, rest) = cut(list).map_or((usize::MAX, None), |(count, rest)| (count, Some(rest)));
    (list.list().take(count), rest)
}

fn cut<'a, V: JsonValue<'a>>(list: V) -> Option<(usize, Rest<'a>)> {
    let raw = list.bytes();
    // Most lists are short, and that is told at once: between any two items there is a comma.
    if raw.len() < 2 * MOST || memchr_iter(b',', raw).count() < MOST {
        return None;
    }
    let mut blocks = 0;
    let mut kept = 0;
    let mut items = list.list();
    let first = items.by_ref().find(|item| {
        let is_beyond = blocks >= MOST;
        if !is_beyond {
            blocks += weight(*item);
            kept += 1;
        }
        is_beyond
    })?;
    let from = first.start().checked_sub(list.start())?;
    let rest = Rest {
        count: 1 + items.count(),
        raw: raw.get(from..raw.len() - 1)?,
    };
    Some((kept, rest))
}

/// How many blocks an item is, with those inside of it.
fn weight<'a, V: JsonValue<'a>>(item: V) -> usize {
    if item.bytes().len() < 2 * INSIDE.len() {
        return 1;
    }
    let around = AROUND.iter().filter_map(|name| item.member(name));
    let places = std::iter::once(item).chain(around);
    let lists = places.flat_map(|place| INSIDE.iter().filter_map(move |name| place.member(name)));
    let inside: usize = lists.map(|list| list.list().take(MOST).count()).sum();
    1 + inside
}

/// Goes through the items of the list that was entered. `each` reads one and gives how many blocks
/// it is; what is behind those that are told apart is passed over.
pub(crate) fn few_next<'a>(
    skim: &mut Skim<'a>,
    mut each: impl FnMut(&mut Skim<'a>) -> Result<usize, Strayed>,
) -> Result<Option<Rest<'a>>, Strayed> {
    let mut blocks = 0;
    while skim.next_item()? {
        if blocks < MOST {
            blocks += each(skim)?;
            continue;
        }
        let start = skim.offset();
        let mut end = skim.pass()?.span().end;
        let mut count = 1;
        while skim.next_item()? {
            end = skim.pass()?.span().end;
            count += 1;
        }
        let raw = skim.since(start).raw();
        let raw = raw.get(..end.saturating_sub(start)).unwrap_or(raw);
        return Ok(Some(Rest { count, raw }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use rethread_json::Tree;

    use super::*;

    /// How many items are told apart, by each way, and the block for the rest.
    fn told(list: &str) -> (usize, Option<Block>) {
        let tree = Tree::parse(list.as_bytes()).unwrap();
        let (items, rest) = few_items(tree.root(list.as_bytes()));
        let told = (items.count(), rest.map(Rest::block));
        let passed = Skim::checking(list.as_bytes()).pass().unwrap();
        let (items, rest) = few_items(passed);
        assert_eq!((items.count(), rest.map(Rest::block)), told);
        told
    }

    fn skimmed(list: &str) -> (usize, Option<Block>) {
        let mut skim = Skim::checking(list.as_bytes());
        assert!(skim.enter_array());
        let mut count = 0;
        let rest = few_next(&mut skim, |skim| {
            count += 1;
            skim.pass()?;
            Ok(1)
        });
        let rest = rest.unwrap().map(Rest::block);
        assert!(skim.is_done());
        (count, rest)
    }

    fn unknown(type_name: &str, raw: &str) -> Block {
        Block::Unknown {
            type_name: type_name.to_owned(),
            raw: Json::new(raw.as_bytes()),
        }
    }

    #[test]
    fn what_is_behind_the_last_is_kept_as_it_stands() {
        let list = |n: usize| format!("[ {} ]", vec!["{}"; n].join(" ,"));
        for told in [told, skimmed] {
            assert_eq!(told("[]"), (0, None));
            assert_eq!(told(&list(MOST)), (MOST, None));
            let (count, rest) = told(&list(MOST + 2));
            assert_eq!(count, MOST);
            let Some(Block::Unknown { type_name, raw }) = rest else {
                panic!("{rest:?}");
            };
            assert_eq!(type_name, "2 more blocks");
            assert_eq!(raw.to_text().replace(' ', ""), "[{},{}]");
        }
        let one_more = format!("{},7]", list(MOST).trim_end_matches(" ]"));
        assert_eq!(told(&one_more).1, Some(unknown("1 more blocks", "[7]")));
    }

    #[test]
    fn blocks_inside_of_blocks_count() {
        let inner = format!("[{}]", vec!["{}"; MOST / 10].join(","));
        let item = format!(r#"{{"type":"tool_result","content":{inner}}}"#);
        let (count, rest) = told(&format!("[{}]", vec![item; 50].join(",")));
        assert_eq!(count, 10);
        assert!(
            matches!(rest, Some(Block::Unknown { type_name, .. }) if type_name == "40 more blocks")
        );
        // What a tool was given holds no blocks, however much it is.
        let item = format!(r#"{{"type":"tool_use","input":{inner}}}"#);
        assert_eq!(told(&format!("[{}]", vec![item; 50].join(","))), (50, None));
    }
}
