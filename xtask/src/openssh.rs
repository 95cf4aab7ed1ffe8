//! A server and a client of OpenSSH for the tests of other homes: those of the system, else unpacked
//! from Debian's packages into a folder of the user's own. Nothing is started, and nothing is set up
//! for the system.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::apt;
use crate::command::make_executable;

/// The programs: the variable that names each, its name, and the package that has it.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("RETHREAD_JUDGE_SSHD", "sshd", "openssh-server"),
    ("RETHREAD_JUDGE_SSH", "ssh", "openssh-client"),
    ("RETHREAD_JUDGE_SSH_KEYGEN", "ssh-keygen", "openssh-client"),
];

/// Starts a program with its own libraries.
const LAUNCHER: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd) || exit
for libraries in "$here"/lib/*-linux-* "$here"/usr/lib/*-linux-*; do
  LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
for program in "$here/usr/sbin/NAME" "$here/usr/bin/NAME"; do
  if [ -x "$program" ]; then exec "$program" "$@"; fi
done
exit 127
"#;

/// The programs, each with the variable that names it.
pub(crate) fn programs(folder: &Path) -> Result<Vec<(&'static str, PathBuf)>> {
    let ours = |name: &str| folder.join("bin").join(name);
    let find = |name: &str| on_this_system(name).or_else(|| Some(ours(name)).filter(|p| runs(p)));
    let missing = PROGRAMS.iter().filter(|(_, name, _)| find(name).is_none());
    let packages: BTreeSet<&str> = missing.map(|(_, _, package)| *package).collect();
    if !packages.is_empty() {
        unpack(folder, &packages)?;
    }
    let found = PROGRAMS.iter().map(|(variable, name, _)| {
        let path = find(name).with_context(|| format!("the downloaded `{name}` does not run"))?;
        Ok((*variable, path))
    });
    found.collect()
}

/// A program of the system; that of a server is often not on `PATH`.
fn on_this_system(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let folders = std::env::split_paths(&path).chain(more);
    folders.map(|f| f.join(name)).find(|p| runs(p))
}

/// Whether a program starts: each of them says how it is called when it is called wrongly.
fn runs(program: &Path) -> bool {
    let said = Command::new(program).arg("-?").output();
    said.is_ok_and(|said| String::from_utf8_lossy(&said.stderr).contains("usage:"))
}

/// Unpacks the programs into a folder. They appear whole or not at all: another clone may be doing
/// the same.
fn unpack(folder: &Path, packages: &BTreeSet<&str>) -> Result<()> {
    let temp = folder.with_extension(std::process::id().to_string());
    let done = fill(&temp, packages).and_then(|()| {
        let _ = fs::remove_dir_all(folder);
        fs::rename(&temp, folder).context("OpenSSH cannot be put in place")
    });
    let _ = fs::remove_dir_all(&temp);
    done
}

fn fill(folder: &Path, packages: &BTreeSet<&str>) -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!("install a server of OpenSSH");
    }
    for package in packages {
        apt::unpack(package, folder)?;
    }
    let bin = folder.join("bin");
    fs::create_dir_all(&bin)?;
    for (_, name, _) in PROGRAMS {
        let path = bin.join(name);
        fs::write(&path, LAUNCHER.replace("NAME", name))?;
        make_executable(&path)?;
    }
    Ok(())
}
