//! What tokens cost: a table that is made of the package `genai-prices`, and what the user set.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use regex::Regex;
use rethread_model::ModelRef;

use crate::ledger::TokenCounts;

/// The table as `cargo xtask prices` writes it.
const TABLE: &str = include_str!("prices.tsv");

/// Who makes models: asked in this order where a source does not say who served one.
const VENDORS: [&str; 12] = [
    "anthropic",
    "openai",
    "google",
    "x-ai",
    "deepseek",
    "mistral",
    "moonshotai",
    "zai",
    "zhipuai",
    "minimax",
    "meta",
    "cohere",
];

/// What agents call providers, and what the table calls them: the first part of a name that fits.
const PROVIDER_WORDS: [(&str, &str); 26] = [
    ("openrouter", "openrouter"),
    ("bedrock", "aws"),
    ("aws", "aws"),
    ("azure", "azure"),
    ("github-copilot", "github-copilot"),
    ("copilot", "github-copilot"),
    ("vertex", "google"),
    ("google", "google"),
    ("gemini", "google"),
    ("anthropic", "anthropic"),
    ("claude", "anthropic"),
    ("openai", "openai"),
    ("codex", "openai"),
    ("x-ai", "x-ai"),
    ("xai", "x-ai"),
    ("deepseek", "deepseek"),
    ("mistral", "mistral"),
    ("moonshot", "moonshotai"),
    ("kimi", "moonshotai"),
    ("zhipu", "zhipuai"),
    ("zai", "zai"),
    ("minimax", "minimax"),
    ("groq", "groq"),
    ("cerebras", "cerebras"),
    ("fireworks", "fireworks"),
    ("together", "together"),
];

/// Prices of one model in US dollars for a million tokens, as a user sets them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelPrice {
    /// Of input that no cache answered.
    pub input: f64,
    /// Of output.
    pub output: f64,
    /// Of input from a cache; that of input if it is not set.
    pub cache_read: Option<f64>,
    /// Of input to a cache; that of input if it is not set.
    pub cache_write: Option<f64>,
}

/// Where the table is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceSource {
    /// The package.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The day on which that was the newest.
    pub date: &'static str,
}

/// Prices by model. What was looked up once is remembered.
#[derive(Debug, Default)]
pub struct PriceTable {
    /// What the user set, by `provider/model` or by model.
    own: BTreeMap<String, ModelPrice>,
    known: HashMap<ModelName, Option<Vec<DatedPrice>>>,
}

/// A provider and a model.
type ModelName = (Option<String>, String);

/// A price from some day on.
#[derive(Clone, Debug, Default, PartialEq)]
struct DatedPrice {
    /// The first moment, in milliseconds.
    since: Option<i64>,
    input: Amount,
    output: Amount,
    cache_read: Amount,
    cache_write: Amount,
    cache_write_1h: Amount,
}

/// US dollars for a million tokens: more, or less, where a response has much input.
#[derive(Clone, Debug, Default, PartialEq)]
struct Amount {
    base: Option<f64>,
    /// From more than so many tokens of input on, the price of all.
    tiers: Vec<(u64, f64)>,
}

impl Amount {
    fn parse(text: &str) -> Self {
        let mut words = text.split(' ');
        let base = words.next().and_then(|word| word.parse().ok());
        let tier = |word: &str| {
            let (start, price) = word.strip_prefix('>')?.split_once(':')?;
            Some((start.parse().ok()?, price.parse().ok()?))
        };
        Self {
            base,
            tiers: words.filter_map(tier).collect(),
        }
    }

    fn flat(base: Option<f64>) -> Self {
        Self {
            base,
            tiers: Vec::new(),
        }
    }

    fn at(&self, all_input: u64) -> Option<f64> {
        let above = self
            .tiers
            .iter()
            .rev()
            .find(|(start, _)| all_input > *start);
        above.map(|(_, price)| *price).or(self.base)
    }
}

impl DatedPrice {
    #[allow(
        clippy::cast_precision_loss,
        reason = "no response has so many tokens that it matters"
    )]
    fn cost(&self, tokens: &TokenCounts) -> f64 {
        let all = tokens.all_input();
        let input = self.input.at(all).unwrap_or(0.0);
        let read = self.cache_read.at(all).unwrap_or(input);
        let write = self.cache_write.at(all).unwrap_or(input);
        let hour = self.cache_write_1h.at(all).unwrap_or(write);
        let parts = [
            (tokens.input, input),
            (tokens.cache_read, read),
            (tokens.cache_write, write),
            (tokens.cache_write_1h, hour),
            (tokens.output, self.output.at(all).unwrap_or(0.0)),
        ];
        let sum: f64 = parts
            .iter()
            .map(|(count, price)| *count as f64 * price)
            .sum();
        sum / 1e6
    }
}

impl PriceTable {
    /// The built-in table, with what the user set before it.
    pub fn new(own: BTreeMap<String, ModelPrice>) -> Self {
        Self {
            own,
            known: HashMap::new(),
        }
    }

