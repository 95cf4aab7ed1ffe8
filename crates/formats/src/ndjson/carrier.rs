//! Where exports go: there is no store, so the user says where.

use std::path::PathBuf;

use super::{FORMAT, Ndjson};
use crate::carry::InstallTarget;
use crate::{Carrier, Conversation, OpenError, Source, WriteError, Writing};

impl Carrier for Ndjson {
    fn embed_original(
        &self,
        _: &Writing<'_>,
        _: &Source,
        _items: &[Vec<u8>],
    ) -> Result<(), WriteError> {
        Err(FORMAT.cannot("place for what travels along"))
    }

    fn embedded_original(&self, _: &Conversation) -> Result<Vec<Vec<u8>>, OpenError> {
        Ok(Vec::new())
    }

    fn destination_folder(
        &self,
        _: &Writing<'_>,
        place: &InstallTarget,
        _main: &str,
    ) -> Result<PathBuf, WriteError> {
        let nowhere = || WriteError::BadInput("an export needs `-o DIR`".to_owned());
        place.root.clone().ok_or_else(nowhere)
    }
}
