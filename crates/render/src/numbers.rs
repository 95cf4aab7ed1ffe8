//! Numbers for people.

/// A count in three digits or so.
///
/// ```
/// use rethread_render::short_count;
///
/// assert_eq!(short_count(999), "999");
/// assert_eq!(short_count(1_234), "1.2 K");
/// assert_eq!(short_count(41_250), "41 K");
/// assert_eq!(short_count(999_999), "1.0 M");
/// assert_eq!(short_count(41_250_000), "41.3 M");
/// assert_eq!(short_count(412_500_000), "413 M");
/// ```
pub fn short_count(n: u64) -> String {
    scaled(n, &["", " K", " M", " G", " T", " P", " E"])
}

/// A size in three digits or so.
///
/// ```
/// use rethread_render::byte_count;
///
/// assert_eq!(byte_count(0), "0 B");
/// assert_eq!(byte_count(230_400_000), "230 MB");
/// assert_eq!(byte_count(1_500), "1.5 KB");
/// ```
pub fn byte_count(bytes: u64) -> String {
    scaled(bytes, &[" B", " KB", " MB", " GB", " TB", " PB", " EB"])
}

/// An amount of US dollars.
///
/// ```
/// use rethread_render::dollars;
///
/// assert_eq!(dollars(3.4123), "$3.41");
/// assert_eq!(dollars(0.002), "<$0.01");
/// assert_eq!(dollars(0.0), "$0.00");
/// assert_eq!(dollars(0.034999999999999996), dollars(0.035));
/// ```
pub fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.005 {
        return "<$0.01".to_owned();
    }
    // What was added up in another order is the same amount.
    let usd = (usd * 1e6).round() / 1e6;
    format!("${usd:.2}")
}

/// A number of which three digits or so are told: one behind the point where it is less than ten
/// thousand, or less than a hundred of a larger unit.
fn scaled(n: u64, units: &[&str]) -> String {
    const STEP: u64 = 1000;
    let mut unit = 1_u64;
    let mut names = units.iter();
    let mut name = names.next().copied().unwrap_or_default();
    if n < STEP {
        return format!("{n}{name}");
    }
    // What would be rounded to a thousand is one of the next.
    while let (Some(next), Some(bigger)) = (names.clone().next(), unit.checked_mul(STEP)) {
        let is_less = n < bigger.saturating_sub(unit / 2) && unit > 1 || n < bigger && unit == 1;
        if is_less {
            break;
        }
        names.next();
        name = next;
        unit = bigger;
    }
    let with_tenths = if unit == STEP { 100 } else { 1000 };
    let tenths = n.saturating_add(unit / 20) / (unit / 10).max(1);
    if tenths < with_tenths {
        format!("{}.{}{name}", tenths / 10, tenths % 10)
    } else {
        format!("{}{name}", n.saturating_add(unit / 2) / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_a_few_figures() {
        for (bytes, shown) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KB"),
            (1449, "1.4 KB"),
            (9_960, "10 KB"),
            (12_400, "12 KB"),
            (999_499, "999 KB"),
            (999_500, "1.0 MB"),
            (3_140_000, "3.1 MB"),
            (41_230_000, "41.2 MB"),
        ] {
            assert_eq!(byte_count(bytes), shown);
        }
        assert_eq!(byte_count(u64::MAX), "18.4 EB");
    }

    #[test]
    fn counts_and_sizes_have_the_same_figures() {
        for n in [
            1,
            999,
            1_000,
            9_949,
            9_950,
            250_000,
            1_000_000,
            99_950_000,
            u64::MAX,
        ] {
            let bytes = byte_count(n);
            let count = short_count(n);
            assert_eq!(format!("{count}B"), bytes.replace(" B", "B"));
        }
    }
}
