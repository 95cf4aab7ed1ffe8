//! Every state of the disk that a power cut may leave.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rethread_samp::Durability;

use super::super::{Post, names};
use super::calls::{Call, calls, compact_with_late, tracing};
use super::{LOG, all, full_log, send};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Inode {
    Old,
    New,
}

/// What a call does to names.
#[derive(Clone, Debug)]
enum Change {
    Made(String),
    Linked(String),
    Renamed(String, String),
    Removed(String),
}

/// Which file has which name.
type Names = BTreeMap<String, Inode>;

/// A disk whose power is cut: what was synced is there; of the rest, anything may be.
struct Cut {
    lasting: Names,
    pending: Vec<Change>,
    /// How many bytes of the new log were written, and how many of these synced.
    written: usize,
    synced: usize,
    /// Whether the message that came in between was acknowledged.
    has_late: bool,
}

/// What is on the disk after a cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Image {
    names: Names,
    len: usize,
    has_late: bool,
}

impl Change {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Made(name) => {
                names.insert(name.clone(), Inode::New);
            }
            Self::Linked(name) => {
                names.insert(name.clone(), Inode::Old);
            }
            Self::Renamed(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
            Self::Removed(name) => {
                names.remove(name);
            }
        }
    }
}

impl Cut {
    fn call(&mut self, call: &Call, dir: &Path) {
        let here = format!("{}/", dir.display());
        let name = |n: usize| {
            let rest = call.rest.split(&here).nth(n + 1).unwrap_or_default();
            let end = rest.find(['"', '>', '<']).unwrap_or(rest.len());
            rest[..end].to_owned()
        };
        let is_folder = call.rest.contains(&format!("<{}>", dir.display()));
        match call.name.as_str() {
            "openat" => self.pending.push(Change::Made(name(0))),
            "linkat" => self.pending.push(Change::Linked(name(1))),
            "rename" => {
                self.has_late = true;
                self.pending.push(Change::Renamed(name(0), name(1)));
            }
            "unlink" => self.pending.push(Change::Removed(name(0))),
            "write" => {
                let taken = call.rest.rsplit("= ").next().unwrap().trim();
                self.written += taken.parse::<usize>().unwrap();
            }
            "fsync" | "fdatasync" if is_folder => {
                for change in self.pending.drain(..) {
                    change.apply(&mut self.lasting);
                }
            }
            "fsync" | "fdatasync" => self.synced = self.written,
            "fchmod" | "fchown" | "flock" => {}
            other => panic!("{other}"),
        }
    }

    /// Everything that may be there if the power is cut now.
    fn images(&self) -> impl Iterator<Item = Image> {
        (0..1_u32 << self.pending.len()).flat_map(|which| {
            let mut names = self.lasting.clone();
            for (n, change) in self.pending.iter().enumerate() {
                if which & (1 << n) > 0 {
                    change.apply(&mut names);
                }
            }
            [self.synced, self.written].map(|len| Image {
                names: names.clone(),
                len,
                has_late: self.has_late,
            })
        })
    }
}

#[test]
fn whenever_the_power_is_cut_each_acknowledged_message_is_there() {
    let Some(strace) = crate::world::strace() else {
        return;
    };
    let p = Post::new();
    let trace = p.w.root.join("trace");
    let delay = "inject=rename:delay_enter=500000";
    let which = tracing();
    let options = [
        "-qq",
        "-y",
        "-s",
        "0",
        "-e",
        &which,
        "-e",
        delay,
        "-o",
        trace.to_str().unwrap(),
    ];
    // On a busy machine the moment may be over before the message is sent.
    let mut tries = 0;
    let (old, new) = loop {
        tries += 1;
        assert!(tries < 50, "never sent in between");
        let _ = fs::remove_dir_all(&p.dir);
        p.put(LOG, full_log());
        let kept = p.w.root.join("old");
        let _ = fs::remove_file(&kept);
        fs::hard_link(p.path(LOG), &kept).unwrap();
        let (code, is_late) = compact_with_late(&p, &strace, &options, "late");
        assert_eq!(code, Some(0));
        let old = fs::read_to_string(&kept).unwrap();
        let new = p.read(LOG);
        if is_late && old.contains("late") && new.matches("\"late\"").count() == 1 {
            break (old, new);
        }
    };
    let mut cut = Cut {
        lasting: Names::from([(LOG.to_owned(), Inode::Old)]),
        pending: Vec::new(),
        written: 0,
        synced: 0,
        has_late: false,
    };
    let mut images = BTreeSet::new();
    for call in calls(&fs::read_to_string(&trace).unwrap(), &p.dir) {
        cut.call(&call, &p.dir);
        images.extend(cut.images());
    }
    assert_eq!((cut.written, cut.synced), (new.len(), new.len()));
    let end = Names::from([(LOG.to_owned(), Inode::New)]);
    assert!(
        cut.pending.is_empty() && cut.lasting == end,
        "{:?}",
        cut.lasting
    );
    assert!(images.len() > 10, "{images:?}");
    for (n, image) in images.iter().enumerate() {
        let dir = p.w.root.join(format!("image-{n}"));
        fs::create_dir(&dir).unwrap();
        for (name, inode) in &image.names {
            let content = match inode {
                Inode::Old if image.has_late => &old,
                Inode::Old => &full_log(),
                Inode::New => &new[..image.len],
            };
            fs::write(dir.join(name), content).unwrap();
        }
        let mut expected = vec!["old", "one", "two"];
        if image.has_late {
            expected.insert(0, "late");
        }
        assert_eq!(all(&dir), expected, "{image:?}");
        send(&dir, "zzz next", Durability::None);
        expected.push("zzz next");
        assert_eq!(all(&dir), expected, "{image:?}");
        assert_eq!(names(&dir), [LOG], "{image:?}");
    }
}
