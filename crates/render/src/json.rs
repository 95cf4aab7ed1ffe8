//! JSON text: writing it as a stream, and looking into values that keep their spelling.

mod escape;
mod inert;
mod raw;
mod times;
mod valid;
mod writer;

pub use inert::InertJson;
pub(crate) use raw::{members, pretty, string};
pub(crate) use writer::Writer;
