//! A bar on stderr for work that takes long, when somebody is there to see it.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that appears only on a terminal, and only once there is something to wait for.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    pub(crate) fn new(what: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} ({eta})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self(Some(bar))
    }

    /// A bar for bytes, with how fast they go and how long it will take.
    pub(crate) fn of_bytes(what: &'static str) -> Self {
        let progress = Self::new(what);
        if let Some(bar) = &progress.0 {
            let template = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} ({eta})";
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        progress
    }

    /// Says that so many bytes of so many are done.
    pub(crate) fn at_byte(&self, done: u64, of: u64) {
        let Some(bar) = &self.0 else { return };
        if bar.elapsed() > Duration::from_millis(400) {
            bar.set_length(of);
            bar.set_position(done);
        }
    }

    /// Says that so many of so many are done.
    pub(crate) fn at(&self, done: usize, of: usize) {
        // A short wait needs no bar; a redraw for each item would cost more than the item.
        let Some(bar) = &self.0 else { return };
        if bar.elapsed() > Duration::from_millis(400) && (done.is_multiple_of(16) || done == of) {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
