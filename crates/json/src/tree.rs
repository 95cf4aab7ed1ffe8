//! The span tree: one flat list of nodes over bytes that stay as they are.

use crate::error::{Fault, SyntaxError, SyntaxErrorKind};
use crate::scan;
use crate::value::Value;

/// What a node is. Strings remember whether decoding them takes work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Null,
    False,
    True,
    Number,
    Plain,
    Escaped,
    Array,
    Object,
}

/// One value, or one key: children follow their container, keys precede values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) start: u32,
    /// One past the last byte; 0 while the container is still open.
    pub(crate) end: u32,
    /// The node after this one and all inside it; while open, the parent.
    pub(crate) next: u32,
    pub(crate) tag: Tag,
    pub(crate) is_key: bool,
}

/// No node. Texts are shorter than this, so no node has this index.
const NONE: u32 = u32::MAX;

/// Room for so many nodes is kept from one text to the next; more, only while
/// texts are large.
const KEPT_NODES: usize = 64 * 1024;

/// Room for so many nodes is made at once, as far as a text is long enough for
/// them: most texts are a line of a log.
const FIRST_NODES: usize = 64;

pub(crate) fn narrow_index(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}

/// Where the values of a text are. Holds no bytes of the text itself, and can
/// be used again for the next text without allocating.
///
/// ```
/// use rethread_json::Tree;
/// let src = br#" {"n": 1e400, "n": -0} "#;
/// let tree = Tree::parse(src)?;
/// let n = tree.root(src).get("n").unwrap();
/// assert_eq!(n.raw(), b"-0");
/// # Ok::<(), rethread_json::SyntaxError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(crate) nodes: Vec<Node>,
    numbered: bool,
}

impl Tree {
    /// Parses exactly one value. White space around it and a byte order mark
    /// before it are allowed.
    pub fn parse(src: &[u8]) -> Result<Self, SyntaxError> {
        let mut tree = Self::default();
        tree.parse_into(src)?;
        Ok(tree)
    }

    /// Like [`Tree::parse`], but reuses the memory of this tree.
    pub fn parse_into(&mut self, src: &[u8]) -> Result<(), SyntaxError> {
        self.parse_whole(src).map_err(|fault| {
            self.nodes.clear();
            fault.with_position(src)
        })
    }

    /// Parses one value that begins at `from` or after white space, whatever
    /// may follow it, and returns where it ends.
    ///
    /// ```
    /// let mut tree = rethread_json::Tree::default();
    /// let src = b"[1][2]";
    /// assert_eq!(tree.parse_prefix(src, 0), Ok(3));
    /// assert_eq!(tree.parse_prefix(src, 3), Ok(6));
    /// assert_eq!(tree.root(src).raw(), b"[2]");
    /// ```
    pub fn parse_prefix(&mut self, src: &[u8], from: usize) -> Result<usize, SyntaxError> {
        self.parse_part(src, from).map_err(|fault| {
            self.nodes.clear();
            fault.with_position(src)
        })
    }

    /// The value that was parsed last; `src` must be what it was parsed from.
    /// Of a tree that holds none, an empty stand-in for `null`.
    pub fn root<'a>(&'a self, src: &'a [u8]) -> Value<'a> {
        const NOTHING: &[Node] = &[Node {
            start: 0,
            end: 0,
            next: 1,
            tag: Tag::Null,
            is_key: false,
        }];
        match self.nodes.first() {
            Some(root) if root.end as usize <= src.len() => Value::new(src, &self.nodes, 0),
            _ => Value::new(b"", NOTHING, 0),
        }
    }

    /// Whether the text holds an escape by number (`\uXXXX`): only these can be
    /// halves of surrogate pairs.
    pub fn has_numbered_escapes(&self) -> bool {
        self.numbered
    }

    pub(crate) fn parse_whole(&mut self, src: &[u8]) -> Result<(), Fault> {
        let end = scan::skip_space(src, self.parse_part(src, scan::bom_len(src))?);
        if end < src.len() {
            return Err(Fault::new(end, SyntaxErrorKind::TrailingData));
        }
        Ok(())
    }

    /// On an error, leaves the nodes that were met before it.
    pub(crate) fn parse_part(&mut self, src: &[u8], from: usize) -> Result<usize, Fault> {
        self.nodes.clear();
        self.numbered = false;
        if self.nodes.capacity() > src.len().max(KEPT_NODES) {
            self.nodes.shrink_to(KEPT_NODES);
        }
        if narrow_index(src.len()) == NONE {
            return Err(Fault::new(0, SyntaxErrorKind::TooLarge));
        }
        self.nodes.reserve((src.len() / 16).min(FIRST_NODES));
        parse_value(src, from, self)
    }

    fn push_node(&mut self, start: usize, end: usize, tag: Tag, is_key: bool) {
        let next = narrow_index(self.nodes.len() + 1);
        self.nodes.push(Node {
            start: narrow_index(start),
            end: narrow_index(end),
            next,
            tag,
            is_key,
        });
    }
}

