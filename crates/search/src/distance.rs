//! How much two words differ.

/// The longest word that is compared: nobody mistypes longer ones.
const LONGEST: usize = 64;

/// How many letters must be added, removed or changed to make one word of the other.
///
/// ```
/// use rethread_search::edit_distance;
/// assert_eq!(edit_distance("redrect", "redirect"), 1);
/// ```
pub fn edit_distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=one.len()).collect();
    for (i, c) in other.chars().take(LONGEST).enumerate() {
        let mut before = i;
        let mut left = i + 1;
        for (d, above) in one.iter().zip(row.iter_mut().skip(1)) {
            let changed = before + usize::from(*d != c);
            before = *above;
            left = changed.min(left + 1).min(before + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "ab", 2),
            ("clade", "claude", 1),
            ("codx", "codex", 1),
            ("kitten", "sitting", 3),
            ("pi", "codex", 5),
        ] {
            assert_eq!(edit_distance(one, other), expected, "{one} {other}");
            assert_eq!(edit_distance(other, one), expected, "{other} {one}");
        }
    }
}
