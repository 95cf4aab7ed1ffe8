//! Our side of the comparison, as a process: this program calls itself with [`FLAG`].

use std::collections::BTreeMap;
use std::path::Path;

use rethread_formats::Env;
use rethread_formats::pi::{Host, SessionManager};

use crate::benchmark::Outcome;

/// The first argument of such a process.
pub(crate) const FLAG: &str = "--pi";

/// Does the task that the arguments name, if they ask for one.
pub(crate) fn run(args: &[String]) -> Option<Outcome> {
    match args {
        [flag, task, path] if flag == FLAG => Some(work(task, path.as_ref())),
        _ => None,
    }
}

fn work(task: &str, path: &Path) -> Outcome {
    let folder = path.parent().unwrap_or(path).to_owned();
    let env = Env::from_variables(BTreeMap::new(), Some(folder.clone()), folder)?;
    let host = Host::pi(env);
    let count = if task == "context" {
        let session = SessionManager::open(&host, path, None)?;
        session.build_session_context().messages.len()
    } else {
        SessionManager::list_all(&host, Some(path), None)?.len()
    };
    println!("{count}");
    Ok(())
}
