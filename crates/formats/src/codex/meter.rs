//! Tokens. The newest clients record each response; older ones write totals, again and again, and
//! what counts is what a total adds to the one before.

use rethread_json::Value;
use rethread_model::{RawRef, Usage, UsageScope};

use crate::kit::saved_struct;

/// The totals so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    /// The total before, and where it stands.
    total: Option<(Usage, Option<RawRef>)>,
    /// Whether responses are recorded one by one: then totals repeat them.
    has_records: bool,
}

/// What a record of totals adds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Added {
    /// Nothing.
    Nothing,
    /// This much.
    Some {
        usage: Usage,
        /// The total that it is to be subtracted from, where there is one.
        before: Option<RawRef>,
    },
}

saved_struct!(Meter { total, has_records });

impl Meter {
    /// Notes that a response was recorded by itself.
    pub(super) fn recorded(&mut self) {
        self.has_records = true;
    }

    /// Takes the `info` of a `token_count` into account.
    pub(super) fn count(&mut self, info: Value<'_>, at: Option<RawRef>) -> Added {
        let Some(total) = total(info) else {
            return Added::Nothing;
        };
        let before = self.total;
        if before.is_some_and(|(before, _)| same(&before, &total)) {
            return Added::Nothing;
        }
        self.total = Some((total, at));
        if self.has_records {
            return Added::Nothing;
        }
        let (usage, before) = match &before {
            Some((before, raw)) if is_more(before, &total) => (difference(before, &total), *raw),
            _ => (last(info).unwrap_or(total), None),
        };
        if usage.is_zero() {
            return Added::Nothing;
        }
        Added::Some { usage, before }
    }

    /// The total that the client itself wrote last.
    pub(super) fn total(&self) -> Option<Usage> {
        let (mut usage, _) = self.total?;
        usage.scope = UsageScope::Cumulative;
        Some(usage)
    }
}

/// What a response cost, by the totals after it and before it.
pub(super) fn added_usage(info: Value<'_>, before: Option<Usage>) -> Option<Usage> {
    let total = total(info)?;
    match before {
        Some(before) => Some(difference(&before, &total)),
        None => last(info).or(Some(total)),
    }
}

/// The total in an `info`.
pub(super) fn total(info: Value<'_>) -> Option<Usage> {
    read_usage(info.get("total_token_usage")?)
}

fn last(info: Value<'_>) -> Option<Usage> {
    read_usage(info.get("last_token_usage")?)
}

/// Tokens as the client counts them: its input includes what a cache answered or took, its output
/// includes reasoning.
pub(super) fn read_usage(value: Value<'_>) -> Option<Usage> {
    if !value.is_object() {
        return None;
    }
    let mut usage = Usage::default();
    for (key, count) in value.members() {
        let place = match key.content() {
            Some(b"input_tokens") => &mut usage.input,
            Some(b"cached_input_tokens") => &mut usage.cache_read,
            Some(b"cache_write_input_tokens") => &mut usage.cache_write,
            Some(b"output_tokens") => &mut usage.output,
            Some(b"reasoning_output_tokens") => &mut usage.reasoning,
            Some(b"total_tokens") => {
                usage.recorded_total = count.u64();
                continue;
            }
            _ => continue,
        };
        *place = count.u64().unwrap_or(0);
    }
    usage.cache_read = usage.cache_read.min(usage.input);
    usage.input -= usage.cache_read;
    usage.cache_write = usage.cache_write.min(usage.input);
    usage.input -= usage.cache_write;
    Some(usage)
}

fn same(a: &Usage, b: &Usage) -> bool {
    counts(a) == counts(b)
}

/// Whether nothing of a total went back.
fn is_more(before: &Usage, after: &Usage) -> bool {
    after.all_input() >= before.all_input() && after.output >= before.output
}

fn difference(before: &Usage, after: &Usage) -> Usage {
    Usage {
        input: after.input.saturating_sub(before.input),
        cache_read: after.cache_read.saturating_sub(before.cache_read),
        cache_write: after.cache_write.saturating_sub(before.cache_write),
        output: after.output.saturating_sub(before.output),
        reasoning: after.reasoning.saturating_sub(before.reasoning),
        recorded_total: after
            .recorded_total
            .zip(before.recorded_total)
            .map(|(a, b)| a.saturating_sub(b)),
        ..Usage::default()
    }
}

fn counts(u: &Usage) -> [u64; 5] {
    [u.input, u.cache_read, u.cache_write, u.output, u.reasoning]
}

#[cfg(test)]
mod tests {
    use rethread_json::Document;

    use super::*;

    fn info(total: u64, last: u64) -> Document {
        let usage =
            |n| format!("{{\"input_tokens\":{n},\"output_tokens\":1,\"total_tokens\":{n}}}");
        let text = format!(
            "{{\"total_token_usage\":{},\"last_token_usage\":{}}}",
            usage(total),
            usage(last)
        );
        Document::parse(text.into_bytes()).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn only_what_a_total_adds_counts() {
        let mut meter = Meter::default();
        let mut sum = 0;
        // Of the first total, only the last response is known to be this session's own.
        for (total, last, adds) in [
            (100, 10, 10),
            (100, 10, 0),
            (130, 30, 30),
            (130, 0, 0),
            (20, 20, 20),
            (25, 7, 5),
        ] {
            let info = info(total, last);
            let added = match meter.count(info.root(), None) {
                Added::Nothing => 0,
                Added::Some { usage, .. } => usage.input,
            };
            assert_eq!(added, adds, "{total} after {sum}");
            sum = total;
        }
        meter.recorded();
        assert_eq!(meter.count(info(90, 9).root(), None), Added::Nothing);
    }

    #[test]
    fn what_is_null_or_missing_adds_nothing() {
        for text in [
            "{}",
            "null",
            "{\"prompt\":1}",
            "{\"total_token_usage\":null}",
        ] {
            let info = Document::parse(text.as_bytes().to_vec()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(Meter::default().count(info.root(), None), Added::Nothing);
        }
    }

    #[test]
    fn caches_are_parts_of_the_input() {
        let text = br#"{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":30,"output_tokens":9,"reasoning_output_tokens":4,"total_tokens":109}"#;
        let value = Document::parse(text.to_vec()).unwrap_or_else(|e| panic!("{e}"));
        let usage = read_usage(value.root()).unwrap_or_default();
        assert_eq!(counts(&usage), [10, 60, 30, 9, 4]);
        assert_eq!(Some(usage.total()), usage.recorded_total);
    }
}
