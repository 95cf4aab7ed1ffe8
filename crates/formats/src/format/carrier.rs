//! Keeping originals in sessions, and putting whole sessions into a store.

use std::path::{Path, PathBuf};

use super::Source;
use crate::carry::{Goods, Place, Put, put_files};
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

    /// The values that were kept so.
    fn embedded_original(&self, conversation: &Conversation) -> Result<Vec<Vec<u8>>, OpenError>;

    /// The folder of a store that a session's files go to, by the name of the main one.
    fn destination_folder(
        &self,
        w: &Writing<'_>,
        place: &Place,
        main: &str,
    ) -> Result<PathBuf, WriteError>;

    /// Prepares a folder so that sessions can be written to it as if it were the store.
    fn stage(&self, _: &Writing<'_>, _: &Place, _folder: &Path) -> Result<(), WriteError> {
        Ok(())
    }

    /// Puts a session into a store, whole or not at all.
    fn install(&self, w: &Writing<'_>, place: &Place, goods: &Goods) -> Result<Put, WriteError> {
        put_files(w, goods, &self.destination_folder(w, place, goods.main())?)
    }

    /// The session in files that were unpacked into a folder, where it is not its main file or folder
    /// as it lies there.
    fn unpacked(&self, _: &Goods) -> Result<Option<Source>, WriteError> {
        Ok(None)
    }

    /// The files of a session as its client has them when it goes on with it, in the same folder; none
    /// where those are the ones that are there.
    fn decompressed(&self, _: &Writing<'_>, _: &Goods) -> Result<Option<Goods>, WriteError> {
        Ok(None)
    }
}
