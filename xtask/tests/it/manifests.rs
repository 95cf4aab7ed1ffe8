//! Which crate may depend on which, and on what from outside.

use std::path::Path;

use crate::repository::{assert_none, folders, put, root, text};

/// For each folder of crates/, the crates it may use. Dependencies point one way, and nothing below
/// the command line uses what is above it.
const CRATES: [(&str, &[&str]); 18] = [
    ("json", &[]),
    ("model", &["json"]),
    ("disk", &[]),
    ("run", &[]),
    ("watch", &[]),
    ("project", &["run"]),
    ("judges", &[]),
    ("samp", &["disk", "json"]),
    ("env", &["model"]),
    ("formats", &["disk", "env", "json", "model", "project"]),
    ("catalog", &["disk", "formats", "json", "model", "project"]),
    ("render", &["json", "model"]),
    ("search", &["catalog", "disk", "formats", "json", "model"]),
    ("stats", &["formats", "json", "model", "render"]),
    (
        "engine",
        &[
            "catalog", "disk", "formats", "json", "model", "project", "render", "run", "search",
            "stats", "watch",
        ],
    ),
    (
        "lib",
        &[
            "disk", "engine", "formats", "json", "model", "render", "samp",
        ],
    ),
    ("mcp", &["lib"]),
    (
        "cli",
        &[
            "catalog", "disk", "engine", "formats", "json", "mcp", "model", "project", "render",
            "samp",
        ],
    ),
];

/// Crates from outside that only some crates may use.
const RESERVED: [(&str, &[&str]); 19] = [
    ("anstream", &["cli"]),
    ("anyhow", &["cli"]),
    ("axum", &["mcp"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("indicatif", &["cli"]),
    ("notify", &["watch"]),
    ("rmcp", &["mcp"]),
    ("rusqlite", &["catalog", "formats"]),
    ("rustix", &["disk", "run"]),
    ("schemars", &["mcp"]),
    ("tantivy", &["search"]),
    ("tempfile", &["disk"]),
    ("terminal_size", &["cli"]),
    ("tokio", &["mcp"]),
    ("toml", &["catalog"]),
    ("trash", &["disk"]),
    ("windows-sys", &["disk"]),
];

#[test]
fn dependencies_point_one_way() {
    assert_none(&wrong(&root()));
}

fn wrong(root: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for folder in folders(&root.join("crates")) {
        let name = format!("crates/{folder}/Cargo.toml");
        let manifest = text(&root.join(&name));
        if !inherits_lints(&manifest) {
            wrong.push(format!("{name}: the workspace's lints are not inherited"));
        }
        let Some((_, allowed)) = CRATES.iter().find(|(r, _)| *r == folder) else {
            wrong.push(format!("{name}: this crate is not in the table of crates"));
            continue;
        };
        for dependency in dependencies(&manifest) {
            let other = dependency.strip_prefix("rethread-");
            let reserved = RESERVED.iter().find(|(name, _)| *name == dependency);
            let allowed = match (other, reserved) {
                (Some(other), _) => allowed.contains(&other),
                (None, Some((_, users))) => users.contains(&folder.as_str()),
                (None, None) => dependency != "rethread",
            };
            if !allowed {
                wrong.push(format!(
                    "{name}: `{folder}` may not depend on `{dependency}`"
                ));
            }
        }
    }
    if !inherits_lints(&text(&root.join("xtask/Cargo.toml"))) {
        wrong.push("xtask/Cargo.toml: the workspace's lints are not inherited".to_owned());
    }
    wrong
}

fn inherits_lints(manifest: &str) -> bool {
    let lints = sections(manifest).filter(|(header, _)| *header == "lints");
    lints
        .into_iter()
        .any(|(_, line)| line.replace(' ', "") == "workspace=true")
}

/// What a crate depends on when it is used: what only its tests need does not count.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (header, line) in sections(manifest) {
        let (_, kind) = header.rsplit_once("'.").unwrap_or(("", header));
        if matches!(kind, "dependencies" | "build-dependencies") {
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
            found.push(name.trim_matches('"').to_owned());
        } else if let Some((start, name)) = kind.rsplit_once("dependencies.")
            && matches!(start, "" | "build-")
        {
            found.push(name.trim_matches('"').to_owned());
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The lines of a manifest that say something, each with the header of its section.
fn sections(manifest: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut header = "";
    manifest.lines().map(str::trim).filter_map(move |line| {
        let inside = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'));
        match inside {
            Some(inside) => {
                header = inside;
                None
            }
            None => (!line.is_empty() && !line.starts_with('#')).then_some((header, line)),
        }
    })
}

const LINTS: &str = "[lints]\nworkspace = true\n";

fn wrong_of(folder: &str, manifest: &str) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "xtask/Cargo.toml", LINTS);
    put(
        root.path(),
        &format!("crates/{folder}/Cargo.toml"),
        manifest,
    );
    wrong(root.path())
}

#[test]
fn what_a_crate_may_use() {
    for (folder, rest) in [
        (
            "json",
            "[dependencies]\nmemchr.workspace = true\n[dev-dependencies]\nclap.workspace = true",
        ),
        (
            "formats",
            "[dependencies]\nrethread-json.workspace = true\nrethread-disk = { path = \"../disk\" }",
        ),
        (
            "cli",
            "[dependencies]\nclap.workspace = true\nrethread-engine.workspace = true",
        ),
        (
            "disk",
            "[target.'cfg(unix)'.dependencies]\nrustix.workspace = true",
        ),
    ] {
        assert_none(&wrong_of(folder, &format!("{LINTS}{rest}\n")));
    }
}

#[test]
fn what_a_crate_may_not_use() {
    for (folder, rest) in [
        ("json", "[dependencies]\nrethread-model.workspace = true"),
        (
            "model",
            "[dependencies]\n# why\nrethread-formats = { workspace = true }",
        ),
        ("render", "[dependencies.rethread-disk]\nworkspace = true"),
        (
            "formats",
            "[target.'cfg(unix)'.dependencies]\nrethread-catalog.workspace = true",
        ),
        ("engine", "[dependencies]\nclap.workspace = true"),
        ("engine", "[build-dependencies]\nanyhow = \"1\""),
        ("catalog", "[dependencies]\ntempfile.workspace = true"),
        ("engine", "[dependencies]\nrethread.workspace = true"),
        ("attic", "[dependencies]"),
    ] {
        let found = wrong_of(folder, &format!("{LINTS}{rest}\n"));
        assert_eq!(found.len(), 1, "{folder}: {rest}: {found:?}");
    }
    let found = wrong_of("json", "[package]\nname = \"x\"\nworkspace = true\n");
    assert_eq!(
        found,
        ["crates/json/Cargo.toml: the workspace's lints are not inherited"]
    );
}
