//! Real sessions of one agent, read whole and for a list, against a document model that parses the
//! same JSON and keeps nothing. `RETHREAD_CORPUS` names the folder with the sessions.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::{FormatRef, Source, Want};
use rethread_json::split_lines;
use rethread_model::{Bodies as _, EntryIx};

use crate::benchmark::{Outcome, Pair, Side};

/// Parsing by the others, as it is told.
pub(crate) const PEER: &str = "serde_json::Value of every line";

/// What is done with each session.
#[derive(Clone, Copy)]
pub(crate) enum Task {
    /// Whole sessions: every byte, all entries, their links, and what is known of the whole. What
    /// an entry says is decoded when somebody asks for it.
    Open,
    /// The same, and somebody asks for every entry.
    Read,
    /// What a list shows.
    List(Want),
}

/// All files of an agent in the folder of real sessions, in order.
pub(crate) fn files(folder: &str) -> Outcome<Vec<PathBuf>> {
    let corpus = std::env::var_os("RETHREAD_CORPUS");
    let corpus = corpus.ok_or("`RETHREAD_CORPUS` names no folder of real sessions")?;
    let mut files = Vec::new();
    let mut folders = vec![Path::new(&corpus).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The sessions in these files, but for those that no reader takes.
pub(crate) fn pair(files: Vec<PathBuf>, format: FormatRef, task: Task) -> Outcome<Box<dyn Pair>> {
    let source = |path: PathBuf| Source::new(format, String::new(), path);
    let mut sources: Vec<Source> = files.into_iter().map(source).collect();
    sources.retain(|source| format.reader().read(source).is_ok());
    if sources.is_empty() {
        return Err(format!("there are no sessions of {format}").into());
    }
    Ok(Box::new(Real {
        format,
        task,
        sources,
    }))
}

struct Real {
    format: FormatRef,
    task: Task,
    sources: Vec<Source>,
}

impl Pair for Real {
    fn run(&mut self, side: Side) -> Outcome {
        for source in &self.sources {
            match (side, self.task) {
                (Side::Subject, Task::Open) => {
                    std::hint::black_box(self.format.reader().read(source)?);
                }
                (Side::Subject, Task::Read) => {
                    let read = self.format.reader().read(source)?;
                    let entries = 0..read.session.entries().len();
                    for ix in entries.filter_map(EntryIx::new) {
                        std::hint::black_box(read.body(ix));
                    }
                }
                (Side::Subject, Task::List(want)) => {
                    std::hint::black_box(self.format.reader().summarize(source, want));
                }
                (Side::Peer, _) => parse(&source.path)?,
            }
        }
        Ok(())
    }
}

/// A log has a value in each line, everything else is one document. Some are damaged, and then there
/// is nothing to do.
fn parse(path: &Path) -> Outcome {
    let bytes = fs::read(path)?;
    let parse = |json: &[u8]| {
        let value = serde_json::from_slice::<serde_json::Value>(json);
        std::hint::black_box(value.ok());
    };
    if path.extension().is_some_and(|e| e == "json") {
        parse(&bytes);
    } else {
        split_lines(&bytes).for_each(|(_, line)| parse(line));
    }
    Ok(())
}
