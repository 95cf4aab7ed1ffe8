//! Tokens and money.

use std::ops::AddAssign;

/// What one response cost, or several together.
///
/// Counts are normalised: `input` is what was *not* read from a cache, `output` includes
/// `reasoning`. A source that counts otherwise is converted by its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Input tokens that no cache answered.
    pub input: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache for a short time, or for a time that is not known.
    pub cache_write: u64,
    /// Input tokens written to a cache for an hour.
    pub cache_write_1h: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// The part of `output` that was reasoning.
    pub reasoning: u64,
    /// The total that the source recorded, where it recorded one.
    pub recorded_total: Option<u64>,
    /// The price that the source recorded; never computed here.
    pub cost: Option<Cost>,
    /// What the numbers stand for.
    pub scope: UsageScope,
}

/// Usage that a source recorded apart from any message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageRecord {
    /// How much.
    pub usage: Usage,
    /// Of which model, where the source says so.
    pub model: Option<crate::ModelRef>,
    /// For what, in the agent's own word.
    pub purpose: Option<String>,
}

/// Money, as a source recorded it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
}

/// What a usage counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageScope {
    /// One response of a model.
    #[default]
    Response,
    /// All responses of one turn.
    Turn,
    /// Everything so far, including what was counted before.
    Cumulative,
    /// Everything so far, and also what the sub-agents used.
    WithSubAgents,
}

impl Usage {
    /// All tokens, in and out.
    pub fn total(&self) -> u64 {
        self.all_input().saturating_add(self.output)
    }

    /// All input tokens, cached or not.
    pub fn all_input(&self) -> u64 {
        [
            self.input,
            self.cache_read,
            self.cache_write,
            self.cache_write_1h,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        self.total() == 0 && self.cost.is_none_or(|c| c.usd == 0.0)
    }
}

impl AddAssign<&Usage> for Usage {
    fn add_assign(&mut self, other: &Usage) {
        for (mine, theirs) in [
            (&mut self.input, other.input),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.cache_write_1h, other.cache_write_1h),
            (&mut self.output, other.output),
            (&mut self.reasoning, other.reasoning),
        ] {
            *mine = mine.saturating_add(theirs);
        }
        self.recorded_total = match (self.recorded_total, other.recorded_total) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.cost = match (self.cost, other.cost) {
            (Some(a), Some(b)) => Some(Cost { usd: a.usd + b.usd }),
            (a, b) => a.or(b),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_count_reasoning_once_and_never_overflow() {
        let mut sum = Usage {
            input: 10,
            cache_read: 5,
            output: 7,
            reasoning: 3,
            ..Usage::default()
        };
        assert_eq!(sum.total(), 22);
        sum += &Usage {
            input: u64::MAX,
            cost: Some(Cost { usd: 0.5 }),
            ..Usage::default()
        };
        assert_eq!(sum.input, u64::MAX);
        assert_eq!(sum.total(), u64::MAX);
        assert_eq!(sum.cost, Some(Cost { usd: 0.5 }));
        assert!(!sum.is_zero());
    }
}
