//! What a message says: an argument, or standard input.

use std::io::{self, IsTerminal, Read};

use crate::failure::Failure;

/// The text that was given, else what comes on standard input without the line breaks at its end.
pub(super) fn body(given: Option<String>) -> Result<String, Failure> {
    match given {
        Some(text) if text != "-" => Ok(text),
        _ if io::stdin().is_terminal() => Err(Failure::Usage {
            message: "there is no text".to_owned(),
            hint: Some("give it as an argument or on standard input".to_owned()),
        }),
        _ => from_stdin(),
    }
}

/// What comes on standard input, without the line breaks at its end.
pub(super) fn from_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let mut text = String::from_utf8(bytes)
        .map_err(|e| Failure::usage(format!("standard input is not UTF-8: {e}")))?;
    text.truncate(text.trim_end_matches('\n').len());
    Ok(text)
}
