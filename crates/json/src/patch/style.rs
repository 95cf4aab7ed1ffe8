//! How a text is laid out, so that what is new looks like what is there.

use std::borrow::Cow;

use crate::scan;
use crate::value::Value;
use crate::write::lay_out;

/// The layout of a whole text.
pub(super) struct Style<'a> {
    root: Value<'a>,
    /// One level of indentation.
    unit: &'a [u8],
    newline: &'a [u8],
    /// What stands between a key and its value on one line.
    colon: &'a [u8],
}

impl<'a> Style<'a> {
    pub(super) fn new(root: Value<'a>) -> Self {
        let src = root.source_bytes();
        let line = first_child(root)
            .and_then(|child| line_start(src, child.span().start))
            .or_else(|| empty_lines(root));
        let outer = line_start(src, root.span().start).map_or(&b""[..], |line| line.indent);
        let unit = line
            .and_then(|line| line.indent.strip_prefix(outer))
            .filter(|unit| !unit.is_empty())
            .unwrap_or(b"  ");
        let member = first_member(root).or_else(|| root.items().next().and_then(first_member));
        let usual: &[u8] = if line.is_some() { b": " } else { b":" };
        Self {
            root,
            unit,
            newline: line.map_or(b"\n", |line| line.newline),
            colon: member
                .and_then(|member| colon_spacing(src, member))
                .unwrap_or(usual),
        }
    }

    /// A new spelling of an old value, spread over lines if the old one had
    /// lines of its own.
    pub(super) fn format_replacement(&self, value: Value<'a>, json: Vec<u8>) -> Vec<u8> {
        let src = value.source_bytes();
        let is_root = value.index() == self.root.index();
        let indent = if is_root {
            let is_spread = first_child(value)
                .is_some_and(|child| line_start(src, child.span().start).is_some());
            let line = line_start(src, value.span().start);
            is_spread.then(|| line.map_or(&b""[..], |line| line.indent))
        } else {
            let head = value.own_key().unwrap_or(value);
            line_start(src, head.span().start).map(|line| line.indent)
        };
        match self.fit_layout(&json, indent) {
            Cow::Owned(spread) => spread,
            Cow::Borrowed(_) => json,
        }
    }

    /// Spreads a container over lines that are indented like `indent`; leaves
    /// alone what is no container or has lines already.
    pub(super) fn fit_layout<'j>(&self, json: &'j [u8], indent: Option<&[u8]>) -> Cow<'j, [u8]> {
        let is_container = matches!(json.get(scan::skip_space(json, 0)), Some(b'{' | b'['));
        match indent {
            Some(indent) if is_container && !json.contains(&b'\n') => {
                Cow::Owned(lay_out(json, self.newline, self.unit, indent))
            }
            _ => Cow::Borrowed(json),
        }
    }
}

/// The layout of the children of one container.
pub(super) struct Layout {
    /// What separates a new child from the one before it.
    pub(super) comma: Vec<u8>,
    /// What separates key and value.
    pub(super) colon: Vec<u8>,
    /// What surrounds the children of a container that had none.
    pub(super) lead: Vec<u8>,
    pub(super) tail: Vec<u8>,
    /// Indentation of the children, if each has its own line.
    pub(super) indent: Option<Vec<u8>>,
}

impl Layout {
    pub(super) fn of_container(container: Value<'_>, style: &Style<'_>) -> Self {
        let src = container.source_bytes();
        let Some(first) = first_child(container) else {
            return Self::of_empty(container, style);
        };
        let own_colon = first_member(container).and_then(|member| colon_spacing(src, member));
        let colon = own_colon.unwrap_or(style.colon);
        let line = line_start(src, first.span().start);
        let comma = match line {
            Some(line) => [b",", line.newline, line.indent].concat(),
            None => comma_spacing(container).unwrap_or_else(|| usual_comma(colon)),
        };
        Self {
            comma,
            colon: colon.to_vec(),
            lead: Vec::new(),
            tail: Vec::new(),
            indent: line.map(|line| line.indent.to_vec()),
        }
    }

    fn of_empty(container: Value<'_>, style: &Style<'_>) -> Self {
        let head = container.own_key().unwrap_or(container);
        let is_root = container.index() == style.root.index();
        let own_line = || line_start(container.source_bytes(), head.span().start);
        let line = empty_lines(container).or_else(|| own_line().filter(|_| !is_root));
        let colon = style.colon.to_vec();
        let Some(line) = line else {
            return Self {
                comma: usual_comma(&colon),
                colon,
                lead: Vec::new(),
                tail: Vec::new(),
                indent: None,
            };
        };
        let indent = [line.indent, style.unit].concat();
        Self {
            comma: [b",", line.newline, &indent].concat(),
            colon,
            lead: [line.newline, &indent].concat(),
            tail: [line.newline, line.indent].concat(),
            indent: Some(indent),
        }
    }
}

/// The white space with which a line begins, and the newline before it.
#[derive(Clone, Copy)]
struct LineStart<'a> {
    newline: &'a [u8],
    indent: &'a [u8],
}

/// The beginning of the line of `pos`, if only white space precedes it there.
fn line_start(src: &[u8], pos: usize) -> Option<LineStart<'_>> {
    let before = src.get(..pos)?;
    let spaces = before
        .iter()
        .rev()
        .take_while(|byte| scan::is_space(**byte));
    let run = &before[pos - spaces.count()..];
    let at = memchr::memrchr(b'\n', run)?;
    Some(LineStart {
        newline: if run[..at].ends_with(b"\r") {
            b"\r\n"
        } else {
            b"\n"
        },
        indent: &run[at + 1..],
    })
}

/// The last line inside a container that holds only newlines.
fn empty_lines(container: Value<'_>) -> Option<LineStart<'_>> {
    if first_child(container).is_some() || !(container.is_object() || container.is_array()) {
        return None;
    }
    line_start(container.source_bytes(), container.span().end - 1)
}

fn first_child(container: Value<'_>) -> Option<Value<'_>> {
    let key = container.members().next().map(|(key, _)| key);
    key.or_else(|| container.items().next())
}

fn first_member(object: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    object.members().next()
}

/// What stands between a key and its value, if they are on one line.
fn colon_spacing<'a>(src: &'a [u8], (key, value): (Value<'a>, Value<'a>)) -> Option<&'a [u8]> {
    let between = src.get(key.span().end..value.span().start)?;
    (!between.contains(&b'\n')).then_some(between)
}

/// What stands between the first two children.
fn comma_spacing(container: Value<'_>) -> Option<Vec<u8>> {
    let members = container.members();
    let items = container.items().map(|item| (item, item));
    let mut children = members.chain(items);
    let (first, second) = (children.next()?.1, children.next()?.0);
    let between = container
        .source_bytes()
        .get(first.span().end..second.span().start);
    between.map(<[u8]>::to_vec)
}

fn usual_comma(colon: &[u8]) -> Vec<u8> {
    if colon.ends_with(b" ") {
        b", ".to_vec()
    } else {
        b",".to_vec()
    }
}
