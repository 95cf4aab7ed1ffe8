//! What travels along in a session, and where sessions go.

use std::io;
use std::path::PathBuf;

use rethread_disk::{Mode, create_with, open_read};
use rethread_json::{Object, Value};
use rethread_model::TitleSource;

use super::names::{INDEX, name_of};
use super::packed::{PACKED, open_stream};
use super::store::{SESSIONS, home_of};
use super::write::{add_name, codex_home};
use super::{Codex, FORMAT};
use crate::carry::{InstallTarget, Put, SessionFiles, join_checked, put_files, visit_lines};
use crate::error::read_failed;
use crate::format::unreadable_pieces;
use crate::session_log::SessionLog;
use crate::{Carrier, Conversation, OpenError, Reader, Source, Want, WriteError, Writing};

/// The type of the record that holds what the client has no place for. It skips types that it does
/// not know.
pub(super) const OURS: &str = "rethread";

impl Carrier for Codex {
    fn embed_original(
        &self,
        w: &Writing<'_>,
        source: &Source,
        items: &[Vec<u8>],
    ) -> Result<(), WriteError> {
        self.embed_values(w, source, &mut items.iter().map(|item| Ok(item.clone())))
    }

    /// Keeps values in records of a type that the client skips.
    fn embed_values(
        &self,
        w: &Writing<'_>,
        source: &Source,
        values: &mut dyn Iterator<Item = io::Result<Vec<u8>>>,
    ) -> Result<(), WriteError> {
        let mut log = SessionLog::open(w, &source.path)?;
        let time = w.env.now().to_string();
        for value in values {
            let value = value.map_err(|e| unreadable_pieces(source, e))?;
            let record = Object::new()
                .str("timestamp", &time)
                .str("type", OURS)
                .raw("payload", &value);
            let mut line = record.finish();
            line.push(b'\n');
            log.append(&line)?;
        }
        Ok(())
    }

    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        let mut values = Vec::new();
        self.visit_values(conversation, &mut |value| values.push(value.to_vec()))?;
        Ok(values)
    }

    /// The values that travel in a session.
    fn visit_values(
        &self,
        conversation: &Conversation,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), OpenError> {
        fn find(record: Value<'_>) -> Option<Value<'_>> {
            let is_ours = record.get("type")?.is_str(OURS);
            record.get("payload").filter(|_| is_ours)
        }
        visit_lines(conversation, find, visit)
    }

    /// The folder for a session: by the day in its name, unless the name says more.
    fn destination_folder(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        main: &str,
    ) -> Result<PathBuf, WriteError> {
        let home = codex_home(w.env, place.root.as_deref())?;
        if main.contains('/') {
            return Ok(home);
        }
        // `rollout-2026-11-15T12-00-00-….jsonl`
        let day = main.strip_prefix("rollout-").and_then(|n| n.get(..10));
        let is_day = |day: &&str| day.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let mut folder = home.join(SESSIONS);
        for part in day.filter(is_day).unwrap_or_default().split('-') {
            folder.push(part);
        }
        Ok(folder)
    }

    /// Puts a session into its folder, and its name where the client looks for names.
    fn install(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        goods: &SessionFiles,
    ) -> Result<Put, WriteError> {
        let shelf = self.destination_folder(w, place, goods.main())?;
        // The client takes one that is compressed and one that is not for the same.
        let twin = match goods.main().strip_suffix(PACKED) {
            Some(plain) => join_checked(&shelf, plain)?,
            None => join_checked(&shelf, &format!("{}{PACKED}", goods.main()))?,
        };
        if std::fs::symlink_metadata(&twin).is_ok() {
            return Err(WriteError::Exists {
                id: goods.id.clone(),
                path: twin,
            });
        }
        let put = put_files(w, goods, &shelf)?;
        let Put::New(path) = &put else {
            return Ok(put);
        };
        let home = home_of(path).filter(|home| home.join(INDEX).is_file());
        if home.is_some_and(|home| name_of(&home, &goods.id).is_none()) {
            let source = Source::new(FORMAT, goods.id.clone(), path.clone());
            let head = self.summarize(&source, Want::default()).head;
            let title = head.title.filter(|t| t.source == TitleSource::User);
            if let Some(title) = title {
                add_name(w, path, &head.id, &title.text)?;
            }
        }
        Ok(put)
    }

    /// A compressed session, unpacked: so does the client before it goes on with one.
    fn decompressed(
        &self,
        w: &Writing<'_>,
        goods: &SessionFiles,
    ) -> Result<Option<SessionFiles>, WriteError> {
        let Some(name) = goods.main().strip_suffix(PACKED) else {
            return Ok(None);
        };
        let path = join_checked(&goods.folder, goods.main())?;
        let file = open_read(&path)?;
        let unreadable = read_failed(&path);
        let mut content = open_stream(&file, &path).map_err(unreadable)?;
        let _ = create_with(
            &join_checked(&goods.folder, name)?,
            Mode::Private,
            w.durability,
            |out| std::io::copy(&mut content, out).map(drop),
        )?;
        let rest = goods.names.iter().skip(1).cloned();
        Ok(Some(SessionFiles {
            path: name.to_owned(),
            names: std::iter::once(name.to_owned()).chain(rest).collect(),
            ..goods.clone()
        }))
    }
}
