//! Pictures, which are part of the page, and files, which are named.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_model::{Blob, Bodies, Media};

use super::links::open_link;
use super::out::{Base64, HtmlWriter};
use super::prose::{leads_outside, write_code_block};
use crate::media::{held_text, media_placeholder};

/// Writes a picture, or what stands for it.
pub(super) fn write_image(
    out: &mut HtmlWriter<'_>,
    bodies: &dyn Bodies,
    media: &Media,
) -> io::Result<()> {
    let Some((kind, data)) = image_data(bodies, media) else {
        return write_named(out, "image", media);
    };
    out.write_markup("<figure><img alt=\"")?;
    out.write_line(media.name.as_deref().unwrap_or("image"))?;
    out.write_markup("\" src=\"data:")?;
    out.write_markup(kind)?;
    out.write_markup(";base64,")?;
    out.write_base64(&data)?;
    out.write_markup("\">")?;
    if let Some(name) = &media.name {
        out.write_markup("<figcaption>")?;
        out.write_line(name)?;
        out.write_markup("</figcaption>")?;
    }
    out.write_markup("</figure>\n")
}

/// Writes what a picture or a file is called, with its text where it is one.
pub(super) fn write_named(out: &mut HtmlWriter<'_>, kind: &str, media: &Media) -> io::Result<()> {
    out.write_markup("<p class=media>")?;
    let address = match &media.blob {
        Blob::Url(url) if leads_outside(url) => Some(url),
        _ => None,
    };
    if let Some(address) = address {
        open_link(out, address)?;
    }
    out.write_markup("<code>")?;
    match &media.blob {
        // Its text would be as long as the picture.
        Blob::Url(url) if url.starts_with("data:") => {
            let words = [Some(kind), media.name.as_deref(), media.mime.as_deref()];
            let words: Vec<&str> = words.into_iter().flatten().collect();
            out.write_line(&format!("[{}]", words.join(" ")))?;
        }
        _ => out.write_line(&media_placeholder(kind, media))?,
    }
    out.write_markup("</code>")?;
    if address.is_some() {
        out.write_markup("</a>")?;
    }
    out.write_markup("</p>\n")?;
    match held_text(&media.blob) {
        Some(text) => write_code_block(out, "", text),
        None => Ok(()),
    }
}

/// The type of a picture that every browser shows, and its bytes.
fn image_data(bodies: &dyn Bodies, media: &Media) -> Option<(&'static str, Base64)> {
    let kind = media.mime.as_deref().or(media.name.as_deref());
    match &media.blob {
        Blob::Inline { .. } => {
            let kind = picture_type(kind?)?;
            Some((kind, Base64::new(bodies.inline(&media.blob)?)?))
        }
        Blob::File(path) => {
            let name = path.file_name()?.to_string_lossy();
            let kind = picture_type(kind.unwrap_or(&name)).or_else(|| picture_type(&name))?;
            let data = STANDARD.encode(bodies.file(&media.blob)?);
            Some((kind, Base64::new(data.into_bytes())?))
        }
        Blob::Url(url) => {
            let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
            Some((picture_type(kind)?, Base64::new(data.as_bytes().to_vec())?))
        }
        Blob::Outside(_) | Blob::Text(_) | Blob::Missing(_) => None,
    }
}

/// The type of a picture that is one of pixels, by its MIME type or the end of its name. A drawing
/// (SVG) can do more than be looked at.
fn picture_type(name: &str) -> Option<&'static str> {
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
