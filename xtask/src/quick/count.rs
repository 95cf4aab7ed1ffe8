//! The instructions of one command, counted by `callgrind`.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::cases::Case;
use super::world::World;

/// The exit code of a command that named damage; fixtures have some.
const DAMAGED: i32 = 3;

/// Runs a command in a fresh copy of the world, and gives how many instructions it took.
pub(super) fn instructions(
    valgrind: &Path,
    world: &World,
    program: &Path,
    case: &Case,
) -> Result<u64> {
    world.restore()?;
    let mut command = Command::new(valgrind);
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(program).args(&case.args);
    world.furnish(&mut command);
    let output = command.stdin(Stdio::null()).output();
    let output = output.context("`valgrind` cannot be started")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !matches!(output.status.code(), Some(0 | DAMAGED)) {
        bail!("`{}` ended with {}:\n{said}", case.name, output.status);
    }
    collected(&said).with_context(|| format!("callgrind says no count:\n{said}"))
}

/// The count in what callgrind says at the end.
fn collected(said: &str) -> Option<u64> {
    let line = said
        .lines()
        .rev()
        .find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found() {
        let said =
            "==7== Callgrind\n==7== \n==7== Events    : Ir\n==7== Collected : 2481133\n==7== \n";
        assert_eq!(collected(said), Some(2_481_133));
        assert_eq!(collected("==7== Callgrind\n"), None);
    }
}
