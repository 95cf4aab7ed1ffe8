//! Running other programs, and saying so.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};

/// Runs a program in front of the user; its exit code is ours.
pub(crate) fn pass_on(command: &mut Command) -> Result<ExitCode> {
    let status = status(command)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Runs a program in front of the user; it must succeed.
pub(crate) fn must(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

fn status(command: &mut Command) -> Result<std::process::ExitStatus> {
    eprintln!("$ {}", shown(command));
    let failed = format!("`{}` cannot be started", program(command));
    command.status().context(failed)
}

/// What a program says on stdout, if it is there and succeeds.
pub(crate) fn answer(command: &mut Command) -> Option<String> {
    let said = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    said.status.success().then_some(text)
}

/// Whether a program is there and runs.
pub(crate) fn runs(program: impl AsRef<std::ffi::OsStr>) -> bool {
    answer(Command::new(program).arg("--version")).is_some()
}

fn program(command: &Command) -> String {
    let path = Path::new(command.get_program());
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// A command as it is said.
pub(crate) fn shown(command: &Command) -> String {
    command.get_args().fold(program(command), |line, arg| {
        line + " " + &arg.to_string_lossy()
    })
}

/// Lets a file be run.
#[cfg(unix)]
pub(crate) fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::set_permissions(
        path,
        std::fs::Permissions::from_mode(0o755),
    )?)
}

/// Lets a file be run.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "on Unix it can fail")]
pub(crate) fn make_executable(_: &Path) -> Result<()> {
    Ok(())
}
