//! Numbers of tokens and prices that are none, as they stand in a record: readers take them for nothing.

use rethread_json::{Kind, Tree, Value};

/// Members that hold what a response used, in the words of all formats.
const USAGE_MEMBERS: [&str; 9] = [
    "usage",
    "tokens",
    "token_usage",
    "tokenUsage",
    "total_token_usage",
    "last_token_usage",
    "usageMetadata",
    "modelUsage",
    "cache_creation",
];

/// So deep objects are looked into for usage: records hold it near their top.
const DEEPEST: usize = 5;

/// So many values of a record are looked at.
const MOST_VALUES: usize = 20_000;

/// What is wrong with the numbers of a record: the first of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OddCounts {
    /// How many numbers of tokens are none, and what the first is.
    pub(crate) tokens: (u64, String),
    /// How many prices are none, and what the first is.
    pub(crate) costs: (u64, String),
}

impl OddCounts {
    fn add(found: &mut (u64, String), key: &str, value: Value<'_>) {
        if found.0 == 0 {
            let raw = String::from_utf8_lossy(value.raw());
            let short: String = raw.chars().take(40).collect();
            found.1 = format!("{key}: {short}");
        }
        found.0 += 1;
    }
}

/// Looks at the usage in a record.
pub(crate) fn find_odd_counts(tree: &mut Tree, record: &[u8], odd: &mut OddCounts) {
    if !may_hold_usage(record) || tree.parse_into(record).is_err() {
        return;
    }
    let mut open = vec![(tree.root(record), false, 0_usize)];
    let mut left = MOST_VALUES;
    while let Some((object, is_usage, depth)) = open.pop() {
        for (key, value) in object.members() {
            left = left.saturating_sub(1);
            if left == 0 {
                return;
            }
            let Some(key) = key.content().and_then(|k| std::str::from_utf8(k).ok()) else {
                continue;
            };
            let is_cost = key.to_ascii_lowercase().contains("cost");
            match value.kind() {
                Kind::Object if depth < DEEPEST => {
                    let inner = (is_usage && !is_cost) || USAGE_MEMBERS.contains(&key);
                    open.push((value, inner, depth + 1));
                }
                Kind::Number if is_cost && !is_amount(value) => {
                    OddCounts::add(&mut odd.costs, key, value);
                }
                Kind::Number if is_usage && !is_cost && is_count(key) && value.u64().is_none() => {
                    OddCounts::add(&mut odd.tokens, key, value);
                }
                Kind::String if is_usage && is_count(key) => {
                    OddCounts::add(&mut odd.tokens, key, value);
                }
                _ => {}
            }
        }
    }
}

fn is_amount(cost: Value<'_>) -> bool {
    cost.f64()
        .is_some_and(|cost| cost.is_finite() && cost >= 0.0)
}

/// A look at the bytes, before anything is parsed.
fn may_hold_usage(record: &[u8]) -> bool {
    let has = |word: &[u8]| record.windows(word.len()).any(|at| at == word);
    record.len() <= 1 << 20 && (has(b"oken") || has(b"usage\"") || has(b"ost"))
}

/// Whether a member of a usage is a number of tokens.
fn is_count(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let counts = [
        "token",
        "input",
        "output",
        "cache",
        "read",
        "write",
        "reasoning",
        "total",
        "thoughts",
    ];
    counts.iter().any(|word| key.contains(word)) && !key.contains("context")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odd(record: &str) -> (u64, u64) {
        let mut found = OddCounts::default();
        find_odd_counts(&mut Tree::default(), record.as_bytes(), &mut found);
        (found.tokens.0, found.costs.0)
    }

    #[test]
    fn numbers_that_are_none_are_found_where_usage_is() {
        for (record, tokens, costs) in [
            (
                r#"{"message":{"usage":{"input_tokens":3,"output_tokens":4}}}"#,
                0,
                0,
            ),
            (
                r#"{"message":{"usage":{"input_tokens":-3,"output_tokens":4.5}}}"#,
                2,
                0,
            ),
            (
                r#"{"message":{"usage":{"input_tokens":"3"}},"costUSD":-1}"#,
                1,
                1,
            ),
            (
                r#"{"usage":{"input":1,"cost":{"total":0.5,"input":0.1}}}"#,
                0,
                0,
            ),
            (r#"{"tokens":{"input":1e99,"cache":{"read":-1}}}"#, 2, 0),
            (
                r#"{"usage":{"service_tier":"standard","server_tool_use":{"web":0.5}}}"#,
                0,
                0,
            ),
            (
                r#"{"message":{"content":[{"input":{"max_tokens":"3"}}]}}"#,
                0,
                0,
            ),
            ("not json", 0, 0),
        ] {
            assert_eq!(odd(record), (tokens, costs), "{record}");
        }
    }
}
