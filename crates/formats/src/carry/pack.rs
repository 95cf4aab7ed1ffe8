//! Packing.

use std::io::{self, Read, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::packed::ZstdWriter;

/// The most characters of a piece.
pub const PIECE: usize = 4 * 1024 * 1024;

/// The bytes that a piece stands for: a multiple of three, so that pieces can be put together again
/// without being decoded.
const PIECE_BYTES: usize = PIECE / 4 * 3;

/// How hard it is packed: the same is packed again for every export, so it must be quick.
const LEVEL: i32 = 1;

/// What must come out of it when it is unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// How many bytes.
    pub size: u64,
    /// Their SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// What was packed.
#[derive(Debug)]
pub struct Packed {
    /// What it is.
    pub seal: Seal,
    /// Why it is not all that there was: reading ended with this.
    pub torn: Option<io::Error>,
}

/// Packs all that can be read. The pieces are given in order; all but the last are [`PIECE`] long.
/// It fails only if a piece is not taken.
pub fn pack_content(
    from: &mut dyn Read,
    piece: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<Packed> {
    let mut encoder = ZstdWriter::new(Vec::new(), LEVEL, false)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut size = 0;
    let mut torn = None;
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => {
                torn = Some(e);
                break;
            }
        };
        let bytes = buffer.get(..n).unwrap_or_default();
        hash.update(bytes);
        size += n as u64;
        encoder.write_all(bytes)?;
        if let Some(ready) = encoder.get_mut()
            && ready.len() >= PIECE_BYTES
        {
            let whole = ready.len() / PIECE_BYTES * PIECE_BYTES;
            give_pieces(ready.get(..whole).unwrap_or_default(), piece)?;
            ready.drain(..whole);
        }
    }
    give_pieces(&encoder.finish()?, piece)?;
    let sha256 = hex_digits(&hash.finalize());
    Ok(Packed {
        seal: Seal { size, sha256 },
        torn,
    })
}

impl Seal {
    /// Of all that can be read.
    pub fn of_content(from: &mut dyn Read) -> io::Result<Self> {
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 256 * 1024];
        let mut size = 0;
        loop {
            let n = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            hash.update(buffer.get(..n).unwrap_or_default());
            size += n as u64;
        }
        let sha256 = hex_digits(&hash.finalize());
        Ok(Self { size, sha256 })
    }
}

fn give_pieces(bytes: &[u8], piece: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    bytes
        .chunks(PIECE_BYTES)
        .try_for_each(|chunk| piece(&STANDARD.encode(chunk)))
}

/// Bytes in hexadecimal digits.
pub(super) fn hex_digits(bytes: &[u8]) -> String {
    let all: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    all.concat()
}
