//! When the messages of a session were written, counted by quarters of an hour.

use std::ops::AddAssign;

use jiff::Timestamp;

use crate::Moment;

/// Zones differ by whole quarters of an hour, so that such a span is in one day everywhere.
const QUARTER_SECONDS: i64 = 15 * 60;

/// So many quarters of an hour are kept, the newest: hundreds of hours in which something was said.
const MOST_SPANS: usize = 1024;

/// How many messages were written when: of each quarter of an hour in which there were some, sorted. A
/// long session keeps only the newest of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    spans: Vec<ActivitySpan>,
}

/// The messages of a quarter of an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivitySpan {
    /// Which one: quarters of an hour since the start of 1970 in UTC.
    pub quarter: i64,
    /// How many messages were written in it.
    pub messages: u64,
}

impl ActivitySpan {
    /// When it begins.
    pub fn start(self) -> Timestamp {
        let seconds = self.quarter.saturating_mul(QUARTER_SECONDS);
        Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

impl Activity {
    /// What these spans say, in any order.
    pub fn of_spans(spans: impl IntoIterator<Item = ActivitySpan>) -> Self {
        let mut activity = Self::default();
        for span in spans {
            activity.add_messages(span.quarter, span.messages);
        }
        activity
    }

    /// The spans, the oldest first.
    pub fn spans(&self) -> &[ActivitySpan] {
        &self.spans
    }

    /// Counts a message. One from before 1970 was written when no clock was set.
    pub fn add_message(&mut self, time: Option<Moment>) {
        if let Some(time) = time.filter(|time| time.millis() > 0) {
            self.add_messages(quarter_of(time), 1);
        }
    }

    /// Takes a message back that was counted.
    pub fn remove_message(&mut self, time: Option<Moment>) {
        if let Some(time) = time.filter(|time| time.millis() > 0) {
            self.remove_messages(ActivitySpan {
                quarter: quarter_of(time),
                messages: 1,
            });
        }
    }

    /// Takes back what another one counts as well.
    pub fn remove_all(&mut self, other: &Activity) {
        for span in &other.spans {
            self.remove_messages(*span);
        }
    }

    fn remove_messages(&mut self, gone: ActivitySpan) {
        let Ok(at) = self.find(gone.quarter) else {
            return;
        };
        if let Some(span) = self.spans.get_mut(at) {
            span.messages = span.messages.saturating_sub(gone.messages);
            if span.messages == 0 {
                self.spans.remove(at);
            }
        }
    }

    fn find(&self, quarter: i64) -> Result<usize, usize> {
        // Most messages are written in the order of time.
        match self.spans.last() {
            Some(last) if last.quarter == quarter => Ok(self.spans.len() - 1),
            Some(last) if last.quarter > quarter => {
                self.spans.binary_search_by_key(&quarter, |s| s.quarter)
            }
            _ => Err(self.spans.len()),
        }
    }

    fn add_messages(&mut self, quarter: i64, messages: u64) {
        match self.find(quarter) {
            Ok(at) => {
                if let Some(span) = self.spans.get_mut(at) {
                    span.messages = span.messages.saturating_add(messages);
                }
            }
            // Older than all that are kept.
            Err(0) if self.spans.len() == MOST_SPANS => {}
            Err(at) => {
                self.spans.insert(at, ActivitySpan { quarter, messages });
                if self.spans.len() > MOST_SPANS {
                    self.spans.remove(0);
                }
            }
        }
    }
}

fn quarter_of(time: Moment) -> i64 {
    time.millis().div_euclid(QUARTER_SECONDS * 1000)
}

impl AddAssign<&Activity> for Activity {
    fn add_assign(&mut self, other: &Activity) {
        for span in &other.spans {
            self.add_messages(span.quarter, span.messages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        text.parse().unwrap()
    }

    fn counted(times: &[&str]) -> Activity {
        let mut activity = Activity::default();
        for time in times {
            activity.add_message(Some(moment(time)));
        }
        activity
    }

    fn messages(activity: &Activity) -> Vec<u64> {
        activity.spans().iter().map(|s| s.messages).collect()
    }

    #[test]
    fn messages_are_counted_whatever_their_order() {
        let some = counted(&[
            "2026-11-01T10:20:00Z",
            "2026-11-01T10:29:59.999Z",
            "2026-11-01T09:59:00Z",
            "2026-11-01T10:30:00Z",
        ]);
        assert_eq!(messages(&some), [1, 2, 1]);
        assert_eq!(some.spans()[1].start().to_string(), "2026-11-01T10:15:00Z");
        let mut none = some.clone();
        none.add_message(None);
        none.add_message(Some(moment("1969-01-01T00:00:00Z")));
        assert_eq!(none, some);
        none.remove_all(&some);
        assert_eq!(none, Activity::default());
    }

    #[test]
    fn the_newest_are_kept_and_counted_whole() {
        let at = |hour: i64| Moment::from_millis((400_000 + hour) * 3_600_000);
        let most = i64::try_from(MOST_SPANS).unwrap();
        let (mut forward, mut backward) = (Activity::default(), Activity::default());
        for hour in 0..most + 10 {
            forward.add_message(at(hour));
            forward.add_message(at(hour));
            backward.add_message(at(most + 9 - hour));
            backward.add_message(at(most + 9 - hour));
        }
        assert_eq!(forward.spans().len(), MOST_SPANS);
        assert_eq!(forward, backward);
        forward.add_message(at(0));
        assert_eq!(forward, backward);
        assert_eq!(Activity::of_spans(forward.spans().iter().copied()), forward);
    }

    #[test]
    fn a_sum_has_what_both_have() {
        let mut one = counted(&["2026-11-01T10:20:00Z"]);
        one += &counted(&["2026-11-01T10:20:00Z", "2026-11-02T10:20:00Z"]);
        assert_eq!(messages(&one), [2, 1]);
        one.remove_message(Some(moment("2026-11-01T10:16:00Z")));
        assert_eq!(messages(&one), [1, 1]);
    }
}
