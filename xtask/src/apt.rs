//! Debian packages: installed as root, or unpacked into a folder of the user's own.
//!
//! The release of the system says which version; nothing else is pinned.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{answer, must};

/// Installs a package for everybody.
pub(crate) fn install(package: &str) -> Result<()> {
    let install = || must(apt_get(&[]).args(["install", "-y", package]));
    install().or_else(|_| {
        must(apt_get(&[]).arg("update"))?;
        install()
    })
}

/// Unpacks a package and the libraries it needs into a folder.
pub(crate) fn unpack(package: &str, folder: &Path) -> Result<()> {
    let (downloads, lists) = (folder.join("downloads"), folder.join("apt"));
    fs::create_dir_all(&downloads)
        .with_context(|| format!("`{}` cannot be made", downloads.display()))?;
    // The system's own lists may be missing or old, and only root may renew them.
    if download(package, &[], &downloads).is_err() {
        let own = own_lists(&lists)?;
        must(apt_get(&own).arg("update"))?;
        download(package, &own, &downloads)?;
        fs::remove_dir_all(lists)?;
    }
    for deb in fs::read_dir(&downloads)? {
        must(Command::new("dpkg").arg("-x").arg(deb?.path()).arg(folder))?;
    }
    Ok(fs::remove_dir_all(downloads)?)
}

/// Downloads a package and its libraries.
fn download(package: &str, options: &[String], into: &Path) -> Result<()> {
    let packages = with_libraries(package, options);
    must(
        apt_get(options)
            .arg("download")
            .args(packages)
            .current_dir(into),
    )
}

/// A package, and the libraries that it depends on and that the system lacks. That of C is always
/// the system's, as the dynamic loader is. What sets up a system is not wanted.
fn with_libraries(package: &str, options: &[String]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut left = vec![package.to_owned()];
    while let Some(package) = left.pop() {
        let mut depends = Command::new("apt-cache");
        depends.args(options).args(["depends", &package]);
        if all.insert(package) {
            let said = answer(&mut depends).unwrap_or_default();
            let missing = dependencies(&said).filter(|name| !is_installed(name));
            left.extend(missing.map(str::to_owned));
        }
    }
    all
}

/// Whether the system has a package.
fn is_installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f=${db:Status-Status}", package]);
    answer(&mut query).is_some_and(|said| said.starts_with("installed"))
}

/// The packages in what `apt-cache depends` says; those in angle brackets are not real.
fn dependencies(said: &str) -> impl Iterator<Item = &str> {
    let names = said.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches('|');
        line.strip_prefix("Depends: ")
            .or_else(|| line.strip_prefix("PreDepends: "))
    });
    let is_library = |name: &&str| {
        name.starts_with("lib") && !name.starts_with("libc6") && !name.contains("pam-")
    };
    names.filter(is_library)
}

/// Options that make apt keep its lists in a folder of our own.
fn own_lists(folder: &Path) -> Result<Vec<String>> {
    let (state, cache) = (folder.join("state"), folder.join("cache"));
    for partial in [
        state.join("lists").join("partial"),
        cache.join("archives").join("partial"),
    ] {
        fs::create_dir_all(partial)?;
    }
    let option = |name: &str, path: &PathBuf| format!("-oDir::{name}={}", path.display());
    Ok(vec![option("State", &state), option("Cache", &cache)])
}

fn apt_get(options: &[String]) -> Command {
    let mut command = Command::new("apt-get");
    command
        .args(options)
        .env("DEBIAN_FRONTEND", "noninteractive");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_libraries_without_that_of_c() {
        let said = "libunwind8\n  Depends: libc6\n |Depends: liblzma5\n  Depends: <libx>\n    libx1\n  Conflicts: other\n  PreDepends: adduser\n  Depends: libpam-runtime\n  Depends: libpam0g\n";
        let found: Vec<_> = dependencies(said).collect();
        assert_eq!(found, ["liblzma5", "libpam0g"]);
    }
}
