//! Every format has all that CONTRIBUTING.md, "Adding a format", asks for.

use std::collections::BTreeSet;
use std::path::Path;

use crate::repository::{assert_none, folders, put, root, text};

const SOURCES: &str = "crates/formats/src";

#[test]
fn no_step_is_missing() {
    assert_none(&missing(&root()));
}

/// The steps that are missing.
fn missing(root: &Path) -> Vec<String> {
    let registry = text(&root.join(SOURCES).join("registry.rs"));
    let registered = modules(&registry);
    let mut missing = Vec::new();
    if registered.is_empty() {
        missing.push(format!("{SOURCES}/registry.rs: no format is registered"));
    }
    for folder in folders(&root.join(SOURCES)) {
        let is_format = root.join(SOURCES).join(&folder).join("about.rs").exists();
        if is_format && !registered.contains(&folder) {
            missing.push(format!(
                "{SOURCES}/registry.rs: `{folder}` is not registered"
            ));
        }
    }
    for module in &registered {
        missing.extend(missing_of(root, module));
    }
    missing
}

/// What one format lacks.
fn missing_of(root: &Path, module: &str) -> Vec<String> {
    let slug = module.replace('_', "-");
    let mut missing = Vec::new();
    let mut need = |is_there: bool, what: String| {
        if !is_there {
            missing.push(format!("{slug}: {what}"));
        }
    };
    let sources = ["mod.rs", "about.rs"].map(|f| format!("{SOURCES}/{module}/{f}"));
    let page = format!("docs/formats/{slug}.md");
    for file in sources.into_iter().chain([page]) {
        need(root.join(&file).is_file(), format!("there is no `{file}`"));
    }
    for file in facets_without_file(root, module) {
        need(false, format!("there is no `{SOURCES}/{module}/{file}`"));
    }
    let fixtures = format!("fixtures/{slug}");
    let cases = folders(&root.join(&fixtures));
    need(!cases.is_empty(), format!("`{fixtures}` has no cases"));
    let row = format!("| `{slug}` |");
    let readme = text(&root.join("README.md"));
    let has_row = readme.lines().any(|line| line.starts_with(&row));
    need(has_row, format!("no row of README.md begins with {row}"));
    let changes = text(&root.join("CHANGELOG.md"));
    let named = changes.contains(&format!("`{slug}`"));
    need(named, format!("CHANGELOG.md does not name `{slug}`"));
    missing
}

/// The facets that a format says it has in its facts and that have no file of their own, each by the
/// name of that file. What another format implements for it needs none.
fn facets_without_file(root: &Path, module: &str) -> Vec<String> {
    let folder = root.join(SOURCES).join(module);
    let about = text(&folder.join("about.rs"));
    let facets = about
        .lines()
        .filter_map(|line| line.trim().strip_prefix("fn ")?.split_once("(&self)"))
        .map(|(facet, _)| facet)
        .filter(|facet| *facet != "about");
    let is_missing = |file: &String| !folder.join(file).is_file();
    facets
        .map(|facet| format!("{facet}.rs"))
        .filter(is_missing)
        .collect()
}

/// The modules that the registry's slice names: `atsf::FORMAT` is `atsf`.
fn modules(registry: &str) -> BTreeSet<String> {
    let slice = registry
        .split_once("static FORMATS")
        .and_then(|(_, rest)| rest.split_once('='))
        .and_then(|(_, rest)| rest.split_once("];"))
        .map_or("", |(slice, _)| slice);
    let code = slice.lines().map(|l| l.split("//").next().unwrap_or(l));
    let items = code.flat_map(|line| line.split([',', '[']));
    items
        .filter_map(|item| {
            let path = item.trim();
            let (module, _) = path
                .strip_prefix("crate::")
                .unwrap_or(path)
                .split_once("::")?;
            Some(module.to_owned())
        })
        .collect()
}

const REGISTRY: &str = "
use crate::{FormatRef, atsf, claude_code};

/// All formats, one line each.
pub static FORMATS: &[FormatRef] = &[
    atsf::FORMAT,
    claude_code::FORMAT, // gone::FORMAT,
];
";

const FACETS: &str = "
impl Format for Atsf {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn store(&self) -> &dyn Store {
        self
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}
";

const COMPLETE: [(&str, &str); 14] = [
    ("crates/formats/src/registry.rs", REGISTRY),
    ("crates/formats/src/atsf/mod.rs", ""),
    ("crates/formats/src/atsf/about.rs", FACETS),
    ("crates/formats/src/atsf/store.rs", ""),
    ("crates/formats/src/atsf/writer.rs", ""),
    ("crates/formats/src/claude_code/mod.rs", ""),
    ("crates/formats/src/claude_code/about.rs", ""),
    ("fixtures/atsf/1.1/minimal/thread.json", "{}"),
    ("fixtures/claude-code/2/minimal/a.jsonl", ""),
    ("docs/formats/atsf.md", ""),
    ("docs/formats/claude-code.md", ""),
    (
        "README.md",
        "| Format |\n| --- |\n| `atsf` | x |\n| `claude-code` | x |\n",
    ),
    ("CHANGELOG.md", "- `atsf`\n- `claude-code`\n"),
    ("crates/formats/src/shared/text.rs", ""),
];

#[test]
fn modules_come_from_the_slice_alone() {
    let expected = ["atsf", "claude_code"].map(str::to_owned);
    assert_eq!(modules(REGISTRY), BTreeSet::from(expected));
    let one_line = "pub static FORMATS: &[FormatRef] = &[atsf::FORMAT, crate::pi::FORMAT];\nx::y";
    assert_eq!(
        modules(one_line),
        BTreeSet::from(["atsf", "pi"].map(str::to_owned))
    );
}

#[test]
fn each_step_that_is_left_out_is_named() {
    // The last file is a folder that is no format, so nobody misses it.
    let steps = COMPLETE.len() - 1;
    for (left_out, (name, _)) in COMPLETE.iter().enumerate().take(steps) {
        let folder = tempfile::tempdir().unwrap();
        for (i, (name, content)) in COMPLETE.iter().enumerate() {
            if i != left_out {
                put(folder.path(), name, content);
            }
        }
        assert!(!missing(folder.path()).is_empty(), "nobody misses {name}");
    }
}

#[test]
fn a_format_with_all_steps_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in COMPLETE {
        put(folder.path(), name, content);
    }
    assert_none(&missing(folder.path()));
    put(folder.path(), "crates/formats/src/pi/about.rs", "");
    assert_eq!(
        missing(folder.path()),
        ["crates/formats/src/registry.rs: `pi` is not registered"]
    );
}
