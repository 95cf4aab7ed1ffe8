//! The variables that other programs are given.

use std::process::Command;

/// The variables that a program is given where they are set, beside `LC_*`: where programs, the
/// user's own files and temporary files are, who the user is, which language and which time.
/// Whatever else is set stays here, such as tokens, and variables that steer git or an interpreter.
pub const VARIABLES: [&str; 32] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    // Windows
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Gives a command none of this process's variables but [`VARIABLES`] and `LC_*`.
///
/// ```
/// use std::process::Command;
/// use rethread_run::remove_private_variables;
///
/// let mut command = Command::new("ls");
/// remove_private_variables(&mut command);
/// let mut given = command.get_envs().map(|(name, _)| name.to_string_lossy());
/// assert!(!given.any(|name| name.starts_with("CARGO_")));
/// ```
#[allow(
    clippy::disallowed_methods,
    reason = "what another program is given comes from what this one was given, and is not looked at"
)]
pub fn remove_private_variables(command: &mut Command) {
    command.env_clear();
    let kept = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_given));
    command.envs(kept);
}

fn is_given(name: &str) -> bool {
    // Windows spells them in any case.
    let is = |known: &&str| {
        if cfg!(windows) {
            known.eq_ignore_ascii_case(name)
        } else {
            **known == *name
        }
    };
    name.starts_with("LC_") || VARIABLES.iter().any(is)
}
