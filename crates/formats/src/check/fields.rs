//! Fields as tables: where a field is, of which type, whether it must be there, and who says so.

use rethread_json::{Kind, Value};
use rethread_model::Moment;

use super::known::shown_text;
use super::law::{required, timestamp, wrong_type};
use super::sheet::Sheet;

/// One field of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// From object to object, `[]` for each item of an array: `toolCalls[].diff.path`.
    path: &'static str,
    is: Is,
    /// Whether it must be there, if the object it belongs to is.
    required: bool,
    section: &'static str,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    Text,
    /// A text that is not empty.
    Name,
    TextOrNull,
    /// A text, or blocks.
    Content,
    Number,
    Bool,
    Object,
    Array,
    /// A text: ISO 8601 in UTC.
    Time,
}

/// A field that must be there.
pub(crate) const fn must(section: &'static str, path: &'static str, is: Is) -> Field {
    Field {
        path,
        is,
        required: true,
        section,
    }
}

/// A field that may be there.
pub(crate) const fn may(section: &'static str, path: &'static str, is: Is) -> Field {
    Field {
        path,
        is,
        required: false,
        section,
    }
}

/// Judges the fields of an object. `prefix` is where the object itself is, for people.
pub(crate) fn judge(sheet: &mut Sheet<'_>, object: Value<'_>, prefix: &str, fields: &[Field]) {
    for field in fields {
        each(
            object,
            field.path,
            &mut Vec::new(),
            &mut |parent, leaf, at| {
                field.judge(sheet, parent, leaf, || {
                    format!("{prefix}{}", spelled(field.path, at))
                });
            },
        );
    }
}

/// Calls `with` for each object that the field may belong to, with the field's own name and the
/// numbers of the items on the way. As deep as the path is long.
fn each<'v>(
    value: Value<'v>,
    path: &'static str,
    at: &mut Vec<usize>,
    with: &mut dyn FnMut(Value<'v>, &'static str, &[usize]),
) {
    if !value.is_object() {
        return;
    }
    let Some((head, rest)) = path.split_once('.') else {
        return leaf(value, path, at, with);
    };
    let Some(name) = head.strip_suffix("[]") else {
        if let Some(child) = value.get(head) {
            each(child, rest, at, with);
        }
        return;
    };
    for (i, item) in value
        .get(name)
        .into_iter()
        .flat_map(Value::items)
        .enumerate()
    {
        at.push(i);
        each(item, rest, at, with);
        at.pop();
    }
}

/// The field itself; the items of an array one by one, under no name.
fn leaf<'v>(
    parent: Value<'v>,
    name: &'static str,
    at: &mut Vec<usize>,
    with: &mut dyn FnMut(Value<'v>, &'static str, &[usize]),
) {
    let Some(array) = name.strip_suffix("[]") else {
        return with(parent, name, at);
    };
    let items = parent.get(array).into_iter().flat_map(Value::items);
    for (i, item) in items.enumerate() {
        at.push(i);
        with(item, "", at);
        at.pop();
    }
}

impl Field {
    fn judge(
        &self,
        sheet: &mut Sheet<'_>,
        parent: Value<'_>,
        name: &str,
        path: impl Fn() -> String,
    ) {
        let value = if name.is_empty() {
            Some(parent)
        } else {
            parent.get(name)
        };
        match value {
            None if self.required => {
                let message = format!("`{}` is missing", path());
                sheet.error(required(self.section), parent.span().start, message);
            }
            Some(value) if !self.is.fits(value) => {
                let (is, wanted) = (kind(value), self.is.words());
                let message = format!("`{}` is {is}, not {wanted}", path());
                sheet.error(wrong_type(self.section), value.span().start, message);
            }
            Some(value) if self.is == Is::Time => time(sheet, value, path),
            None | Some(_) => {}
        }
    }
}

impl Is {
    fn fits(self, value: Value<'_>) -> bool {
        let kind = value.kind();
        match self {
            Self::Text | Self::Time => kind == Kind::String,
            Self::Name => value.str().is_some_and(|text| !text.is_empty()),
            Self::TextOrNull => matches!(kind, Kind::String | Kind::Null),
            Self::Content => matches!(kind, Kind::String | Kind::Array),
            Self::Number => kind == Kind::Number,
            Self::Bool => kind == Kind::Bool,
            Self::Object => kind == Kind::Object,
            Self::Array => kind == Kind::Array,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Text | Self::Time => "a string",
            Self::Name => "a string that is not empty",
            Self::TextOrNull => "a string or null",
            Self::Content => "a string or an array of blocks",
            Self::Number => "a number",
            Self::Bool => "a boolean",
            Self::Object => "an object",
            Self::Array => "an array",
        }
    }
}

fn kind(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::Bool => "a boolean",
        Kind::Number => "a number",
        Kind::String if value.str().is_some_and(|text| text.is_empty()) => "an empty string",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}

fn time(sheet: &mut Sheet<'_>, value: Value<'_>, path: impl Fn() -> String) {
    let text = value.str().unwrap_or_default();
    let why = match moment(&text) {
        None => "not an ISO 8601 date and time",
        Some(_) if !is_utc(&text) => "not in UTC",
        Some(_) => return,
    };
    let message = format!("`{}` is {}, {why}", path(), shown_text(&text));
    sheet.error(timestamp(sheet.general()), value.span().start, message);
}

/// The moment that a timestamp names, if it is spelled as ISO 8601 has it.
pub(crate) fn moment(text: &str) -> Option<Moment> {
    let is_iso = text.contains('T') && !text.contains(|c: char| c.is_whitespace() || c == 'z');
    is_iso.then(|| text.parse().ok()).flatten()
}

fn is_utc(text: &str) -> bool {
    let zero = ["Z", "+00:00", "+0000", "+00"];
    zero.iter().any(|end| text.ends_with(end))
}

/// A path with the numbers of the items in it: `toolCalls[2].name`.
fn spelled(path: &str, at: &[usize]) -> String {
    let mut out = String::new();
    let mut at = at.iter();
    let mut pieces = path.split("[]").peekable();
    while let Some(piece) = pieces.next() {
        out.push_str(piece);
        if let Some(i) = pieces.peek().and_then(|_| at.next()) {
            out.push('[');
            out.push_str(&i.to_string());
            out.push(']');
        }
    }
    out
}
