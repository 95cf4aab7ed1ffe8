//! All formats.

use crate::{Format, atomic, atsf, gemini, pi};

/// All formats, one line each.
pub static FORMATS: &[&dyn Format] = &[&atsf::Atsf, &pi::Pi, &atomic::Atomic, &gemini::Gemini];

/// The format with this short name or alias.
///
/// ```
/// assert_eq!(rethread_formats::by_name("atsf").map(|f| f.about().slug), Some("atsf"));
/// ```
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    let names = |f: &dyn Format| f.about().slug == name || f.about().aliases.contains(&name);
    FORMATS.iter().copied().find(|f| names(*f))
}
