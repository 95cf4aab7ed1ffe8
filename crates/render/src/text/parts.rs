//! A conversation as pieces of text, for programs that take it bit by bit.

use std::cell::RefCell;
use std::io::{self, Write};
use std::ops::ControlFlow;

use super::TextScreen;
use super::head::TimeLabels;
use crate::reading::{Reading, ReadingPart};
use crate::{Options, Style, View};

/// The heading of a turn, or something that was said or done in it, as text.
///
/// What is appended to a session comes after all parts that it had, so that the two numbers name a part
/// for as long as nothing is taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart {
    /// The number of the entry that its turn begins with, as `show --at '#12'` takes it.
    pub turn: u64,
    /// Its place in the turn: 0 is the heading.
    pub item: u64,
    /// Its lines, neutralised, with what stands between it and the part before.
    pub text: String,
}

/// Gives the parts of a conversation in order, as [`write_turns`](super::write_turns) writes them, with numbers, in
/// lines as long as they are, and without telling what is left out. `take` ends it by breaking.
pub fn walk_text_parts(
    view: &View<'_>,
    options: Options,
    style: &Style,
    take: &mut dyn FnMut(TextPart) -> ControlFlow<()>,
) -> io::Result<()> {
    let written = RefCell::new(Vec::new());
    let mut out = SharedBuffer(&written);
    let mut screen = TextScreen::new(&mut out, view, options, style);
    screen.page = screen.page.without_wrapping();
    let (mut turn, mut item) = (0, 0);
    for part in Reading::of_view(view, options) {
        match part {
            ReadingPart::Turn(heading) => {
                (turn, item) = (heading.entry_number(), 0);
                // A part says the same whatever was told before it: the whole date.
                screen.clock = TimeLabels::new(style);
                screen.write_turn(&heading)?;
            }
            ReadingPart::Item(said) => {
                item += 1;
                screen.write_item(said)?;
            }
            ReadingPart::Quiet(_) => continue,
        }
        let bytes = std::mem::take(&mut *written.borrow_mut());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if take(TextPart { turn, item, text }).is_break() {
            break;
        }
    }
    Ok(())
}

/// What was written and not taken yet.
struct SharedBuffer<'a>(&'a RefCell<Vec<u8>>);

impl Write for SharedBuffer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
