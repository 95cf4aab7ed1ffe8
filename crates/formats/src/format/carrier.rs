//! Keeping originals in sessions, and putting whole sessions into a store.

use std::io;
use std::path::{Path, PathBuf};

use rethread_disk::DiskError;

use super::Source;
use crate::carry::{InstallTarget, Put, SessionFiles, put_files};
use crate::{Conversation, OpenError, WriteError, Writing};

/// Keeping the originals of other formats in a session, and putting a session's files into a store.
pub trait Carrier: Sync {
    /// Keeps values in a session where its client leaves them alone, and sends them to nobody.
    fn embed_original(
        &self,
        w: &Writing<'_>,
        source: &Source,
        items: &[Vec<u8>],
    ) -> Result<(), WriteError>;

    /// As [`embed_original`](Self::embed_original), one value after the other.
    fn embed_values(
        &self,
        w: &Writing<'_>,
        source: &Source,
        values: &mut dyn Iterator<Item = io::Result<Vec<u8>>>,
    ) -> Result<(), WriteError> {
        let values: io::Result<Vec<Vec<u8>>> = values.collect();
        let values = values.map_err(|e| unreadable_pieces(source, e))?;
        self.embed_original(w, source, &values)
    }

    /// The values that were kept so.
    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError>;

    /// Shows these values to somebody, one after the other.
    fn visit_values(
        &self,
        conversation: &Conversation,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), OpenError> {
        let values = self.embedded_original(conversation)?;
        for value in &values {
            visit(value);
        }
        Ok(())
    }

    /// The folder of a store that a session's files go to, by the name of the main one.
    fn destination_folder(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        main: &str,
    ) -> Result<PathBuf, WriteError>;

    /// Prepares a folder so that sessions can be written to it as if it were the store.
    fn stage(&self, _: &Writing<'_>, _: &InstallTarget, _folder: &Path) -> Result<(), WriteError> {
        Ok(())
    }

    /// Puts a session into a store, whole or not at all.
    fn install(
        &self,
        w: &Writing<'_>,
        place: &InstallTarget,
        goods: &SessionFiles,
    ) -> Result<Put, WriteError> {
        put_files(w, goods, &self.destination_folder(w, place, goods.main())?)
    }

    /// The session in files that were unpacked into a folder, where it is not its main file or folder
    /// as it lies there.
    fn unpacked(&self, _: &SessionFiles) -> Result<Option<Source>, WriteError> {
        Ok(None)
    }

    /// The files of a session as its client has them when it goes on with it, in the same folder; none
    /// where those are the ones that are there.
    fn decompressed(
        &self,
        _: &Writing<'_>,
        _: &SessionFiles,
    ) -> Result<Option<SessionFiles>, WriteError> {
        Ok(None)
    }
}

/// What is said where pieces of an original cannot be read again.
pub(crate) fn unreadable_pieces(source: &Source, cause: io::Error) -> DiskError {
    DiskError::Read {
        path: source.path.clone(),
        cause,
    }
}
