//! JSON text: writing it as a stream, and looking into values that keep their spelling.

mod escape;
mod inert;
mod raw;
mod times;
mod valid;
mod writer;

pub use inert::InertJson;
pub(crate) use raw::{pretty_value, raw_members, string_value};
pub(crate) use writer::JsonWriter;
