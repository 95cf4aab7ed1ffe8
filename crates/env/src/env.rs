//! What the library may know of the machine it runs on: folders, variables, clock, randomness.
//!
//! Everything else in the library is given an [`Env`]; [`Env::system`] is the one place that asks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use rethread_model::Moment;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::Home;

/// Folders, variables, clock and randomness.
#[derive(Clone, Debug)]
pub struct Env {
    /// The home folders in which agents' stores are looked for.
    pub homes: Vec<PathBuf>,
    /// Whether the homes were named by the user: then agents' variables do not count, and the
    /// current folder is not searched.
    pub homes_are_given: bool,
    /// Homes beside that: of other machines, and of other systems on this one.
    pub others: Vec<Arc<Home>>,
    /// The names of all homes beside the user's own that could be asked for.
    pub home_names: Vec<String>,
    /// The current folder.
    pub cwd: PathBuf,
    /// Rethread's own data folder.
    pub data: PathBuf,
    /// Rethread's own cache folder; what is in it can be deleted without loss.
    pub cache: PathBuf,
    /// Rethread's own folder of settings.
    pub config: PathBuf,
    /// Whether what is known of sessions from before may be used, and kept.
    pub uses_catalogue: bool,
    /// The folder outside of which no project is looked for, if there is one.
    pub within: Option<PathBuf>,
    variables: BTreeMap<String, OsString>,
    clock: Clock,
    random: Random,
}

/// The environment holds something that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// No home folder is known.
    #[error("the home folder is not known; set `HOME` or `RETHREAD_HOME`")]
    NoHome,
    /// The current folder is gone or may not be read.
    #[error("the current folder cannot be read: {0}")]
    NoCurrentFolder(std::io::Error),
    /// `RETHREAD_NOW` is no time.
    #[error("`RETHREAD_NOW` is `{0}`, which is not an RFC 3339 date and time")]
    BadClock(String),
}

/// What time it is.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// That of the machine, and how many milliseconds it is off.
    Running(i64),
    /// Always the same.
    Standing(Moment),
}

#[derive(Clone, Debug)]
enum Random {
    System,
    /// A seed, and how many times it was asked.
    Seeded {
        seed: String,
        asked: Arc<AtomicU64>,
    },
}

