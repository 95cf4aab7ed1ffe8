//! Counting a log: the same rules for readers, lists and writers.

use std::io::{self, Read};

use rethread_json::{Piece, Tree, Value, salvage};
use rethread_model::{Activity, Counts, Moment, Usage};

use super::message::{ThreadMessageHead, message_head, read_usage};
use crate::kit::{Flow, HeadOwner, HeadValue, LogLine, LogVisitor, head_fields, scan_log};

/// What a log holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LogTally {
    pub(crate) counts: Counts,
    /// When the messages were written.
    pub(crate) activity: Activity,
    /// The timestamp of the last message, in UTC.
    pub(crate) last_time: Option<String>,
    /// That of the first message.
    pub(crate) first_time: Option<Moment>,
}

impl LogTally {
    /// Counts one more message.
    pub(crate) fn add(&mut self, head: &ThreadMessageHead) {
        self.change(head, u64::saturating_add);
        if head.role.is_some() {
            self.activity.add_message(head.time);
        }
        self.first_time = self.first_time.or(head.time);
        if head.time.is_some() {
            self.last_time = head.time_text.as_deref().and_then(Moment::in_utc);
        }
    }

    /// Counts one message less.
    pub(crate) fn subtract(&mut self, head: &ThreadMessageHead) {
        self.change(head, u64::saturating_sub);
        if head.role.is_some() {
            self.activity.remove_message(head.time);
        }
    }

    fn change(&mut self, head: &ThreadMessageHead, with: impl Fn(u64, u64) -> u64) {
        let Some(role) = &head.role else { return };
        let counts = &mut self.counts;
        counts.messages = with(counts.messages, 1);
        match role.as_str() {
            "user" => counts.user_messages = with(counts.user_messages, 1),
            "agent" | "assistant" => counts.assistant_messages = with(counts.assistant_messages, 1),
            _ => {}
        }
        counts.tool_calls = with(counts.tool_calls, head.tool_calls);
    }

    /// Counts a whole log.
    pub(crate) fn of(log: impl Read, with_usage: bool) -> io::Result<Self> {
        let mut scan = TallyScan {
            tally: Self::default(),
            sum: with_usage.then(Usage::default),
        };
        scan_log(log, &mut scan)?;
        scan.tally.counts.usage = scan.sum;
        Ok(scan.tally)
    }
}

/// Counts the messages of a log.
struct TallyScan {
    tally: LogTally,
    /// What they used, where that is asked for.
    sum: Option<Usage>,
}

impl LogVisitor<'_> for TallyScan {
    fn object(&mut self, _line: &LogLine<'_>, value: Value<'_>) -> Flow {
        self.tally.add(&message_head(value));
        if let Some(sum) = &mut self.sum
            && let Some(used) = read_usage(value)
        {
            *sum += &used;
        }
        Flow::Continue(())
    }

    fn giant(&mut self, line: &LogLine<'_>) -> Flow {
        self.tally.add(&giant_head(line.bytes));
        Flow::Continue(())
    }
}

/// Calls `with` for each JSON object on a line, damaged or not.
pub(crate) fn each_object(line: &[u8], tree: &mut Tree, mut with: impl FnMut(Value<'_>)) {
    if tree.parse_into(line).is_ok() {
        let root = tree.root(line);
        if root.is_object() {
            with(root);
        }
        return;
    }
    for piece in salvage(line) {
        let Piece::Value(range) = piece else { continue };
        let bytes = &line[range];
        if tree.parse_into(bytes).is_ok() && tree.root(bytes).is_object() {
            with(tree.root(bytes));
        }
    }
}

/// What can be known of a message from the beginning of its line, when the line is too long to be
/// held in memory. Its tool calls are not counted.
pub(crate) fn giant_head(start: &[u8]) -> ThreadMessageHead {
    let mut head = ThreadMessageHead::default();
    // That the bytes end before the line does is why only they are looked at.
    let _ = head_fields(start, "", usize::MAX, |field| {
        let (HeadOwner::Record, HeadValue::Text(text)) = (field.owner, field.value) else {
            return;
        };
        match field.key {
            "id" => head.id = Some(text.to_owned()),
            "role" => head.role = Some(text.to_owned()),
            "timestamp" => {
                head.time = text.parse().ok();
                head.time_text = Some(text.to_owned());
            }
            _ => {}
        }
    });
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_with_damage_is_counted_by_what_can_be_read() {
        let log = concat!(
            "{\"id\":\"1\",\"role\":\"user\",\"timestamp\":\"2025-01-01T00:00:00Z\",\"content\":[]}\n",
            "\n",
            "not json\n",
            "{\"id\":\"2\",\"role\":\"agent\",\"toolCalls\":[{},{}]}{\"id\":\"3\",\"role\":\"system\"}\n",
            "42\n",
            "{\"id\":\"4\",\"role\":\"agent\",\"timestamp\":\"2025-01-02T00:00:00Z\"}\n",
            "{\"id\":\"5\",\"role\":\"us",
        );
        let tally = LogTally::of(log.as_bytes(), false).unwrap();
        assert_eq!(tally.counts.messages, 4);
        assert_eq!(tally.counts.user_messages, 1);
        assert_eq!(tally.counts.assistant_messages, 2);
        assert_eq!(tally.counts.tool_calls, 2);
        assert_eq!(tally.last_time.as_deref(), Some("2025-01-02T00:00:00Z"));
    }

    #[test]
    fn the_head_of_a_giant_line() {
        let start = br#"{"id":"g","meta":{"role":"x"},"role":"agent","timestamp":"2025-01-02T00:00:00Z","content":[{"type":"text","text":"aaaa"#;
        let head = giant_head(start);
        assert_eq!(
            (head.id.as_deref(), head.role.as_deref()),
            (Some("g"), Some("agent"))
        );
        assert!(head.time.is_some());
    }
}
