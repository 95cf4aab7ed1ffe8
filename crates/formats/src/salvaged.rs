//! What can be saved of a damaged line of a log, the same for every format that has lines.

use rethread_json::{Piece, SyntaxError, salvage};

use crate::RecordKind;

/// What is left of a line that is no JSON value.
pub(crate) struct Salvaged {
    /// What to tell the user.
    pub(crate) message: String,
    /// The line in pieces, values and junk; one piece of junk where nothing can be read.
    pub(crate) pieces: Vec<Piece>,
    /// What the pieces of junk are.
    pub(crate) junk: RecordKind,
}

/// Looks at a line that is no JSON value. `is_open`: nobody ended it, so it may still be written.
pub(crate) fn salvaged(line: &[u8], error: &SyntaxError, is_open: bool) -> Salvaged {
    let pieces = salvage(line);
    let readable = pieces
        .iter()
        .filter(|p| matches!(p, Piece::Value(_)))
        .count();
    if readable == 0 {
        let (message, junk) = if is_open {
            (
                "the last line is not finished; ignored".to_owned(),
                RecordKind::Torn,
            )
        } else if line.iter().all(|b| *b == 0) {
            (
                format!("{} NUL bytes; skipped", line.len()),
                RecordKind::Junk,
            )
        } else {
            let why = format!(
                "not JSON: {}, at column {}; skipped",
                error.kind, error.column
            );
            (why, RecordKind::Junk)
        };
        return Salvaged {
            message,
            pieces: vec![Piece::Junk(0..line.len())],
            junk,
        };
    }
    let skipped: usize = pieces.iter().map(|piece| junk_len(piece, line)).sum();
    let message = match skipped {
        0 => format!("{readable} values on one line; all are read"),
        _ => format!("damaged: {readable} of its values are read, {skipped} bytes are skipped"),
    };
    Salvaged {
        message,
        pieces,
        junk: RecordKind::Junk,
    }
}

/// How many bytes of a piece are junk: line breaks and spaces between values are none.
fn junk_len(piece: &Piece, line: &[u8]) -> usize {
    match piece {
        Piece::Value(_) => 0,
        Piece::Junk(range) => line[range.clone()].trim_ascii().len(),
    }
}