impl Env {
    /// The environment of this process.
    #[allow(
        clippy::disallowed_methods,
        reason = "the one place that asks the machine; everything else is given an `Env`"
    )]
    pub fn system() -> Result<Self, EnvError> {
        let variables: BTreeMap<String, OsString> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        let home = std::env::home_dir();
        let cwd = std::env::current_dir().map_err(EnvError::NoCurrentFolder)?;
        Self::from_variables(variables, home, cwd)
    }

    /// The environment that these variables describe.
    pub fn from_variables(
        variables: BTreeMap<String, OsString>,
        home: Option<PathBuf>,
        cwd: PathBuf,
    ) -> Result<Self, EnvError> {
        let text = |name: &str| {
            variables
                .get(name)
                .filter(|v| !v.is_empty())
                .map(|v| v.to_string_lossy().into_owned())
        };
        let clock = text("RETHREAD_NOW")
            .map(|now| now.parse().map_err(|_| EnvError::BadClock(now.clone())))
            .transpose()?
            .map_or(Clock::Running(0), Clock::Standing);
        let random = text("RETHREAD_SEED").map_or(Random::System, |seed| Random::Seeded {
            seed,
            asked: Arc::default(),
        });
        let within = text("RETHREAD_WITHIN").map(|folder| cwd.join(folder));
        let own = text("RETHREAD_HOME").map(PathBuf::from);
        let folder = |own_name: &str, variable: &str, by_default: [&str; 2]| match &own {
            Some(own) => Ok(cwd.join(own).join(own_name)),
            None => xdg_folder(&variables, variable, home.as_deref(), by_default)
                .ok_or(EnvError::NoHome),
        };
        let data = folder("data", "XDG_DATA_HOME", [".local", "share"])?;
        let cache = folder("cache", "XDG_CACHE_HOME", [".cache", ""])?;
        let config = folder("config", "XDG_CONFIG_HOME", [".config", ""])?;
        let homes = home.into_iter().collect();
        Ok(Self {
            homes,
            homes_are_given: false,
            others: Vec::new(),
            home_names: Vec::new(),
            cwd,
            data,
            cache,
            config,
            uses_catalogue: true,
            within,
            variables,
            clock,
            random,
        })
    }

    /// Looks for agents' stores under these homes instead of the user's own.
    pub fn use_homes(&mut self, homes: &[PathBuf]) {
        self.homes = homes.iter().map(|h| self.cwd.join(h)).collect();
        self.homes_are_given = true;
    }

    /// The environment in which another home is the only one.
    #[must_use]
    pub fn inside(&self, home: &Home) -> Self {
        Self {
            homes: vec![home.folder.clone()],
            homes_are_given: true,
            others: Vec::new(),
            ..self.clone()
        }
    }

    /// The environment of somebody who has just this home, works in `cwd`, and whose folders of
    /// Rethread's own are below `own`.
    #[must_use]
    pub fn within_home(&self, home: &Path, cwd: &Path, own: &Path) -> Self {
        Self {
            homes: vec![home.to_owned()],
            homes_are_given: true,
            others: Vec::new(),
            cwd: cwd.to_owned(),
            data: own.join("data"),
            cache: own.join("cache"),
            config: own.join("config"),
            ..self.clone()
        }
    }

    /// The other home that a path is in.
    pub fn home_of(&self, path: &Path) -> Option<&Arc<Home>> {
        self.others.iter().find(|h| path.starts_with(&h.folder))
    }

    /// A variable that the system sets, such as the name of the distribution under Windows.
    pub fn system_variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name).filter(|v| !v.is_empty())
    }

    /// An agent's variable; none counts while the homes are given by the user.
    pub fn agent_variable(&self, name: &str) -> Option<&OsString> {
        if self.homes_are_given {
            None
        } else {
            self.variables.get(name).filter(|v| !v.is_empty())
        }
    }

    /// The file that describes the user's time zone, where it is plain which one it is.
    ///
    /// Reading it takes a moment; looking a zone up by its name means to list hundreds.
    pub fn zone_file(&self) -> Option<PathBuf> {
        let Some(name) = self.variables.get("TZ") else {
            return cfg!(unix).then(|| PathBuf::from("/etc/localtime"));
        };
        let name = name.to_str().filter(|name| !name.is_empty())?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-');
        let is_plain = name
            .split('/')
            .all(|part| !part.is_empty() && part.chars().all(plain));
        (cfg!(unix) && is_plain).then(|| Path::new("/usr/share/zoneinfo").join(name))
    }

    /// The same environment at another time.
    #[must_use]
    pub fn at(&self, moment: Moment) -> Self {
        Self {
            clock: Clock::Standing(moment),
            ..self.clone()
        }
    }

    /// The same environment with a clock that runs on from this time; one that stands still stays
    /// as it is.
    #[must_use]
    pub fn running_from(&self, moment: Moment) -> Self {
        let clock = match self.clock {
            standing @ Clock::Standing(_) => standing,
            Clock::Running(off) => {
                let ahead = moment.millis().saturating_sub(self.now().millis());
                Clock::Running(off.saturating_add(ahead))
            }
        };
        Self {
            clock,
            ..self.clone()
        }
    }

    /// Now.
    pub fn now(&self) -> Moment {
        match self.clock {
            Clock::Standing(moment) => moment,
            Clock::Running(off) => {
                let now: Moment = Timestamp::now().into();
                let off = now.millis().checked_add(off);
                off.and_then(Moment::from_millis).unwrap_or(now)
            }
        }
    }

    /// Whether the clock runs: one that the user set stands still.
    pub fn has_running_clock(&self) -> bool {
        matches!(self.clock, Clock::Running(_))
    }

    /// Sixteen random bytes. With a seed, they follow from the seed, `salt` and how often it was
    /// asked, so that the same command on the same store gives the same bytes.
    pub fn random_bytes(&self, salt: &[u8]) -> [u8; 16] {
        let mut bytes = [0; 16];
        match &self.random {
            Random::System => {
                bytes = Uuid::new_v4().into_bytes();
            }
            Random::Seeded { seed, asked } => {
                let asked = asked.fetch_add(1, Ordering::Relaxed);
                let digest = Sha256::new()
                    .chain_update(seed.as_bytes())
                    .chain_update([0])
                    .chain_update(salt)
                    .chain_update(asked.to_le_bytes())
                    .finalize();
                bytes.copy_from_slice(&digest[..16]);
            }
        }
        bytes
    }

    /// A random UUID of version 4.
    pub fn uuid(&self, salt: &[u8]) -> Uuid {
        uuid::Builder::from_random_bytes(self.random_bytes(salt)).into_uuid()
    }
}

