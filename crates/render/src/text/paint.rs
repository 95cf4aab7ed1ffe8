//! Colours, if they are wanted.

use anstyle::{AnsiColor, Style};

use super::wrap::StyledSpan;
use crate::reading::Speaker;

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const RED: Style = AnsiColor::Red.on_default();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();

/// The colour of a speaker.
pub(crate) fn speaker_style(speaker: &Speaker) -> Style {
    let colour = match speaker {
        Speaker::Person => AnsiColor::Cyan,
        Speaker::Agent => AnsiColor::Green,
        Speaker::System | Speaker::Extension(_) => AnsiColor::Magenta,
        Speaker::Cut => AnsiColor::Yellow,
    };
    colour.on_default().bold()
}

/// The colour of how a call ended.
pub(super) fn sign_style(sign: &str) -> Style {
    match sign {
        "✓" => GREEN,
        "✗" | "⊘" => RED,
        _ => DIM,
    }
}

/// Colours text that is neutral already, or leaves it alone.
#[derive(Clone, Copy)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    pub(crate) fn paint_text(self, style: Style, text: &str) -> String {
        if self.0 && style != Style::new() && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// Spans as one text.
    pub(super) fn paint_spans(self, spans: &[StyledSpan]) -> String {
        spans
            .iter()
            .map(|span| self.paint_text(span.style, &span.text))
            .collect()
    }
}
