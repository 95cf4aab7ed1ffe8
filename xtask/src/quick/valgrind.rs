//! `valgrind`: the system's, or unpacked from Debian's packages into a folder of the user's own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::apt;
use crate::command::{make_executable, runs};

/// Starts the program with its own tools.
const LAUNCHER: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd) || exit
VALGRIND_LIB=$here/usr/libexec/valgrind
export VALGRIND_LIB
exec "$here/usr/bin/valgrind" "$@"
"#;

/// The program, which is fetched if it is missing.
pub(super) fn program(tools: &Path) -> Result<PathBuf> {
    if runs("valgrind") {
        return Ok("valgrind".into());
    }
    let folder = tools.join("valgrind");
    let program = folder.join("bin").join("valgrind");
    if !runs(&program) {
        unpack(&folder).context("instructions are counted by `valgrind`")?;
    }
    Ok(program)
}

/// Unpacks the program into a folder. It appears whole or not at all: another clone may be doing
/// the same.
fn unpack(folder: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!("only Debian's packages are known");
    }
    let temp = folder.with_extension(std::process::id().to_string());
    let done = fill(&temp).and_then(|()| {
        let _ = fs::remove_dir_all(folder);
        fs::rename(&temp, folder).context("`valgrind` cannot be put in place")
    });
    let _ = fs::remove_dir_all(&temp);
    done
}

fn fill(folder: &Path) -> Result<()> {
    apt::unpack("valgrind", folder)?;
    let bin = folder.join("bin");
    fs::create_dir_all(&bin)?;
    let program = bin.join("valgrind");
    fs::write(&program, LAUNCHER)?;
    make_executable(&program)?;
    if !runs(&program) {
        bail!("the downloaded `valgrind` does not run");
    }
    Ok(())
}
