//! A git repository as git itself would write it: objects, one branch, and the index.
//!
//! It is written without the `git` program, so that the sample needs none, no settings of the user
//! change it, and its ids are always the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest as _, Sha1};

/// Who made the commits.
const AUTHOR: &str = "Ann <ann@example.org>";

/// The mode of a file, as trees and the index have it, and that of a folder.
const FILE: u32 = 0o100_644;
const FOLDER: u32 = 0o40_000;

/// A commit, and the files that it adds or changes.
pub(super) struct SampleCommit<'a> {
    pub(super) message: &'a str,
    /// Seconds since 1970.
    pub(super) time: u64,
    pub(super) files: Vec<(&'a str, &'a str)>,
}

/// The id of an object.
type ObjectId = [u8; 20];

/// A repository with its history.
pub(super) struct GitHistory {
    /// Packed, by their ids.
    objects: BTreeMap<ObjectId, Vec<u8>>,
    /// In hexadecimal digits, oldest first.
    commits: Vec<String>,
    index: Vec<u8>,
}

impl GitHistory {
    /// The history that these commits make, oldest first.
    pub(super) fn of_commits(commits: &[SampleCommit<'_>]) -> Self {
        let mut history = Self {
            objects: BTreeMap::new(),
            commits: Vec::new(),
            index: Vec::new(),
        };
        let mut files: BTreeMap<&str, (ObjectId, usize)> = BTreeMap::new();
        for commit in commits {
            for (name, text) in &commit.files {
                let blob = history.add_object("blob", text.as_bytes());
                files.insert(name, (blob, text.len()));
            }
            let tree = hex_digits(&history.add_tree(&files));
            let parent = history.commits.last();
            let parent = parent.map_or_else(String::new, |id| format!("parent {id}\n"));
            let SampleCommit { message, time, .. } = commit;
            let text = format!(
                "tree {tree}\n{parent}author {AUTHOR} {time} +0000\ncommitter {AUTHOR} {time} +0000\n\n{message}\n"
            );
            let id = hex_digits(&history.add_object("commit", text.as_bytes()));
            history.commits.push(id);
        }
        history.index = index_file(&files);
        history
    }

    /// The first commit, in hexadecimal digits.
    pub(super) fn first_commit(&self) -> &str {
        self.commits.first().map(String::as_str).unwrap_or_default()
    }

    /// The files of the repository, by their names below the project.
    pub(super) fn repository_files(&self) -> Vec<(String, Vec<u8>)> {
        let head = self.commits.last().map(String::as_str).unwrap_or_default();
        let mut files = vec![
            (".git/HEAD".to_owned(), b"ref: refs/heads/main\n".to_vec()),
            (
                ".git/config".to_owned(),
                b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n".to_vec(),
            ),
            (".git/index".to_owned(), self.index.clone()),
            (
                ".git/refs/heads/main".to_owned(),
                format!("{head}\n").into_bytes(),
            ),
        ];
        files.extend(self.objects.iter().map(|(id, packed)| {
            let id = hex_digits(id);
            let (folder, name) = id.split_at(2);
            (format!(".git/objects/{folder}/{name}"), packed.clone())
        }));
        files
    }

    fn add_object(&mut self, kind: &str, content: &[u8]) -> ObjectId {
        let mut object = format!("{kind} {}\0", content.len()).into_bytes();
        object.extend_from_slice(content);
        let id = Sha1::digest(&object).into();
        self.objects
            .entry(id)
            .or_insert_with(|| deflate_object(&object));
        id
    }

    /// Adds the trees of all folders, the deepest first, and gives the id of the root's.
    fn add_tree(&mut self, files: &BTreeMap<&str, (ObjectId, usize)>) -> ObjectId {
        // By folder; in each by name, that of a folder as if it ended in a slash.
        let mut folders: BTreeMap<&str, BTreeMap<String, (u32, ObjectId)>> = BTreeMap::new();
        folders.entry("").or_default();
        for (name, (id, _)) in files {
            let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
            let entries = folders.entry(folder).or_default();
            entries.insert(file.to_owned(), (FILE, *id));
            for parent in parent_folders(folder) {
                folders.entry(parent).or_default();
            }
        }
        let mut id = ObjectId::default();
        // A folder is behind its parent in this order, so that from the end children come first.
        while let Some((folder, entries)) = folders.pop_last() {
            let mut tree = Vec::new();
            for (name, (mode, id)) in &entries {
                tree.extend_from_slice(
                    format!("{mode:o} {}\0", name.trim_end_matches('/')).as_bytes(),
                );
                tree.extend_from_slice(id);
            }
            id = self.add_object("tree", &tree);
            if !folder.is_empty() {
                let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
                let entries = folders.entry(parent).or_default();
                entries.insert(format!("{name}/"), (FOLDER, id));
            }
        }
        id
    }
}

/// The folders that a folder is in.
fn parent_folders(folder: &str) -> impl Iterator<Item = &str> {
    folder
        .match_indices('/')
        .filter_map(|(at, _)| folder.get(..at))
}

/// The index of a checkout of these files. It says nothing of times and sizes on this disk, so git
/// looks at the files themselves when it is asked first.
fn index_file(files: &BTreeMap<&str, (ObjectId, usize)>) -> Vec<u8> {
    let mut index = b"DIRC".to_vec();
    index.extend(2_u32.to_be_bytes());
    index.extend(u32::try_from(files.len()).unwrap_or_default().to_be_bytes());
    for (name, (id, len)) in files {
        let begin = index.len();
        // Times, device, inode; mode; owner; size.
        index.extend([0; 24]);
        index.extend(FILE.to_be_bytes());
        index.extend([0; 8]);
        index.extend(u32::try_from(*len).unwrap_or_default().to_be_bytes());
        index.extend(id);
        index.extend(u16::try_from(name.len()).unwrap_or(0xfff).to_be_bytes());
        index.extend(name.as_bytes());
        let len = index.len() - begin;
        index.resize(begin + (len / 8 + 1) * 8, 0);
    }
    let sum: ObjectId = Sha1::digest(&index).into();
    index.extend(sum);
    index
}

fn deflate_object(object: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Memory takes everything.
    let _ = encoder.write_all(object);
    encoder.finish().unwrap_or_default()
}

/// Bytes in hexadecimal digits.
pub(super) fn hex_digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
