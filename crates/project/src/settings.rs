//! What a repository's own configuration would have git run, and how that is left off.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Repository;
use crate::change::{GitError, git_output};

/// Hooks that git runs when it makes a worktree.
const HOOKS: [&str; 3] = [
    "post-checkout",
    "reference-transaction",
    "post-index-change",
];

const FILTER: &str = "filter.";

/// The filter that downloads files, by programs that the repository's own configuration may name.
pub(crate) const LARGE_FILES: &str = "lfs";

/// The settings of a filter that are commands.
const COMMANDS: [&str; 3] = ["clean", "smudge", "process"];

/// Something that git would have run, and did not, because the repository asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOff {
    /// A hook.
    Hook(PathBuf),
    /// A filter of this name, so that files are as they are in the repository.
    Filter(String),
    /// The program that watches files.
    Monitor(String),
}

/// All settings that hold in a worktree.
#[derive(Debug)]
pub(crate) struct GitSettings(Vec<GitSetting>);

#[derive(Debug)]
struct GitSetting {
    /// Whether the repository says so, and not the user.
    is_own: bool,
    /// Section and name in small letters, what is between them as it is.
    key: String,
    value: Option<String>,
}

impl GitSettings {
    /// Asks git, which follows includes and their conditions: so they hold in just this worktree.
    pub(crate) fn of_repository(repository: &Repository) -> Result<Self, GitError> {
        let mut git = repository.git_command();
        git.args(["config", "--list", "--null", "--show-scope"]);
        let listed = git_output(git)?;
        let mut parts = listed.split(|byte| *byte == 0);
        let mut all = Vec::new();
        while let (Some(scope), Some(setting)) = (parts.next(), parts.next()) {
            let is_own = match scope {
                b"system" | b"global" => false,
                // What we say ourselves.
                b"command" => continue,
                _ => true,
            };
            let mut halves = setting.splitn(2, |byte| *byte == b'\n');
            let key = halves.next().unwrap_or_default();
            let value = halves
                .next()
                .map(|v| String::from_utf8_lossy(v).into_owned());
            let Ok(key) = std::str::from_utf8(key) else {
                if is_own && key.starts_with(FILTER.as_bytes()) {
                    return Err(cannot_be_left_off(&String::from_utf8_lossy(key)));
                }
                continue;
            };
            let key = key.to_owned();
            all.push(GitSetting { is_own, key, value });
        }
        Ok(Self(all))
    }

    /// What the repository says for a key, or the user.
    fn find_setting(&self, key: &str, is_own: bool) -> Option<&GitSetting> {
        let says = |s: &&GitSetting| s.key == key && s.is_own == is_own;
        self.0.iter().rev().find(says)
    }

    fn setting_value(&self, key: &str, is_own: bool) -> Option<&str> {
        self.find_setting(key, is_own)?.value.as_deref()
    }

    /// The filters that are configured, each with whether the repository has a say in it.
    fn filter_names(&self) -> BTreeMap<&str, bool> {
        let mut filters = BTreeMap::new();
        for setting in &self.0 {
            let rest = setting.key.strip_prefix(FILTER);
            if let Some((name, _)) = rest.and_then(|rest| rest.rsplit_once('.')) {
                *filters.entry(name).or_default() |= setting.is_own;
            }
        }
        filters
    }

    /// Leaves off what the repository says about filters: each does what the user configured for it, or
    /// nothing. Gives those that would do something else. One that downloads ([`LARGE_FILES`]) does
    /// nothing.
    pub(crate) fn without_own_filters(&self, git: &mut Command) -> Result<Vec<LeftOff>, GitError> {
        let mut left_off = Vec::new();
        for (name, is_own) in self.filter_names() {
            if name == LARGE_FILES {
                Self::set_filter(git, name, |_| Some(""))?;
                left_off.push(LeftOff::Filter(name.to_owned()));
            } else if is_own {
                let by_user = |key: &str| {
                    self.find_setting(key, true)?;
                    self.setting_value(key, false).or(Some(""))
                };
                let another = |command: &&str| {
                    let key = format!("{FILTER}{name}.{command}");
                    by_user(&key).is_some_and(|value| self.setting_value(&key, true) != Some(value))
                };
                if COMMANDS.iter().any(another) {
                    left_off.push(LeftOff::Filter(name.to_owned()));
                }
                Self::set_filter(git, name, by_user)?;
            }
        }
        Ok(left_off)
    }

    /// Leaves off all filters. Files may seem changed then that are not.
    pub(crate) fn without_filters(&self, git: &mut Command) -> Result<(), GitError> {
        for name in self.filter_names().keys() {
            Self::set_filter(git, name, |_| Some(""))?;
        }
        Ok(())
    }

    /// Says for a filter what is to stand above what it is configured to do.
    fn set_filter<'a>(
        git: &mut Command,
        name: &str,
        above: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<(), GitError> {
        // Git takes all before the first `=` for the key.
        if name.contains('=') {
            return Err(cannot_be_left_off(name));
        }
        let mut is_off = false;
        for command in COMMANDS {
            let key = format!("{FILTER}{name}.{command}");
            if let Some(value) = above(&key) {
                is_off |= value.is_empty();
                git.arg("-c").arg(format!("{key}={value}"));
            }
        }
        if is_off {
            // What does nothing cannot be required.
            git.arg("-c").arg(format!("{FILTER}{name}.required=false"));
        }
        Ok(())
    }

    /// The hooks and the monitor that git would have run in a new worktree.
    pub(crate) fn skipped_programs(&self, repository: &Repository) -> Vec<LeftOff> {
        let named = self.setting_value("core.hookspath", true);
        let named = named.or_else(|| self.setting_value("core.hookspath", false));
        let folder = match named {
            Some(path) => repository.root().join(path),
            None => repository.common_dir().join("hooks"),
        };
        let hooks = HOOKS.iter().map(|name| folder.join(name));
        let mut programs: Vec<LeftOff> = hooks
            .filter(|hook| is_program(hook))
            .map(LeftOff::Hook)
            .collect();
        let monitor = self.setting_value("core.fsmonitor", true);
        let is_word = |value: &&str| {
            let words = ["true", "false", "yes", "no", "on", "off", "1", "0", ""];
            words.iter().any(|word| word.eq_ignore_ascii_case(value))
        };
        let monitor = monitor.filter(|value| !is_word(value));
        programs.extend(monitor.map(|command| LeftOff::Monitor(command.to_owned())));
        programs
    }

    /// Whether objects may be missing here, to be fetched when they are asked for.
    pub(crate) fn is_partial(&self) -> bool {
        let mut keys = self.0.iter().filter(|s| s.is_own).map(|s| &s.key);
        keys.any(|key| {
            key == "extensions.partialclone"
                || (key.starts_with("remote.") && key.ends_with(".promisor"))
        })
    }
}

fn cannot_be_left_off(filter: &str) -> GitError {
    GitError(format!(
        "the repository configures a filter that cannot be left off: `{filter}`"
    ))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
