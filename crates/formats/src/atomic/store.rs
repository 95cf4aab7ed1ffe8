//! Where Atomic keeps its sessions.

use std::path::PathBuf;

use crate::Env;
use crate::pi::{expanded_folder, is_atomic};

/// The variable that names Atomic's folder.
const FOLDER_VARIABLE: &str = "ATOMIC_CODING_AGENT_DIR";

/// The folder of Atomic that a variable names.
///
/// Without its own variable, Atomic follows pi's. That folder is listed once: as pi's, unless a
/// folder `.atomic` is on the way to it.
pub(super) fn folder(env: &Env) -> Option<PathBuf> {
    let legacy = || expanded_folder(env, "PI_CODING_AGENT_DIR").filter(|p| is_atomic(p));
    expanded_folder(env, FOLDER_VARIABLE).or_else(legacy)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::{FormatRef, Root, atomic, pi};

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a home is laid out for the test")]
    fn the_old_variable_names_a_folder_of_one_of_the_two() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for name in [".atomic/agent", ".pi/agent", "x/.atomic/a", "y"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let found = |variables: &[(&str, &Path)]| {
            let variables: BTreeMap<String, OsString> = variables
                .iter()
                .map(|(k, v)| ((*k).to_owned(), v.as_os_str().to_owned()))
                .collect();
            let env = Env::from_variables(variables, Some(home.path().into()), at("y")).unwrap();
            let paths = |roots: Vec<Root>| roots.into_iter().map(|r| r.path).collect::<Vec<_>>();
            let located = |format: FormatRef| paths(format.store().locate(&env, &[]));
            (located(atomic::FORMAT), located(pi::FORMAT))
        };
        let old = "PI_CODING_AGENT_DIR";
        assert_eq!(
            found(&[]),
            (vec![at(".atomic/agent")], vec![at(".pi/agent")])
        );
        assert_eq!(
            found(&[(old, &at("y"))]),
            (vec![at(".atomic/agent")], vec![at("y")])
        );
        assert_eq!(
            found(&[(old, &at("x/.atomic/a"))]),
            (vec![at("x/.atomic/a")], vec![at(".pi/agent")])
        );
        assert_eq!(
            found(&[(old, &at("y")), (FOLDER_VARIABLE, &at("y"))]),
            (vec![at("y")], vec![at(".pi/agent")])
        );
    }
}
