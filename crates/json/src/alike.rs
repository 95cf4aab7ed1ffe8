//! Objects that look alike: the same keys in the same order, laid out in the same way.

use crate::block::{BLOCK, Block, bits_from};
use crate::skim::{Skim, Strayed};

/// What was between the values of an object, so that the next one can be gone through without
/// looking at each sign of that again.
///
/// What programs write, line after line, mostly is alike. What is not is gone through all the same.
///
/// ```
/// use rethread_json::{ObjectShape, Skim};
/// let mut ids = ObjectShape::new(|key| key == b"id");
/// let mut sum = 0;
/// for line in [&br#"{"id": 1, "said": "a"}"#[..], br#"{"id": 2, "said": "b"}"#, b"{}"] {
///     let mut skim = Skim::checking(line);
///     assert!(skim.enter_alike(&mut ids));
///     while let Some(is_id) = skim.next_alike(&mut ids)? {
///         let value = skim.pass()?;
///         sum += if is_id { value.u64().unwrap_or(0) } else { 0 };
///     }
/// }
/// assert_eq!(sum, 3);
/// # Ok::<(), rethread_json::Strayed>(())
/// ```
#[derive(Debug)]
pub struct ObjectShape<T> {
    /// What a key means.
    meaning: fn(&[u8]) -> T,
    /// How it went on behind so many values, the last way first.
    places: Vec<Vec<ShapeStep<T>>>,
    /// How many values of the object were gone through.
    passed: usize,
}

/// How an object goes on behind a value, or in its beginning.
#[derive(Debug)]
struct ShapeStep<T> {
    /// Begins with all that stands before the next value, or up to the end of the object.
    bytes: Block,
    /// How much that is, and the bits of what is behind it.
    len: usize,
    behind: u64,
    /// What the key in it means; none at the end.
    meaning: Option<T>,
}

impl<T> ShapeStep<T> {
    /// Whether the object goes on like this.
    #[inline]
    fn matches_block(&self, next: Block) -> bool {
        next.same_mask(self.bytes) | self.behind == u64::MAX
    }
}

/// Objects may have more members; those behind are gone through as ever.
const PLACES: usize = 64;

/// So many ways are remembered for each place.
const WAYS: usize = 3;

impl<T: Copy> ObjectShape<T> {
    /// Nothing yet. `meaning` tells what a key means.
    pub fn new(meaning: fn(&[u8]) -> T) -> Self {
        Self {
            meaning,
            places: Vec::new(),
            passed: 0,
        }
    }

    pub(crate) fn begin_object(&mut self) {
        self.passed = 0;
    }

    /// Goes to the next value of an object, and tells what its key means; none at the end.
    #[inline]
    pub(crate) fn next_member(&mut self, skim: &mut Skim<'_>) -> Result<Option<T>, Strayed> {
        let ways = self.places.get(self.passed).map_or(&[][..], Vec::as_slice);
        let known = skim
            .next_block()
            .and_then(|next| ways.iter().find(|way| way.matches_block(next)));
        match known {
            Some(way) => {
                self.passed += 1;
                skim.skip_bytes(way.len);
                Ok(way.meaning)
            }
            None => self.learn_member(skim),
        }
    }

    fn learn_member(&mut self, skim: &mut Skim<'_>) -> Result<Option<T>, Strayed> {
        let start = skim.position();
        let bytes = skim.next_block();
        let key = skim.next_key()?;
        let meaning = key.map(|key| (self.meaning)(&key.bytes()));
        if key.is_some() {
            // Goes to the value.
            skim.peek();
        }
        let len = skim.position() - start;
        if self.passed == self.places.len() && self.passed < PLACES {
            self.places.push(Vec::with_capacity(WAYS));
        }
        let ways = self.places.get_mut(self.passed);
        if let Some((ways, bytes)) = ways.zip(bytes.filter(|_| len <= BLOCK)) {
            ways.truncate(WAYS - 1);
            let way = ShapeStep {
                bytes,
                len,
                behind: bits_from(len),
                meaning,
            };
            ways.insert(0, way);
        }
        self.passed += 1;
        Ok(meaning)
    }
}
