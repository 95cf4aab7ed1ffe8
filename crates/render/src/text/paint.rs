//! Colours, if they are wanted.

use anstyle::{AnsiColor, Style};
use rethread_model::Role;

/// Colours text that is neutral already, or leaves it alone.
#[derive(Clone, Copy)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    pub(super) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    pub(super) fn red(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default(), text)
    }

    pub(super) fn green(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    pub(super) fn role(self, role: Role, text: &str) -> String {
        let colour = match role {
            Role::User => AnsiColor::Cyan,
            Role::Assistant => AnsiColor::Green,
            Role::System => AnsiColor::Magenta,
            Role::Tool => AnsiColor::Yellow,
        };
        self.with(colour.on_default().bold(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.0 {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}
