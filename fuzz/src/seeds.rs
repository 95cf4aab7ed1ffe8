//! What mutations begin with: the repository's own fixtures.

use std::path::{Path, PathBuf};

use crate::readers::SLOTS;

/// Files that are longer are no seeds: most of a mutation would be about the same bytes.
const LONGEST: u64 = 64 * 1024;

/// The folder of fixtures.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// All files below a folder, in the order of their names.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
        } else if path.metadata().is_ok_and(|m| m.len() <= LONGEST) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The seeds of a target: for readers each fixture in its place, else lines and texts of all.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    if target == "readers" {
        let seed = |(n, slot): (u16, &crate::readers::Slot)| {
            let content = std::fs::read(&slot.file).unwrap();
            [&n.to_le_bytes()[..], &content].concat()
        };
        return (0..).zip(SLOTS.iter()).map(seed).collect();
    }
    let mut seeds = vec![
        br#"{"ts":1700000000,"from":"ann","to":"ben","thread":"t","body":"\u00fc\ud83c\udf4e <b>"}"#
            .to_vec(),
        b"# A\n\n- `x` <script>\n\n```js\n</pre>\n```\n\x1b[31m\xe2\x80\xae".to_vec(),
    ];
    for file in files(&fixtures()) {
        let content = std::fs::read(file).unwrap();
        seeds.extend(content.split(|b| *b == b'\n').take(6).map(<[u8]>::to_vec));
        if content.len() < 4096 {
            seeds.push(content);
        }
    }
    seeds
}
