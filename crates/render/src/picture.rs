//! Statistics as a picture (SVG), in the colours that the reader's screen asks for.

use std::collections::BTreeMap;
use std::io::{self, Write};

use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::html::HtmlWriter;

/// What a picture of statistics shows. All of it is text that may come from conversations.
#[derive(Clone, Debug, Default)]
pub struct StatsPicture {
    /// What it is about.
    pub title: String,
    /// The sums in a few words.
    pub sums: String,
    /// The bars, in order.
    pub bars: Vec<PictureBar>,
    /// A number for each day of a calendar.
    pub days: BTreeMap<Date, f64>,
    /// The last day of the calendar.
    pub today: Date,
    /// What is to be known beside it.
    pub remarks: Vec<String>,
}

/// A bar.
#[derive(Clone, Debug, Default)]
pub struct PictureBar {
    /// What it is of.
    pub label: String,
    /// How long it is, compared with the others.
    pub value: f64,
    /// What stands behind it.
    pub shown: String,
}

const WIDTH: u32 = 800;
const MARGIN: u32 = 24;
const LINE: u32 = 22;
/// Where bars begin, how long they are, and where what stands behind them begins.
const BARS_AT: u32 = 236;
const LONGEST_BAR: f64 = 340.0;
const SHOWN_AT: u32 = 590;
/// So many bars are drawn.
const MOST_BARS: usize = 60;
/// So many characters of a label are drawn.
const LONGEST_LABEL: usize = 26;
const WEEKS: u32 = 53;
const CELL: u32 = 14;

