//! `jq` for the benchmarks that compare with it: unpacked from Debian's packages into a folder of the
//! user's own, in the one version that the aims are meant for. The system's own may be any other, and
//! each has its own speed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::apt;
use crate::command::{answer, make_executable};

/// The variable that names the program.
pub(crate) const VARIABLE: &str = "RETHREAD_JUDGE_JQ";

/// What the program must say it is.
const VERSION: &str = "jq-1.6";

/// Starts the program with its own libraries, and with those of the system that are not among them.
const LAUNCHER: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd) || exit
for libraries in "$here"/lib/*-linux-* "$here"/usr/lib/*-linux-*; do
  LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
exec "$here/usr/bin/jq" "$@"
"#;

/// The program, which is fetched if it is missing.
pub(crate) fn program(tools: &Path) -> Result<PathBuf> {
    let folder = tools.join(VERSION);
    let program = folder.join("bin").join("jq");
    if version(&program).as_deref() != Some(VERSION) {
        unpack(&folder)?;
    }
    Ok(program)
}

/// What a program says it is.
fn version(program: &Path) -> Option<String> {
    let said = answer(Command::new(program).arg("--version"))?;
    Some(said.trim().to_owned())
}

/// Unpacks the program into a folder. It appears whole or not at all: another clone may be doing the
/// same.
fn unpack(folder: &Path) -> Result<()> {
    let temp = folder.with_file_name(format!("{VERSION}.{}", std::process::id()));
    let done = fill(&temp).and_then(|()| {
        let _ = fs::remove_dir_all(folder);
        fs::rename(&temp, folder).context("`jq` cannot be put in place")
    });
    let _ = fs::remove_dir_all(&temp);
    done
}

fn fill(folder: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!("only Debian's packages are known");
    }
    apt::unpack("jq", folder)?;
    let bin = folder.join("bin");
    fs::create_dir_all(&bin)?;
    let program = bin.join("jq");
    fs::write(&program, LAUNCHER)?;
    make_executable(&program)?;
    match version(&program) {
        Some(version) if version == VERSION => Ok(()),
        Some(other) => bail!("the system's packages have {other}, and {VERSION} is wanted"),
        None => bail!("the downloaded `jq` does not run"),
    }
}
