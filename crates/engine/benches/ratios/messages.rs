//! Messages as agents write them: prose, code, tool calls, escapes, many scripts. The same in
//! every run.

use rethread_json::{Array, Object};
use rethread_model::Moment;

use crate::benchmark::Outcome;

/// Mostly plain, as people write.
const WORDS: &[&str] = &[
    "the",
    "parser",
    "keeps",
    "every",
    "byte",
    "and",
    "returns",
    "a",
    "value",
    "with",
    "notes",
    "where",
    "something",
    "was",
    "wrong",
    "so",
    "that",
    "nothing",
    "is",
    "lost",
    "when",
    "file",
    "grows",
    "while",
    "we",
    "read",
    "it",
    "first",
    "then",
    "check",
    "tests",
    "in",
    "folder",
    "`Lines`",
    "\"quoted\"",
    "error:",
    "src/lines.rs:42",
    "don't",
    "function",
    "should",
    "return",
    "naïve",
    "größer",
    "日本語",
    "→",
    "🦀",
];

/// Lines of code and of terminals, with what JSON must escape.
const CODE: &[&str] = &[
    "let path = folder.join(\"thread.json\");\n",
    "\tif (!/^\\d+$/.test(line)) throw new Error(`bad line: ${line}`);\n",
    "    println!(\"{}: {:?}\", span.number, line.whole());\n",
    "C:\\Users\\me\\src> cargo test --workspace\r\n",
    "\u{1b}[32mtest\u{1b}[0m lines::empty … \u{1b}[1mok\u{1b}[0m\n",
    "\n",
];

/// The first message of all is from then.
const START: i64 = 1_735_689_600_000;

/// What a message says, without its id and time.
pub(crate) struct Said {
    role: &'static str,
    content: Vec<u8>,
    calls: Option<Vec<u8>>,
}

impl Said {
    /// Whether a person said it.
    pub(crate) fn is_user(&self) -> bool {
        self.role == "user"
    }

    /// Whether it holds a tool call; there is one at the most.
    pub(crate) fn has_call(&self) -> bool {
        self.calls.is_some()
    }

    /// The message as one line, without its line break. Where no id is given, the one who saves it
    /// gives it one.
    pub(crate) fn line(&self, id: Option<&str>, time: Moment) -> Vec<u8> {
        let tokens = Object::new().u64("input", 1480).u64("output", 212).finish();
        let agent = (self.role == "agent").then_some(tokens);
        Object::new()
            .opt_str("id", id)
            .str("role", self.role)
            .str("timestamp", &time.to_string())
            .raw("content", &self.content)
            .opt_raw("toolCalls", self.calls.as_deref())
            .opt_str("stopReason", agent.as_ref().map(|_| "end_turn"))
            .opt_str("model", agent.as_ref().map(|_| "some-model-4-5-20250929"))
            .opt_raw("tokens", agent.as_deref())
            .finish()
    }
}

/// Messages without end.
pub(crate) struct Messages {
    random: u64,
}

impl Messages {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: seed }
    }

    /// A number below `limit`. (This is `SplitMix64`.)
    fn below(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        let at = usize::try_from(self.below(from.len() as u64)).unwrap_or(0);
        from[at]
    }

    /// A length: most are short, and some are a hundred times as long.
    pub(crate) fn length(&mut self) -> usize {
        let scale = 1 << self.below(7);
        usize::try_from(22 * scale + self.below(22 * scale)).unwrap_or(0)
    }

    /// Prose of about that length.
    pub(crate) fn prose(&mut self, length: usize) -> String {
        let mut text = String::new();
        while text.len() < length {
            text.push_str(self.pick(WORDS));
            text.push_str(match self.below(12) {
                0 => ". ",
                1 => ", ",
                2 => "\n\n",
                _ => " ",
            });
        }
        text
    }

    fn code(&mut self, length: usize) -> String {
        let mut text = String::new();
        while text.len() < length {
            text.push_str(self.pick(CODE));
        }
        text
    }

    fn call(&mut self) -> Vec<u8> {
        let input = Object::new()
            .str("file_path", "/home/me/app/src/lines.rs")
            .str("old_string", &self.prose(60))
            .u64("limit", self.below(2000))
            .finish();
        let length = self.length();
        let call = Object::new()
            .str(
                "toolCallId",
                &format!("toolu_{:016x}", self.below(u64::MAX)),
            )
            .str("name", "Edit")
            .str("kind", "edit")
            .str("status", "completed")
            .str("input", &String::from_utf8_lossy(&input))
            .str("output", &self.code(length))
            .u64("duration", self.below(9000));
        Array::new().raw(&call.finish()).finish()
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Said {
        let is_user = self.below(4) == 0;
        let length = self.length();
        let block = |kind: &str, text: &str| {
            let block = Object::new().str("type", kind).str("text", text);
            block.finish()
        };
        let mut content = Array::new();
        if !is_user && self.below(3) == 0 {
            content = content.raw(&block("thinking", &self.prose(240)));
        }
        let text = if self.below(3) == 0 {
            self.code(length)
        } else {
            self.prose(length)
        };
        Said {
            role: if is_user { "user" } else { "agent" },
            content: content.raw(&block("text", &text)).finish(),
            calls: (!is_user && self.below(2) == 0).then(|| self.call()),
        }
    }
}

/// The id of the message at a place.
pub(crate) fn id_at(index: u64) -> String {
    format!("{index:08x}-5eed-4000-8000-{index:012x}")
}

/// The time of the message at a place.
pub(crate) fn time_at(index: u64) -> Outcome<Moment> {
    let millis = START + i64::try_from(index)? * 1000;
    Moment::from_millis(millis).ok_or_else(|| "the calendar has no such time".into())
}
