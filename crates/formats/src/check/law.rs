//! Rules by their short names, each with its place in a document.

/// A rule and its place in the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub(crate) rule: &'static str,
    pub(crate) section: &'static str,
}

pub(crate) const fn law(rule: &'static str, section: &'static str) -> Law {
    Law { rule, section }
}

/// A file or folder cannot be read.
pub(crate) const fn unreadable(section: &'static str) -> Law {
    law("unreadable", section)
}

/// A text is not UTF-8.
pub(crate) const fn utf8(section: &'static str) -> Law {
    law("utf-8", section)
}

/// A text begins with a byte order mark.
pub(crate) const fn bom(section: &'static str) -> Law {
    law("byte-order-mark", section)
}

/// A time is not spelled as it must be.
pub(crate) const fn timestamp(section: &'static str) -> Law {
    law("timestamp", section)
}

/// A text is no JSON, or not the kind of value that belongs there.
pub(crate) const fn json(section: &'static str) -> Law {
    law("json", section)
}

/// A field that must be there is not.
pub(crate) const fn required(section: &'static str) -> Law {
    law("required-field", section)
}

/// A field is of another type.
pub(crate) const fn wrong_type(section: &'static str) -> Law {
    law("field-type", section)
}

/// An object has a key twice.
pub(crate) const fn same_key(section: &'static str) -> Law {
    law("duplicate-key", section)
}

/// Values lie too deep to be looked at.
pub(crate) const fn too_deep(section: &'static str) -> Law {
    law("nesting", section)
}

/// There is more than is told.
pub(crate) const fn more(section: &'static str) -> Law {
    law("more", section)
}
