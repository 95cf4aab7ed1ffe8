//! Which files a call of a tool reads or writes.

use rethread_json::{Tree, Value};
use rethread_model::{ToolCall, ToolInput};

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileUse {
    /// It was looked at.
    Read,
    /// It was changed, made or removed.
    Written,
}

impl FileUse {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Written => "written",
        }
    }
}

/// A file that a call touched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TouchedFile {
    /// Its path, as the source spells it, with `/` between folders.
    pub path: String,
    /// What was done to it.
    pub file_use: FileUse,
}

/// So many files of one call are told apart.
const MOST_FILES: usize = 256;
/// Longer paths are none.
const LONGEST_PATH: usize = 4096;

/// Members of inputs that name a file.
const PATH_MEMBERS: [&str; 11] = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "absolute_path",
    "absolutePath",
    "target_file",
    "relative_path",
    "relativePath",
    "filename",
    "file",
];

/// Members of inputs that hold a list of these, or of objects with them.
const LIST_MEMBERS: [&str; 5] = ["paths", "files", "file_paths", "edits", "changes"];

/// Parts of the names of tools that change files.
const CHANGING_TOOLS: [&str; 11] = [
    "write", "edit", "patch", "replace", "create", "update", "insert", "delete", "remove",
    "rename", "move",
];

/// How a patch names the files that it changes.
const PATCH_LINES: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// The files that a call touches, each once.
pub(crate) fn touched_files(call: &ToolCall) -> Vec<TouchedFile> {
    let mut files = TouchedFiles::default();
    let file_use = use_of_tool(call);
    for diff in &call.diffs {
        files.add(&diff.path, FileUse::Written);
    }
    for location in &call.locations {
        files.add(&location.path, file_use);
    }
    match &call.input {
        Some(ToolInput::Json(json)) => {
            if let Ok(tree) = Tree::parse(json.bytes()) {
                files.add_input(tree.root(json.bytes()), file_use);
            }
        }
        Some(ToolInput::Text(text)) => files.add_patch(&text.value),
        None => {}
    }
    files.all.sort_unstable();
    // What was written was touched, whoever read it before.
    files.all.dedup_by(|later, first| {
        let is_same = later.path == first.path;
        if is_same {
            first.file_use = first.file_use.max(later.file_use);
        }
        is_same
    });
    files.all
}

/// What a tool does to the files that it is given.
fn use_of_tool(call: &ToolCall) -> FileUse {
    let kind = call.kind.as_deref().unwrap_or_default();
    if matches!(kind, "edit" | "delete" | "move" | "write") {
        return FileUse::Written;
    }
    let name = call.name.to_lowercase();
    if CHANGING_TOOLS.iter().any(|part| name.contains(part)) && !name.contains("todo") {
        FileUse::Written
    } else {
        FileUse::Read
    }
}

#[derive(Default)]
struct TouchedFiles {
    all: Vec<TouchedFile>,
}

impl TouchedFiles {
    fn add(&mut self, path: &str, file_use: FileUse) {
        let path = path.trim();
        let is_path = !path.is_empty() && path.len() <= LONGEST_PATH && !path.contains('\n');
        if is_path && self.all.len() < MOST_FILES {
            self.all.push(TouchedFile {
                path: spelled(path),
                file_use,
            });
        }
    }

    fn add_input(&mut self, input: Value<'_>, file_use: FileUse) {
        for (key, value) in input.members() {
            let Some(key) = key.str() else { continue };
            if let Some(text) = value.str() {
                if PATH_MEMBERS.contains(&&*key) {
                    self.add(&text, file_use);
                } else {
                    self.add_patch(&text);
                }
            } else if LIST_MEMBERS.contains(&&*key) {
                for item in value.items() {
                    if let Some(text) = item.str() {
                        self.add(&text, file_use);
                    }
                    let named = item.members().filter(|(key, _)| {
                        key.str().is_some_and(|key| PATH_MEMBERS.contains(&&*key))
                    });
                    for text in named.filter_map(|(_, value)| value.str()) {
                        self.add(&text, file_use);
                    }
                }
            } else {
                for text in value.items().filter_map(Value::str) {
                    self.add_patch(&text);
                }
            }
        }
    }

