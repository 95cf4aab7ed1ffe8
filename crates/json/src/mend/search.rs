//! The search for values of a document that are damaged, and for where they end.

use super::Damaged;
use super::value::{ValueFault, ValueScan, byte_at, copy_bytes, short_bytes, skip_space};
use super::windows::ByteWindows;
use crate::error::SyntaxErrorKind;
use crate::text::string_at;

/// So many damaged values are told apart; what stands behind them stays as it is.
const MOST_DAMAGED: usize = 65_536;

/// So many ways in which the objects of a list begin are known.
const MOST_HEADS: usize = 64;

/// A value that stands further to the right is not found by its column.
const LONGEST_INDENT: usize = 1024;

/// Looks for damaged values.
pub(super) struct DamageSearch<'a, W> {
    pub(super) src: W,
    /// What was found, in order.
    pub(super) damaged: Vec<Damaged>,
    scan: ValueScan,
    /// How the whole objects of a list begin: their first keys.
    heads: Vec<Vec<u8>>,
    /// The keys of lists.
    lists: &'a [&'a str],
    /// How many bytes may still be looked at.
    budget: u64,
}

/// What values stand in.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Object,
    List,
}

impl<'a, W: ByteWindows> DamageSearch<'a, W> {
    pub(super) fn new(src: W, lists: &'a [&'a str]) -> Self {
        Self {
            budget: src.len().saturating_mul(16).saturating_add(4096),
            src,
            damaged: Vec::new(),
            scan: ValueScan::default(),
            heads: Vec::new(),
            lists,
        }
    }

    /// Goes through the document, as far as that can be done.
    pub(super) fn run(mut self) -> Self {
        let mut mark = [0; 3];
        copy_bytes(&mut self.src, 0, &mut mark);
        let start = skip_space(&mut self.src, crate::scan::bom_len(&mark) as u64);
        match byte_at(&mut self.src, start) {
            Some(b'{') => drop(self.members(start + 1)),
            Some(b'[') => drop(self.items(start + 1)),
            _ => {}
        }
        self
    }

    /// Goes through the members of an object from behind its brace; gives where it ends.
    fn members(&mut self, mut at: u64) -> Option<u64> {
        loop {
            at = skip_space(&mut self.src, at);
            match byte_at(&mut self.src, at)? {
                b'}' => return Some(at + 1),
                b',' => at += 1,
                b'"' => {
                    let end = self.value(at).ok()?;
                    let is_list = self.is_key_of_list(at, end);
                    let colon = skip_space(&mut self.src, end);
                    if byte_at(&mut self.src, colon) != Some(b':') {
                        return None;
                    }
                    let start = skip_space(&mut self.src, colon + 1);
                    at = if is_list && byte_at(&mut self.src, start) == Some(b'[') {
                        self.items(start + 1)?
                    } else {
                        // Members stand in the column of their keys.
                        self.whole_or_damaged(start, at, Within::Object)?
                    };
                }
                _ => return None,
            }
        }
    }

    fn is_key_of_list(&mut self, start: u64, end: u64) -> bool {
        let key = short_bytes(&mut self.src, start, end).unwrap_or_default();
        let key = string_at(&key, 0).map(|(key, _)| key.text);
        key.is_some_and(|key| self.lists.contains(&&*key))
    }

    /// Goes through the items of a list from behind its bracket; gives where it ends.
    fn items(&mut self, mut at: u64) -> Option<u64> {
        loop {
            at = skip_space(&mut self.src, at);
            match byte_at(&mut self.src, at)? {
                b']' => return Some(at + 1),
                b',' => at += 1,
                _ => at = self.whole_or_damaged(at, at, Within::List)?,
            }
        }
    }

    /// Where the value ends that begins here, whole or damaged.
    fn whole_or_damaged(&mut self, start: u64, column: u64, within: Within) -> Option<u64> {
        let fault = match self.value(start) {
            Ok(end) if self.is_over(end, within) => {
                if within == Within::List {
                    self.learn_head();
                }
                return Some(end);
            }
            Ok(offset) => ValueFault {
                offset,
                kind: SyntaxErrorKind::TrailingData,
            },
            Err(fault) => fault,
        };
        let end = self.end_of_damaged(start, column, within)?;
        self.damaged.push(Damaged {
            range: start..end,
            offset: fault.offset,
            kind: fault.kind,
        });
        Some(end)
    }

    /// Where the whole value ends that begins here.
    fn value(&mut self, start: u64) -> Result<u64, ValueFault> {
        let scanned = self.scan.value_end(&mut self.src, start);
        let reached = match &scanned {
            Ok(end) => *end,
            Err(fault) => fault.offset,
        };
        self.spend(reached.saturating_sub(start));
        scanned
    }

    fn spend(&mut self, bytes: u64) {
        self.budget = self.budget.saturating_sub(bytes);
    }

    /// Whether a value that ends here is followed by another one, or is the last.
    fn is_over(&mut self, end: u64, within: Within) -> bool {
        let close = match within {
            Within::Object => b'}',
            Within::List => b']',
        };
        let next = skip_space(&mut self.src, end);
        let next = byte_at(&mut self.src, next);
        next == Some(b',') || next == Some(close)
    }

    /// Notes how the object begins that was gone through last.
    fn learn_head(&mut self) {
        let head = &self.scan.first_keys;
        if self.heads.len() < MOST_HEADS && !head.is_empty() && !self.heads.contains(head) {
            self.heads.push(head.clone());
        }
    }

    fn end_of_damaged(&mut self, start: u64, column: u64, within: Within) -> Option<u64> {
        if self.budget == 0 || self.damaged.len() >= MOST_DAMAGED {
            return None;
        }
        let by_brackets = self.balanced_end(start);
        self.spend(by_brackets.unwrap_or(self.src.len()) - start);
        if let Some(end) = by_brackets.filter(|end| self.goes_on(*end, within)) {
            return Some(end);
        }
        let in_column = self.next_in_column(start, column, within);
        self.spend(in_column.unwrap_or(self.src.len()) - start);
        if in_column.is_some() {
            return in_column;
        }
        match within {
            Within::List => self.next_alike(start),
            Within::Object => self.next_list(start),
        }
    }

    /// Where a value ends by its brackets and quotes alone, whatever stands in it.
    fn balanced_end(&mut self, start: u64) -> Option<u64> {
        let mut depth = 0_u64;
        let mut in_string = false;
        let mut escaped = false;
        let mut at = start;
        loop {
            let window = self.src.bytes_from(at);
            if window.is_empty() {
                return None;
            }
            for byte in window {
                at += 1;
                if in_string {
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' => escaped = true,
                        b'"' => in_string = false,
                        _ => {}
                    }
                    if !in_string && depth == 0 {
                        return Some(at);
                    }
                    continue;
                }
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' | b',' if depth == 0 => {
                        return Some(at - 1).filter(|end| *end > start);
                    }
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(at);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Where a damaged member ends, by the next list under one of the known keys.
    fn next_list(&mut self, start: u64) -> Option<u64> {
        let lists = self.lists;
        let begins = lists.iter().filter_map(|key| self.list_begins(key, start));
        let next = begins.min()?;
        Some(self.trimmed_end(start, next))
    }

    /// Where a list under this key begins behind a comma.
    fn list_begins(&mut self, key: &str, start: u64) -> Option<u64> {
        let key = format!("\"{key}\"");
        let mut from = start;
        loop {
            let found = self.find_bytes(from, key.as_bytes())?;
            from = found + key.len() as u64;
            let colon = skip_space(&mut self.src, from);
            if self.last_before(start, found).map(|(_, byte)| byte) == Some(b',')
                && byte_at(&mut self.src, colon) == Some(b':')
            {
                let list = skip_space(&mut self.src, colon + 1);
                if byte_at(&mut self.src, list) == Some(b'[') {
                    return Some(found);
                }
            }
        }
    }

    /// Where a few bytes stand next.
    fn find_bytes(&mut self, mut at: u64, wanted: &[u8]) -> Option<u64> {
        let first = *wanted.first()?;
        let mut there = vec![0; wanted.len()];
        loop {
            at = self.find_byte(at, first)?;
            let count = copy_bytes(&mut self.src, at, &mut there);
            if count < wanted.len() {
                return None;
            }
            if there == wanted {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Where a byte stands next.
    fn find_byte(&mut self, mut at: u64, wanted: u8) -> Option<u64> {
        loop {
            let window = self.src.bytes_from(at);
            if window.is_empty() {
                return None;
            }
            if let Some(found) = memchr::memchr(wanted, window) {
                return Some(at + found as u64);
            }
            at += window.len() as u64;
        }
    }

    /// The last byte of a stretch that is not white space, and where it stands.
    fn last_before(&mut self, start: u64, mut end: u64) -> Option<(u64, u8)> {
        while end > start {
            let window = self.src.bytes_before(end);
            if window.is_empty() {
                return None;
            }
            let spaces = window.len() - window.trim_ascii_end().len();
            let last = window.trim_ascii_end().last().copied();
            end -= spaces as u64;
            if let Some(last) = last {
                return (end > start).then(|| (end - 1, last));
            }
        }
        None
    }

    /// Whether what stands behind a value is as it must be: the end of what it stands in, or a comma
    /// and a whole value.
    fn goes_on(&mut self, end: u64, within: Within) -> bool {
        if !self.is_over(end, within) {
            return false;
        }
        let comma = skip_space(&mut self.src, end);
        if byte_at(&mut self.src, comma) != Some(b',') {
            return true;
        }
        let next = skip_space(&mut self.src, comma + 1);
        self.value(next).is_ok()
    }

    /// Where a damaged value ends, by the next one that begins a line in the same column, or by the
    /// bracket that ends them. No line begins inside of a string.
    fn next_in_column(&mut self, start: u64, column: u64, within: Within) -> Option<u64> {
        let indent = self.indent_before(column)?;
        let (open, close) = match within {
            Within::Object => (b'"', b'}'),
            // The brace of an object may be what is damaged.
            Within::List => match byte_at(&mut self.src, start)? {
                known @ (b'[' | b'"') => (known, b']'),
                _ => (b'{', b']'),
            },
        };
        let mut at = start;
        loop {
            let line = self.find_byte(at, b'\n')? + 1;
            at = line;
            let Some(begun) = self.line_begins(line, &indent) else {
                continue;
            };
            let is_next = begun.is_indented && begun.byte? == open;
            let is_end = begun.is_shorter && begun.byte? == close;
            if is_next || is_end {
                return Some(self.trimmed_end(start, line));
            }
        }
    }

    /// The white space between the beginning of a line and a place in it, if nothing else stands there.
    fn indent_before(&mut self, column: u64) -> Option<Vec<u8>> {
        let mut indent = Vec::new();
        loop {
            let byte = *self.src.bytes_before(column - indent.len() as u64).last()?;
            match byte {
                b'\n' => break,
                b' ' | b'\t' if indent.len() < LONGEST_INDENT => indent.push(byte),
                _ => return None,
            }
        }
        indent.reverse();
        Some(indent)
    }

    /// How a line begins, if it is not indented further than this.
    fn line_begins(&mut self, line: u64, indent: &[u8]) -> Option<LineBegin> {
        let mut same = true;
        for (at, expected) in (line..).zip(indent) {
            match byte_at(&mut self.src, at) {
                Some(byte @ (b' ' | b'\t')) => same &= byte == *expected,
                byte => {
                    return Some(LineBegin {
                        byte,
                        is_indented: false,
                        is_shorter: true,
                    });
                }
            }
        }
        match byte_at(&mut self.src, line + indent.len() as u64) {
            Some(b' ' | b'\t') => None,
            byte => Some(LineBegin {
                byte,
                is_indented: same,
                is_shorter: false,
            }),
        }
    }

    /// Where a damaged value ends, by the next object that is whole and begins like others.
    fn next_alike(&mut self, start: u64) -> Option<u64> {
        let mut at = start + 1;
        while self.budget > 0 {
            let brace = self.find_byte(at, b'{')?;
            at = brace + 1;
            if self.last_before(start, brace).map(|(_, byte)| byte) != Some(b',') {
                continue;
            }
            let Ok(end) = self.value(brace) else {
                continue;
            };
            if self.heads.contains(&self.scan.first_keys) && self.is_over(end, Within::List) {
                return Some(self.trimmed_end(start, brace));
            }
        }
        None
    }

    /// The end of a value before another one: without the comma and the space between them.
    fn trimmed_end(&mut self, start: u64, next: u64) -> u64 {
        let mut last = self.last_before(start, next);
        if let Some((comma, b',')) = last {
            last = self.last_before(start, comma);
        }
        last.map_or(start, |(last, _)| last + 1).max(start + 1)
    }
}

/// How a line begins.
struct LineBegin {
    /// The first byte that is no white space; none at the end of the document.
    byte: Option<u8>,
    /// Whether exactly the indent that was asked for stands before it.
    is_indented: bool,
    /// Whether less than that stands before it.
    is_shorter: bool,
}
