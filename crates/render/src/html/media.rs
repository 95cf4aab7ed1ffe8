//! Pictures, which are part of the page, and files, which are named.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_model::{Blob, Bodies, Media};

use super::links::open_link;
use super::out::{Base64, Out};
use super::prose::{block, leads_outside};
use crate::media::{held_text, placeholder};

/// Writes a picture, or what stands for it.
pub(super) fn image(out: &mut Out<'_>, bodies: &dyn Bodies, media: &Media) -> io::Result<()> {
    let Some((kind, data)) = data(bodies, media) else {
        return named(out, "image", media);
    };
    out.raw("<figure><img alt=\"")?;
    out.line(media.name.as_deref().unwrap_or("image"))?;
    out.raw("\" src=\"data:")?;
    out.raw(kind)?;
    out.raw(";base64,")?;
    out.base64(&data)?;
    out.raw("\">")?;
    if let Some(name) = &media.name {
        out.raw("<figcaption>")?;
        out.line(name)?;
        out.raw("</figcaption>")?;
    }
    out.raw("</figure>\n")
}

/// Writes what a picture or a file is called, with its text where it is one.
pub(super) fn named(out: &mut Out<'_>, kind: &str, media: &Media) -> io::Result<()> {
    out.raw("<p class=media>")?;
    let address = match &media.blob {
        Blob::Url(url) if leads_outside(url) => Some(url),
        _ => None,
    };
    if let Some(address) = address {
        open_link(out, address)?;
    }
    out.raw("<code>")?;
    match &media.blob {
        // Its text would be as long as the picture.
        Blob::Url(url) if url.starts_with("data:") => {
            let words = [Some(kind), media.name.as_deref(), media.mime.as_deref()];
            let words: Vec<&str> = words.into_iter().flatten().collect();
            out.line(&format!("[{}]", words.join(" ")))?;
        }
        _ => out.line(&placeholder(kind, media))?,
    }
    out.raw("</code>")?;
    if address.is_some() {
        out.raw("</a>")?;
    }
    out.raw("</p>\n")?;
    match held_text(&media.blob) {
        Some(text) => block(out, "", text),
        None => Ok(()),
    }
}

/// The type of a picture that every browser shows, and its bytes.
fn data(bodies: &dyn Bodies, media: &Media) -> Option<(&'static str, Base64)> {
    let kind = media.mime.as_deref().or(media.name.as_deref());
    match &media.blob {
        Blob::Inline { .. } => {
            let kind = picture(kind?)?;
            Some((kind, Base64::new(bodies.inline(&media.blob)?)?))
        }
        Blob::File(path) => {
            let name = path.file_name()?.to_string_lossy();
            let kind = picture(kind.unwrap_or(&name)).or_else(|| picture(&name))?;
            let data = STANDARD.encode(bodies.file(&media.blob)?);
            Some((kind, Base64::new(data.into_bytes())?))
        }
        Blob::Url(url) => {
            let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
            Some((picture(kind)?, Base64::new(data.as_bytes().to_vec())?))
        }
        Blob::Outside(_) | Blob::Text(_) | Blob::Missing(_) => None,
    }
}

/// The type of a picture that is one of pixels, by its MIME type or the end of its name. A drawing
/// (SVG) can do more than be looked at.
fn picture(name: &str) -> Option<&'static str> {
    let end = name.rsplit(['.', '/']).next()?.to_ascii_lowercase();
    Some(match end.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "bmp" => "image/bmp",
        _ => return None,
    })
}
