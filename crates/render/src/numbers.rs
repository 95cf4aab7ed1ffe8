//! Numbers for people.

/// A count in three digits or so.
///
/// ```
/// use rethread_render::short_count;
///
/// assert_eq!(short_count(999), "999");
/// assert_eq!(short_count(1_234), "1.2 k");
/// assert_eq!(short_count(41_250_000), "41.3 M");
/// assert_eq!(short_count(999_999), "1.0 M");
/// ```
pub fn short_count(n: u64) -> String {
    scaled(n, 1000, &["", " k", " M", " G", " T", " P", " E"])
}

/// A size in three digits or so.
///
/// ```
/// use rethread_render::byte_count;
///
/// assert_eq!(byte_count(0), "0 B");
/// assert_eq!(byte_count(230_400_000), "230 MB");
/// assert_eq!(byte_count(1_500), "1.5 kB");
/// ```
pub fn byte_count(bytes: u64) -> String {
    scaled(
        bytes,
        1000,
        &[" B", " kB", " MB", " GB", " TB", " PB", " EB"],
    )
}

/// An amount of US dollars.
///
/// ```
/// use rethread_render::dollars;
///
/// assert_eq!(dollars(3.4123), "$3.41");
/// assert_eq!(dollars(0.002), "<$0.01");
/// assert_eq!(dollars(0.0), "$0.00");
/// ```
pub fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.005 {
        return "<$0.01".to_owned();
    }
    format!("${usd:.2}")
}

/// A number with one digit behind the point where it has fewer than three before it.
fn scaled(n: u64, step: u64, units: &[&str]) -> String {
    let mut unit = 1_u64;
    let mut names = units.iter();
    let mut name = names.next().copied().unwrap_or_default();
    if n < step {
        return format!("{n}{name}");
    }
    // What would be rounded to a thousand is one of the next.
    while let (Some(next), Some(bigger)) = (names.clone().next(), unit.checked_mul(step)) {
        let is_less = n < bigger.saturating_sub(unit / 2) && unit > 1 || n < bigger && unit == 1;
        if is_less {
            break;
        }
        names.next();
        name = next;
        unit = bigger;
    }
    let tenths = n.saturating_add(unit / 20) / (unit / 10).max(1);
    if tenths < 1000 {
        format!("{}.{}{name}", tenths / 10, tenths % 10)
    } else {
        format!("{}{name}", n.saturating_add(unit / 2) / unit)
    }
}
