//! Building new objects and arrays, always compact.

use crate::write::write_str;

/// Builds a compact object, member by member.
///
/// ```
/// let json = rethread_json::Object::new()
///     .str("type", "user")
///     .opt_str("cwd", None)
///     .u64("n", 1)
///     .raw("message", b"[]")
///     .finish();
/// assert_eq!(json, br#"{"type":"user","n":1,"message":[]}"#);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Object {
    out: Vec<u8>,
}

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value that is JSON already.
    pub fn raw(mut self, key: &str, json: &[u8]) -> Self {
        self.begin_member(key);
        self.out.extend_from_slice(json);
        self
    }

    /// Adds a string.
    pub fn str(mut self, key: &str, value: &str) -> Self {
        self.begin_member(key);
        write_str(&mut self.out, value);
        self
    }

    /// Adds a string if there is one.
    pub fn opt_str(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.str(key, value),
            None => self,
        }
    }

    /// Adds a value that is JSON already, if there is one.
    pub fn opt_raw(self, key: &str, json: Option<&[u8]>) -> Self {
        match json {
            Some(json) => self.raw(key, json),
            None => self,
        }
    }

    /// Adds a number.
    pub fn u64(self, key: &str, value: u64) -> Self {
        self.raw(key, value.to_string().as_bytes())
    }

    /// Adds a number.
    pub fn i64(self, key: &str, value: i64) -> Self {
        self.raw(key, value.to_string().as_bytes())
    }

    /// Adds `true` or `false`.
    pub fn bool(self, key: &str, value: bool) -> Self {
        self.raw(key, if value { b"true" } else { b"false" })
    }

    /// Adds `null`.
    pub fn null(self, key: &str) -> Self {
        self.raw(key, b"null")
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The object as JSON.
    pub fn finish(mut self) -> Vec<u8> {
        if self.is_empty() {
            return b"{}".to_vec();
        }
        self.out.push(b'}');
        self.out
    }

    fn begin_member(&mut self, key: &str) {
        self.out.push(if self.is_empty() { b'{' } else { b',' });
        write_str(&mut self.out, key);
        self.out.push(b':');
    }
}

/// Builds a compact array, item by item.
///
/// ```
/// let json = rethread_json::Array::new().str("a").raw(b"1").finish();
/// assert_eq!(json, br#"["a",1]"#);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Array {
    out: Vec<u8>,
}

impl Array {
    /// An array without items.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value that is JSON already.
    pub fn raw(mut self, json: &[u8]) -> Self {
        self.write_comma();
        self.out.extend_from_slice(json);
        self
    }

    /// Adds a string.
    pub fn str(mut self, value: &str) -> Self {
        self.write_comma();
        write_str(&mut self.out, value);
        self
    }

    /// Adds a number.
    pub fn u64(self, value: u64) -> Self {
        self.raw(value.to_string().as_bytes())
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The array as JSON.
    pub fn finish(mut self) -> Vec<u8> {
        if self.is_empty() {
            return b"[]".to_vec();
        }
        self.out.push(b']');
        self.out
    }

    fn write_comma(&mut self) {
        self.out.push(if self.is_empty() { b'[' } else { b',' });
    }
}
