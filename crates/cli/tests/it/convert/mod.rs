//! Any conversation into any agent, and back.

mod agents;
mod branches;
mod compacted;
mod copies;
mod earlier;
mod edits;
mod imported;
mod judges;
mod masked;
mod matrix;
mod native;
mod onward;
mod parted;
mod pinned;
mod places;
mod properties;
mod same_words;
mod syncs;
mod told;
mod unanswered;
mod verbs;

use std::fs;
use std::path::{Path, PathBuf};

use rethread_engine::{
    ConvertOptions, Converted, Durability, Env, FormatRef, Source, Writing, convert_session,
};
use rethread_formats::Agents;
use rethread_formats::carry::own_files;

use crate::opencode::store::empty_database;
use crate::world::{NOW, World};

/// A world in which sessions are converted without starting a program for each.
struct Desk {
    world: World,
    env: Env,
    made: std::cell::Cell<u32>,
}

impl Desk {
    fn new() -> Self {
        let world = World::new();
        let variables = [("RETHREAD_NOW", NOW), ("RETHREAD_SEED", "1"), ("TZ", "UTC")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let home = Some(world.home.clone());
        let env = Env::from_variables(variables.into(), home, world.project.clone());
        Self {
            env: env.unwrap(),
            world,
            made: std::cell::Cell::new(0),
        }
    }

    fn writing(&self) -> Writing<'_> {
        Writing {
            env: &self.env,
            durability: Durability::None,
            lock_timeout: std::time::Duration::from_secs(10),
            strict: false,
        }
    }

    /// A folder that is an agent's own.
    fn root(&self, format: FormatRef) -> PathBuf {
        let number = self.made.get();
        self.made.set(number + 1);
        let root = self.world.root.join(number.to_string());
        let root = match format.slug() {
            "atomic" => root.join(".atomic/agent"),
            _ => root,
        };
        fs::create_dir_all(&root).unwrap();
        if format.slug() == "opencode" {
            drop(empty_database(&root.join("opencode.db")));
        }
        root
    }

    fn convert(
        &self,
        source: &Source,
        to: FormatRef,
    ) -> Result<(Converted, Source), rethread_engine::Error> {
        self.convert_to(source, to, &self.root(to))
    }

    fn convert_to(
        &self,
        source: &Source,
        to: FormatRef,
        root: &Path,
    ) -> Result<(Converted, Source), rethread_engine::Error> {
        let ask = ConvertOptions {
            to,
            root: Some(root),
            cwd: None,
            lean: false,
            agents: true,
            dry_run: false,
        };
        let done = convert_session(&self.writing(), source, &ask)?;
        let text = done.path.to_str().unwrap();
        let path = text.split_once('#').map_or(text, |(path, _)| path);
        let made = Source::new(to, done.id.clone(), path.into());
        Ok((done, made))
    }
}

/// The files of a session by their last names, each with its bytes; of rows, the values.
fn contents(source: &Source) -> Vec<(String, Vec<u8>)> {
    let conversation = source.format.reader().read(source).unwrap();
    let agents = Agents::of(&conversation);
    let mut all: Vec<(String, Vec<u8>)> = own_files(&conversation, &agents)
        .unwrap()
        .into_iter()
        .map(|(name, mut reader)| {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).unwrap();
            let last = Path::new(&name).file_name().unwrap();
            (last.to_string_lossy().into_owned(), bytes)
        })
        .collect();
    all.sort();
    all
}

/// All files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
