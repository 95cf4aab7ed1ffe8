//! JSON as a stream.

use std::io::{self, Write};

use rethread_model::{Json, Moment, Text};

use super::escape::escape;
use super::raw::embeddable;
use super::times::Times;

/// So much is written at once.
const ENOUGH: usize = 256 * 1024;

/// Writes JSON piece by piece. The caller opens and closes; commas come by themselves.
pub(crate) struct Writer<'a> {
    out: &'a mut dyn Write,
    /// What was not given to `out` yet.
    ready: Vec<u8>,
    comma: bool,
    /// Objects and arrays that are written only when something gets into them.
    waiting: Vec<(&'static str, &'static str)>,
    times: Times,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            ready: Vec::new(),
            comma: false,
            waiting: Vec::new(),
            times: Times::default(),
        }
    }

    /// Gives all that was written to `out`, and ends the line.
    pub(crate) fn end_line(self) -> io::Result<()> {
        let mut ready = self.ready;
        ready.push(b'\n');
        self.out.write_all(&ready)
    }

    /// Gives all that was written to `out`.
    pub(crate) fn end(mut self) -> io::Result<()> {
        self.give()
    }

    fn give(&mut self) -> io::Result<()> {
        self.out.write_all(&self.ready)?;
        self.ready.clear();
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.ready.extend_from_slice(bytes);
        self.give_enough()
    }

    fn give_enough(&mut self) -> io::Result<()> {
        if self.ready.len() >= ENOUGH {
            self.give()?;
        }
        Ok(())
    }

    /// Starts a member; its value comes next.
    pub(crate) fn key(&mut self, key: &str) -> io::Result<()> {
        self.open_waiting()?;
        self.place()?;
        self.quoted(key)?;
        self.put(b":")
    }

    /// Starts an element of an array, or the next value of a list; its value comes next.
    pub(crate) fn element(&mut self) -> io::Result<()> {
        self.open_waiting()?;
        self.place()
    }

    /// Opens an object (`{`) or an array (`[`) as a value.
    pub(crate) fn open(&mut self, bracket: &str) -> io::Result<()> {
        self.comma = false;
        self.put(bracket.as_bytes())
    }

    /// Closes what [`open`](Self::open) opened.
    pub(crate) fn close(&mut self, bracket: &str) -> io::Result<()> {
        self.comma = true;
        self.put(bracket.as_bytes())
    }

    /// Opens a member that is an object or an array, but only if something gets into it.
    pub(crate) fn open_if_used(&mut self, key: &'static str, bracket: &'static str) {
        self.waiting.push((key, bracket));
    }

    /// Closes what [`open_if_used`](Self::open_if_used) opened.
    pub(crate) fn close_if_used(&mut self, bracket: &str) -> io::Result<()> {
        match self.waiting.pop() {
            Some(_) => Ok(()),
            None => self.close(bracket),
        }
    }

    pub(crate) fn string(&mut self, text: &str) -> io::Result<()> {
        self.comma = true;
        self.quoted(text)
    }

    /// Text of a conversation. Lone surrogates, which no UTF-8 can hold, stand there as escapes.
    pub(crate) fn text(&mut self, text: &Text) -> io::Result<()> {
        if text.lone.is_empty() {
            return self.string(&text.value);
        }
        self.comma = true;
        let out = &mut self.ready;
        out.push(b'"');
        let mut rest = 0;
        for (at, unit) in &text.lone {
            let before = text.value.get(rest..*at).unwrap_or_default();
            escape(out, before);
            write!(out, "\\u{unit:04x}")?;
            // In the text itself there is a U+FFFD in that place.
            rest = at + char::REPLACEMENT_CHARACTER.len_utf8();
        }
        escape(out, text.value.get(rest..).unwrap_or_default());
        out.push(b'"');
        self.give_enough()
    }

    /// A value of a source, byte for byte; as a string, if it cannot stand in our line.
    pub(crate) fn raw(&mut self, json: &Json) -> io::Result<()> {
        match embeddable(json.bytes()) {
            Some(text) => self.literal(&text),
            None => self.string(&json.to_text()),
        }
    }

    /// Something that is JSON already.
    pub(crate) fn literal(&mut self, text: &str) -> io::Result<()> {
        self.comma = true;
        self.put(text.as_bytes())
    }

    /// Opens an object with the members of this one; more may follow.
    pub(crate) fn members_of(&mut self, object: &str) -> io::Result<()> {
        let open = object.strip_suffix('}').unwrap_or(object);
        self.literal(open)?;
        self.comma = open.len() > 1;
        Ok(())
    }

    /// A value that somebody else writes.
    pub(crate) fn value_by(
        &mut self,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.comma = true;
        self.give()?;
        write(self.out)
    }

    pub(crate) fn number(&mut self, number: u64) -> io::Result<()> {
        self.literal(&number.to_string())
    }

    pub(crate) fn float(&mut self, number: f64) -> io::Result<()> {
        if number.is_finite() {
            self.literal(&number.to_string())
        } else {
            self.literal("null")
        }
    }

    pub(crate) fn member(&mut self, key: &str, text: &str) -> io::Result<()> {
        self.key(key)?;
        self.string(text)
    }

    pub(crate) fn member_text(&mut self, key: &str, text: &Text) -> io::Result<()> {
        self.key(key)?;
        self.text(text)
    }

    /// A text that is left out when there is none.
    pub(crate) fn member_text_if(&mut self, key: &str, text: Option<&Text>) -> io::Result<()> {
        text.map_or(Ok(()), |text| self.member_text(key, text))
    }

    /// A text that is `null` when there is none.
    pub(crate) fn member_text_or_null(&mut self, key: &str, text: Option<&Text>) -> io::Result<()> {
        self.key(key)?;
        match text {
            Some(text) => self.text(text),
            None => self.literal("null"),
        }
    }

    /// A member that is left out when there is nothing to say.
    pub(crate) fn member_if(&mut self, key: &str, text: Option<&str>) -> io::Result<()> {
        text.map_or(Ok(()), |text| self.member(key, text))
    }

    /// A member that is `null` when there is nothing to say.
    pub(crate) fn member_or_null(&mut self, key: &str, text: Option<&str>) -> io::Result<()> {
        self.key(key)?;
        match text {
            Some(text) => self.string(text),
            None => self.literal("null"),
        }
    }

    pub(crate) fn flag_if(&mut self, key: &str, flag: bool) -> io::Result<()> {
        if !flag {
            return Ok(());
        }
        self.key(key)?;
        self.literal("true")
    }

    pub(crate) fn number_if(&mut self, key: &str, number: Option<u64>) -> io::Result<()> {
        let Some(number) = number else {
            return Ok(());
        };
        self.key(key)?;
        self.number(number)
    }

    pub(crate) fn float_if(&mut self, key: &str, number: Option<f64>) -> io::Result<()> {
        let Some(number) = number else {
            return Ok(());
        };
        self.key(key)?;
        self.float(number)
    }

    pub(crate) fn raw_if(&mut self, key: &str, json: Option<&Json>) -> io::Result<()> {
        let Some(json) = json else {
            return Ok(());
        };
        self.key(key)?;
        self.raw(json)
    }

    pub(crate) fn moment_if(&mut self, key: &str, time: Option<Moment>) -> io::Result<()> {
        let Some(time) = time else {
            return Ok(());
        };
        self.key(key)?;
        self.comma = true;
        self.ready.push(b'"');
        self.times.write(&mut self.ready, time);
        self.ready.push(b'"');
        Ok(())
    }

    fn open_waiting(&mut self) -> io::Result<()> {
        for (key, bracket) in std::mem::take(&mut self.waiting) {
            self.place()?;
            self.quoted(key)?;
            self.put(b":")?;
            self.open(bracket)?;
        }
        Ok(())
    }

    fn place(&mut self) -> io::Result<()> {
        if self.comma {
            self.put(b",")?;
        }
        Ok(())
    }

    fn quoted(&mut self, text: &str) -> io::Result<()> {
        self.ready.push(b'"');
        escape(&mut self.ready, text);
        self.ready.push(b'"');
        self.give_enough()
    }
}
