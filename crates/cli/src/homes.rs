//! Flags that say which homes are looked at.

use clap::Args;
use rethread_engine::{Env, HomeAsk, check_homes, open_homes};
use rethread_model::Note;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Progress;

/// Which homes are looked at, beside the local one.
#[derive(Args, Debug, Default)]
pub(crate) struct HomeFlags {
    /// All homes: the local one, those that `config.toml` names, and those of WSL distributions or
    /// Windows users on this machine.
    #[arg(long)]
    ah: bool,
    /// Also the home on another machine, copied over `ssh`. Can be repeated.
    #[arg(long, value_name = "[USER@]HOST")]
    remote: Vec<String>,
    /// Only the home of this name: `local`, `remote_vm01`, `wsl_ubuntu`, `windows_ada`. Can be
    /// repeated.
    #[arg(long, value_name = "NAME")]
    home_name: Vec<String>,
}

impl HomeFlags {
    /// The names that were asked for.
    pub(crate) fn names(&self) -> Vec<String> {
        self.home_name.clone()
    }

    /// Opens the homes. Gives the environment with them, and what was noticed.
    pub(crate) fn open(&self, context: &Context) -> Result<(Env, Vec<Note>), Failure> {
        let ask = HomeAsk {
            all: self.ah,
            remotes: self.remote.clone(),
            names: self.names(),
        };
        let progress = Progress::of_bytes("copying");
        Ok(open_homes(&context.env, &ask, &mut |done, of| {
            progress.at_byte(done, of);
        })?)
    }

    /// Opens the homes, and says at once what was noticed. Gives the exit code that goes with it.
    pub(crate) fn open_and_tell(&self, context: &Context) -> Result<(Env, Exit), Failure> {
        let (env, notes) = self.open(context)?;
        check_homes(&env, &self.home_name)?;
        let exit = context.notes(&notes);
        Ok((env, exit))
    }
}
