//! JSON as a stream.

use std::io::{self, Write};

use rethread_model::{Json, Moment, Text};

use super::escape::escape_into;
use super::raw::embeddable_value;
use super::times::MomentWriter;

/// So much is written at once.
const ENOUGH: usize = 256 * 1024;

/// Writes JSON piece by piece. The caller opens and closes; commas come by themselves.
pub(crate) struct JsonWriter<'a> {
    out: &'a mut dyn Write,
    /// What was not given to `out` yet.
    ready: Vec<u8>,
    comma: bool,
    /// Objects and arrays that are written only when something gets into them.
    waiting: Vec<(&'static str, &'static str)>,
    times: MomentWriter,
}

impl<'a> JsonWriter<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            ready: Vec::new(),
            comma: false,
            waiting: Vec::new(),
            times: MomentWriter::default(),
        }
    }

    /// Gives all that was written to `out`, and ends the line.
    pub(crate) fn end_line(self) -> io::Result<()> {
        let mut ready = self.ready;
        ready.push(b'\n');
        self.out.write_all(&ready)
    }

    /// Gives all that was written to `out`.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush_buffer()
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        self.out.write_all(&self.ready)?;
        self.ready.clear();
        Ok(())
    }

    fn put_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.ready.extend_from_slice(bytes);
        self.give_enough()
    }

    fn give_enough(&mut self) -> io::Result<()> {
        if self.ready.len() >= ENOUGH {
            self.flush_buffer()?;
        }
        Ok(())
    }

    /// Starts a member; its value comes next.
    pub(crate) fn begin_member(&mut self, key: &str) -> io::Result<()> {
        self.open_waiting()?;
        self.write_comma()?;
        self.write_quoted(key)?;
        self.put_bytes(b":")
    }

    /// Starts an element of an array, or the next value of a list; its value comes next.
    pub(crate) fn begin_element(&mut self) -> io::Result<()> {
        self.open_waiting()?;
        self.write_comma()
    }

    /// Opens an object (`{`) or an array (`[`) as a value.
    pub(crate) fn open(&mut self, bracket: &str) -> io::Result<()> {
        self.comma = false;
        self.put_bytes(bracket.as_bytes())
    }

    /// Closes what [`open`](Self::open) opened.
    pub(crate) fn close(&mut self, bracket: &str) -> io::Result<()> {
        self.comma = true;
        self.put_bytes(bracket.as_bytes())
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

    pub(crate) fn write_string(&mut self, text: &str) -> io::Result<()> {
        self.comma = true;
        self.write_quoted(text)
    }

    /// Text of a conversation. Lone surrogates, which no UTF-8 can hold, stand there as escapes.
    pub(crate) fn write_text(&mut self, text: &Text) -> io::Result<()> {
        if text.lone.is_empty() {
            return self.write_string(&text.value);
        }
        self.comma = true;
        let out = &mut self.ready;
        out.push(b'"');
        let mut rest = 0;
        for (at, unit) in &text.lone {
            let before = text.value.get(rest..*at).unwrap_or_default();
            escape_into(out, before);
            write!(out, "\\u{unit:04x}")?;
            // In the text itself there is a U+FFFD in that place.
            rest = at + char::REPLACEMENT_CHARACTER.len_utf8();
        }
        escape_into(out, text.value.get(rest..).unwrap_or_default());
        out.push(b'"');
        self.give_enough()
    }

    /// A value of a source, byte for byte; as a string, if it cannot stand in our line.
    pub(crate) fn write_raw(&mut self, json: &Json) -> io::Result<()> {
        match embeddable_value(json.bytes()) {
            Some(text) => self.write_literal(&text),
            None => self.write_string(&json.to_text()),
        }
    }

    /// Something that is JSON already.
    pub(crate) fn write_literal(&mut self, text: &str) -> io::Result<()> {
        self.comma = true;
        self.put_bytes(text.as_bytes())
    }

    /// Opens an object with the members of this one; more may follow.
    pub(crate) fn members_of(&mut self, object: &str) -> io::Result<()> {
        let open = object.strip_suffix('}').unwrap_or(object);
        self.write_literal(open)?;
        self.comma = open.len() > 1;
        Ok(())
    }

    /// A value that somebody else writes.
    pub(crate) fn value_by(
        &mut self,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.comma = true;
        self.flush_buffer()?;
        write(self.out)
    }

    pub(crate) fn write_number(&mut self, number: u64) -> io::Result<()> {
        self.write_literal(&number.to_string())
    }

    pub(crate) fn write_float(&mut self, number: f64) -> io::Result<()> {
        if number.is_finite() {
            self.write_literal(&number.to_string())
        } else {
            self.write_literal("null")
        }
    }

    pub(crate) fn write_member(&mut self, key: &str, text: &str) -> io::Result<()> {
        self.begin_member(key)?;
        self.write_string(text)
    }

    pub(crate) fn member_text(&mut self, key: &str, text: &Text) -> io::Result<()> {
        self.begin_member(key)?;
        self.write_text(text)
    }

    /// A text that is left out when there is none.
    pub(crate) fn member_text_if(&mut self, key: &str, text: Option<&Text>) -> io::Result<()> {
        text.map_or(Ok(()), |text| self.member_text(key, text))
    }

    /// A text that is `null` when there is none.
    pub(crate) fn member_text_or_null(&mut self, key: &str, text: Option<&Text>) -> io::Result<()> {
        self.begin_member(key)?;
        match text {
            Some(text) => self.write_text(text),
            None => self.write_literal("null"),
        }
    }

    /// A member that is left out when there is nothing to say.
    pub(crate) fn member_if(&mut self, key: &str, text: Option<&str>) -> io::Result<()> {
        text.map_or(Ok(()), |text| self.write_member(key, text))
    }

    /// A member that is `null` when there is nothing to say.
    pub(crate) fn member_or_null(&mut self, key: &str, text: Option<&str>) -> io::Result<()> {
        self.begin_member(key)?;
        match text {
            Some(text) => self.write_string(text),
            None => self.write_literal("null"),
        }
    }

    pub(crate) fn flag_if(&mut self, key: &str, flag: bool) -> io::Result<()> {
        if !flag {
            return Ok(());
        }
        self.begin_member(key)?;
        self.write_literal("true")
    }

    pub(crate) fn number_if(&mut self, key: &str, number: Option<u64>) -> io::Result<()> {
        let Some(number) = number else {
            return Ok(());
        };
        self.begin_member(key)?;
        self.write_number(number)
    }

    pub(crate) fn float_if(&mut self, key: &str, number: Option<f64>) -> io::Result<()> {
        let Some(number) = number else {
            return Ok(());
        };
        self.begin_member(key)?;
        self.write_float(number)
    }

    pub(crate) fn raw_if(&mut self, key: &str, json: Option<&Json>) -> io::Result<()> {
        let Some(json) = json else {
            return Ok(());
        };
        self.begin_member(key)?;
        self.write_raw(json)
    }

    pub(crate) fn moment_if(&mut self, key: &str, time: Option<Moment>) -> io::Result<()> {
        let Some(time) = time else {
            return Ok(());
        };
        self.begin_member(key)?;
        self.comma = true;
        self.ready.push(b'"');
        self.times.write_moment(&mut self.ready, time);
        self.ready.push(b'"');
        Ok(())
    }

    fn open_waiting(&mut self) -> io::Result<()> {
        for (key, bracket) in std::mem::take(&mut self.waiting) {
            self.write_comma()?;
            self.write_quoted(key)?;
            self.put_bytes(b":")?;
            self.open(bracket)?;
        }
        Ok(())
    }

    fn write_comma(&mut self) -> io::Result<()> {
        if self.comma {
            self.put_bytes(b",")?;
        }
        Ok(())
    }

    fn write_quoted(&mut self, text: &str) -> io::Result<()> {
        self.ready.push(b'"');
        escape_into(&mut self.ready, text);
        self.ready.push(b'"');
        self.give_enough()
    }
}
