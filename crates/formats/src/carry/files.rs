//! The files of a session, as they can travel.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rethread_disk::open_read;

use super::CarriedFile;
use crate::{Conversation, OpenError, Part, PartKind};

/// One file that a session came from.
#[derive(Debug)]
pub struct Original<'a> {
    /// Its path below the folder that holds the session, with `/` between names.
    pub name: String,
    /// That folder, with `/` between names.
    pub folder: String,
    content: Content<'a>,
}

#[derive(Debug)]
enum Content<'a> {
    File(PathBuf),
    /// A part that has no file of its own: rows of a database.
    Part(&'a Part),
    Carried(CarriedFile<'a>),
}

impl Original<'_> {
    /// Its content.
    pub fn reader(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &self.content {
            Content::File(path) => Box::new(open_read(path).map_err(io::Error::other)?),
            Content::Part(part) => Box::new(part.reader()),
            Content::Carried(file) => Box::new(file.reader()?),
        })
    }

    /// Gives the content to somebody; gives back how many bytes there are.
    pub fn copy(&self, out: &mut dyn Write) -> io::Result<u64> {
        io::copy(&mut self.reader()?, out)
    }
}

impl<'a> From<CarriedFile<'a>> for Original<'a> {
    fn from(file: CarriedFile<'a>) -> Self {
        Self {
            name: file.path.clone(),
            folder: file.folder.clone(),
            content: Content::Carried(file),
        }
    }
}

/// The files of a session, as they were where it was first found, and those of its sub-agents where
/// these are to come along. Rows of a database are a file for each table, in a folder that is named
/// like the session.
pub fn originals(
    conversation: &Conversation,
    with_agents: bool,
) -> Result<Vec<Original<'_>>, OpenError> {
    let carried = conversation.format.carried(conversation)?;
    if !carried.is_empty() {
        return Ok(carried.into_iter().map(Original::from).collect());
    }
    let source = &conversation.source;
    let paths = if with_agents {
        with_agents_of(conversation)?
    } else {
        needed(conversation)?
    };
    let base = common_folder(&source.path, &paths);
    let there = |base: &Path| source.home.as_ref().and_then(|home| home.path_there(base));
    let called = |base: &Path| there(base).unwrap_or_else(|| base.to_string_lossy().into_owned());
    let folder = base.map_or(String::new(), |b| called(b).replace('\\', "/"));
    let parts = &conversation.native.parts;
    let table = |part: &Part| match part.kind {
        PartKind::Rows { table } => Some(table),
        PartKind::Lines | PartKind::Document | PartKind::Opaque => None,
    };
    let is_shared = |path: &Path| {
        let mut parts = parts.iter();
        parts.any(|part| part.path == path && table(part).is_some())
    };
    let of = |name: String, content| Original {
        name,
        folder: folder.clone(),
        content,
    };
    let mut files = Vec::new();
    for path in paths {
        if !is_shared(&path) {
            files.push(of(name_below(base, &path), Content::File(path)));
        }
    }
    for part in parts {
        if let Some(table) = table(part) {
            let database = name_below(base, &part.path);
            let name = format!("{database}.rows/{}/{table}.jsonl", source.id);
            files.push(of(name, Content::Part(part)));
        }
    }
    Ok(files)
}

/// The files of a session, the main one first, and behind them those of others that it goes on from:
/// without these it is not whole.
pub(super) fn needed(conversation: &Conversation) -> Result<Vec<PathBuf>, OpenError> {
    let mut paths = conversation.format.files(&conversation.source)?;
    for part in &conversation.native.parts {
        if part.borrowed && part.is_present() && !paths.contains(&part.path) {
            paths.push(part.path.clone());
        }
    }
    Ok(paths)
}

/// The same, and the files of its sub-agents.
pub(super) fn with_agents_of(conversation: &Conversation) -> Result<Vec<PathBuf>, OpenError> {
    let mut paths = needed(conversation)?;
    for agent in conversation.format.agents(&conversation.source) {
        paths.extend(conversation.format.files(&agent)?);
    }
    Ok(paths)
}

/// The folder that holds a session with all of its files. There is none if they are on several drives.
fn common_folder<'a>(source: &'a Path, files: &[PathBuf]) -> Option<&'a Path> {
    let mut base = if source.is_dir() {
        Some(source)
    } else {
        source.parent()
    };
    for file in files {
        while let Some(folder) = base.filter(|folder| !file.starts_with(folder)) {
            base = folder.parent();
        }
    }
    base
}

/// The path of a file below a folder, with `/` between names.
pub(super) fn name_below(base: Option<&Path>, path: &Path) -> String {
    let below = base.and_then(|b| path.strip_prefix(b).ok());
    let below = below.unwrap_or_else(|| path.file_name().map_or(path, Path::new));
    let names = below.components().map(|c| c.as_os_str().to_string_lossy());
    names.collect::<Vec<_>>().join("/")
}
