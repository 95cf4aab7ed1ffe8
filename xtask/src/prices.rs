//! The table of prices (`crates/stats/src/prices.tsv`), made of the data in the package `genai-prices`.
//!
//! A line is a price of a model from some day on: the provider; words of which one fits the model's name
//! (`=` is it, `^` begins it, `$` ends it, `*` is in it, `~` is a regular expression,
//! and `!` one that must not fit; `&` joins words that
//! must all fit); the first day, if there was another price before; and US dollars for a million tokens of
//! input, output, input from a cache, input to a cache, and input to a cache for an hour. `>200000:6` is
//! the price of all tokens where there are more than so many of input.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::command::{answer, must};

const PACKAGE: &str = "genai-prices";
const VERSION: &str = "0.2.3";
/// The day on which that version was the newest.
const DATE: &str = "2026-11-18";

/// Makes the table anew.
pub(crate) fn write_prices(tools: &Path) -> Result<()> {
    let folder = tools.join(format!("{PACKAGE}-{VERSION}"));
    if !folder.join("genai_prices").join("data.py").exists() {
        unpack_package(&folder)?;
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = manifest.join("src").join("prices.py");
    let said = answer(Command::new("python3").arg(script).arg(&folder));
    let rows = said.context("the prices of the package cannot be read")?;
    if rows.lines().count() < 100 {
        bail!("the package has hardly any prices");
    }
    let table = manifest.join("../crates/stats/src/prices.tsv");
    let head = format!("# {PACKAGE}\t{VERSION}\t{DATE}\n");
    fs::write(&table, head + &rows).context("the table of prices cannot be written")
}

/// Gets the package and unpacks it; what it needs at work is not needed here.
fn unpack_package(folder: &Path) -> Result<()> {
    let part = folder.with_extension(format!("part-{}", std::process::id()));
    fs::create_dir_all(&part)?;
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
    ]);
    pip.arg("--dest").arg(&part);
    must(pip.arg(format!("{PACKAGE}=={VERSION}")))?;
    for wheel in fs::read_dir(&part)? {
        let wheel = wheel?.path();
        must(
            Command::new("python3")
                .args(["-m", "zipfile", "-e"])
                .arg(&wheel)
                .arg(&part),
        )?;
        fs::remove_file(wheel)?;
    }
    let _ = fs::remove_dir_all(folder);
    fs::rename(&part, folder).context("the package cannot be put in place")
}
