//! Hashes of texts that nobody who writes a file can foresee, and that can be saved.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// A hash of texts with a key that is drawn by chance, and is saved with what was hashed.
#[derive(Clone, Debug)]
pub(crate) struct TextHasher {
    key: [u64; 2],
}

super::state::saved_struct!(TextHasher { key });

impl Default for TextHasher {
    fn default() -> Self {
        let random = RandomState::new();
        Self {
            key: [0_u8, 1].map(|n| random.hash_one(n)),
        }
    }
}

impl TextHasher {
    /// The hash of a text.
    pub(crate) fn hash(&self, text: &str) -> u64 {
        self.salted(text, 0)
    }

    /// The hash of a text in sixteen bytes, for those who keep no texts to compare.
    pub(crate) fn wide_hash(&self, text: &str) -> [u64; 2] {
        [self.salted(text, 0), self.salted(text, 1)]
    }

    #[allow(
        deprecated,
        reason = "the one hasher of the standard library whose key can be given, and whose algorithm is told"
    )]
    fn salted(&self, text: &str, salt: u64) -> u64 {
        let [low, high] = self.key;
        let mut hasher = std::hash::SipHasher::new_with_keys(low, high ^ salt);
        hasher.write(text.as_bytes());
        hasher.finish()
    }
}
