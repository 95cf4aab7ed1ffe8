//! A document with damage in it, so that the rest can be read: each value that is no JSON becomes
//! `null`, and everything else stays where it is.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::SyntaxErrorKind;
use crate::scan;
use crate::tree::Tree;

/// A document whose damaged values were replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// As long as the original, and equal to it but for what was damaged: there stands `null`, and
    /// spaces up to the end of the value.
    pub bytes: Vec<u8>,
    /// The values that were damaged, in order.
    pub damaged: Vec<Damaged>,
}

/// A damaged value of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where it stands.
    pub range: Range<usize>,
    /// The byte at which it stops being JSON.
    pub offset: usize,
    /// What is wrong there.
    pub kind: SyntaxErrorKind,
}

/// Replaces the damaged values of a document: members of the object that it is, and items of the
/// lists under these keys, or of the list that it is. None where nothing can be replaced so that
/// more can be read, as in a document that is merely cut off.
///
/// Where a damaged value ends is known by its brackets, else by the next value that is written in
/// the same column, else by the next object that begins like others in the list, or of a member by the
/// next list under one of these keys. The work is limited: of a document made to waste time, the rest stays as it is.
///
/// ```
/// let document = b"{\"id\": 1, \"list\": [{\"a\": \"\x01\"}, {\"a\": 2}]}";
/// let mended = rethread_json::mend(document, &["list"]).unwrap();
/// assert_eq!(mended.bytes, b"{\"id\": 1, \"list\": [null      , {\"a\": 2}]}");
/// ```
pub fn mend(document: &[u8], lists: &[&str]) -> Option<Mended> {
    let mut mending = Mending {
        src: document,
        tree: Tree::default(),
        damaged: Vec::new(),
        heads: Vec::new(),
        lists,
        budget: 16 * document.len() + 4096,
    };
    let start = scan::skip_space(document, scan::bom_len(document));
    match document.get(start)? {
        b'{' => mending.members(start + 1),
        b'[' => mending.items(start + 1),
        _ => None,
    };
    if mending.damaged.is_empty() {
        return None;
    }
    let mut bytes = document.to_vec();
    for Damaged { range, .. } in &mending.damaged {
        let value = &mut bytes[range.clone()];
        value.fill(b' ');
        match value.get_mut(..4) {
            Some(start) => start.copy_from_slice(b"null"),
            None => value[..1].fill(b'0'),
        }
    }
    let damaged = mending.damaged;
    Some(Mended { bytes, damaged })
}

struct Mending<'a> {
    src: &'a [u8],
    tree: Tree,
    damaged: Vec<Damaged>,
    /// How the whole objects of a list begin: their first keys.
    heads: Vec<Vec<u8>>,
    /// The keys of lists.
    lists: &'a [&'a str],
    budget: usize,
}

/// What values stand in.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Object,
    List,
}

