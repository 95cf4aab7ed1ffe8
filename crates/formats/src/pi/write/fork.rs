//! Copies of sessions, which go from file to file.

use std::io::{self, BufWriter, Write};

use rethread_json::{Lines, Tree};

use crate::Part;
use crate::fields::string_of;
use crate::pi::CURRENT_VERSION;
use crate::pi::manager::{
    Host, LONGEST, LoadedEntry, Rehung, SessionError, SessionManager, changed_entry, header_of,
    label_lines, scan,
};
use crate::pi::migrate::Migration;
use crate::pi::tree::Label;

/// The way from the root to an entry.
pub(in crate::pi) struct Way {
    /// The places of its entries among those of the file.
    places: Vec<u32>,
    /// Where the line of each entry of the file begins.
    starts: Vec<u64>,
}

impl Way {
    /// A circle of parents is walked once.
    pub(in crate::pi) fn to(
        part: &Part,
        old: &SessionManager,
        id: &str,
    ) -> Result<Self, SessionError> {
        /// No entry has these places.
        const NONE: u32 = u32::MAX;
        const SEEN: u32 = NONE - 1;
        let narrow = |at: usize| u32::try_from(at).unwrap_or(NONE);
        let not_found = || SessionError::EntryNotFound { id: id.to_owned() };
        let last = old.place_of(id).ok_or_else(not_found)?;
        let (mut parents, mut starts) = (Vec::new(), Vec::new());
        let scanned = scan(part, |found| {
            let parent = string_of(found.value, "parentId");
            let parent = parent.and_then(|id| old.place_of(&id));
            parents.push(parent.map_or(NONE, narrow));
            starts.push(found.line.offset);
            Ok(())
        });
        scanned.map_err(|cause| {
            let path = part.path.clone();
            SessionError::Disk(rethread_disk::DiskError::Read { path, cause })
        })?;
        let mut places = Vec::new();
        let mut at = narrow(last);
        while let Some(parent) = parents.get_mut(at as usize)
            && *parent != SEEN
        {
            places.push(at);
            at = std::mem::replace(parent, SEEN);
        }
        places.reverse();
        Ok(Self { places, starts })
    }

    /// Whether no entry stands before one that it hangs from.
    fn is_in_order(&self) -> bool {
        self.places.is_sorted()
    }
}

/// A session while it is copied.
pub(in crate::pi) struct Copy<'a, W: Write> {
    pub(in crate::pi) host: &'a Host,
    pub(in crate::pi) part: &'a Part,
    pub(in crate::pi) old: &'a SessionManager,
    pub(in crate::pi) new: SessionManager,
    pub(in crate::pi) out: BufWriter<W>,
}

impl<W: Write> Copy<'_, W> {
    fn line(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.write_all(b"\n")
    }

    /// Writes the header of the copy.
    pub(in crate::pi) fn header(&mut self) -> io::Result<()> {
        self.out.write_all(self.new.header().raw())?;
        self.out.write_all(b"\n")
    }

    /// Copies an entry as it is.
    fn entry(&mut self, found: &LoadedEntry<'_>) -> io::Result<()> {
        self.new.pass(found.value);
        if found.is_whole {
            return self.line(found.value.raw());
        }
        io::copy(&mut found.bytes(self.part), &mut self.out)?;
        self.out.write_all(b"\n")
    }

    /// Copies all entries.
    pub(in crate::pi) fn all(&mut self) -> io::Result<()> {
        let part = self.part;
        scan(part, |found| self.entry(&found))?;
        Ok(())
    }

    /// Copies the entries of a way without labels, and sets their labels anew behind them.
    pub(in crate::pi) fn way(&mut self, way: &Way) -> io::Result<()> {
        let mut rehung = Rehung::default();
        let mut labelled: Vec<(Label, String)> = Vec::new();
        let part = self.part;
        let mut each = |found: &LoadedEntry<'_>| self.rehung(found, &mut rehung, &mut labelled);
        if way.is_in_order() {
            let (mut at, mut next) = (0, way.places.iter().peekable());
            scan(part, |found| {
                let is_next = next.next_if(|place| **place == at).is_some();
                at += 1;
                if is_next { each(&found) } else { Ok(()) }
            })?;
        } else {
            for place in &way.places {
                let start = way.starts.get(*place as usize).copied();
                entry_at(part, start.unwrap_or(part.len()), &mut each)?;
            }
        }
        let labels = labelled.iter().map(|(label, id)| (label, id.as_str()));
        let is_taken = |id: &str| self.new.place_of(id).is_some();
        let parent = rehung.last();
        let lines = label_lines(self.host.env(), labels.collect(), parent, is_taken);
        for line in lines {
            let tree = Tree::parse(&line).unwrap_or_default();
            self.new.pass(tree.root(&line));
            self.line(&line)?;
        }
        Ok(())
    }

    /// Copies an entry of a way, unless it is a label.
    fn rehung(
        &mut self,
        found: &LoadedEntry<'_>,
        rehung: &mut Rehung,
        labelled: &mut Vec<(Label, String)>,
    ) -> io::Result<()> {
        let Some(changes) = rehung.changes(found.value) else {
            return Ok(());
        };
        let id = string_of(found.value, "id").unwrap_or_default();
        let label = self.old.label_on(&id).cloned();
        labelled.extend(label.map(|label| (label, id)));
        if changes.is_empty() {
            return self.entry(found);
        }
        self.new.pass(found.value);
        if found.is_whole {
            return self.line(&changed_entry(found.value.raw(), &changes));
        }
        let mut whole = Vec::new();
        io::Read::read_to_end(&mut found.bytes(self.part), &mut whole)?;
        self.line(&changed_entry(&whole, &changes))
    }

    /// Names the copy, and ends it.
    pub(in crate::pi) fn close(mut self, title: Option<&str>) -> io::Result<()> {
        if let Some(title) = title {
            let named = self.new.append_session_info(title);
            named.map_err(io::Error::other)?;
        }
        for entry in self.new.entries() {
            self.out.write_all(entry.raw())?;
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }
}

/// Hands over the entry whose line begins there, in a file whose entries name their parents.
fn entry_at(
    part: &Part,
    start: u64,
    each: &mut impl FnMut(&LoadedEntry<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut lines = Lines::with_cap(part.range(start..part.len()), LONGEST);
    let Some(line) = lines.next_line()? else {
        return Ok(());
    };
    let mut span = line.span;
    span.offset += start;
    let bytes = line.whole().unwrap_or_default();
    let (mut tree, mut patched) = (Tree::default(), Tree::default());
    if tree.parse_into(bytes).is_err() {
        return Ok(());
    }
    let raw = tree.root(bytes).raw();
    let is_old = header_of(&part.path).is_some_and(|header| header.version() < CURRENT_VERSION);
    let today = if is_old && patched.parse_into(raw).is_ok() {
        // Lists have no way but theirs, so this is no list: it has ids of its own.
        Migration::from(CURRENT_VERSION - 1).entry(patched.root(raw))
    } else {
        raw.to_vec()
    };
    let tree = Tree::parse(&today).unwrap_or_default();
    each(&LoadedEntry {
        value: tree.root(&today),
        line: span,
        is_whole: true,
    })
}
