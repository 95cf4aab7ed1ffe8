//! A bar on stderr for work that takes long, when somebody is there to see it.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A short wait needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// A bar that appears only on a terminal, and only once there is something to wait for.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    patience: Duration,
}

impl Progress {
    pub(crate) fn new(what: &'static str) -> Self {
        Self::of(what, "{msg} {wide_bar} {pos}/{len} ({eta})")
    }

    /// A bar for bytes, with how fast they go and how long it will take.
    pub(crate) fn of_bytes(what: &'static str) -> Self {
        Self::of(what, BYTES)
    }

    fn of(what: &'static str, template: &str) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(10);
        Self {
            bar: io::stderr()
                .is_terminal()
                .then(|| bar(target, what, template)),
            patience: PATIENCE,
        }
    }

    /// Says that so many bytes of so many are done.
    pub(crate) fn at_byte(&self, done: u64, of: u64) {
        let Some(bar) = &self.bar else { return };
        if bar.elapsed() >= self.patience {
            show_progress(bar, done, of);
        }
    }

    /// Says that so many of so many are done.
    pub(crate) fn at(&self, done: usize, of: usize) {
        // A redraw for each item would cost more than the item.
        let Some(bar) = &self.bar else { return };
        if bar.elapsed() >= self.patience && (done.is_multiple_of(16) || done == of) {
            show_progress(bar, done as u64, of as u64);
        }
    }
}

/// Moves a bar, all at once: nobody sees a length without a place in it.
fn show_progress(bar: &ProgressBar, done: u64, of: u64) {
    bar.update(|state| {
        state.set_len(of);
        state.set_pos(done);
    });
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

const BYTES: &str = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} ({eta})";

fn bar(target: ProgressDrawTarget, what: &'static str, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    // Not by the setters, which would draw it.
    ProgressBar::with_draw_target(Some(0), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        .with_message(what)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that remembers what was written to it.
    #[derive(Clone, Debug, Default)]
    struct Paper(Arc<Mutex<String>>);

    impl TermLike for Paper {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> io::Result<()> {
            self.write_str(line)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_bar_for_bytes_shows_how_fast_they_go_and_how_long_it_will_take() {
        let paper = Paper::default();
        let target = ProgressDrawTarget::term_like(Box::new(paper.clone()));
        let progress = Progress {
            bar: Some(bar(target, "exporting", BYTES)),
            patience: Duration::ZERO,
        };
        assert_eq!(*paper.0.lock().unwrap(), "", "nothing is done yet");
        progress.at_byte(1 << 20, 4 << 20);
        progress.bar.as_ref().unwrap().force_draw();
        let drawn = paper.0.lock().unwrap().clone();
        assert!(drawn.contains("exporting"), "{drawn}");
        assert!(drawn.contains("1.00 MiB/4.00 MiB"), "{drawn}");
        assert!(drawn.contains("/s ("), "{drawn}");
        assert!(drawn.ends_with(')'), "{drawn}");
    }
}
