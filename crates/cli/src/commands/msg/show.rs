//! How a message is shown.

use std::collections::BTreeSet;
use std::io::{self, Write};

use jiff::Timestamp;
use rethread_render::{neutral, one_line};
use rethread_samp::{Batch, Clock, Message, StoredId, first_line};
use serde_json::{Value, json};

use crate::context::Context;

/// Now, in seconds since 1970.
pub(super) fn seconds(context: &Context) -> i64 {
    context.env.now().millis().div_euclid(1000)
}

/// The clock for what is sent; `now` is [`seconds`].
pub(super) fn clock<'a>(context: &Context, now: &'a dyn Fn() -> i64) -> Clock<'a> {
    if context.env.has_running_clock() {
        Clock::Running(now)
    } else {
        Clock::Stopped(now())
    }
}

/// A moment in the user's time zone; what no calendar can show, as it is.
pub(super) fn local(context: &Context, ts: i64, format: &str) -> String {
    match Timestamp::from_second(ts) {
        Ok(moment) => moment
            .to_zoned(context.zone().clone())
            .strftime(format)
            .to_string(),
        Err(_) => ts.to_string(),
    }
}

/// Moments in the user's time zone, of which many are of the same minute.
pub(super) struct Times<'a> {
    context: &'a Context,
    last: Option<(i64, String)>,
}

impl<'a> Times<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self {
            context,
            last: None,
        }
    }

    fn minute(&mut self, ts: i64) -> &str {
        let minute = ts.div_euclid(60);
        let last = self.last.take().filter(|(last, _)| *last == minute);
        let (_, text) = self
            .last
            .insert(last.unwrap_or_else(|| (minute, local(self.context, ts, "%Y-%m-%d %H:%M"))));
        text
    }
}

/// A message for people and agents: a line about it, then what it says, indented, so that no line
/// of it can pass for one of ours.
pub(super) fn write_text(
    times: &mut Times<'_>,
    message: &Message<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let record = &message.record;
    write!(
        out,
        "{}  {}  {}  {}",
        message.id,
        times.minute(record.ts()),
        one_line(&record.from().unwrap_or_default()),
        one_line(&record.thread().unwrap_or_default()),
    )?;
    if message.is_late {
        out.write_all(b"  (late)")?;
    }
    if let StoredId::Wrong(_) = message.stored_id() {
        out.write_all(b"  (wrong id)")?;
    }
    writeln!(out)?;
    write_indented(&record.body(), out)?;
    writeln!(out)
}

pub(super) fn write_indented(body: &str, out: &mut dyn Write) -> io::Result<()> {
    let body = neutral(body);
    if body.is_empty() {
        return out.write_all(b"    \n");
    }
    body.lines()
        .try_for_each(|line| writeln!(out, "    {line}"))
}

/// A message for scripts.
pub(super) fn object(message: &Message<'_>) -> Value {
    let record = &message.record;
    let time = Timestamp::from_second(record.ts()).ok();
    let mut object = json!({
        "id": message.id.to_string(),
        "ts": record.ts(),
        "time": time.map(|t| t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        "from": record.from(),
        "to": record.to(),
        "thread": record.thread(),
        "body": record.body(),
        "late": message.is_late,
        "path": message.path.to_string_lossy(),
        "line": message.line,
    });
    if let StoredId::Wrong(stored) = message.stored_id() {
        object["stored_id"] = json!(stored);
    }
    object
}

/// The bytes of a record, on a line of its own.
pub(super) fn write_raw(message: &Message<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(message.record.raw())?;
    out.write_all(b"\n")
}

/// One line, as the reference implementation shows a message.
pub(super) fn write_short(
    context: &Context,
    message: &Message<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    const SHOWN: usize = 80;
    let record = &message.record;
    let body = record.body();
    let first: String = first_line(&body).chars().take(SHOWN).collect();
    writeln!(
        out,
        "[{}] from={} thread={}: {}",
        local(context, record.ts(), "%m-%d %H:%M"),
        one_line(&record.from().unwrap_or_default()),
        one_line(&record.thread().unwrap_or_default()),
        one_line(&first),
    )
}

/// Writes all of a batch; gives how many there were and who sent them.
pub(super) fn write_all(
    batch: &mut Batch,
    out: &mut dyn Write,
    mut write: impl FnMut(&Message<'_>, &mut dyn Write) -> io::Result<()>,
) -> io::Result<(usize, BTreeSet<String>)> {
    let mut count = 0;
    let mut senders = BTreeSet::new();
    batch.each(|message| {
        let from = message.record.from().unwrap_or_default();
        if !senders.contains(&*from) {
            senders.insert(from.into_owned());
        }
        count += 1;
        write(message, out)
    })?;
    Ok((count, senders))
}

/// How many there are, and from whom.
pub(super) fn summary(count: usize, senders: &BTreeSet<String>) -> String {
    let senders: Vec<_> = senders.iter().map(|name| one_line(name)).collect();
    format!("{count} new from: {}", senders.join(", "))
}
