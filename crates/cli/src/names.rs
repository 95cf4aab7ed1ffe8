//! Names of sessions and workspaces on the command line.

use clap::builder::{OsStringValueParser, TypedValueParser};
use rethread_disk::text_of_name;

/// Reads a name that may be the path of a file, whose name may be any bytes.
pub(crate) fn name_parser() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|name| text_of_name(&name))
}
