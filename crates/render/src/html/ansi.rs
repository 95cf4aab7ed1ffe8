//! What programs print for a terminal: its colours become colours of the page.

use std::io;

use super::links::write_linked;
use super::out::HtmlWriter;

/// Writes what a program printed. Sequences that set a colour do so here; all others are shown.
pub(super) fn write_printed(out: &mut HtmlWriter<'_>, text: &str) -> io::Result<()> {
    let mut rest = text;
    let mut colour = None;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, sequence) = rest.split_at(at);
        write_coloured(out, colour, before)?;
        if let Some((codes, behind)) = colour_codes(&sequence[2..]) {
            colour = codes.split(';').fold(colour, colour_after);
            rest = behind;
        } else {
            write_coloured(out, colour, &sequence[..2])?;
            rest = &sequence[2..];
        }
    }
    write_coloured(out, colour, rest)
}

fn write_coloured(
    out: &mut HtmlWriter<'_>,
    colour: Option<&'static str>,
    text: &str,
) -> io::Result<()> {
    match colour.filter(|_| !text.is_empty()) {
        Some(colour) => {
            out.write_markup(colour)?;
            write_linked(out, text)?;
            out.write_markup("</i>")
        }
        None => write_linked(out, text),
    }
}

/// The codes of a sequence that sets colours, and what is behind it.
fn colour_codes(sequence: &str) -> Option<(&str, &str)> {
    let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let (codes, behind) = sequence.split_at(end);
    Some((codes, behind.strip_prefix('m')?))
}

/// The colour after a code. What is not a plain colour of the text changes nothing.
fn colour_after(colour: Option<&'static str>, code: &str) -> Option<&'static str> {
    match code {
        "" | "0" | "39" => None,
        "31" | "91" => Some("<i class=r>"),
        "32" | "92" => Some("<i class=s>"),
        "33" | "93" => Some("<i class=a>"),
        "34" | "94" => Some("<i class=f>"),
        "35" | "95" => Some("<i class=k>"),
        "36" | "96" => Some("<i class=t>"),
        "90" => Some("<i class=c>"),
        _ => colour,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_set_and_all_else_is_shown() {
        for (text, page) in [
            ("a\u{1b}[1;31mb\u{1b}[0m<c>", "a<i class=r>b</i>&lt;c&gt;"),
            ("\u{1b}[32m\u{1b}[36mx", "<i class=t>x</i>"),
            ("\u{1b}[2J\u{1b}[", "␛[2J␛["),
            ("\u{1b}[38;5;9mx\u{1b}[mé", "xé"),
            ("plain", "plain"),
        ] {
            let mut out = Vec::new();
            write_printed(&mut HtmlWriter::new(&mut out), text).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), page);
        }
    }
}
