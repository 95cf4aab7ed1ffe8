//! The checksum of the program `cksum`, which every POSIX system has.

use std::io::{self, Read};

/// The checksum so far.
#[derive(Debug, Default)]
pub(super) struct Cksum {
    crc: u32,
    len: u64,
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte: u32 = 0;
    while byte < 256 {
        let mut crc = byte << 24;
        let mut bit = 0;
        while bit < 8 {
            let carry = crc & 0x8000_0000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x04C1_1DB7;
            }
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
}

impl Cksum {
    /// The checksum of all that comes out of a reader.
    pub(super) fn of(mut reader: impl Read) -> io::Result<Self> {
        let mut sum = Self::default();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(sum),
                n => sum.update(&buffer[..n]),
            }
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
        self.len += bytes.len() as u64;
    }

    fn step(&mut self, byte: u8) {
        let at = usize::from(self.crc.to_be_bytes()[0] ^ byte);
        self.crc = (self.crc << 8) ^ TABLE[at];
    }

    /// What the program prints: the checksum and how many bytes there were.
    pub(super) fn finish(mut self) -> String {
        let mut len = self.len;
        while len > 0 {
            let [low, ..] = len.to_le_bytes();
            self.step(low);
            len >>= 8;
        }
        format!("{} {}", !self.crc, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_program() {
        let sum = |text: &str| Cksum::of(text.as_bytes()).unwrap().finish();
        assert_eq!(sum(""), "4294967295 0");
        assert_eq!(sum("hello\n"), "3015617425 6");
        assert_eq!(sum("123456789"), "930766865 9");
    }
}
