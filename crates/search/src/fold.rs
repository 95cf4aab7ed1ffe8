//! Letters as they are compared: lower case, without accents, in one normal form.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::decompose_canonical;

/// Whether a character belongs to a word.
pub(crate) fn is_word_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric() || is_accent(c) || unicode_normalization::char::is_combining_mark(c)
}

/// Whether a mark is left out when letters are compared: accents, and the vowel points of Hebrew and
/// Arabic, which most people leave out when they write.
fn is_accent(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x591..=0x5c7 | 0x610..=0x61a | 0x64b..=0x65f | 0x670)
}

/// Whether a character is written without spaces between words, so that pairs of characters are looked
/// for instead: Chinese, Japanese and Korean.
pub(crate) fn is_paired(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11ff | 0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3041..=0x30ff
        | 0x3105..=0x318f | 0x31a0..=0x31bf | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xa960..=0xa97f | 0xac00..=0xd7ff | 0xf900..=0xfaff | 0xff66..=0xffdc
        | 0x1b000..=0x1b16f | 0x20000..=0x323af)
        && !is_accent(c)
}

/// Adds a word in the form in which words are compared.
pub(crate) fn fold_into(word: &str, out: &mut String) {
    if word.is_ascii() {
        out.extend(word.bytes().map(|b| char::from(b.to_ascii_lowercase())));
        return;
    }
    for c in word.nfc() {
        fold_char(c, out);
    }
}

/// Adds a character of normal form C as it is compared.
fn fold_char(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    let mut is_accented = false;
    decompose_canonical(c, |part| is_accented |= is_accent(part));
    if !is_accented {
        push_lower(c, out);
        return;
    }
    decompose_canonical(c, |part| {
        if !is_accent(part) {
            push_lower(part, out);
        }
    });
}

fn push_lower(c: char, out: &mut String) {
    // The form of sigma at the end of a word.
    let c = if c == 'ς' { 'σ' } else { c };
    out.extend(c.to_lowercase().filter(|lower| !is_accent(*lower)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(word: &str) -> String {
        let mut out = String::new();
        fold_into(word, &mut out);
        out
    }

    #[test]
    fn spellings_of_the_same_word_are_the_same() {
        for (spellings, expected) in [
            (&["Café", "cafe\u{301}", "CAFÉ"][..], "cafe"),
            (&["naïve", "NAI\u{308}VE"], "naive"),
            (&["ΣΊΣΥΦΟΣ", "Σίσυφος"], "σισυφοσ"),
            (&["Ёлка", "елка"], "елка"),
            (&["İstanbul", "istanbul"], "istanbul"),
            (&["\u{212a}elvin"], "kelvin"),
            (
                &["한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"],
                "한국",
            ),
            (&["שָׁלוֹם", "שלום"], "שלום"),
            (&["हिन्दी"], "हिन्दी"),
        ] {
            for spelling in spellings {
                assert_eq!(folded(spelling), expected, "{spelling}");
            }
        }
    }
}
