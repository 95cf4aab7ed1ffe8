//! Unpacking, with a look at whether it is what was packed.

use std::io::{self, BufReader, Read};

use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use base64::read::DecoderReader;
use sha2::{Digest, Sha256};

use super::pack::{Seal, hex_digits};
use crate::packed::{Packing, Unpacked};

/// Gives back what was packed. Reading ends with an error if it is anything else: what comes before
/// the error is not to be trusted.
pub struct Unpack<R: Read> {
    decoder: TextDecoder<R>,
    hash: Sha256,
    size: u64,
    seal: Seal,
    is_done: bool,
}

type TextDecoder<R> = Unpacked<BufReader<DecoderReader<'static, GeneralPurpose, R>>>;

impl<R: Read> Unpack<R> {
    /// Unpacks a text: all pieces, one behind the other.
    pub fn new(text: R, seal: Seal) -> io::Result<Self> {
        let bytes = DecoderReader::new(text, &STANDARD);
        Ok(Self {
            decoder: Unpacked::new(BufReader::new(bytes), Packing::Zstd)?,
            hash: Sha256::new(),
            size: 0,
            seal,
            is_done: false,
        })
    }

    fn finish_check(&mut self) -> io::Result<usize> {
        let digest = hex_digits(&std::mem::take(&mut self.hash).finalize());
        if self.size != self.seal.size || digest != self.seal.sha256 {
            return Err(not_it("its digest is another"));
        }
        self.is_done = true;
        Ok(0)
    }
}

impl<R: Read> Read for Unpack<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.is_done || buf.is_empty() {
            return Ok(0);
        }
        let n = self.decoder.read(buf)?;
        if n == 0 {
            return self.finish_check();
        }
        self.size += n as u64;
        // A few bytes can be unpacked to any number of them.
        if self.size > self.seal.size {
            return Err(not_it("it is longer"));
        }
        self.hash.update(buf.get(..n).unwrap_or_default());
        Ok(n)
    }
}

fn not_it(why: &str) -> io::Error {
    let what = format!("it is not what was packed: {why}");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{PIECE, pack_content};
    use super::*;

    fn packed(bytes: &[u8]) -> (Vec<String>, Seal) {
        let mut pieces = Vec::new();
        let packed = pack_content(&mut &bytes[..], &mut |piece| {
            pieces.push(piece.to_owned());
            Ok(())
        });
        let packed = packed.unwrap();
        assert!(packed.torn.is_none());
        (pieces, packed.seal)
    }

    fn unpacked(text: &str, seal: Seal) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Unpack::new(text.as_bytes(), seal)?.read_to_end(&mut out)?;
        Ok(out)
    }

    proptest! {
        #[test]
        fn what_was_packed_comes_out(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
            let (pieces, seal) = packed(&bytes);
            prop_assert_eq!(unpacked(&pieces.concat(), seal).unwrap(), bytes);
        }

        #[test]
        fn whatever_was_changed_is_noticed(
            bytes in prop::collection::vec(any::<u8>(), 1..500),
            at in any::<prop::sample::Index>(),
            to in "[A-Za-z0-9+/]",
        ) {
            let (pieces, seal) = packed(&bytes);
            let mut text = pieces.concat();
            let at = at.index(text.len());
            prop_assume!(&text[at..=at] != "=" && text[at..=at] != to);
            text.replace_range(at..=at, &to);
            // Bits that stand for nothing may differ: then all the same comes out.
            if let Ok(out) = unpacked(&text, seal) {
                prop_assert_eq!(out, bytes);
            }
        }
    }

    #[test]
    fn pieces_are_no_longer_than_a_line_may_be() {
        // It cannot be packed any smaller.
        let mut state = 1_u64;
        let noise = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_be_bytes()[0]
        });
        let noise: Vec<u8> = noise.take(PIECE * 2).collect();
        let (pieces, seal) = packed(&noise);
        assert!(pieces.len() > 2, "{}", pieces.len());
        let (last, others) = pieces.split_last().unwrap();
        assert!(others.iter().all(|p| p.len() == PIECE));
        assert!(last.len() <= PIECE);
        assert_eq!(unpacked(&pieces.concat(), seal).unwrap(), noise);
    }

    #[test]
    fn another_seal_does_not_fit() {
        let (pieces, seal) = packed(b"as it was");
        let text = pieces.concat();
        for wrong in [
            Seal {
                size: 8,
                ..seal.clone()
            },
            Seal {
                size: 10,
                ..seal.clone()
            },
            Seal {
                sha256: "0".repeat(64),
                ..seal.clone()
            },
        ] {
            let error = unpacked(&text, wrong).unwrap_err();
            assert!(error.to_string().contains("not what was packed"), "{error}");
        }
        assert_eq!(unpacked(&text, seal).unwrap(), b"as it was");
    }

    #[test]
    fn what_could_be_read_before_an_error_is_packed() {
        struct Torn(bool);
        impl Read for Torn {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("no more"));
                }
                buf[..3].copy_from_slice(b"abc");
                Ok(3)
            }
        }
        let mut text = String::new();
        let packed = pack_content(&mut Torn(false), &mut |piece| {
            text.push_str(piece);
            Ok(())
        });
        let packed = packed.unwrap();
        assert_eq!(packed.torn.unwrap().to_string(), "no more");
        assert_eq!(unpacked(&text, packed.seal).unwrap(), b"abc");
    }
}
