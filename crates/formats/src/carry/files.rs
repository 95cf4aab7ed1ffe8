//! The files of a session, as they can travel.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rethread_disk::open_read;

use super::CarriedFile;
use crate::{Agents, Conversation, OpenError, Part, PartKind};

/// One file that a session came from.
#[derive(Debug)]
pub struct OriginalFile<'a> {
    /// Its path below the folder that holds the session, with `/` between names.
    pub name: String,
    /// That folder, with `/` between names.
    pub folder: String,
    content: FileContent<'a>,
}

#[derive(Debug)]
enum FileContent<'a> {
    File(PathBuf),
    /// A part that has no file of its own: rows of a database.
    Part(&'a Part),
    Carried(CarriedFile<'a>),
}

impl OriginalFile<'_> {
    /// Its content.
    pub fn content_reader(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &self.content {
            FileContent::File(path) => Box::new(open_read(path).map_err(io::Error::other)?),
            FileContent::Part(part) => Box::new(part.reader()),
            FileContent::Carried(file) => Box::new(file.content_reader()?),
        })
    }

    /// Gives the content to somebody; gives back how many bytes there are.
    pub fn copy_content(&self, out: &mut dyn Write) -> io::Result<u64> {
        io::copy(&mut self.content_reader()?, out)
    }
}

impl<'a> From<CarriedFile<'a>> for OriginalFile<'a> {
    fn from(file: CarriedFile<'a>) -> Self {
        Self {
            name: file.path.clone(),
            folder: file.folder.clone(),
            content: FileContent::Carried(file),
        }
    }
}

/// The files of a session, as they were where it was first found, and those of the sub-agents that
/// are to come along. Rows of a database are a file for each table, in a folder that is named like
/// the session.
pub fn original_files<'a>(
    conversation: &'a Conversation,
    agents: Option<&'a Agents>,
) -> Result<Vec<OriginalFile<'a>>, OpenError> {
    let carried = conversation.carried()?;
    if !carried.is_empty() {
        return Ok(carried.into_iter().map(OriginalFile::from).collect());
    }
    let source = &conversation.source;
    let paths = match agents {
        Some(agents) => with_agents(conversation, agents)?,
        None => needed_files(conversation)?,
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
    // A database holds other sessions as well, and so does the log beside it.
    let is_shared = |path: &Path| {
        let is_of = |part: &Part| {
            let mut log = part.path.clone().into_os_string();
            log.push("-wal");
            part.path == path || path.as_os_str() == log
        };
        let mut parts = parts.iter();
        parts.any(|part| table(part).is_some() && is_of(part))
    };
    let of = |name: String, content| OriginalFile {
        name,
        folder: folder.clone(),
        content,
    };
    let mut files = Vec::new();
    for path in paths {
        if !is_shared(&path) {
            files.push(of(name_below(base, &path), FileContent::File(path)));
        }
    }
    let agents = agents.into_iter().flat_map(|agents| &agents.read);
    for one in std::iter::once(conversation).chain(agents) {
        for part in &one.native.parts {
            if let Some(table) = table(part) {
                let database = name_below(base, &part.path);
                let name = format!("{database}.rows/{}/{table}.jsonl", one.source.id);
                files.push(of(name, FileContent::Part(part)));
            }
        }
    }
    Ok(files)
}

/// The files of a session, the main one first, and behind them those of others that it goes on from:
/// without these it is not whole.
pub(super) fn needed_files(conversation: &Conversation) -> Result<Vec<PathBuf>, OpenError> {
    let mut paths = conversation
        .source
        .format
        .store()
        .files(&conversation.source)?;
    for part in &conversation.native.parts {
        if part.borrowed && part.is_present() && !paths.contains(&part.path) {
            paths.push(part.path.clone());
        }
    }
    Ok(paths)
}

/// The same, and the files of its sub-agents, each once.
pub(super) fn with_agents(
    conversation: &Conversation,
    agents: &Agents,
) -> Result<Vec<PathBuf>, OpenError> {
    let mut paths = needed_files(conversation)?;
    let mut known: HashSet<PathBuf> = paths.iter().cloned().collect();
    let mut add = |more: Vec<PathBuf>| {
        let new = more.into_iter().filter(|path| known.insert(path.clone()));
        paths.extend(new);
    };
    for agent in &agents.read {
        add(needed_files(agent)?);
    }
    for (agent, _) in &agents.torn {
        // What cannot be looked at at all cannot come along, either.
        add(conversation
            .source
            .format
            .store()
            .files(agent)
            .unwrap_or_default());
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
