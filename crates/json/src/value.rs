//! Views of the values in a tree: cheap to copy, decoded only when asked.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::number;
use crate::text::{self, Text};
use crate::tree::{Node, Tag};

/// The six kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number in whatever spelling
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

/// One value of a parsed text.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    src: &'a [u8],
    nodes: &'a [Node],
    index: u32,
}

impl<'a> Value<'a> {
    pub(crate) fn new(src: &'a [u8], nodes: &'a [Node], index: u32) -> Self {
        Self { src, nodes, index }
    }

    pub(crate) fn source_bytes(self) -> &'a [u8] {
        self.src
    }

    pub(crate) fn index(self) -> u32 {
        self.index
    }

    pub(crate) fn with_index(self, index: u32) -> Self {
        Self { index, ..self }
    }

    /// Whether both values belong to the same tree.
    pub(crate) fn is_of(self, other: Value<'_>) -> bool {
        std::ptr::eq(self.src, other.src) && std::ptr::eq(self.nodes, other.nodes)
    }

    pub(crate) fn node(self) -> Node {
        self.nodes[self.index as usize]
    }

    /// The key of this value, if it is a member of an object.
    pub(crate) fn own_key(self) -> Option<Self> {
        let key = self.with_index(self.index.checked_sub(1)?);
        (key.node().is_key && !self.node().is_key).then_some(key)
    }

    /// What kind of value this is.
    pub fn kind(self) -> Kind {
        match self.node().tag {
            Tag::Null => Kind::Null,
            Tag::False | Tag::True => Kind::Bool,
            Tag::Number => Kind::Number,
            Tag::Plain | Tag::Escaped => Kind::String,
            Tag::Array => Kind::Array,
            Tag::Object => Kind::Object,
        }
    }

    /// The bytes of the value exactly as they were written.
    pub fn raw(self) -> &'a [u8] {
        self.src.get(self.span()).unwrap_or_default()
    }

    /// Where the value is in the text it was parsed from.
    pub fn span(self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// The member of that name. Of several with the same name the last one
    /// counts, as for JavaScript. A name spelt with lone surrogates or invalid
    /// UTF-8 is equal to no key.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        let [found] = self.pick([key]);
        found
    }

    /// [`Value::get`] for several names at once, in one walk over the object.
    ///
    /// ```
    /// let document = rethread_json::Document::parse(br#"{"a": 1, "b": 2}"#.to_vec())?;
    /// let [b, c] = document.root().pick(["b", "c"]);
    /// assert_eq!((b.and_then(|b| b.i64()), c.is_none()), (Some(2), true));
    /// # Ok::<(), rethread_json::SyntaxError>(())
    /// ```
    pub fn pick<const N: usize>(self, keys: [&str; N]) -> [Option<Value<'a>>; N] {
        let mut found = [None; N];
        let object = self.node();
        if object.tag != Tag::Object {
            return found;
        }
        let mut at = self.index + 1;
        while at < object.next {
            let name = self.with_index(at);
            let node = name.node();
            for (key, found) in keys.iter().zip(&mut found) {
                // Most keys are told apart by their lengths.
                let may_be = (node.end - node.start) as usize == key.len() + 2;
                if (may_be || node.tag == Tag::Escaped) && name.is_str(key) {
                    *found = Some(self.with_index(at + 1));
                }
            }
            at = self.with_index(at + 1).node().next;
        }
        found
    }

    /// [`Value::get`] from object to object.
    ///
    /// ```
    /// let document = rethread_json::Document::parse(br#"{"a": {"b": [1]}}"#.to_vec())?;
    /// assert_eq!(document.root().at(&["a", "b"]).unwrap().raw(), b"[1]");
    /// # Ok::<(), rethread_json::SyntaxError>(())
    /// ```
    pub fn at(self, path: &[&str]) -> Option<Value<'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Keys and values of an object in order, with all duplicates; nothing of
    /// other values.
    pub fn members(self) -> Members<'a> {
        Members(self.children_if(Tag::Object))
    }

    /// The items of an array; nothing of other values.
    pub fn items(self) -> Items<'a> {
        Items(self.children_if(Tag::Array))
    }

    fn children_if(self, of: Tag) -> ChildValues<'a> {
        let node = self.node();
        let end = if node.tag == of {
            node.next
        } else {
            self.index + 1
        };
        ChildValues {
            next: self.with_index(self.index + 1),
            end,
        }
    }

    /// The decoded string, and whether decoding had to give something up.
    pub fn text(self) -> Option<Text<'a>> {
        let content = self.content()?;
        Some(text::decode_string(
            content,
            self.node().tag == Tag::Escaped,
        ))
    }

    /// The decoded string, with U+FFFD for what is not text.
    pub fn str(self) -> Option<Cow<'a, str>> {
        self.text().map(|text| text.text)
    }

    /// What stands between the quotes of a string, still escaped.
    pub fn content(self) -> Option<&'a [u8]> {
        match self.node().tag {
            Tag::Plain | Tag::Escaped => {
                let span = self.span();
                self.src.get(span.start + 1..span.end - 1)
            }
            _ => None,
        }
    }

    /// Whether this is a string that decodes to exactly `s`.
    pub fn is_str(self, s: &str) -> bool {
        match self.node().tag {
            Tag::Plain => self.content() == Some(s.as_bytes()),
            Tag::Escaped => self
                .text()
                .is_some_and(|text| !text.lossy && text.text == s),
            _ => false,
        }
    }

    /// The truth value.
    pub fn bool(self) -> Option<bool> {
        match self.node().tag {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    fn number_bytes(self) -> Option<&'a [u8]> {
        (self.node().tag == Tag::Number).then(|| self.raw())
    }

    /// The number if it is an integer of that range, however it is spelt:
    /// `1000`, `1000.0` and `1e3` are the same.
    pub fn i64(self) -> Option<i64> {
        number::parse_i64(self.number_bytes()?)
    }

    /// The number if it is an integer of that range, however it is spelt.
    pub fn u64(self) -> Option<u64> {
        number::parse_u64(self.number_bytes()?)
    }

    /// The nearest floating point number; none for what is out of range, such
    /// as `1e400`.
    pub fn f64(self) -> Option<f64> {
        number::parse_f64(self.number_bytes()?)
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.node().tag == Tag::Null
    }

    /// Whether this is an object.
    pub fn is_object(self) -> bool {
        self.node().tag == Tag::Object
    }

    /// Whether this is an array.
    pub fn is_array(self) -> bool {
        self.node().tag == Tag::Array
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 120;
        let raw = self.raw();
        let head = &raw[..raw.len().min(SHOWN)];
        let more = if raw.len() > SHOWN { "…" } else { "" };
        write!(f, "Value({}{more})", String::from_utf8_lossy(head))
    }
}

#[derive(Clone)]
struct ChildValues<'a> {
    next: Value<'a>,
    end: u32,
}

impl<'a> Iterator for ChildValues<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        if self.next.index >= self.end {
            return None;
        }
        let child = self.next;
        self.next = child.with_index(child.node().next);
        Some(child)
    }
}

/// The keys and values of an object; see [`Value::members`].
#[derive(Clone)]
pub struct Members<'a>(ChildValues<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Value<'a>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }
}

/// The items of an array; see [`Value::items`].
#[derive(Clone)]
pub struct Items<'a>(ChildValues<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.0.next()
    }
}
