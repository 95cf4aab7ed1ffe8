//! The files that a session came from.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use rethread_disk::open_read;
use rethread_formats::{CarriedFile, Conversation, PartKind};
use rethread_json::quote;
use rethread_model::Note;

/// How hard originals are packed: they are repeated in every export, so it must be quick.
const LEVEL: i32 = 1;

/// One file of a session.
pub(super) struct OriginalFile<'a> {
    /// Its path below the folder that holds the session, with `/` between names.
    pub(super) name: String,
    /// That folder, with `/` between names.
    pub(super) folder: String,
    content: Content<'a>,
}

enum Content<'a> {
    File(PathBuf),
    /// A part that has no file of its own, such as rows of a database.
    Part(usize, &'a Conversation),
    Carried(CarriedFile),
}

impl OriginalFile<'_> {
    /// Gives the content to somebody.
    pub(super) fn copy(&self, out: &mut dyn Write) -> io::Result<u64> {
        match &self.content {
            Content::File(path) => {
                let file = open_read(path).map_err(io::Error::other)?;
                copy(file, out)
            }
            Content::Part(at, conversation) => match conversation.native.parts.get(*at) {
                Some(part) => copy(part.reader(), out),
                None => Ok(0),
            },
            Content::Carried(file) => copy(file.reader()?, out),
        }
    }
}

fn copy(mut from: impl Read, out: &mut dyn Write) -> io::Result<u64> {
    io::copy(&mut from, out)
}

/// The files of a session, as they were where it was first found.
pub(super) fn files(conversation: &Conversation) -> Result<Vec<OriginalFile<'_>>, crate::Error> {
    let carried = conversation.format.carried(conversation)?;
    if !carried.is_empty() {
        let file = |file: CarriedFile| OriginalFile {
            name: file.path.clone(),
            folder: file.folder.clone(),
            content: Content::Carried(file),
        };
        return Ok(carried.into_iter().map(file).collect());
    }
    let source = &conversation.source;
    let base = if source.path.is_dir() {
        Some(source.path.as_path())
    } else {
        source.path.parent()
    };
    let folder = base.map_or(String::new(), |b| b.to_string_lossy().replace('\\', "/"));
    let parts = &conversation.native.parts;
    let has_no_file = |kind: PartKind| {
        !matches!(
            kind,
            PartKind::Lines | PartKind::Document | PartKind::Opaque
        )
    };
    let shared = |path: &Path| {
        let mut parts = parts.iter();
        parts.any(|part| part.path == path && has_no_file(part.kind))
    };
    let mut files: Vec<OriginalFile<'_>> = Vec::new();
    for path in conversation.format.files(source)? {
        if !shared(&path) {
            let name = name_below(base, &path);
            files.push(OriginalFile {
                name,
                folder: folder.clone(),
                content: Content::File(path),
            });
        }
    }
    for (at, part) in parts.iter().enumerate() {
        if has_no_file(part.kind) {
            let name = format!("part-{at}.jsonl");
            files.push(OriginalFile {
                name,
                folder: folder.clone(),
                content: Content::Part(at, conversation),
            });
        }
    }
    Ok(files)
}

/// The path of a file below a folder, with `/` between names.
fn name_below(base: Option<&Path>, path: &Path) -> String {
    let below = base.and_then(|b| path.strip_prefix(b).ok());
    let below = below.unwrap_or_else(|| path.file_name().map_or(path, Path::new));
    let names = below.components().map(|c| c.as_os_str().to_string_lossy());
    names.collect::<Vec<_>>().join("/")
}

/// Writes files as a JSON value: `{"folder":…,"files":[{"path":…,"zstd_base64":…}]}`. One that cannot
/// be read is noted.
pub(super) fn write(
    out: &mut dyn Write,
    files: &[OriginalFile<'_>],
    notes: &RefCell<Vec<Note>>,
) -> io::Result<()> {
    let folder = files.first().map_or("", |file| file.folder.as_str());
    out.write_all(b"{\"folder\":")?;
    out.write_all(&quote(folder))?;
    out.write_all(b",\"files\":[")?;
    for (at, file) in files.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        out.write_all(b"{\"path\":")?;
        out.write_all(&quote(&file.name))?;
        out.write_all(b",\"zstd_base64\":\"")?;
        let coder = EncoderWriter::new(&mut *out, &STANDARD);
        let mut packer = zstd::stream::write::Encoder::new(coder, LEVEL)?;
        packer.include_checksum(true)?;
        let mut sink = Sink {
            out: &mut packer,
            failed: None,
        };
        let read = file.copy(&mut sink);
        if let Some(failed) = sink.failed {
            return Err(failed);
        }
        if let Err(e) = read {
            let note = Note::damage(format!("cannot be read: {e}; not all of it is exported"));
            notes.borrow_mut().push(note.at(&file.name));
        }
        packer.finish()?.finish()?;
        out.write_all(b"\"}")?;
    }
    out.write_all(b"]}")
}

/// Tells trouble with writing from trouble with reading.
struct Sink<'a> {
    out: &'a mut dyn Write,
    failed: Option<io::Error>,
}

impl Write for Sink<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.out.write(buf).map_err(|e| {
            let kind = e.kind();
            self.failed = Some(e);
            io::Error::from(kind)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
