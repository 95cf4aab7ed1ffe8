//! `strace` for a user who cannot install it: unpacked into a folder of their own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::apt;
use crate::command::{make_executable, runs};

/// Starts the program with its own libraries. What it traces is to find its libraries as before,
/// which is what `-E` is for.
const LAUNCHER: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd) || exit
before=LD_LIBRARY_PATH${LD_LIBRARY_PATH+=$LD_LIBRARY_PATH}
for libraries in "$here"/lib/*-linux-* "$here"/usr/lib/*-linux-*; do
  LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
exec "$here/usr/bin/strace" -E "$before" "$@"
"#;

/// The folder to put on `PATH`.
pub(crate) fn bin(folder: &Path) -> PathBuf {
    folder.join("bin")
}

/// The program.
pub(crate) fn program(folder: &Path) -> PathBuf {
    bin(folder).join("strace")
}

/// Unpacks the program into a folder. It appears whole or not at all: another clone may be doing
/// the same.
pub(crate) fn unpack(folder: &Path) -> Result<()> {
    let temp = folder.with_extension(std::process::id().to_string());
    let done = fill(&temp).and_then(|()| {
        let _ = fs::remove_dir_all(folder);
        fs::rename(&temp, folder).context("`strace` cannot be put in place")
    });
    let _ = fs::remove_dir_all(&temp);
    done
}

fn fill(folder: &Path) -> Result<()> {
    apt::unpack("strace", folder)?;
    fs::create_dir_all(bin(folder))?;
    let program = program(folder);
    fs::write(&program, LAUNCHER)?;
    make_executable(&program)?;
    if !runs(&program) {
        bail!("the downloaded `strace` does not run");
    }
    Ok(())
}
