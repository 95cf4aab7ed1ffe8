//! Which hooks the user trusts: exactly the content that was shown, in that place.

use std::path::{Path, PathBuf};

use rethread_disk::{
    DiskError, Durability, Mode, append_line, born, ensure_folder, file_id, read_small, replace,
};
use rethread_formats::Env;
use rethread_formats::Hooks;
use rethread_json::{Object, Tree, split_lines};
use rethread_project::Repository;
use sha2::{Digest, Sha256};

const FILE: &str = "trust.jsonl";

/// Hooks that the user trusts: this content, in this file, of this repository and no other that takes
/// its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedHooks {
    /// The SHA-256 of the whole block, in hex.
    pub hash: String,
    /// The configuration that has it, in the real root of the project.
    pub path: PathBuf,
    /// The repository's git folder.
    pub repository: PathBuf,
    /// What tells that folder from another one at the same path.
    pub identity: String,
}

impl TrustedHooks {
    /// What trusting these hooks would mean.
    pub fn of_hooks(hooks: &Hooks, repository: &Repository) -> Self {
        let hash = Sha256::digest(&hooks.raw);
        let hex = hash.chunks(8).map(|chunk| {
            let mut eight = [0; 8];
            eight.copy_from_slice(chunk);
            format!("{:016x}", u64::from_be_bytes(eight))
        });
        Self {
            hash: hex.collect(),
            path: hooks.config.clone(),
            repository: repository.common_dir().to_owned(),
            identity: repository_identity(repository),
        }
    }

    /// Whether the user trusts exactly this.
    pub fn is_given(&self, env: &Env) -> bool {
        !self.identity.is_empty() && trusted_or_nothing(env).contains(self)
    }

    /// Remembers that the user trusts exactly this.
    pub fn grant_trust(&self, env: &Env) -> Result<(), DiskError> {
        if self.is_given(env) {
            return Ok(());
        }
        ensure_folder(&env.data, &Mode::Private, Durability::Close)?;
        append_line(
            &env.data.join(FILE),
            &self.record_line(),
            Mode::Private,
            Durability::Close,
        )
        .map(drop)
    }

    fn record_line(&self) -> Vec<u8> {
        Object::new()
            .str("hash", &self.hash)
            .str("path", &self.path.to_string_lossy())
            .str("repository", &self.repository.to_string_lossy())
            .str("identity", &self.identity)
            .finish()
    }
}

/// What tells a repository from another one at the same path: the number of its git folder, and when
/// that was made. Where the disk does not remember that, where its history begins. Empty where
/// nobody can tell.
fn repository_identity(repository: &Repository) -> String {
    let folder = repository.common_dir();
    let Ok(id) = file_id(folder) else {
        return String::new();
    };
    let (_, number) = id.numbers();
    if let Some(born) = born(folder) {
        return format!("{number} made {}", born.as_nanos());
    }
    let commits = repository.root_commits();
    commits.map_or_else(String::new, |c| format!("{number} from {}", c.join(" ")))
}

/// What cannot be read is not trusted.
fn trusted_or_nothing(env: &Env) -> Vec<TrustedHooks> {
    trusted_hooks(env).unwrap_or_default()
}

/// Everything that the user trusts.
pub fn trusted_hooks(env: &Env) -> Result<Vec<TrustedHooks>, DiskError> {
    let bytes = match read_small(&env.data.join(FILE)) {
        Err(DiskError::NotFound { .. }) => return Ok(Vec::new()),
        read => read?,
    };
    let mut tree = Tree::default();
    let mut all = Vec::new();
    for (_, line) in split_lines(&bytes) {
        if tree.parse_into(line).is_err() {
            continue;
        }
        let text = |key| Some(tree.root(line).get(key)?.str()?.into_owned());
        let places = text("path").zip(text("repository"));
        if let (Some(hash), Some((path, repository)), Some(identity)) =
            (text("hash"), places, text("identity"))
        {
            all.push(TrustedHooks {
                hash,
                path: path.into(),
                repository: repository.into(),
                identity,
            });
        }
    }
    Ok(all)
}

/// Takes back all trust in the hooks of a configuration; gives how much there was.
pub fn revoke_trust(env: &Env, config: &Path) -> Result<usize, DiskError> {
    let (gone, kept): (Vec<_>, Vec<_>) = trusted_hooks(env)?
        .into_iter()
        .partition(|t| t.path == config);
    if !gone.is_empty() {
        let mut bytes = Vec::new();
        for trust in &kept {
            bytes.extend(trust.record_line());
            bytes.push(b'\n');
        }
        replace(
            &env.data.join(FILE),
            &bytes,
            Mode::Private,
            Durability::Close,
        )?;
    }
    Ok(gone.len())
}
