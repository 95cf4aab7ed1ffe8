//! Pictures in messages of threads.

use std::fs;

use crate::world::World;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn pictures_become_assets_once() {
    let w = World::new();
    let id = w.thread("T");
    for block in [
        format!(r#"{{"type":"image","data":"data:image/png;base64,{PNG}"}}"#),
        format!(r#"{{"type":"image","data":"{PNG}","mimeType":"image/png"}}"#),
        format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{PNG}"}},"alt":"kept"}}"#
        ),
    ] {
        w.message(&id, &format!("{{\"role\":\"user\",\"content\":[{block}]}}"));
    }
    let file = w.root.join("one.png");
    let bytes = fs::read(first_asset(&w, &id)).unwrap();
    fs::write(&file, &bytes).unwrap();
    w.ok(&["append", &id, "look", "--image", file.to_str().unwrap()]);
    let names: Vec<_> = fs::read_dir(w.folder(&id).join("assets"))
        .unwrap()
        .collect();
    assert_eq!(names.len(), 1, "the same bytes are one file");
    let lines = w.lines(&id);
    let name = first_asset(&w, &id)
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let expected = serde_json::json!({"type":"image","assetRef":name,"mimeType":"image/png"});
    assert_eq!(lines[0]["content"][0], expected);
    assert_eq!(lines[1]["content"][0], expected);
    assert_eq!(lines[2]["content"][0]["assetRef"], name.as_str());
    assert_eq!(lines[2]["content"][0]["alt"], "kept");
    assert_eq!(lines[2]["content"][0]["source"], serde_json::Value::Null);
    assert_eq!(lines[3]["content"][1], expected);
    assert_eq!(name, format!("sha256-{}.png", &sha256(&bytes)[..16]));
}

fn first_asset(w: &World, id: &str) -> std::path::PathBuf {
    fs::read_dir(w.folder(id).join("assets"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path()
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |s, b| s + &format!("{b:02x}"))
}

#[test]
fn extensions_follow_the_kind_of_picture() {
    let w = World::new();
    let id = w.thread("T");
    for (mime, end) in [
        ("image/jpeg", "jpg"),
        ("image/svg+xml", "svg"),
        ("audio/wav", "bin"),
    ] {
        let kind = if mime.starts_with("audio") {
            "audio"
        } else {
            "image"
        };
        let block = format!(r#"{{"type":"{kind}","data":"QUJD","mimeType":"{mime}"}}"#);
        w.message(&id, &format!("{{\"role\":\"user\",\"content\":[{block}]}}"));
        let lines = w.lines(&id);
        let name = lines.last().unwrap()["content"][0]["assetRef"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(name.ends_with(&format!(".{end}")), "{mime}: {name}");
    }
}

#[test]
fn inline_data_never_stays_beside_a_reference() {
    let w = World::new();
    let id = w.thread("T");
    w.message(
        &id,
        r#"{"role":"user","content":[{"type":"image","assetRef":"x.png","data":"QUJD","mimeType":"image/png"},{"type":"resource","uri":"file:///a","blob":"QUJD","mimeType":"image/gif"}]}"#,
    );
    let blocks = &w.lines(&id)[0]["content"];
    for (block, end) in [(&blocks[0], "png"), (&blocks[1], "gif")] {
        let name = block["assetRef"].as_str().unwrap();
        assert!(w.folder(&id).join("assets").join(name).is_file(), "{block}");
        assert!(name.ends_with(end), "{block}");
        assert!(
            block.get("data").is_none() && block.get("blob").is_none(),
            "{block}"
        );
    }
    assert_eq!(blocks[1]["uri"], "file:///a");
    w.message(
        &id,
        r#"{"role":"user","content":[{"type":"image","assetRef":"y.webp"}]}"#,
    );
    assert_eq!(w.lines(&id)[1]["content"][0]["mimeType"], "image/webp");
}
