//! What arrives how, from each format in each other: measured by tests on all sessions that they have,
//! and kept in a table that the binary and the docs are made of.

use rethread_formats::by_name;

use super::report::{ItemFate, KINDS};

/// A line for each pair of formats: from, to, and for each kind of things how many there were, and how
/// many of them arrived as the target's own.
const TABLE: &str = include_str!("matrix.tsv");

/// How sessions of one format arrive in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The format that they come from.
    pub from: &'static str,
    /// The format that they have then.
    pub to: &'static str,
    /// What became of what is in them, over all sessions that were tried.
    pub fates: Vec<ItemFate>,
}

/// How sessions arrive, from each format in each other.
pub fn conversions() -> Vec<Conversion> {
    let read = |line: &'static str| {
        let mut fields = line.split('\t');
        let (from, to) = (fields.next()?, fields.next()?);
        let fates = KINDS.into_iter().zip(fields).filter_map(|(what, numbers)| {
            let (native, count) = numbers.split_once('/')?;
            Some(ItemFate {
                what,
                count: count.parse().ok()?,
                native: native.parse().ok()?,
            })
        });
        Some(Conversion {
            from,
            to,
            fates: fates.filter(|fate| fate.count > 0).collect(),
        })
    };
    TABLE.lines().filter_map(read).collect()
}

/// How things arrive in a format, wherever they come from.
pub fn arrivals_in(to: &str) -> Vec<ItemFate> {
    let all = conversions();
    let fates = || all.iter().filter(|c| c.to == to).flat_map(|c| &c.fates);
    let sum = |what: &'static str| {
        let of = || fates().filter(|fate| fate.what == what);
        ItemFate {
            what,
            count: of().map(|fate| fate.count).sum(),
            native: of().map(|fate| fate.native).sum(),
        }
    };
    KINDS.into_iter().map(sum).collect()
}

/// The client, with its version, that went on with sessions from every other format.
pub fn judging_client(to: &str) -> Option<&'static str> {
    by_name(to)?.about().judge
}