/// `rethread` in the folder that a variable names, by default in one below the home folder.
fn xdg_folder(
    variables: &BTreeMap<String, OsString>,
    variable: &str,
    home: Option<&Path>,
    by_default: [&str; 2],
) -> Option<PathBuf> {
    let xdg = variables
        .get(variable)
        .map(PathBuf::from)
        .filter(|p| p.is_absolute());
    let below = |home: &Path| {
        let names = by_default.iter().filter(|name| !name.is_empty());
        names.fold(home.to_owned(), |folder, name| folder.join(name))
    };
    Some(xdg.or_else(|| home.map(below))?.join("rethread"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(variables: &[(&str, &str)]) -> Result<Env, EnvError> {
        let variables = variables
            .iter()
            .map(|(k, v)| ((*k).to_owned(), OsString::from(v)))
            .collect();
        Env::from_variables(variables, Some("/home/u".into()), "/w".into())
    }

    #[test]
    fn own_folders_follow_the_variables() {
        let data = |v: &[(&str, &str)]| env(v).unwrap().data;
        assert_eq!(data(&[]), Path::new("/home/u/.local/share/rethread"));
        assert_eq!(data(&[("XDG_DATA_HOME", "/x")]), Path::new("/x/rethread"));
        assert_eq!(
            data(&[("XDG_DATA_HOME", "x")]),
            Path::new("/home/u/.local/share/rethread")
        );
        assert_eq!(data(&[("RETHREAD_HOME", "r")]), Path::new("/w/r/data"));
        let cache = |v: &[(&str, &str)]| env(v).unwrap().cache;
        assert_eq!(cache(&[]), Path::new("/home/u/.cache/rethread"));
        assert_eq!(cache(&[("XDG_CACHE_HOME", "/x")]), Path::new("/x/rethread"));
        assert_eq!(cache(&[("RETHREAD_HOME", "r")]), Path::new("/w/r/cache"));
        let config = |v: &[(&str, &str)]| env(v).unwrap().config;
        assert_eq!(config(&[]), Path::new("/home/u/.config/rethread"));
        assert_eq!(config(&[("RETHREAD_HOME", "r")]), Path::new("/w/r/config"));
    }

    #[test]
    fn a_seed_gives_the_same_ids_and_a_clock_stands() {
        let make = || {
            env(&[
                ("RETHREAD_SEED", "7"),
                ("RETHREAD_NOW", "2026-01-02T03:04:05Z"),
            ])
            .unwrap()
        };
        let (a, b) = (make(), make());
        assert_eq!(a.uuid(b"x"), b.uuid(b"x"));
        assert_ne!(
            a.uuid(b"x"),
            make().uuid(b"x"),
            "asking twice gives another id"
        );
        assert_ne!(make().uuid(b"x"), make().uuid(b"y"));
        assert_eq!(a.now().to_string(), "2026-01-02T03:04:05.000Z");
        assert_eq!(a.uuid(b"x").get_version_num(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn the_zone_s_file_follows_the_variable() {
        let file = |v: &[(&str, &str)]| env(v).unwrap().zone_file();
        assert_eq!(file(&[]), Some("/etc/localtime".into()));
        let berlin = Some("/usr/share/zoneinfo/Europe/Berlin".into());
        assert_eq!(file(&[("TZ", "Europe/Berlin")]), berlin);
        for odd in [
            "",
            ":Europe/Berlin",
            "../../etc/passwd",
            "/etc/localtime",
            "CET-1CEST,M3",
        ] {
            assert_eq!(file(&[("TZ", odd)]), None, "{odd}");
        }
    }

    #[test]
    fn a_bad_clock_is_an_error() {
        let error = env(&[("RETHREAD_NOW", "soon")]).unwrap_err();
        assert!(error.to_string().contains("`soon`"), "{error}");
    }

    #[test]
    fn given_homes_hide_the_variables() {
        let mut e = env(&[("CODEX_HOME", "/c")]).unwrap();
        assert!(e.agent_variable("CODEX_HOME").is_some());
        e.use_homes(&["h".into()]);
        assert_eq!(e.agent_variable("CODEX_HOME"), None);
        assert_eq!(e.homes, [PathBuf::from("/w/h")]);
    }
}
