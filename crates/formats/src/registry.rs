//! All formats.

use crate::{Format, atsf};

/// All formats, one line each.
pub static FORMATS: &[&dyn Format] = &[&atsf::Atsf];

/// The format with this short name or alias.
///
/// ```
/// assert_eq!(rethread_formats::by_name("atsf").map(|f| f.about().slug), Some("atsf"));
/// ```
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    let names = |f: &dyn Format| f.about().slug == name || f.about().aliases.contains(&name);
    FORMATS.iter().copied().find(|f| names(*f))
}
