//! What an answer cost.

use rethread_json::{Object, Value};

/// Tokens and cost of one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens that the model read.
    pub input: u64,
    /// Tokens that it wrote.
    pub output: u64,
    /// Tokens that it read from the cache.
    pub cache_read: u64,
    /// Tokens that went into the cache.
    pub cache_write: u64,
    /// All of them.
    pub total_tokens: u64,
    /// What that cost.
    pub cost: Cost,
}

/// Cost in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// For what was read.
    pub input: f64,
    /// For what was written.
    pub output: f64,
    /// For what was read from the cache.
    pub cache_read: f64,
    /// For what went into the cache.
    pub cache_write: f64,
    /// All of it.
    pub total: f64,
}

impl Usage {
    pub(crate) fn of(value: Value<'_>) -> Self {
        let count = |key| value.get(key).and_then(Value::u64).unwrap_or(0);
        let dollars = |key| value.at(&["cost", key]).and_then(Value::f64).unwrap_or(0.0);
        Self {
            input: count("input"),
            output: count("output"),
            cache_read: count("cacheRead"),
            cache_write: count("cacheWrite"),
            total_tokens: count("totalTokens"),
            cost: Cost {
                input: dollars("input"),
                output: dollars("output"),
                cache_read: dollars("cacheRead"),
                cache_write: dollars("cacheWrite"),
                total: dollars("total"),
            },
        }
    }

    pub(crate) fn to_json(self) -> Vec<u8> {
        let cost = Object::new()
            .raw("input", &dollars(self.cost.input))
            .raw("output", &dollars(self.cost.output))
            .raw("cacheRead", &dollars(self.cost.cache_read))
            .raw("cacheWrite", &dollars(self.cost.cache_write))
            .raw("total", &dollars(self.cost.total))
            .finish();
        Object::new()
            .u64("input", self.input)
            .u64("output", self.output)
            .u64("cacheRead", self.cache_read)
            .u64("cacheWrite", self.cache_write)
            .u64("totalTokens", self.total_tokens)
            .raw("cost", &cost)
            .finish()
    }
}

/// A number; what is none in JSON is zero.
fn dollars(amount: f64) -> Vec<u8> {
    if amount.is_finite() {
        amount.to_string().into_bytes()
    } else {
        b"0".to_vec()
    }
}

/// Why the model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It had said all.
    #[default]
    Stop,
    /// It had said too much.
    Length,
    /// It wants a tool to be run.
    ToolUse,
    /// Something went wrong.
    Error,
    /// Somebody stopped it.
    Aborted,
    /// Another reason, as spelled.
    Other(String),
}

impl StopReason {
    /// As it is spelled in a message.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolUse => "toolUse",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::Other(reason) => reason,
        }
    }
}

impl From<&str> for StopReason {
    fn from(reason: &str) -> Self {
        match reason {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "toolUse" => Self::ToolUse,
            "error" => Self::Error,
            "aborted" => Self::Aborted,
            other => Self::Other(other.to_owned()),
        }
    }
}
