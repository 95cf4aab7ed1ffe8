//! `specVersion` of a document.

use rethread_json::{Kind, Value};

use super::law::VERSION;
use crate::atsf::version::Version;
use crate::check::known::shown_text;
use crate::check::sheet::Sheet;

/// Judges the version; whether the rest of the document can be judged by what we know.
pub(super) fn is_known(sheet: &mut Sheet<'_>, root: Value<'_>) -> bool {
    let value = root.get("specVersion");
    let at = value.map(|v| v.span().start);
    match Version::of(root) {
        Version::TooNew(version) => {
            let version = shown_text(&version);
            let message = format!(
                "`specVersion` is {version}, a later MAJOR than 1; nothing else is checked"
            );
            sheet.error(VERSION, at, message);
            false
        }
        // Another type than a string is told by the table of fields.
        Version::Odd(version) if value.is_some_and(|v| v.kind() == Kind::String) => {
            let message = format!(
                "`specVersion` is {}, not `MAJOR.MINOR`",
                shown_text(&version)
            );
            sheet.error(VERSION, at, message);
            true
        }
        _ => true,
    }
}
