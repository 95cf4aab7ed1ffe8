//! A machine with nothing on it but fixed sessions, laid out once and copied for each command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{cases, root, sessions};

/// The folder that commands run in is always as long, since paths are read and copied as well.
pub(super) struct World {
    folder: PathBuf,
}

impl World {
    /// Lays out the sample, and sessions that are longer than its own. There is one world for each
    /// command that runs at the same time, and each has its number.
    pub(super) fn lay_out(program: &Path, number: usize) -> Result<Self> {
        let name = format!("rethread-quick.{:08}.{number:02}", std::process::id());
        let world = Self {
            folder: Path::new("/tmp").join(name),
        };
        let live = world.live();
        fs::create_dir_all(&live).with_context(|| format!("`{}`", live.display()))?;
        let mut sample = Command::new(program);
        sample.args(["sample", "."]);
        world.furnish(&mut sample);
        let done = sample.current_dir(&live).output()?;
        if !done.status.success() {
            bail!("`sample`: {}", String::from_utf8_lossy(&done.stderr));
        }
        world.add_sessions()?;
        let agentuse = root().join("fixtures/agentuse/0.30/everything/project");
        copy(&agentuse, &live.join("home/.local/share/agentuse/project"))?;
        fs::rename(&live, world.folder.join("kept"))?;
        Ok(world)
    }

    fn add_sessions(&self) -> Result<()> {
        let live = self.live();
        let project = live.join("shop").display().to_string();
        let claude = project.replace(['/', '.'], "-");
        let files = [
            (
                format!(".claude/projects/{claude}/{}.jsonl", cases::CLAUDE),
                sessions::claude_code(cases::CLAUDE, &project),
            ),
            (
                format!(
                    ".codex/sessions/2026/11/14/rollout-2026-11-14T09-00-00-{}.jsonl",
                    cases::CODEX
                ),
                sessions::codex(cases::CODEX, &project),
            ),
            (
                format!(
                    ".pi/agent/sessions/-{}--/2026-11-14T09-00-00-000Z_{}.jsonl",
                    project.replace('/', "-"),
                    cases::PI
                ),
                sessions::pi(cases::PI, &project),
            ),
        ];
        for (name, text) in files {
            let path = live.join("home").join(name);
            fs::create_dir_all(path.parent().context("a session is in a folder")?)?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// The folder that commands see.
    fn live(&self) -> PathBuf {
        self.folder.join("live")
    }

    /// Brings back what was laid out, whatever a command made of it.
    pub(super) fn restore(&self) -> Result<()> {
        let live = self.live();
        if live.exists() {
            fs::remove_dir_all(&live)?;
        }
        copy(&self.folder.join("kept"), &live)
    }

    /// Lets a command run in the project, with nothing that differs from machine to machine.
    pub(super) fn furnish(&self, command: &mut Command) {
        let live = self.live();
        command
            .current_dir(live.join("shop"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", live.join("home"))
            .env("TMPDIR", &self.folder)
            .env("TZ", "UTC")
            .env("RAYON_NUM_THREADS", "1")
            .env("RETHREAD_NOW", "2026-11-15T12:00:00.000Z")
            .env("RETHREAD_SEED", "1")
            .env("RETHREAD_WITHIN", &live);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Copies a folder with all that is in it. Names are copied in their order, so that two copies are
/// alike on disk, too.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut left = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = left.pop() {
        fs::create_dir_all(&to)?;
        let entries = fs::read_dir(&from).with_context(|| format!("`{}`", from.display()))?;
        let mut names = entries
            .map(|entry| Ok(entry?.file_name()))
            .collect::<Result<Vec<_>>>()?;
        names.sort();
        for name in names {
            let (from, to) = (from.join(&name), to.join(&name));
            if from.is_dir() {
                left.push((from, to));
                continue;
            }
            let times = fs::metadata(&from)?.modified()?;
            fs::copy(&from, &to)?;
            // When a file was written is a fact of some sessions.
            fs::File::options()
                .append(true)
                .open(&to)?
                .set_modified(times)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_all_files_with_their_times() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("deep/er")).unwrap();
        fs::write(from.join("deep/er/file"), "text").unwrap();
        copy(&from, &to).unwrap();
        let file = to.join("deep/er/file");
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
        let time = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(time(&file), time(&from.join("deep/er/file")));
    }
}
