//! Many short texts, each in its own length and four bytes.

/// Texts by their numbers, which count from 0.
///
/// ```
/// let mut ids = rethread_model::Texts::default();
/// assert_eq!((ids.push("a1"), ids.push("b2")), (Some(0), Some(1)));
/// assert_eq!(ids.get(1), "b2");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Texts {
    all: String,
    ends: Vec<u32>,
}

impl Texts {
    /// Adds a text, and gives its number; none beyond four thousand million bytes.
    pub fn push(&mut self, text: &str) -> Option<u32> {
        let number = u32::try_from(self.ends.len()).ok()?;
        let end = u32::try_from(self.all.len().checked_add(text.len())?).ok()?;
        self.all.push_str(text);
        self.ends.push(end);
        Some(number)
    }

    /// A text; empty if there is none of that number.
    pub fn get(&self, number: u32) -> &str {
        let end = |at: usize| self.ends.get(at).map(|end| *end as usize);
        let at = number as usize;
        let start = at.checked_sub(1).map_or(Some(0), end);
        let range = start.zip(end(at)).map(|(start, end)| start..end);
        range.and_then(|r| self.all.get(r)).unwrap_or_default()
    }

    /// All texts in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        let numbers = 0..self.ends.len();
        numbers.map(|n| u32::try_from(n).map_or("", |number| self.get(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_numbers() {
        let mut texts = Texts::default();
        assert_eq!(texts.push("one"), Some(0));
        assert_eq!(texts.push(""), Some(1));
        assert_eq!(texts.push("zwö"), Some(2));
        assert_eq!([0, 1, 2, 3].map(|n| texts.get(n)), ["one", "", "zwö", ""]);
        assert!(texts.iter().eq(["one", "", "zwö"]));
    }
}
