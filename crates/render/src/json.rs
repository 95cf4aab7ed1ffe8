//! JSON text: writing it as a stream, and looking into values that keep their spelling.

mod escape;
mod raw;
mod times;
mod valid;
mod writer;

pub(crate) use raw::{members, pretty, string};
pub(crate) use writer::Writer;