    /// Adds the files that a patch changes.
    fn add_patch(&mut self, text: &str) {
        if !text.contains("*** ") {
            return;
        }
        for line in text.lines() {
            let paths = PATCH_LINES
                .iter()
                .filter_map(|start| line.strip_prefix(start));
            for path in paths {
                self.add(path, FileUse::Written);
            }
        }
    }
}

/// A path as paths are compared.
fn spelled(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.strip_prefix("./").map(str::to_owned).unwrap_or(path)
}

/// A path that somebody asks for.
#[derive(Clone, Debug)]
pub struct AskedPath {
    path: String,
    is_folder: bool,
}

impl AskedPath {
    /// What was typed: a whole path, the end of one, or a folder.
    pub fn new(typed: &str) -> Self {
        let spelled = spelled(typed.trim());
        let path = spelled.trim_end_matches('/');
        Self {
            is_folder: path.len() < spelled.len(),
            path: path.to_owned(),
        }
    }

    /// Whether a file is the one that is asked for, or in the folder.
    pub fn has(&self, file: &str) -> bool {
        let asked = self.path.as_str();
        if asked.is_empty() {
            return true;
        }
        let mut from = 0;
        while let Some(found) = file.get(from..).and_then(|rest| rest.find(asked)) {
            let start = from + found;
            let end = start + asked.len();
            let begins = start == 0
                || !asked.starts_with('/') && file.as_bytes().get(start - 1) == Some(&b'/');
            let after = file.as_bytes().get(end);
            let ends = after == Some(&b'/') || after.is_none() && !self.is_folder;
            if begins && ends {
                return true;
            }
            from = start
                + file
                    .get(start..)
                    .and_then(|s| s.chars().next())
                    .map_or(1, char::len_utf8);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::Json;

    use super::*;

    fn files(name: &str, input: &str) -> Vec<String> {
        let mut call = ToolCall::new("1", name);
        call.input = Some(ToolInput::Json(Json::new(input.as_bytes())));
        let files = touched_files(&call);
        let shown = files
            .iter()
            .map(|f| format!("{} {}", f.file_use.word(), f.path));
        shown.collect()
    }

    #[test]
    fn what_is_read_and_what_is_written_is_told_apart() {
        assert_eq!(
            files("Read", r#"{"file_path":"/a/b.rs"}"#),
            ["read /a/b.rs"]
        );
        assert_eq!(files("Edit", r#"{"file_path":"./b.rs"}"#), ["written b.rs"]);
        assert_eq!(
            files(
                "shell",
                r#"{"command":["apply_patch","*** Begin Patch\n*** Update File: src/x.rs\n*** Add File: y\n"]}"#
            ),
            ["written src/x.rs", "written y"]
        );
        assert_eq!(
            files("read_many_files", r#"{"paths":["a","b\\c"]}"#),
            ["read a", "read b/c"]
        );
        assert_eq!(files("Bash", r#"{"command":"ls src"}"#), [""; 0]);
    }

    #[test]
    fn paths_are_asked_for_by_whole_end_and_folder() {
        for (asked, file, expected) in [
            ("/a/src/main.rs", "/a/src/main.rs", true),
            ("src/main.rs", "/a/src/main.rs", true),
            ("main.rs", "/a/src/main.rs", true),
            ("ain.rs", "/a/src/main.rs", false),
            ("src", "/a/src/main.rs", true),
            ("src/", "/a/src/main.rs", true),
            ("main.rs/", "/a/src/main.rs", false),
            ("/src", "/a/src/main.rs", false),
            ("/a", "/a/src/main.rs", true),
            ("src/main", "/a/src/main.rs", false),
            ("src/a", "xsrc/a/src/a", true),
            ("./src", "src/x", true),
        ] {
            assert_eq!(AskedPath::new(asked).has(file), expected, "{asked} {file}");
        }
    }
}
