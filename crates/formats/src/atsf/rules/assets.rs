//! Assets: their names, what they hold, and who refers to them.

use std::io::{self, Read};
use std::path::Path;

use rethread_disk::{SafeName, open_read};
use rethread_json::Value;
use sha2::{Digest, Sha256};

use super::law::{ASSET_HASH, ASSET_NAME, ASSET_REF, LAYOUT, NO_ASSET, UNREADABLE};
use crate::atsf::assets::find_asset;
use crate::atsf::store;
use crate::check::known::shown_text;
use crate::check::sheet::{Sheet, unreadable, whole};
use crate::{Violation, Weight};

const PREFIX: &str = "sha256-";
const DIGITS: usize = 16;
const PATTERN: &str = "`sha256-`, 16 hexadecimal digits, `.` and an extension";

/// Judges the files in a thread's `assets/` that are named as assets are; gives how many.
pub(super) fn check_folder(thread: &Path, out: &mut dyn FnMut(Violation)) -> u64 {
    let folder = thread.join(store::ASSETS);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return 0,
        Err(e) => {
            let message = format!("cannot be read: {e}");
            out(whole(&folder, Weight::Error, UNREADABLE, message));
            return 0;
        }
    };
    let mut names: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|name| name.starts_with(PREFIX))
        .collect();
    names.sort_unstable();
    for name in &names {
        check_file(&folder.join(name), name, out);
    }
    names.len() as u64
}

fn check_file(path: &Path, name: &str, out: &mut dyn FnMut(Violation)) {
    let mut error = |law, message: String| out(whole(path, Weight::Error, law, message));
    let Some(digits) = digits(name) else {
        return error(ASSET_NAME, format!("the name is not {PATTERN}"));
    };
    if !std::fs::symlink_metadata(path).is_ok_and(|m| m.is_file()) {
        return error(UNREADABLE, "not a regular file".to_owned());
    }
    let file = match open_read(path) {
        Ok(file) => file,
        Err(e) => return out(unreadable(path, &e, LAYOUT)),
    };
    match hash(file) {
        Ok(hash) if hash.eq_ignore_ascii_case(digits) => {}
        Ok(hash) => {
            let message = format!("the content's hash begins with `{hash}`, the name's differs");
            error(ASSET_HASH, message);
        }
        Err(e) => error(UNREADABLE, format!("cannot be read: {e}")),
    }
}

/// The digits in the name of an asset.
fn digits(name: &str) -> Option<&str> {
    let (digits, extension) = name.strip_prefix(PREFIX)?.split_once('.')?;
    let is_hash = digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit());
    (is_hash && !extension.is_empty()).then_some(digits)
}

/// The first digits of the hash of all that can be read.
fn hash(mut file: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let n = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        digest.update(&buffer[..n]);
    }
    let mut first = [0; DIGITS / 2];
    first.copy_from_slice(&digest.finalize()[..DIGITS / 2]);
    Ok(format!("{:016x}", u64::from_be_bytes(first)))
}

/// Judges a block's reference to an asset.
pub(super) fn check_reference(sheet: &mut Sheet<'_>, thread: &Path, i: usize, block: Value<'_>) {
    let Some(value) = block.get("assetRef") else {
        return;
    };
    let Some(name) = value.str() else { return };
    let at = value.span().start;
    if let Err(why) = SafeName::new(&name) {
        let message = format!("`content[{i}].assetRef` is no file name: {why}");
        return sheet.error(ASSET_REF, at, message);
    }
    let is = format!("`content[{i}].assetRef` is {}", shown_text(&name));
    if digits(&name).is_none() {
        sheet.error(ASSET_NAME, at, format!("{is}, not {PATTERN}"));
    }
    if find_asset(thread, &name).is_none() {
        let message = format!("{is}, which is not in `{}/`", store::ASSETS);
        sheet.warning(NO_ASSET, at, message);
    }
}
