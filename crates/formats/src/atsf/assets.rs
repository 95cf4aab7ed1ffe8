//! Pictures and other bytes, kept once under the hash of what they hold.

use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::{Created, DiskError, Mode, SafeName, create, ensure_folder, read_small};
use rethread_json::Value;
use sha2::{Digest, Sha256};

use super::store::ASSETS;
use crate::fields::string_of;
use crate::kit::{InlineData, is_data_url};
use crate::{WriteError, Writing};

/// Bytes that a message refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asset {
    pub(crate) name: String,
    pub(crate) mime: String,
    pub(crate) bytes: Vec<u8>,
}

impl Asset {
    pub(crate) fn new(bytes: Vec<u8>, mime: &str) -> Self {
        let digest = Sha256::digest(&bytes);
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        let hex = format!("{:016x}", u64::from_be_bytes(first));
        Self {
            name: format!("sha256-{hex}.{}", extension(mime)),
            mime: mime.to_owned(),
            bytes,
        }
    }

    /// Writes the asset, unless it is there.
    pub(crate) fn save(
        &self,
        w: &Writing<'_>,
        thread: &Path,
        mode: Mode,
    ) -> Result<(), WriteError> {
        let folder = thread.join(ASSETS);
        ensure_folder(&folder, &mode, w.durability)?;
        if !is_real_folder(&folder) {
            let cause =
                io::Error::other("it is a link, and links are not followed out of a thread");
            return Err(DiskError::Write {
                path: folder,
                cause,
            }
            .into());
        }
        let path = folder.join(&self.name);
        if create(&path, &self.bytes, mode, w.durability)? == Created::Existed {
            let same = read_small(&path)? == self.bytes;
            if !same {
                let cause = io::Error::other("a file with this name holds other bytes");
                return Err(DiskError::Write { path, cause }.into());
            }
        }
        Ok(())
    }
}

/// The extension for a MIME type.
fn extension(mime: &str) -> &'static str {
    match mime {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "application/pdf" => "pdf",
        "text/plain" => "txt",
        _ => "bin",
    }
}

/// The file of an asset that a message refers to, if the name is one and the file is there.
pub(crate) fn find_asset(thread: &Path, name: &str) -> Option<PathBuf> {
    let name = SafeName::new(name).ok()?;
    let folder = thread.join(ASSETS);
    if !is_real_folder(&folder) {
        return None;
    }
    let path = rethread_disk::join(&folder, &name);
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_file());
    is_file.then_some(path)
}

/// Whether a thread's folder of assets is one, and not a link to somewhere else.
fn is_real_folder(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder).is_ok_and(|m| m.is_dir())
}

/// The names of all assets that a message refers to.
pub(crate) fn asset_references(message: Value<'_>) -> Vec<String> {
    let blocks = message.get("content").into_iter().flat_map(Value::items);
    blocks.filter_map(|b| string_of(b, "assetRef")).collect()
}

/// The inline bytes of a block, and the keys that held them.
pub(crate) struct Inline {
    pub(crate) asset: Asset,
    pub(crate) keys: &'static [&'static str],
}

/// Bytes that a block holds itself: a data URL, `{data, mimeType}`, or a base64 `source`.
pub(crate) fn inline_asset(block: Value<'_>) -> Result<Option<Inline>, String> {
    let given = ["mimeType", "media_type", "mime_type", "mime"];
    let declared = given.iter().find_map(|key| string_of(block, key));
    let found = |data: &str, mime: Option<String>, keys| {
        decode(data, mime.as_deref()).map(|asset| Some(Inline { asset, keys }))
    };
    if let Some(source) = block.get("source").filter(|s| s.is_object()) {
        let mime = given
            .iter()
            .find_map(|key| string_of(source, key))
            .or(declared);
        let kind = string_of(source, "type").unwrap_or_default();
        if kind == "base64"
            && let Some(data) = string_of(source, "data")
        {
            return found(&data, mime, &["source", "media_type"]);
        }
        if let Some(url) = string_of(source, "url").filter(|u| is_data_url(u)) {
            return found(&url, mime, &["source", "media_type"]);
        }
        return Ok(None);
    }
    if let Some(data) = string_of(block, "blob") {
        return found(&data, declared, &["blob"]);
    }
    if let Some(data) = string_of(block, "data") {
        return found(&data, declared, &["data", "media_type", "mime_type"]);
    }
    if let Some(url) = string_of(block, "url").filter(|u| is_data_url(u)) {
        return found(&url, declared, &["url"]);
    }
    let image_url = block.get("image_url");
    let url = image_url.and_then(|v| v.str().map(Into::into).or_else(|| string_of(v, "url")));
    match url.filter(|u: &String| is_data_url(u)) {
        Some(url) => found(&url, declared, &["image_url"]),
        None => Ok(None),
    }
}

fn decode(data: &str, mime: Option<&str>) -> Result<Asset, String> {
    let data = InlineData::decode(data, mime)?;
    Ok(Asset::new(data.bytes, &data.mime))
}

#[cfg(test)]
mod tests {
    use rethread_json::Document;

    use super::*;

    const PNG: &str = "iVBORw0KGgo=";

    fn inline_of(json: &str) -> Result<Option<Inline>, String> {
        let document = Document::parse(json.as_bytes().to_vec()).unwrap();
        inline_asset(document.root())
    }

    #[test]
    fn every_way_to_inline_a_picture_gives_the_same_asset() {
        let expected = Asset::new(b"\x89PNG\r\n\x1a\n".to_vec(), "image/png");
        assert_eq!(expected.name, "sha256-4c4b6a3be1314ab8.png");
        for json in [
            format!(r#"{{"type":"image","data":"data:image/png;base64,{PNG}"}}"#),
            format!(r#"{{"type":"image","url":"data:image/png;base64,{PNG}"}}"#),
            format!(r#"{{"type":"image","data":"{PNG}","mimeType":"image/png"}}"#),
            r#"{"type":"image","data":"iVBORw0KGgo","mimeType":"image/png"}"#.to_owned(),
            format!(r#"{{"type":"image","data":"{PNG}"}}"#),
            format!(
                r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{PNG}"}}}}"#
            ),
            format!(r#"{{"type":"image","image_url":{{"url":"data:image/png;base64,{PNG}"}}}}"#),
        ] {
            let found = inline_of(&json).unwrap().unwrap();
            assert_eq!(found.asset, expected, "{json}");
        }
    }

    #[test]
    fn what_is_no_inline_picture() {
        assert!(
            inline_of(r#"{"type":"image","assetRef":"x.png"}"#)
                .unwrap()
                .is_none()
        );
        assert!(
            inline_of(r#"{"type":"image","url":"https://example.org/x.png"}"#)
                .unwrap()
                .is_none()
        );
        assert!(inline_of(r#"{"type":"image","data":"***"}"#).is_err());
        assert!(inline_of(r#"{"type":"image","data":"data:image/png,abc"}"#).is_err());
    }

    #[test]
    fn extensions_follow_the_type() {
        for (mime, end) in [
            ("image/png", ".png"),
            ("image/jpeg", ".jpg"),
            ("image/svg+xml", ".svg"),
            ("image/webp", ".webp"),
            ("image/gif", ".gif"),
            ("audio/wav", ".bin"),
        ] {
            assert!(Asset::new(vec![1], mime).name.ends_with(end), "{mime}");
        }
    }
}
