//! A buffer for each thread: a list reads one file after the other, and new memory for each would
//! take a good part of the time.

use std::cell::Cell;

/// A buffer that grew beyond this is not kept.
const KEPT: usize = 16 * 1024 * 1024;

thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The buffer of this thread, empty.
pub(crate) fn take_buffer() -> Vec<u8> {
    let mut buffer = BUFFER.take();
    buffer.clear();
    buffer
}

/// Gives it back, for the next file.
pub(crate) fn return_buffer(buffer: Vec<u8>) {
    if buffer.capacity() <= KEPT {
        BUFFER.set(buffer);
    }
}