impl Mending<'_> {
    /// Goes through the members of an object from behind its brace; gives where it ends.
    fn members(&mut self, mut at: usize) -> Option<usize> {
        loop {
            at = scan::skip_space(self.src, at);
            match self.src.get(at)? {
                b'}' => return Some(at + 1),
                b',' => at += 1,
                b'"' => {
                    let end = self.value(at)?;
                    let key = self.tree.root(self.src).str().map(Cow::into_owned);
                    let colon = scan::skip_space(self.src, end);
                    if self.src.get(colon) != Some(&b':') {
                        return None;
                    }
                    let start = scan::skip_space(self.src, colon + 1);
                    let is_list = key.is_some_and(|key| self.lists.contains(&key.as_str()));
                    at = if is_list && self.src.get(start) == Some(&b'[') {
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

    /// Goes through the items of a list from behind its bracket; gives where it ends.
    fn items(&mut self, mut at: usize) -> Option<usize> {
        loop {
            at = scan::skip_space(self.src, at);
            match self.src.get(at)? {
                b']' => return Some(at + 1),
                b',' => at += 1,
                _ => at = self.whole_or_damaged(at, at, Within::List)?,
            }
        }
    }

    /// Where the value ends that begins here, whole or damaged.
    fn whole_or_damaged(&mut self, start: usize, column: usize, within: Within) -> Option<usize> {
        if let Some(end) = self.value(start).filter(|end| self.is_over(*end, within)) {
            if within == Within::List {
                self.learn();
            }
            return Some(end);
        }
        let end = self.end_of_damaged(start, column, within)?;
        let (offset, kind) = match self.tree.parse_part(self.src, start) {
            Err(fault) => (fault.offset, fault.kind),
            Ok(end) => (end, SyntaxErrorKind::TrailingData),
        };
        let range = start..end;
        self.damaged.push(Damaged {
            range,
            offset,
            kind,
        });
        Some(end)
    }

    /// Where the whole value ends that begins here.
    fn value(&mut self, start: usize) -> Option<usize> {
        let parsed = self.tree.parse_part(self.src, start);
        let reached = *parsed.as_ref().unwrap_or_else(|fault| &fault.offset);
        self.spend(reached.saturating_sub(start));
        parsed.ok()
    }

    fn spend(&mut self, bytes: usize) {
        self.budget = self.budget.saturating_sub(bytes);
    }

    /// Whether a value that ends here is followed by another one, or is the last.
    fn is_over(&self, end: usize, within: Within) -> bool {
        let close = match within {
            Within::Object => b'}',
            Within::List => b']',
        };
        let next = self.src.get(scan::skip_space(self.src, end));
        next == Some(&b',') || next == Some(&close)
    }

    /// Notes how the object begins that was parsed last.
    fn learn(&mut self) {
        let head = head(&self.tree, self.src);
        if self.heads.len() < 64 && !head.is_empty() && !self.heads.contains(&head) {
            self.heads.push(head);
        }
    }

    fn end_of_damaged(&mut self, start: usize, column: usize, within: Within) -> Option<usize> {
        if self.budget == 0 {
            return None;
        }
        let by_brackets = balanced(self.src, start);
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

    /// Where a damaged member ends, by the next list under one of the known keys.
    fn next_list(&self, start: usize) -> Option<usize> {
        let begins = |key: &&str| {
            let key = format!("\"{key}\"");
            let mut from = start;
            loop {
                let found = from + memchr::memmem::find(self.src.get(from..)?, key.as_bytes())?;
                from = found + key.len();
                let colon = scan::skip_space(self.src, from);
                let before = self.src.get(start..found)?.trim_ascii_end();
                if before.last() == Some(&b',')
                    && self.src.get(colon) == Some(&b':')
                    && self.src.get(scan::skip_space(self.src, colon + 1)) == Some(&b'[')
                {
                    return Some(found);
                }
            }
        };
        let next = self.lists.iter().filter_map(begins).min()?;
        Some(self.trimmed(start, next))
    }

    /// Whether what stands behind a value is as it must be: the end of what it stands in, or a comma
    /// and a whole value.
    fn goes_on(&mut self, end: usize, within: Within) -> bool {
        if !self.is_over(end, within) {
            return false;
        }
        let comma = scan::skip_space(self.src, end);
        if self.src.get(comma) != Some(&b',') {
            return true;
        }
        let next = scan::skip_space(self.src, comma + 1);
        self.value(next).is_some()
    }

    /// Where a damaged value ends, by the next one that begins a line in the same column, or by the
    /// bracket that ends them. No line begins inside of a string.
    fn next_in_column(&self, start: usize, column: usize, within: Within) -> Option<usize> {
        let before = self.src.get(..column)?;
        let line = memchr::memrchr(b'\n', before)? + 1;
        let indent = before.get(line..)?;
        if !indent.iter().all(|b| matches!(b, b' ' | b'\t')) {
            return None;
        }
        let (open, close) = match within {
            Within::Object => (b'"', b'}'),
            // The brace of an object may be what is damaged.
            Within::List => match self.src.get(start)? {
                known @ (b'[' | b'"') => (*known, b']'),
                _ => (b'{', b']'),
            },
        };
        let mut at = start;
        loop {
            let line = at + memchr::memchr(b'\n', self.src.get(at..)?)? + 1;
            let text = line + spaces(self.src.get(line..)?);
            let found = &self.src[line..text];
            let first = self.src.get(text)?;
            let is_next = found == indent && *first == open;
            let is_end = found.len() < indent.len() && *first == close;
            if is_next || is_end {
                return Some(self.trimmed(start, line));
            }
            at = line;
        }
    }

    /// Where a damaged value ends, by the next object that is whole and begins like others.
    fn next_alike(&mut self, start: usize) -> Option<usize> {
        let mut at = start + 1;
        while self.budget > 0 {
            let brace = at + memchr::memchr(b'{', self.src.get(at..)?)?;
            at = brace + 1;
            let before = self.src.get(start..brace)?.trim_ascii_end();
            if before.last() != Some(&b',') {
                continue;
            }
            let Some(end) = self.value(brace) else {
                continue;
            };
            let head = head(&self.tree, self.src);
            if self.is_over(end, Within::List) && self.heads.contains(&head) {
                return Some(self.trimmed(start, brace));
            }
        }
        None
    }

    /// The end of a value before another one: without the comma and the space between them.
    fn trimmed(&self, start: usize, next: usize) -> usize {
        let value = self.src.get(start..next).unwrap_or_default();
        let value = value.trim_ascii_end();
        let value = value.strip_suffix(b",").unwrap_or(value);
        (start + value.trim_ascii_end().len()).max(start + 1)
    }
}

/// The first two keys of an object, as they are spelled.
fn head(tree: &Tree, src: &[u8]) -> Vec<u8> {
    let members = tree.root(src).members().take(2);
    members.flat_map(|(key, _)| key.raw().to_vec()).collect()
}

fn spaces(text: &[u8]) -> usize {
    let is_space = |b: &&u8| matches!(b, b' ' | b'\t');
    text.iter().take_while(is_space).count()
}

/// Where a value ends by its brackets and quotes alone, whatever stands in it.
fn balanced(src: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in src.iter().enumerate().skip(start) {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => continue,
            }
            if in_string || depth > 0 {
                continue;
            }
            return Some(at + 1);
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return (at > start).then_some(at),
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &str) -> Option<String> {
        let mended = mend(document.as_bytes(), &["list"])?;
        assert_eq!(mended.bytes.len(), document.len());
        Some(String::from_utf8(mended.bytes).unwrap())
    }

    #[test]
    fn a_damaged_value_becomes_null_and_the_rest_stays() {
        for (document, expected) in [
            (r#"{"a":"\q","list":[1]}"#, r#"{"a":null,"list":[1]}"#),
            (r#"[{"a":tru},{"b":1}]"#, r#"[null     ,{"b":1}]"#),
            // The quote that ends a string is gone.
            (
                "{\"list\": [\n  {\"a\": \"x},\n  {\"a\": \"y\"}\n]}",
                "{\"list\": [\n  null     ,\n  {\"a\": \"y\"}\n]}",
            ),
            (
                r#"{"list":[{"a":1,"b":2},{"a":"x,"b":{"c":3}},{"a":4,"b":5}]}"#,
                r#"{"list":[{"a":1,"b":2},null                ,{"a":4,"b":5}]}"#,
            ),
        ] {
            assert_eq!(text(document).as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_is_whole_or_merely_cut_off_is_not_mended() {
        for document in [r#"{"list":[{"a":1}]}"#, r#"{"list":[{"a":1},{"a"#, "", "5"] {
            assert_eq!(text(document), None, "{document}");
        }
    }

    #[test]
    fn every_byte_of_a_list_can_be_damaged() {
        let whole = "{\"id\":\"s\",\"list\":[\n  {\"a\":\"one\",\"b\":[1]},\n  {\"a\":\"two\",\"b\":[2]},\n  {\"a\":\"three\",\"b\":[3]}\n]}";
        let second = whole.find("{\"a\":\"two").unwrap();
        for at in second..second + "{\"a\":\"two\",\"b\":[2]}".len() {
            let mut document = whole.as_bytes().to_vec();
            document[at] = 1;
            let mended = mend(&document, &["list"]);
            let mended = mended.unwrap_or_else(|| panic!("byte {at}"));
            let tree = Tree::parse(&mended.bytes).unwrap();
            let list = tree.root(&mended.bytes).get("list").unwrap();
            let items: Vec<_> = list.items().map(|i| i.raw().to_vec()).collect();
            assert_eq!(items.len(), 3, "byte {at}");
            assert_eq!(items[0], b"{\"a\":\"one\",\"b\":[1]}");
            assert_eq!(items[2], b"{\"a\":\"three\",\"b\":[3]}");
        }
    }
}
