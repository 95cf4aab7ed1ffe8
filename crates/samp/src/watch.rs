//! Noticing that something was written.

use crate::{error::Error, folder::Folder};

/// Remembers what a message folder looked like: names, files, sizes and times of its logs.
///
/// It looks when it is asked, so it works wherever a folder can be listed: on network shares, and
/// where a sync tool keeps old times.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    last: Option<Vec<LogSnapshot>>,
}

/// One log: owner, file, length and time.
type LogSnapshot = (String, (u64, u64), u64, i128);

impl Watch {
    /// Whether something is different from the last time. The first time, everything is.
    pub fn has_changed(&mut self, folder: &Folder) -> Result<bool, Error> {
        let logs = folder.logs()?;
        let now = logs.logs.iter().chain(&logs.retired).map(|log| {
            let id = log.id.numbers();
            (log.owner.clone(), id, log.len, log.modified_nanos())
        });
        let now = Some(now.collect());
        let changed = self.last != now;
        self.last = now;
        Ok(changed)
    }
}
