//! Pictures that a user names.

use std::path::Path;

use rethread_disk::{DiskError, read_small};

/// The bytes of a picture, and its MIME type.
pub(crate) fn read_picture(path: &Path) -> Result<(Vec<u8>, &'static str), DiskError> {
    let bytes = read_small(path)?;
    let mime = picture_mime(&bytes, path);
    Ok((bytes, mime))
}

/// The MIME type of a picture, by its first bytes, else by its name.
pub(crate) fn picture_mime(bytes: &[u8], path: &Path) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => return "image/png",
        [0xff, 0xd8, 0xff, ..] => return "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => return "image/gif",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => return "image/webp",
        _ => {}
    }
    mime_of_name(&path.to_string_lossy())
}

/// The MIME type of a file, by the end of its name.
pub(crate) fn mime_of_name(name: &str) -> &'static str {
    let extension = Path::new(name)
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