const STYLE: &str = "\
<style>
svg { font-family: ui-sans-serif, system-ui, sans-serif; font-size: 13px; font-variant-numeric: tabular-nums; }
.page { fill: #ffffff; } text { fill: #1f2328; } .quiet { fill: #57606a; } .head { font-size: 18px; font-weight: 600; }
.bar { fill: #2f6fd0; } .d0 { fill: #ebedf0; } .d1 { fill: #bcd3f5; } .d2 { fill: #82aceb; } .d3 { fill: #4480d6; } .d4 { fill: #1d4f9f; }
@media (prefers-color-scheme: dark) {
.page { fill: #14171c; } text { fill: #e6e9ee; } .quiet { fill: #9aa4b1; }
.bar { fill: #6ea3f0; } .d0 { fill: #22272f; } .d1 { fill: #24436f; } .d2 { fill: #3263a8; } .d3 { fill: #5590e0; } .d4 { fill: #a5c8fb; }
}
</style>
";

/// Writes a picture.
pub fn write_stats_picture(out: &mut dyn Write, picture: &StatsPicture) -> io::Result<()> {
    let bars = picture.bars.get(..MOST_BARS.min(picture.bars.len()));
    let bars = bars.unwrap_or_default();
    let count = |len: usize| u32::try_from(len).unwrap_or(0);
    let bars_at = MARGIN + 3 * LINE;
    let calendar_at = bars_at + count(bars.len()) * LINE + LINE;
    let has_days = !picture.days.is_empty();
    let calendar = if has_days { 8 * CELL + LINE } else { 0 };
    let remarks_at = calendar_at + calendar;
    let height = remarks_at + count(picture.remarks.len()) * LINE + MARGIN;
    let mut svg = SvgWriter {
        out: HtmlWriter::new(out),
    };
    svg.open(height)?;
    svg.text("head", MARGIN, MARGIN + 14, &picture.title)?;
    svg.text("quiet", MARGIN, MARGIN + 14 + LINE, &picture.sums)?;
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    for (at, bar) in (0..).zip(bars) {
        let y = bars_at + at * LINE;
        svg.text("label", MARGIN, y + 14, &short_label(&bar.label))?;
        let length = if most > 0.0 {
            bar.value / most * LONGEST_BAR
        } else {
            0.0
        };
        svg.rect("bar", BARS_AT, y + 3, length)?;
        svg.text("label", SHOWN_AT, y + 14, &bar.shown)?;
    }
    if has_days {
        svg.calendar(picture, calendar_at)?;
    }
    for (at, remark) in (0..).zip(&picture.remarks) {
        svg.text("quiet", MARGIN, remarks_at + at * LINE + 14, remark)?;
    }
    svg.out.write_markup("</svg>\n")
}

fn short_label(label: &str) -> String {
    match label.char_indices().nth(LONGEST_LABEL) {
        Some((end, _)) => format!("{}…", label.get(..end).unwrap_or_default()),
        None => label.to_owned(),
    }
}

struct SvgWriter<'a> {
    out: HtmlWriter<'a>,
}

impl SvgWriter<'_> {
    fn open(&mut self, height: u32) -> io::Result<()> {
        self.out
            .write_markup("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"")?;
        self.number(WIDTH)?;
        self.out.write_markup("\" height=\"")?;
        self.number(height)?;
        self.out.write_markup("\" viewBox=\"0 0 ")?;
        self.number(WIDTH)?;
        self.out.write_markup(" ")?;
        self.number(height)?;
        self.out.write_markup("\">\n")?;
        self.out.write_markup(STYLE)?;
        self.out
            .write_markup("<rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n")
    }

    fn number(&mut self, number: u32) -> io::Result<()> {
        self.out.write_number(u64::from(number))
    }

    fn text(&mut self, class: &'static str, x: u32, y: u32, text: &str) -> io::Result<()> {
        self.place("<text class=\"", class, x, y)?;
        self.out.write_markup(">")?;
        self.out.write_line(text)?;
        self.out.write_markup("</text>\n")
    }

    /// An element up to its other attributes.
    fn place(&mut self, open: &'static str, class: &'static str, x: u32, y: u32) -> io::Result<()> {
        self.out.write_markup(open)?;
        self.out.write_markup(class)?;
        self.out.write_markup("\" x=\"")?;
        self.number(x)?;
        self.out.write_markup("\" y=\"")?;
        self.number(y)?;
        self.out.write_markup("\"")
    }

    fn rect(&mut self, class: &'static str, x: u32, y: u32, length: f64) -> io::Result<()> {
        if length.is_nan() || length <= 0.0 {
            return Ok(());
        }
        self.place("<rect class=\"", class, x, y)?;
        self.out.write_markup(" height=\"14\" rx=\"2\" width=\"")?;
        self.out.write_text(&format!("{:.1}", length.max(1.0)))?;
        self.out.write_markup("\"/>\n")
    }

    /// A year of days, a column a week.
    fn calendar(&mut self, picture: &StatsPicture, top: u32) -> io::Result<()> {
        let back = i64::from(picture.today.weekday().to_monday_zero_offset());
        let weeks_back = i64::from(WEEKS - 1) * 7;
        let Ok(first) = picture.today.checked_sub((back + weeks_back).days()) else {
            return Ok(());
        };
        let shown = picture.days.range(first..=picture.today);
        let most = shown.map(|(_, value)| *value).fold(0.0, f64::max);
        let mut month = first.month();
        for week in 0..WEEKS {
            for row in 0..7 {
                let day = first.checked_add(i64::from(week * 7 + row).days());
                let Some(day) = day.ok().filter(|day| *day <= picture.today) else {
                    break;
                };
                let x = MARGIN + week * CELL;
                if row == 0 && day.month() != month {
                    month = day.month();
                    self.text("quiet", x, top + 10, &day.strftime("%b").to_string())?;
                }
                let value = picture.days.get(&day).copied().unwrap_or(0.0);
                let class = match (value / most).sqrt() {
                    part if part >= 0.75 => "d4",
                    part if part >= 0.5 => "d3",
                    part if part >= 0.25 => "d2",
                    part if part > 0.0 => "d1",
                    _ => "d0",
                };
                self.place("<rect class=\"", class, x, top + CELL + row * CELL)?;
                self.out
                    .write_markup(" width=\"12\" height=\"12\" rx=\"2\"><title>")?;
                self.out.write_text(&day.to_string())?;
                self.out.write_markup("</title></rect>\n")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn text_of_conversations_is_no_markup() {
        let hostile = "</text><script>alert(1)</script>\u{1b}[31m\"'&";
        let picture = StatsPicture {
            title: hostile.to_owned(),
            sums: hostile.to_owned(),
            bars: vec![PictureBar {
                label: hostile.to_owned(),
                value: f64::NAN,
                shown: hostile.to_owned(),
            }],
            days: [(date(2026, 11, 18), 5.0)].into(),
            today: date(2026, 11, 18),
            remarks: vec![hostile.to_owned()],
        };
        let mut out = Vec::new();
        write_stats_picture(&mut out, &picture).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains("<script"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(text.matches("</svg>").count(), 1);
        assert_eq!(text.matches("class=\"d4\"").count(), 1);
    }
}