fn parse_string(src: &[u8], pos: usize, tree: &mut Tree, is_key: bool) -> Result<usize, Fault> {
    let found = scan::string_end(src, pos)?;
    tree.numbered |= found.numbered;
    let tag = if found.escaped {
        Tag::Escaped
    } else {
        Tag::Plain
    };
    tree.push_node(pos, found.end, tag, is_key);
    Ok(found.end)
}

/// A key and its colon; returns what follows them.
#[inline]
fn parse_key(src: &[u8], pos: usize, tree: &mut Tree) -> Result<usize, Fault> {
    if src.get(pos) != Some(&b'"') {
        return Err(Fault::unexpected_byte(
            src,
            pos,
            SyntaxErrorKind::ExpectedKey,
        ));
    }
    let end = parse_string(src, pos, tree, true)?;
    let colon = scan::skip_space(src, end);
    if src.get(colon) != Some(&b':') {
        return Err(Fault::unexpected_byte(
            src,
            colon,
            SyntaxErrorKind::ExpectedColon,
        ));
    }
    Ok(colon + 1)
}

/// One value and everything in it, without recursion: while a container is
/// open, its node leads to the one around it.
fn parse_value(src: &[u8], from: usize, tree: &mut Tree) -> Result<usize, Fault> {
    let mut pos = from;
    let mut open = NONE;
    let mut in_object = false;
    loop {
        pos = scan::skip_space(src, pos);
        match src.get(pos) {
            Some(b'"') => pos = parse_string(src, pos, tree, false)?,
            Some(&bracket @ (b'{' | b'[')) => {
                let index = tree.nodes.len();
                let tag = if bracket == b'{' {
                    Tag::Object
                } else {
                    Tag::Array
                };
                tree.push_node(pos, 0, tag, false);
                let inner = scan::skip_space(src, pos + 1);
                // `]` and `}` are two after `[` and `{`.
                if src.get(inner) == Some(&(bracket + 2)) {
                    pos = inner + 1;
                    tree.nodes[index].end = narrow_index(pos);
                } else {
                    tree.nodes[index].next = open;
                    open = narrow_index(index);
                    in_object = tag == Tag::Object;
                    pos = if in_object {
                        parse_key(src, inner, tree)?
                    } else {
                        inner
                    };
                    continue;
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                let end = scan::number_end(src, pos)?;
                tree.push_node(pos, end, Tag::Number, false);
                pos = end;
            }
            Some(b't') => pos = parse_literal(src, pos, b"true", Tag::True, tree)?,
            Some(b'f') => pos = parse_literal(src, pos, b"false", Tag::False, tree)?,
            Some(b'n') => pos = parse_literal(src, pos, b"null", Tag::Null, tree)?,
            _ => {
                return Err(Fault::unexpected_byte(
                    src,
                    pos,
                    SyntaxErrorKind::ExpectedValue,
                ));
            }
        }
        loop {
            if open == NONE {
                return Ok(pos);
            }
            pos = scan::skip_space(src, pos);
            match src.get(pos) {
                Some(b',') => {
                    pos += 1;
                    if in_object {
                        pos = parse_key(src, scan::skip_space(src, pos), tree)?;
                    }
                    break;
                }
                Some(b'}') if in_object => {}
                Some(b']') if !in_object => {}
                _ if in_object => {
                    let kind = SyntaxErrorKind::ExpectedCommaOrBrace;
                    return Err(Fault::unexpected_byte(src, pos, kind));
                }
                _ => {
                    let kind = SyntaxErrorKind::ExpectedCommaOrBracket;
                    return Err(Fault::unexpected_byte(src, pos, kind));
                }
            }
            pos += 1;
            let next = narrow_index(tree.nodes.len());
            let closed = &mut tree.nodes[open as usize];
            closed.end = narrow_index(pos);
            open = std::mem::replace(&mut closed.next, next);
            in_object = open != NONE && tree.nodes[open as usize].tag == Tag::Object;
        }
    }
}

fn parse_literal(
    src: &[u8],
    pos: usize,
    spelling: &[u8],
    tag: Tag,
    tree: &mut Tree,
) -> Result<usize, Fault> {
    let end = scan::literal_end(src, pos, spelling)?;
    tree.push_node(pos, end, tag, false);
    Ok(end)
}

/// A text together with its tree.
///
/// ```
/// let document = rethread_json::Document::parse(b"{\"a\": 1}\n".to_vec())?;
/// assert_eq!(document.root().get("a").and_then(|a| a.i64()), Some(1));
/// assert_eq!(document.into_bytes(), b"{\"a\": 1}\n");
/// # Ok::<(), rethread_json::SyntaxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Document {
    bytes: Vec<u8>,
    tree: Tree,
}

impl Document {
    /// Parses exactly one value, as [`Tree::parse`] does.
    pub fn parse(bytes: Vec<u8>) -> Result<Self, SyntaxError> {
        let tree = Tree::parse(&bytes)?;
        Ok(Self { bytes, tree })
    }

    /// The value of the document.
    pub fn root(&self) -> Value<'_> {
        self.tree.root(&self.bytes)
    }

    /// The whole text, with what surrounds the value.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives the text back.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
