//! Whether bytes are one JSON value, in one pass that neither recurses nor allocates.

use super::escape::first_special;

/// What is known of a value after it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValidValue {
    /// Whether there are line breaks between its tokens. Inside of strings there can be none.
    pub(super) breaks: bool,
}

/// Looks at a value that is nested at most so deep; nothing if it is none, or deeper.
pub(super) fn validate_value(bytes: &[u8], depth: u32) -> Option<ValidValue> {
    let mut at = ValueScan {
        rest: bytes,
        breaks: false,
    };
    // One bit for each open bracket, the innermost lowest: whether it is that of an object.
    let mut open: u128 = 0;
    let mut level = 0;
    'value: loop {
        match at.next_token()? {
            bracket @ (b'{' | b'[') => {
                let is_object = bracket == b'{';
                if at.is_next(if is_object { b'}' } else { b']' }) {
                    if level >= depth {
                        return None;
                    }
                } else {
                    if level >= depth.min(u128::BITS) {
                        return None;
                    }
                    level += 1;
                    open = open << 1 | u128::from(is_object);
                    if is_object {
                        at.scan_key()?;
                    }
                    continue 'value;
                }
            }
            b'"' => at.scan_string()?,
            b't' => at.scan_literal(b"rue")?,
            b'f' => at.scan_literal(b"alse")?,
            b'n' => at.scan_literal(b"ull")?,
            first => at.scan_number(first)?,
        }
        // A value ended, and with it perhaps what is around it.
        loop {
            if level == 0 {
                let end = at.next_token().is_none();
                return end.then_some(ValidValue { breaks: at.breaks });
            }
            let is_object = open & 1 == 1;
            match (at.next_token()?, is_object) {
                (b',', true) => {
                    at.scan_key()?;
                    continue 'value;
                }
                (b',', false) => continue 'value,
                (b'}', true) | (b']', false) => {
                    level -= 1;
                    open >>= 1;
                }
                _ => return None,
            }
        }
    }
}

struct ValueScan<'a> {
    rest: &'a [u8],
    breaks: bool,
}

impl ValueScan<'_> {
    /// The first byte behind white space; it is passed over.
    fn next_token(&mut self) -> Option<u8> {
        loop {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            match byte {
                b' ' | b'\t' => {}
                b'\n' | b'\r' => self.breaks = true,
                _ => return Some(*byte),
            }
        }
    }

    /// Passes over this token if it is the next one.
    fn is_next(&mut self, wanted: u8) -> bool {
        let before = self.rest;
        let is_it = self.next_token() == Some(wanted);
        if !is_it {
            self.rest = before;
        }
        is_it
    }

    /// A string and the colon behind it.
    fn scan_key(&mut self) -> Option<()> {
        if self.next_token()? != b'"' {
            return None;
        }
        self.scan_string()?;
        (self.next_token()? == b':').then_some(())
    }

    /// What is left of a string.
    fn scan_string(&mut self) -> Option<()> {
        loop {
            let (_, at) = self.rest.split_at_checked(first_special(self.rest)?)?;
            let (byte, rest) = at.split_first()?;
            self.rest = match (byte, rest) {
                (b'"', rest) => {
                    self.rest = rest;
                    return Some(());
                }
                (
                    b'\\',
                    [
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                        rest @ ..,
                    ],
                ) => rest,
                (b'\\', [b'u', a, b, c, d, rest @ ..])
                    if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) =>
                {
                    rest
                }
                _ => return None,
            };
        }
    }

    fn scan_literal(&mut self, rest: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(rest)?;
        Some(())
    }

    /// What is left of a number.
    fn scan_number(&mut self, first: u8) -> Option<()> {
        let mut first = first;
        if first == b'-' {
            let (digit, rest) = self.rest.split_first()?;
            (first, self.rest) = (*digit, rest);
        }
        match first {
            b'0' => {}
            b'1'..=b'9' => self.scan_digits(),
            _ => return None,
        }
        if let [b'.', digit, rest @ ..] = self.rest {
            self.rest = rest;
            digit.is_ascii_digit().then(|| self.scan_digits())?;
        }
        if let [b'e' | b'E', rest @ ..] = self.rest {
            let unsigned = rest.strip_prefix(b"+").or_else(|| rest.strip_prefix(b"-"));
            let rest = unsigned.unwrap_or(rest);
            let (digit, rest) = rest.split_first()?;
            self.rest = rest;
            digit.is_ascii_digit().then(|| self.scan_digits())?;
        }
        Some(())
    }

    fn scan_digits(&mut self) {
        let is_digit = |b: &&u8| b.is_ascii_digit();
        let count = self.rest.iter().take_while(is_digit).count();
        self.rest = self.rest.get(count..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn known(text: &str) -> bool {
        serde_json::from_str::<IgnoredAny>(text).is_ok()
    }

    #[test]
    fn depth_is_limited_and_counted() {
        let nested = |n: usize, inner: &str| format!("{}{inner}{}", "[".repeat(n), "]".repeat(n));
        for (n, inner, fits) in [
            (100, "", true),
            (99, "{}", true),
            (99, "{\"a\":1}", true),
            (100, "1", true),
            (101, "", false),
            (101, "1", false),
            (100, "{}", false),
            (1_000_000, "", false),
        ] {
            let text = nested(n, inner);
            assert_eq!(
                validate_value(text.as_bytes(), 100).is_some(),
                fits,
                "{n} {inner}"
            );
        }
    }

    #[test]
    fn line_breaks_between_tokens_are_seen() {
        let breaks = |text: &str| validate_value(text.as_bytes(), 9).map(|v| v.breaks);
        assert_eq!(breaks(r#"{"a": [1, "\n"]}"#), Some(false));
        assert_eq!(breaks("{\"a\":\n1}"), Some(true));
        assert_eq!(breaks("1\r"), Some(true));
        assert_eq!(breaks("\"\n\""), None);
    }

    /// Values, and most of the ways to spoil one.
    fn text() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "[0-9eE+.-]{1,6}",
            "-?[0-9]{1,3}(\\.[0-9]{1,2})?([eE][+-]?[0-9])?",
            Just("true".to_owned()),
            Just("fals".to_owned()),
            Just("null".to_owned()),
            r#""([a-z é\\"\x00/]|\\u[0-9a-g]{3,4}|\\[nrt"\\/x]){0,40}""#,
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let space = prop_oneof![Just(""), Just(" "), Just("\n"), Just("\t,")];
            let list = prop::collection::vec((inner.clone(), space.clone()), 0..4);
            let list = list.prop_map(|all| {
                let all: Vec<String> = all.into_iter().map(|(v, s)| format!("{s}{v}")).collect();
                format!("[{}]", all.join(","))
            });
            let object = prop::collection::vec((inner, space), 0..4);
            let object = object.prop_map(|all| {
                let all: Vec<String> = all
                    .into_iter()
                    .map(|(v, s)| format!("\"k\"{s}:{s}{v}"))
                    .collect();
                format!("{{{}}}", all.join(","))
            });
            prop_oneof![list, object]
        })
    }

    proptest! {
        #[test]
        fn what_serde_takes_is_taken_and_nothing_else(text in text()) {
            prop_assert_eq!(validate_value(text.as_bytes(), 100).is_some(), known(&text), "{}", text);
        }

        #[test]
        fn a_value_that_is_cut_is_none(text in text(), cut in 0_usize..40) {
            let text: String = text.chars().take(cut).collect();
            prop_assert_eq!(validate_value(text.as_bytes(), 100).is_some(), known(&text), "{}", text);
        }
    }
}
