//! Programs that the tests need, and where they come from when they are missing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::command::{answer, runs};
use crate::{apt, jq, npm, openssh, strace};

/// Makes sure that what the tests need is there. Gives the variables to run them with.
pub(crate) fn for_tests() -> Result<Vec<(&'static str, OsString)>> {
    if !runs("git") {
        install("git").context("the tests need `git`")?;
    }
    let mut variables = Vec::new();
    if cfg!(target_os = "linux") && !runs("strace") {
        let folder = or_skipped("`strace`", strace())?.flatten();
        let path = folder.map(|f| extended_path(&f)).transpose()?;
        variables.extend(path.map(|path| ("PATH", path)));
    }
    let programs = tools_folder().and_then(|folder| npm::install(&folder.join("npm")));
    let programs = or_skipped("programs from npm", programs)?.unwrap_or_default();
    let named = |(program, path): (npm::Program, PathBuf)| (program.variable, path.into());
    variables.extend(programs.into_iter().map(named));
    if cfg!(unix) {
        let openssh = tools_folder().and_then(|folder| openssh::programs(&folder.join("openssh")));
        let openssh = or_skipped("OpenSSH", openssh)?.unwrap_or_default();
        variables.extend(openssh.into_iter().map(|(name, path)| (name, path.into())));
    }
    Ok(variables)
}

/// Makes sure that what the benchmarks need is there, too.
pub(crate) fn for_benchmarks() -> Result<Vec<(&'static str, OsString)>> {
    let mut variables = for_tests()?;
    match tools_folder().and_then(|folder| jq::program(&folder)) {
        Ok(path) => variables.push((jq::VARIABLE, path.into())),
        Err(e) => eprintln!("warning: nothing is compared with `jq`: {e:#}"),
    }
    Ok(variables)
}

/// What was got, or nothing: then tests that need it are skipped. On a build machine nobody would
/// notice that, so there it is an error.
fn or_skipped<T>(what: &str, got: Result<T>) -> Result<Option<T>> {
    match got {
        Ok(got) => Ok(Some(got)),
        Err(e) if std::env::var_os("CI").is_some() => {
            Err(e.context(format!("the tests need {what}")))
        }
        Err(e) => {
            eprintln!("warning: tests that need {what} are skipped: {e:#}");
            Ok(None)
        }
    }
}

/// Gets `strace`: for all as root, else for this user alone. Gives the folder that it is in, if
/// `PATH` does not have it.
fn strace() -> Result<Option<PathBuf>> {
    let ours = tools_folder()?.join("strace");
    if runs(strace::program(&ours)) {
        return Ok(Some(strace::bin(&ours)));
    }
    if install("strace").is_ok() && runs("strace") {
        return Ok(None);
    }
    strace::unpack(&ours)?;
    Ok(Some(strace::bin(&ours)))
}

/// Installs a Debian package for everybody, which takes root.
fn install(package: &str) -> Result<()> {
    let user = answer(std::process::Command::new("id").arg("-u"));
    if user.as_deref().map(str::trim) != Some("0") {
        bail!("install `{package}`, or run this as root");
    }
    apt::install(package)
}

/// Where programs for this user are kept, so that the next clone finds them.
pub(crate) fn tools_folder() -> Result<PathBuf> {
    let set = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = set.filter(|p| p.is_absolute());
    let cache = cache.or_else(|| Some(std::env::home_dir()?.join(".cache")));
    Ok(cache
        .context("the home folder is not known")?
        .join("rethread-tools"))
}

/// `PATH` with one more folder, behind all others.
fn extended_path(folder: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([folder.to_owned()]);
    Ok(std::env::join_paths(folders)?)
}
