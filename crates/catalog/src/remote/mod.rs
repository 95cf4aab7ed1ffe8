//! Homes of other machines: copied over the program `ssh`, then read as folders.
//!
//! One connection lists the files that hold conversations, and brings those that are new or changed
//! into the cache folder. A file is put in place whole or not at all, so a connection that breaks
//! leaves the copy as it was, or further on; it never leaves half a file.

mod cksum;
mod coming;
mod listed;
mod mirror;
mod script;
mod state;
mod wire;

use std::io;
use std::time::Duration;

use rethread_disk::DiskError;
use rethread_formats::{Env, Home};
use rethread_model::{Note, home_name};
use sha2::{Digest, Sha256};

use mirror::Mirror;

/// Who is asked for: `HOST` or `USER@HOST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target(String);

impl Target {
    /// Takes what cannot be anything else to `ssh`: no option, no address with a port, no path.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let plain = |part: &str| {
            let mut chars = part.chars();
            let first = chars
                .next()
                .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
            first && chars.all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        let (user, host) = match text.split_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, text),
        };
        let fits = text.len() <= 255 && user.is_none_or(plain) && plain(host);
        fits.then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The machine.
    pub(crate) fn host(&self) -> &str {
        self.0.rsplit('@').next().unwrap_or(&self.0)
    }

    /// What the home is called.
    pub(crate) fn name(&self) -> String {
        home_name("remote", Some(&self.0))
    }

    /// The name of a folder that is only for this one, also where large and small letters are the
    /// same.
    fn key(&self) -> String {
        let digest = Sha256::digest(self.0.as_bytes());
        let digits: Vec<String> = digest.iter().take(4).map(|b| format!("{b:02x}")).collect();
        format!("{}-{}", self.0, digits.concat())
    }
}

/// How to connect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ssh<'a> {
    /// The program, and options for it.
    pub(crate) words: &'a [String],
    /// How long a machine may say nothing.
    pub(crate) patience: Duration,
}

/// Why a home could not be copied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    /// There is nothing to connect with.
    #[error("the settings name no program for `ssh`")]
    NoProgram,
    /// The program could not be started.
    #[error("`{0}` cannot be started: {1}")]
    NotStarted(String, io::Error),
    /// The last words of `ssh`.
    #[error("{0}")]
    Said(String),
    /// The connection ended.
    #[error("the connection ended too early")]
    Broken(io::Error),
    /// It holds the connection, and says nothing.
    #[error("it said nothing for {} seconds", .0.as_secs_f64())]
    Silent(Duration),
    /// What comes is not what was asked for.
    #[error("it does not say {0}")]
    Nonsense(&'static str),
    /// A tool there lacks what is needed.
    #[error("its `head` cannot count bytes")]
    NoHead,
    /// The home folder there is no folder.
    #[error("its home folder cannot be entered")]
    NoHome,
    /// Nobody has so many.
    #[error("it has more than {0} files")]
    TooMany(usize),
    /// The copy could not be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Brings the copy of a home up to date, as far as that works. Gives what can be read, if anything.
/// `progress` is told how many of how many bytes are here.
pub(crate) fn mirror(
    env: &Env,
    ssh: Ssh<'_>,
    target: &Target,
    progress: &mut dyn FnMut(u64, u64),
) -> (Option<Home>, Vec<Note>) {
    let mut mirror = Mirror::open(env, target);
    let mut notes = Vec::new();
    if let Err(e) = mirror.refresh(env, ssh, progress, &mut notes) {
        let before = match mirror.home() {
            Some(_) => "; what was copied before is used",
            None => "",
        };
        let name = target.name();
        let note = Note::damage(format!("`{name}` cannot be read: {e}{before}"));
        notes.push(match e {
            RemoteError::Said(_) | RemoteError::Broken(_) | RemoteError::Nonsense(_) => {
                let hint = format!("`ssh {}` must get in without asking", target.as_str());
                note.hint(hint)
            }
            RemoteError::Silent(_) => {
                note.hint("`ssh_timeout` in the settings says how long it is waited for")
            }
            _ => note,
        });
    }
    (mirror.home(), notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_never_an_option_or_a_command() {
        for good in ["vm01", "ada@VM01.example.org", "a.b-c@10.0.0.1", "_x"] {
            assert!(Target::new(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "-oProxyCommand=x",
            "ada@-x",
            "-l@x",
            "@x",
            "a@",
            "a@b@c",
            "x y",
            "x;y",
            "x$(y)",
            "x:22",
            "x/y",
            "../x",
            ".x",
            "x\ny",
            "ü",
        ] {
            assert!(Target::new(bad).is_none(), "{bad}");
        }
        let target = Target::new("ada@VM01").unwrap();
        assert_eq!(target.host(), "VM01");
        assert_eq!(target.name(), "remote_vm01");
        let other = Target::new("ada@vm01").unwrap();
        assert_ne!(target.key().to_lowercase(), other.key().to_lowercase());
    }
}
