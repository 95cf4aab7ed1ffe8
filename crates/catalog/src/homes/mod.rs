//! Which homes there are beside the user's own, and opening them.

mod config;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethread_disk::{DiskError, windows_users, wsl_homes};
use rethread_formats::{Env, Home, HomeKind};
use rethread_model::Note;

use crate::remote::{Ssh, Target, mirror};
use config::Config;
pub use config::{BudgetSettings, Dollars, PriceSettings, StatsSettings, stats_settings};

/// Which homes are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HomeAsk {
    /// All that are known.
    pub all: bool,
    /// Those of users of other machines: `HOST` or `USER@HOST`.
    pub remotes: Vec<String>,
    /// Only those of these names, such as `local` or `remote_vm01`.
    pub names: Vec<String>,
}

impl HomeAsk {
    /// Whether nothing but the user's own home is wanted.
    pub fn is_empty(&self) -> bool {
        !self.all && self.remotes.is_empty() && self.names.is_empty()
    }

    fn takes(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|n| n.eq_ignore_ascii_case(name))
    }
}

/// Why homes cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// The settings make no sense.
    #[error("`{}`{}: {message}", .path.display(), .line.map_or(String::new(), |l| format!(", line {l}")))]
    Settings {
        /// The file.
        path: PathBuf,
        /// The line.
        line: Option<u64>,
        /// What is wrong with it.
        message: String,
    },
    /// That cannot be the name of a machine.
    #[error("`{0}` is no machine: `HOST` or `USER@HOST` is wanted")]
    NotAMachine(String),
    /// The settings cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl HomeError {
    /// The file concerned.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Settings { path, .. } => Some(path),
            Self::Disk(e) => e.path(),
            Self::NotAMachine(_) => None,
        }
    }

    /// The line concerned.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::Settings { line, .. } => *line,
            Self::NotAMachine(_) | Self::Disk(_) => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotAMachine(_) => Some(
                "ports and other options of a machine belong into the settings of `ssh`".to_owned(),
            ),
            Self::Settings { .. } | Self::Disk(_) => None,
        }
    }
}

/// A home that could be opened.
enum Known {
    Folder(Home),
    Remote(Target),
}

impl Known {
    fn name(&self) -> String {
        match self {
            Self::Folder(home) => home.name(),
            Self::Remote(target) => target.name(),
        }
    }
}

/// Opens the homes that are wanted, which for those of other machines means to copy what is new
/// there. Gives the environment in which they are looked at, and what was noticed: a home that
/// cannot be reached is noted, and the others are opened. `progress` is told how many of how many
/// bytes of a home are copied.
pub fn open_homes(
    env: &Env,
    ask: &HomeAsk,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Env, Vec<Note>), HomeError> {
    let mut opened = env.clone();
    let mut notes = Vec::new();
    if ask.is_empty() {
        return Ok((opened, notes));
    }
    let config = Config::read(env)?;
    let known = known(env, &config, &ask.remotes)?;
    opened.home_names = known.iter().map(Known::name).collect();
    if !ask.takes("local") {
        opened.use_homes(&[]);
    }
    for one in known {
        let name = one.name();
        let named = matches!(&one, Known::Remote(t) if ask.remotes.iter().any(|r| r == t.as_str()));
        let wanted = ask.all || !ask.names.is_empty() || named;
        if !wanted || !ask.takes(&name) {
            continue;
        }
        match one {
            Known::Remote(target) => {
                let ssh = Ssh {
                    words: &config.ssh,
                    patience: config.ssh_timeout.0,
                };
                let (home, said) = mirror(env, ssh, &target, progress);
                notes.extend(said);
                opened.others.extend(home.map(Arc::new));
            }
            Known::Folder(home) if home.folder.is_dir() => opened.others.push(Arc::new(home)),
            Known::Folder(home) => {
                let note = Note::damage(format!("`{name}` cannot be read: no such folder"));
                notes.push(note.at(&home.folder));
            }
        }
    }
    Ok((opened, notes))
}

/// All homes that the settings or the user name, and those of the other system on this machine.
fn known(env: &Env, config: &Config, remotes: &[String]) -> Result<Vec<Known>, HomeError> {
    let mut known: Vec<Known> = Vec::new();
    let mut targets: Vec<Target> = Vec::new();
    for remote in config.remotes.iter().chain(remotes) {
        let target = Target::new(remote).ok_or_else(|| HomeError::NotAMachine(remote.clone()))?;
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    known.extend(targets.into_iter().map(Known::Remote));
    let folder = |kind, host: &String, folder: &PathBuf| {
        let folder = env.config.join(folder);
        Home {
            kind,
            host: host.clone(),
            there: called_there(kind, &folder),
            folder,
        }
    };
    let set = |kind| match kind {
        HomeKind::Wsl => &config.wsl,
        HomeKind::Windows | HomeKind::Remote => &config.windows,
    };
    let mut homes: Vec<Home> = Vec::new();
    for (kind, found) in [
        (HomeKind::Wsl, found_wsl(env)),
        (HomeKind::Windows, found_windows(env)),
    ] {
        let all = set(kind)
            .iter()
            .map(|(host, path)| folder(kind, host, path));
        homes.extend(all);
        for (host, path) in found {
            let home = folder(kind, &host, &path);
            if homes.iter().all(|h| h.folder != home.folder) {
                homes.push(home);
            }
        }
    }
    known.extend(homes.into_iter().map(Known::Folder));
    Ok(known)
}

/// The users of Windows, seen from a Linux distribution under it. That is told by a variable of the
/// system: who was started without any is not to find homes by itself.
fn found_windows(env: &Env) -> Vec<(String, PathBuf)> {
    match env.system_variable("WSL_DISTRO_NAME") {
        Some(_) => windows_users(Path::new("/mnt")),
        None => Vec::new(),
    }
}

/// The users of Linux distributions, seen from Windows.
fn found_wsl(env: &Env) -> Vec<(String, PathBuf)> {
    match env.system_variable("USERPROFILE") {
        Some(_) => wsl_homes(),
        None => Vec::new(),
    }
}

/// What a home folder is called in its own system, as far as its path tells.
fn called_there(kind: HomeKind, folder: &Path) -> String {
    let name = |path: Option<&Path>| {
        let name = path.and_then(Path::file_name).unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let (user, around) = (name(Some(folder)), folder.parent());
    let above = name(around);
    match kind {
        HomeKind::Wsl if above == "home" => format!("/home/{user}"),
        HomeKind::Wsl if user == "root" => "/root".to_owned(),
        HomeKind::Windows if above.eq_ignore_ascii_case("users") => {
            let drive = name(around.and_then(Path::parent)).to_uppercase();
            let is_letter = drive.len() == 1 && drive.bytes().all(|b| b.is_ascii_uppercase());
            let drive = if is_letter { drive.as_str() } else { "C" };
            format!(r"{drive}:\Users\{user}")
        }
        _ => folder.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_their_names_in_their_own_system() {
        let there = |kind, folder: &str| called_there(kind, Path::new(folder));
        assert_eq!(there(HomeKind::Wsl, "/x/Ubuntu/home/ada"), "/home/ada");
        assert_eq!(there(HomeKind::Wsl, "/x/Ubuntu/root"), "/root");
        assert_eq!(there(HomeKind::Wsl, "/srv/ada"), "/srv/ada");
        assert_eq!(
            there(HomeKind::Windows, "/mnt/d/Users/Ada"),
            r"D:\Users\Ada"
        );
        assert_eq!(there(HomeKind::Windows, "/srv/Users/Ada"), r"C:\Users\Ada");
    }
}
