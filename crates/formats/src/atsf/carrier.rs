//! What travels along in a thread, and where threads go.

use std::path::PathBuf;

use rethread_disk::{
    DiskError, LockedLog, Mode, SafeName, ensure_folder, join, read_small, replace,
};
use rethread_json::{Object, Patch, Tree, Value};

use super::Atsf;
use super::assets::Asset;
use super::create::ensure_store;
use super::manifest::Manifest;
use super::store::{AGENT, ASSETS, LOG, MANIFEST, THREADS};
use crate::carry::{InstallTarget, converted_from};
use crate::fields::string_of;
use crate::{Carrier, Conversation, OpenError, Projects, Source, WriteError, Writing};

/// The key in `metadata` that names the asset. The asset itself is kept out of git.
pub(super) const OURS: &str = "rethread";

impl Carrier for Atsf {
    /// Keeps values in an asset.
    fn embed_original(
        &self,
        w: &Writing<'_>,
        source: &Source,
        items: &[Vec<u8>],
    ) -> Result<(), WriteError> {
        let _lock = LockedLog::open(&source.path.join(LOG), w.lock_timeout)?;
        let mode = Mode::like(&source.path)?;
        let asset = Asset::new(items.join(&b'\n'), "application/x-ndjson");
        asset.save(w, &source.path, mode)?;
        let first = items
            .first()
            .and_then(|item| Tree::parse(item).ok().zip(Some(item)));
        let from = first.and_then(|(tree, item)| converted_from(tree.root(item)));
        let note = Object::new()
            .str("asset", &asset.name)
            .opt_str("from", from.as_ref().map(|from| from.format.as_str()))
            .opt_str("id", from.as_ref().map(|from| from.id.as_str()))
            .finish();
        let manifest = Manifest::read(&source.path)?;
        let root = manifest.root();
        let mut patch = Patch::new(root);
        match root.get("metadata").filter(|m| m.is_object()) {
            Some(metadata) => patch.set(metadata, OURS, &note),
            None => patch.set(root, "metadata", &Object::new().raw(OURS, &note).finish()),
        }
        let path = source.path.join(MANIFEST);
        replace(&path, &patch.finish(), mode, w.durability)?;
        Ok(())
    }

    /// The values in that asset.
    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        let thread = &conversation.source.path;
        let manifest = Manifest::read_any_version(thread)?;
        let named = manifest.root().at(&["metadata", OURS]);
        let Some(name) = named.and_then(|note: Value<'_>| string_of(note, "asset")) else {
            return Ok(Vec::new());
        };
        let Ok(name) = SafeName::new(&name) else {
            return Ok(Vec::new());
        };
        match read_small(&join(&thread.join(ASSETS), &name)) {
            Ok(bytes) => {
                let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
                Ok(lines.map(<[u8]>::to_vec).collect())
            }
            // A clone has no assets.
            Err(DiskError::NotFound { .. }) => Ok(Vec::new()),
            Err(e) => Err(e.into()),
        }
    }

    /// The folder for the threads of a project.
    fn destination_folder(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        _main: &str,
    ) -> Result<PathBuf, WriteError> {
        let project = match &place.root {
            Some(root) => root.clone(),
            None => self.project_of(&place.cwd),
        };
        let there = project.ancestors().find(|f| f.is_dir());
        let mode = Mode::like(there.unwrap_or(&project))?;
        ensure_folder(&project, &mode, w.durability)?;
        ensure_store(w, &project)?;
        Ok(project.join(AGENT).join(THREADS))
    }
}
