//! A message folder of its own for each test.

use std::{fs, path::PathBuf};

use rethread_samp::{
    Alias, Batch, Draft, Durability, Folder, Id, Inbox, New, Sent, Trouble, cursor_folder,
};
use tempfile::TempDir;

/// A moment from which on tests count.
pub(crate) const NOW: i64 = 1_777_180_000;

pub(crate) struct Post {
    pub(crate) temp: TempDir,
    pub(crate) folder: Folder,
}

pub(crate) fn alias(name: &str) -> Alias {
    Alias::new(name).unwrap()
}

impl Post {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::new(temp.path().join("messages"));
        folder.create(Durability::None).unwrap();
        Self { temp, folder }
    }

    pub(crate) fn send(&self, from: &str, to: &str, text: &str, ts: i64) -> Sent {
        let draft = Draft {
            from: &alias(from),
            to: &alias(to),
            text,
        };
        draft.send(&self.folder, ts, Durability::None).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the folder as it is.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// What is new for somebody; nothing is noted yet.
    pub(crate) fn look(&self, me: &str, now: i64) -> New {
        let me = alias(me);
        let inbox = Inbox {
            folder: &self.folder,
            me: &me,
            now,
            lenient: false,
        };
        let cursor = cursor_folder(&self.temp.path().join("cache"), &self.folder, &me);
        inbox.new_messages(&cursor).unwrap()
    }

    /// What is new for somebody, shown and noted.
    pub(crate) fn inbox(&self, me: &str, now: i64) -> Shown {
        let mut new = self.look(me, now);
        let shown = show(&mut new.batch);
        let troubles = new.note();
        assert_eq!(troubles, []);
        shown
    }
}

/// What was shown.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) bodies: Vec<String>,
    pub(crate) late: Vec<bool>,
    pub(crate) ids: Vec<Id>,
    pub(crate) troubles: Vec<Trouble>,
}

pub(crate) fn show(batch: &mut Batch) -> Shown {
    let (mut bodies, mut late, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    batch
        .each(|message| {
            bodies.push(message.record.body().into_owned());
            late.push(message.is_late);
            ids.push(message.id);
            Ok::<(), std::convert::Infallible>(())
        })
        .unwrap();
    Shown {
        bodies,
        late,
        ids,
        troubles: batch.troubles().to_vec(),
    }
}

/// A line as any program may write it, with the right id.
pub(crate) fn line(from: &str, to: &str, body: &str, ts: i64) -> String {
    let id = Id::of(ts, from, to, "t", body);
    let record = serde_json::json!({
        "id": id.to_string(), "ts": ts, "from": from, "to": to, "thread": "t", "body": body,
    });
    format!("{record}\n")
}