    /// Where the built-in table is from.
    pub fn source() -> PriceSource {
        let head = TABLE.lines().next().unwrap_or_default();
        let mut words = head.trim_start_matches("# ").split('\t');
        PriceSource {
            package: words.next().unwrap_or_default(),
            version: words.next().unwrap_or_default(),
            date: words.next().unwrap_or_default(),
        }
    }

    /// What a response costs, in US dollars, by the price at its time; none where nobody knows the model's
    /// price.
    pub fn cost(
        &mut self,
        model: &ModelRef,
        tokens: &TokenCounts,
        time: Option<i64>,
    ) -> Option<f64> {
        let key = (model.provider.clone(), model.id.clone());
        let Self { own, known } = self;
        let prices = known
            .entry(key)
            .or_insert_with(|| own_price(own, model).or_else(|| listed_prices(model)));
        let prices = prices.as_ref()?;
        // What says nothing of its time has today's price.
        let is_past = |price: &&DatedPrice| {
            let since = price.since.zip(time);
            since.is_none_or(|(since, time)| since <= time)
        };
        let price = prices.iter().rev().find(is_past).or(prices.first())?;
        Some(price.cost(tokens))
    }
}

fn own_price(own: &BTreeMap<String, ModelPrice>, model: &ModelRef) -> Option<Vec<DatedPrice>> {
    let full = model.provider.as_ref().map(|p| format!("{p}/{}", model.id));
    let price = full
        .and_then(|full| own.get(&full))
        .or_else(|| own.get(&model.id))?;
    Some(vec![DatedPrice {
        since: None,
        input: Amount::flat(Some(price.input)),
        output: Amount::flat(Some(price.output)),
        cache_read: Amount::flat(price.cache_read),
        cache_write: Amount::flat(price.cache_write),
        cache_write_1h: Amount::default(),
    }])
}

/// The prices of a model in the built-in table.
fn listed_prices(model: &ModelRef) -> Option<Vec<DatedPrice>> {
    let id = model.id.to_lowercase();
    // Claude Code marks models that it asked for a longer context: `claude-opus-4-6[1m]`.
    let id = id.split('[').next().unwrap_or(&id).trim();
    if let Some(provider) = &model.provider {
        return prices_of(listed_provider(provider)?, id);
    }
    if let Some((first, rest)) = id.split_once('/')
        && let Some(provider) = listed_provider(first)
        && let Some(prices) = prices_of(provider, rest)
    {
        return Some(prices);
    }
    VENDORS.iter().find_map(|vendor| prices_of(vendor, id))
}

fn listed_provider(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let fits = |(word, _): &&(&str, &'static str)| name.contains(word);
    PROVIDER_WORDS.iter().find(fits).map(|(_, listed)| *listed)
}

/// The prices of the first model of a provider that a name fits.
fn prices_of(provider: &str, id: &str) -> Option<Vec<DatedPrice>> {
    let rows = TABLE.lines().filter_map(|line| {
        let (name, row) = line.split_once('\t')?;
        (name == provider).then_some(row)
    });
    let mut found: Option<&str> = None;
    let mut prices = Vec::new();
    for row in rows {
        let mut cells = row.split('\t');
        let words = cells.next().unwrap_or_default();
        match found {
            Some(first) if first != words => break,
            None if !fits_any(words, id) => continue,
            _ => found = Some(words),
        }
        let since = cells.next().and_then(start_of_day);
        let mut amount = || Amount::parse(cells.next().unwrap_or_default());
        prices.push(DatedPrice {
            since,
            input: amount(),
            output: amount(),
            cache_read: amount(),
            cache_write: amount(),
            cache_write_1h: amount(),
        });
    }
    (!prices.is_empty()).then_some(prices)
}

fn start_of_day(text: &str) -> Option<i64> {
    let day: Date = text.parse().ok()?;
    let start = day.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp().as_millisecond())
}

fn fits_any(words: &str, id: &str) -> bool {
    words
        .split(' ')
        .any(|word| word.split('&').all(|part| fits_word(part, id)))
}

fn fits_word(word: &str, id: &str) -> bool {
    let Some(sign) = word.chars().next() else {
        return false;
    };
    let text = word.get(sign.len_utf8()..).unwrap_or_default();
    match sign {
        '=' => id == text,
        '^' => id.starts_with(text),
        '$' => id.ends_with(text),
        '*' => id.contains(text),
        '~' => begins_as(text, id) && Regex::new(text).is_ok_and(|regex| regex.is_match(id)),
        '!' => Regex::new(text).is_ok_and(|regex| !regex.is_match(id)),
        _ => false,
    }
}

