//! What is counted of one session, as rows that can be kept.

use rethread_model::ModelRef;

/// Zones differ by whole quarters of an hour, so that such a span is in one hour and day everywhere.
pub const QUARTER_MS: i64 = 15 * 60 * 1000;

/// What is counted of one session, without its sub-agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionLedger {
    /// The models that answered.
    pub models: Vec<ModelRef>,
    /// The tools that were called.
    pub tools: Vec<String>,
    /// Each response once, in the order of the source.
    pub responses: Vec<ResponseRow>,
    /// What was said and changed, by quarters of an hour, sorted.
    pub spans: Vec<SpanRow>,
    /// Calls of tools, by tool and quarter of an hour, sorted.
    pub calls: Vec<CallRow>,
    /// When something went on, sorted and apart from each other.
    pub active: Vec<ActiveSpan>,
    /// Whether all messages were copied from another session, so that it said nothing of its own.
    pub is_all_inherited: bool,
    /// What was found that cannot be counted.
    pub oddities: Vec<Oddity>,
}

/// The tokens of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Input that no cache answered.
    pub input: u64,
    /// Input that a cache answered.
    pub cache_read: u64,
    /// Input written to a cache for some minutes.
    pub cache_write: u64,
    /// Input written to a cache for an hour.
    pub cache_write_1h: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// The part of the output that was reasoning.
    pub reasoning: u64,
}

impl TokenCounts {
    /// All of them, in and out.
    pub fn total(&self) -> u64 {
        self.all_input().saturating_add(self.output)
    }

    /// All input, cached or not.
    pub fn all_input(&self) -> u64 {
        let parts = [self.cache_read, self.cache_write, self.cache_write_1h];
        parts.into_iter().fold(self.input, u64::saturating_add)
    }

    /// The counts in an order that is always the same.
    pub(crate) fn parts(&self) -> [u64; 6] {
        [
            self.input,
            self.cache_read,
            self.cache_write,
            self.cache_write_1h,
            self.output,
            self.reasoning,
        ]
    }

    pub(crate) fn of_parts(parts: [u64; 6]) -> Self {
        let [
            input,
            cache_read,
            cache_write,
            cache_write_1h,
            output,
            reasoning,
        ] = parts;
        Self {
            input,
            cache_read,
            cache_write,
            cache_write_1h,
            output,
            reasoning,
        }
    }
}

impl std::ops::AddAssign for TokenCounts {
    fn add_assign(&mut self, other: Self) {
        let (mut sum, more) = (self.parts(), other.parts());
        for (sum, more) in sum.iter_mut().zip(more) {
            *sum = sum.saturating_add(more);
        }
        *self = Self::of_parts(sum);
    }
}

/// One response of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResponseRow {
    /// What identifies the response, also in other files that repeat it.
    pub key: u64,
    /// When it was given, in milliseconds; none where the source does not say.
    pub time: Option<i64>,
    /// The place of its model in the list.
    pub model: Option<u32>,
    /// What it used.
    pub tokens: TokenCounts,
    /// The price in US dollars that the agent recorded.
    pub cost: Option<f64>,
    /// Whether it was copied from the session that this one was forked from.
    pub is_inherited: bool,
    /// The number of its entry, as `show --at '#12'` takes it.
    pub entry: u32,
}

/// What was said and changed in a quarter of an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanRow {
    /// Which one, since the start of 1970 in UTC; none of what says nothing of its time.
    pub quarter: Option<i64>,
    /// Messages of all roles.
    pub messages: u64,
    /// What the person said.
    pub prompts: u64,
    /// Lines that came into files.
    pub lines_added: u64,
    /// Lines that went out of files.
    pub lines_removed: u64,
}

/// Calls of a tool in a quarter of an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallRow {
    /// Which one, as in [`SpanRow`].
    pub quarter: Option<i64>,
    /// The place of the tool in the list.
    pub tool: u32,
    /// How many calls.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How long they took together, in milliseconds, as far as that is known.
    pub duration_ms: u64,
}

/// A time in which something went on, without a gap of more than five minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActiveSpan {
    /// When it began, in milliseconds.
    pub start: i64,
    /// When it ended.
    pub end: i64,
}

/// Something that cannot be counted as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oddity {
    /// What it is.
    pub kind: OddityKind,
    /// How often it is there.
    pub count: u64,
    /// The number of the first entry with it.
    pub entry: u32,
    /// What stands there, shortened.
    pub example: String,
}

/// What cannot be counted as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OddityKind {
    /// A number of tokens that is none: negative, a fraction, or not a number. It counts as nothing.
    BadCount,
    /// More tokens than any model takes. The response is left out.
    HugeCount,
    /// A price that is none. The response counts without it.
    BadCost,
    /// Responses of a session in which nothing is said of tokens.
    NoUsage,
    /// A time from before 1970 or from after the year 9999, which is taken for none.
    BadTime,
    /// The session says that it ended before it began.
    EndsBeforeStart,
}

impl OddityKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::BadCount,
        Self::HugeCount,
        Self::BadCost,
        Self::NoUsage,
        Self::BadTime,
        Self::EndsBeforeStart,
    ];

    /// A word for scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::BadCount => "bad_count",
            Self::HugeCount => "huge_count",
            Self::BadCost => "bad_cost",
            Self::NoUsage => "no_usage",
            Self::BadTime => "bad_time",
            Self::EndsBeforeStart => "ends_before_start",
        }
    }

    /// What people are told of so many.
    pub fn describe(self, count: u64) -> String {
        let (is, one) = if count == 1 { ("is", "") } else { ("are", "s") };
        match self {
            Self::BadCount => {
                format!(
                    "{count} number{one} of tokens {is} no whole number, and counted as nothing"
                )
            }
            Self::HugeCount => {
                format!("{count} response{one} with more tokens than any model takes {is} left out")
            }
            Self::BadCost => format!("{count} recorded price{one} {is} no amount, and left out"),
            Self::NoUsage => format!(
                "{count} response{one} {} nothing of tokens",
                if count == 1 { "says" } else { "say" }
            ),
            Self::BadTime => format!("{count} time{one} {is} none, and left out"),
            Self::EndsBeforeStart => format!(
                "{count} session{one} {} to end before {} began",
                if count == 1 { "says" } else { "say" },
                if count == 1 { "it" } else { "they" }
            ),
        }
    }
}
