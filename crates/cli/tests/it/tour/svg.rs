//! A picture of a terminal, of what a program printed with its colours.

use std::fmt::Write as _;

/// The room of ten letters, and of a line.
const TEN_LETTERS: usize = 84;
const LINE: usize = 19;
const MARGIN: usize = 16;

/// How colours and weights of a terminal look; names that no picture uses cost nothing.
const STYLE: &str = "\
rect{fill:#16181d}text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;\
fill:#d7dae0;white-space:pre}\
.b{font-weight:bold}.d{opacity:.6}.i{font-style:italic}.u{text-decoration:underline}\
.c30{fill:#5c6370}.c31{fill:#e06c75}.c32{fill:#8cc379}.c33{fill:#e0b86c}.c34{fill:#6aa8ee}\
.c35{fill:#c882dd}.c36{fill:#5db7c2}.c37{fill:#d7dae0}";

/// How letters look.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is one of a terminal's")]
struct Look {
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    /// 30 to 37.
    colour: Option<u16>,
}

impl Look {
    /// Reads what stands between `ESC [` and `m`.
    fn change(&mut self, codes: &str) {
        let mut codes = codes.split(';').map(|code| code.parse().unwrap_or(0_u16));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                22 => (self.bold, self.dim) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                30..=37 => self.colour = Some(code),
                38 => {
                    // Of the 256 colours, the first sixteen have names.
                    let kind = codes.next();
                    let of_256 = codes.next().filter(|_| kind == Some(5));
                    self.colour = of_256.filter(|c| *c < 16).map(|c| 30 + c % 8);
                }
                39 => self.colour = None,
                90..=97 => self.colour = Some(code - 60),
                _ => {}
            }
        }
    }

    fn class(self) -> String {
        let mut names = Vec::new();
        for (is_set, name) in [
            (self.bold, "b"),
            (self.dim, "d"),
            (self.italic, "i"),
            (self.underlined, "u"),
        ] {
            if is_set {
                names.push(name.to_owned());
            }
        }
        names.extend(self.colour.map(|code| format!("c{code}")));
        names.join(" ")
    }
}

/// The picture of what was printed.
pub(super) fn of_terminal(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    let width = |line: &&str| {
        pieces(line, &mut Look::default())
            .map(|(_, t)| t.chars().count())
            .sum()
    };
    let columns: usize = lines.iter().map(width).max().unwrap_or(0);
    let (wide, high) = (
        2 * MARGIN + columns * TEN_LETTERS / 10,
        2 * MARGIN + lines.len() * LINE,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"A terminal\">\n<style>{STYLE}</style>\n<rect width=\"{wide}\" height=\"{high}\" rx=\"8\"/>\n"
    );
    let mut look = Look::default();
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + number * LINE + 14;
        let _ = write!(svg, "<text x=\"{MARGIN}\" y=\"{y}\">");
        for (look, text) in pieces(line, &mut look) {
            let text = escaped(text);
            match look.class() {
                class if class.is_empty() => svg += &text,
                class => {
                    let _ = write!(svg, "<tspan class=\"{class}\">{text}</tspan>");
                }
            }
        }
        svg += "</text>\n";
    }
    svg + "</svg>\n"
}

/// The pieces of a line that look alike; `look` is that of what comes next.
fn pieces<'a>(line: &'a str, look: &mut Look) -> impl Iterator<Item = (Look, &'a str)> + use<'a> {
    let mut parts = line.split('\u{1b}');
    let mut found = vec![(*look, parts.next().unwrap_or_default())];
    for part in parts {
        let Some((codes, text)) = part.strip_prefix('[').and_then(|p| p.split_once('m')) else {
            panic!("what a picture cannot show: {part:?}");
        };
        look.change(codes);
        found.push((*look, text));
    }
    found.into_iter().filter(|(_, text)| !text.is_empty())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