/// Whether a name begins with the plain text that an expression begins with: to compile all of them takes
/// longer than everything else.
fn begins_as(expression: &str, id: &str) -> bool {
    let Some(rest) = expression.strip_prefix('^') else {
        return true;
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let end = rest.find(|c| !is_plain(c)).unwrap_or(rest.len());
    // The last character may be one that need not be there.
    let plain = rest.get(..end.saturating_sub(1)).unwrap_or_default();
    rest.contains('|') || id.starts_with(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(provider: Option<&str>, id: &str, tokens: TokenCounts, day: &str) -> Option<f64> {
        let model = ModelRef {
            provider: provider.map(str::to_owned),
            id: id.to_owned(),
        };
        let cost = PriceTable::default().cost(&model, &tokens, start_of_day(day));
        cost.map(|usd| (usd * 1e6).round() / 1e6)
    }

    fn input(input: u64) -> TokenCounts {
        TokenCounts {
            input,
            ..TokenCounts::default()
        }
    }

    #[test]
    fn prices_are_those_of_the_day_and_of_the_length() {
        let opus = "claude-opus-4-6-20260101";
        assert_eq!(cost(None, opus, input(100_000), "2026-02-01"), Some(0.5));
        assert_eq!(cost(None, opus, input(300_000), "2026-02-01"), Some(3.0));
        assert_eq!(cost(None, opus, input(300_000), "2026-04-01"), Some(1.5));
    }

    #[test]
    fn caches_have_their_own_prices() {
        let tokens = TokenCounts {
            input: 10_000,
            cache_read: 100_000,
            cache_write: 10_000,
            cache_write_1h: 10_000,
            output: 1_000,
            reasoning: 500,
        };
        // 0.05 + 0.05 + 0.0625 + 0.1 + 0.025
        let cost = cost(None, "claude-opus-4-5-20251101", tokens, "2026-01-01");
        assert_eq!(cost, Some(0.2875));
    }

    #[test]
    fn models_are_found_by_provider_and_name() {
        for (provider, id, is_known) in [
            (None, "claude-opus-4-6[1m]", true),
            (None, "gpt-5-codex", true),
            (Some("anthropic"), "claude-sonnet-4-5", true),
            (Some("openai-codex"), "gpt-5", true),
            (Some("google-vertex"), "gemini-2.5-flash", true),
            (None, "gemini-2.5-pro", true),
            (Some("openrouter"), "anthropic/claude-sonnet-4.5", true),
            (None, "anthropic/claude-sonnet-4-5", true),
            (Some("lmstudio"), "claude-sonnet-4-5", false),
            (None, "local/qwen", false),
            (None, "", false),
        ] {
            let found = cost(provider, id, input(1_000_000), "2026-01-01");
            assert_eq!(found.is_some(), is_known, "{provider:?} {id}");
        }
    }

    #[test]
    fn expressions_are_only_compiled_where_they_may_fit() {
        for (expression, id, may) in [
            ("^claude-opus-5-\\d{8}$", "claude-opus-5-20260101", true),
            ("^claude-opus-5-\\d{8}$", "gpt-5", false),
            ("^ab?c", "ac", true),
            ("^a|b", "b", true),
            ("tts", "x", true),
        ] {
            assert_eq!(begins_as(expression, id), may, "{expression} {id}");
        }
    }

    #[test]
    fn what_the_user_set_comes_first() {
        let price = ModelPrice {
            input: 1.0,
            output: 2.0,
            ..ModelPrice::default()
        };
        let own = [
            ("local/qwen".to_owned(), price),
            ("gpt-5".to_owned(), price),
        ];
        let mut table = PriceTable::new(own.into());
        for (provider, id) in [
            (Some("local"), "qwen"),
            (None, "local/qwen"),
            (None, "gpt-5"),
        ] {
            let model = ModelRef {
                provider: provider.map(str::to_owned),
                id: id.to_owned(),
            };
            assert_eq!(
                table.cost(&model, &input(1_000_000), None),
                Some(1.0),
                "{id}"
            );
        }
    }

    #[test]
    fn every_line_of_the_table_is_one() {
        let source = PriceTable::source();
        assert_eq!(source.package, "genai-prices");
        assert!(source.date.parse::<Date>().is_ok());
        for line in TABLE.lines().skip(1) {
            let cells: Vec<&str> = line.split('\t').collect();
            assert_eq!(cells.len(), 8, "{line}");
            for word in cells[1].split([' ', '&']) {
                assert!(word.len() > 1 && "=^$*~!".contains(&word[..1]), "{line}");
                if let Some(regex) = word.strip_prefix(['~', '!']) {
                    assert!(Regex::new(regex).is_ok(), "{line}");
                }
            }
            assert!(
                cells[2].is_empty() || start_of_day(cells[2]).is_some(),
                "{line}"
            );
            for cell in &cells[3..] {
                let amount = Amount::parse(cell);
                assert_eq!(amount.base.is_some(), !cell.is_empty(), "{line}");
                assert_eq!(amount.tiers.len(), cell.matches('>').count(), "{line}");
            }
        }
    }
}
