//! `cargo xtask metrics`: how large the parts of the code are and how it is named, beside what it was
//! when `xtask/metrics-before.tsv` was written.
//!
//! Tests do not count: neither `tests/` and `benches/`, nor modules under `#[cfg(test)]`.

mod count;
mod source;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use self::count::{CrateCounts, count_file};
use self::source::SourceFile;

/// File names that mean the same in the folder of every agent.
const AGENT_FILES: [&str; 9] = [
    "mod", "about", "store", "reader", "body", "writer", "carrier", "client", "rules",
];

/// A trait with more methods than this is too wide a seam.
const MANY_METHODS: usize = 20;

/// The measured values by name, in the order in which they are printed.
type Metrics = Vec<(String, String)>;

/// Prints all numbers, each beside the earlier one; with `save`, makes them the earlier ones.
pub(crate) fn metrics(save: bool) -> Result<()> {
    let root = workspace_root()?;
    let measured = measure(&root)?;
    let before_path = root.join("xtask").join("metrics-before.tsv");
    if save {
        let mut table = String::new();
        for (name, value) in &measured {
            writeln!(table, "{name}\t{value}")?;
        }
        return fs::write(&before_path, table)
            .with_context(|| format!("`{}` cannot be written", before_path.display()));
    }
    let before = read_before(&before_path)?;
    println!("{:<52} {:>10} {:>10}", "", "before", "now");
    for (name, value) in &measured {
        let earlier = before.get(name).map_or("", String::as_str);
        println!("{name:<52} {earlier:>10} {value:>10}");
    }
    for (name, value) in before {
        if !measured.iter().any(|(known, _)| *known == name) {
            println!("{name:<52} {value:>10} {:>10}", "");
        }
    }
    Ok(())
}

fn workspace_root() -> Result<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(own.parent().context("xtask has no parent")?.to_owned())
}

fn read_before(path: &Path) -> Result<BTreeMap<String, String>> {
    let table = fs::read_to_string(path).unwrap_or_default();
    let mut before = BTreeMap::new();
    for line in table.lines() {
        let Some((name, value)) = line.split_once('\t') else {
            bail!("`{}`: no tab in `{line}`", path.display());
        };
        before.insert(name.to_owned(), value.to_owned());
    }
    Ok(before)
}

fn measure(root: &Path) -> Result<Metrics> {
    let mut metrics = Metrics::new();
    let mut all = CrateCounts::default();
    let mut repeated = Vec::new();
    for folder in source::crate_folders(root)? {
        let files = source::files_of(&folder.join("src"))?;
        let mut counts = CrateCounts::default();
        for file in &files {
            count_file(&mut counts, file)?;
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        metrics.push((format!("code lines: {name}"), counts.lines.to_string()));
        if let Some(agents) = agents_folder(&folder) {
            metrics.extend(agent_lines(&agents, &files));
            metrics.push(odd_file_names(&agents, &files));
        }
        let twice: Vec<&str> = counts.repeated_types().collect();
        let sum = format!("type names used twice: {name}");
        metrics.push((sum, twice.len().to_string()));
        repeated.extend(twice.into_iter().map(str::to_owned));
        all.add(counts);
    }
    metrics.push((
        "type names used twice, all crates".to_owned(),
        repeated.len().to_string(),
    ));
    metrics.extend(whole_code(&all));
    Ok(metrics)
}

/// The folder of a crate that has one folder an agent.
fn agents_folder(folder: &Path) -> Option<PathBuf> {
    let src = folder.join("src");
    src.join("claude_code").is_dir().then_some(src)
}

/// How many lines each agent has, and what they share.
fn agent_lines(src: &Path, files: &[SourceFile]) -> Metrics {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let part = agent_of(src, &file.path).unwrap_or_else(|| "(shared)".to_owned());
        *lines.entry(part).or_default() += file.code_lines();
    }
    let row = |(agent, lines): (String, usize)| (format!("  of these: {agent}"), lines.to_string());
    lines.into_iter().map(row).collect()
}

/// The agent whose folder a file is in: one with a folder of fixtures.
fn agent_of(src: &Path, file: &Path) -> Option<String> {
    let inside = file.strip_prefix(src).ok()?;
    let mut parts = inside.components();
    let folder = parts.next()?.as_os_str().to_str()?.to_owned();
    parts.next()?;
    let fixtures = src.ancestors().nth(3)?.join("fixtures");
    fixtures
        .join(folder.replace('_', "-"))
        .is_dir()
        .then_some(folder)
}

/// How many files directly in agents' folders have a name that means nothing in the others.
fn odd_file_names(src: &Path, files: &[SourceFile]) -> (String, String) {
    let own = files.iter().filter(|f| agent_of(src, &f.path).is_some());
    let names: Vec<&str> = own.filter_map(|f| f.path.file_stem()?.to_str()).collect();
    let odd = names.iter().filter(|n| !AGENT_FILES.contains(n)).count();
    let value = format!("{odd} of {}", names.len());
    ("files of agents outside the shared names".to_owned(), value)
}

fn whole_code(all: &CrateCounts) -> Metrics {
    let share = |part: usize, of: usize| format!("{} %", (100 * part + of / 2) / of.max(1));
    let widest = all.traits.iter().max_by_key(|(_, methods)| *methods);
    let wide = all.traits.iter().filter(|(_, n)| *n > MANY_METHODS).count();
    let (name, methods) = widest.map_or(("none", 0), |(name, n)| (name.as_str(), *n));
    vec![
        ("code lines, all crates".to_owned(), all.lines.to_string()),
        ("functions".to_owned(), all.functions.to_string()),
        (
            "functions with one-word names".to_owned(),
            share(all.one_word, all.functions),
        ),
        (
            "functions with tuple parameters".to_owned(),
            all.tuple_parameters.to_string(),
        ),
        (
            format!("traits with more than {MANY_METHODS} methods"),
            wide.to_string(),
        ),
        (
            "methods of the widest trait".to_owned(),
            format!("{methods} {name}"),
        ),
    ]
}
