//! Where sessions live, and what their files are called.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use rethread_disk::{SafeName, join};
use rethread_model::{Note, Summary};

use super::sniff::is_session;
use super::{ClaudeCode, FORMAT};
use crate::kit::{SourceSink, agent_folders, folder_entries, known_roots, require_file};
use crate::{Dependencies, Env, OpenError, Removal, Root, Source, Store, WriteError};

/// The folder of projects in the client's folder.
pub(super) const PROJECTS: &str = "projects";
/// The folder of sub-agents in a session's own folder.
const SUBAGENTS: &str = "subagents";
/// The folder of long outputs in a session's own folder.
const TOOL_RESULTS: &str = "tool-results";
/// How deep groups of sub-agents are looked for.
const DEEPEST: usize = 8;
/// The longest name of a project's folder before a hash ends it, in UTF-16 units.
const LONGEST: usize = 200;

impl Store for ClaudeCode {
    /// The client's folders that are there: the one that a variable names, else one in each home.
    fn locate(&self, env: &Env, _known: &[PathBuf]) -> Vec<Root> {
        let folders = config_folders(env).into_iter();
        known_roots(
            FORMAT,
            folders.filter(|folder| folder.join(PROJECTS).is_dir()),
        )
    }

    fn watched_folders(&self, root: &Root) -> Vec<(PathBuf, bool)> {
        vec![(root.path.join(PROJECTS), true)]
    }

    fn list(&self, root: &Root, out: &mut dyn FnMut(Result<Source, Note>)) {
        list_folder(&root.path, out);
    }

    /// The sessions at a path that the user named: a file, a project's folder, or the client's. Only
    /// files that look like transcripts, because anybody may call a file by a UUID.
    fn at_path(&self, path: &Path) -> Vec<Source> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut sources = Vec::new();
        if path.is_file() {
            let in_store = |p: &Path| {
                let projects = p.ancestors().nth(2).and_then(Path::file_name);
                projects.is_some_and(|name| name == PROJECTS)
            };
            match TranscriptName::of(&path) {
                Some(named) if is_session(&path) => sources.push(source_at(named, path)),
                // A damaged or empty one, where the client keeps them.
                Some(named @ TranscriptName::Session(_)) if in_store(&path) => {
                    sources.push(source_at(named, path));
                }
                _ => {}
            }
            return sources;
        }
        list_folder(&path, &mut |found| sources.extend(found.ok()));
        sources.retain(|s| is_session(&s.path));
        sources
    }

    /// The files of a session: its transcript, what describes it, and long outputs of its tools.
    fn files(&self, source: &Source) -> Result<Vec<PathBuf>, OpenError> {
        let path = &source.path;
        require_file(source)?;
        let mut files = vec![path.clone()];
        let meta = meta_file(path);
        if matches!(TranscriptName::of(path), Some(TranscriptName::Agent(_))) && meta.is_file() {
            files.push(meta);
        }
        let outputs = path.with_extension("").join(TOOL_RESULTS);
        let outputs = folder_entries(&outputs, &mut |_| {});
        files.extend(outputs.into_iter().filter(|p| p.is_file()));
        Ok(files)
    }

    /// The transcript, and what describes a sub-agent.
    fn dependencies(&self, source: &Source, summary: &Summary) -> Dependencies {
        let path = &source.path;
        let meta = summary.is_subagent().then(|| meta_file(path));
        Dependencies::on(std::iter::once(path.clone()).chain(meta).collect())
    }

    /// What goes with a session: its own folder, with its sub-agents and long outputs; of a sub-agent,
    /// what describes it. The transcript is last, so that whoever is interrupted can try again.
    fn remove(&self, source: &Source, _for_good: bool) -> Result<Removal, WriteError> {
        let path = &source.path;
        let is = |path: &Path, fits: fn(&std::fs::Metadata) -> bool| {
            std::fs::symlink_metadata(path).is_ok_and(|meta| fits(&meta))
        };
        let mut gone = Vec::new();
        match TranscriptName::of(path) {
            Some(TranscriptName::Session(_)) => {
                let own = path.with_extension("");
                gone.extend(Some(own).filter(|p| is(p, std::fs::Metadata::is_dir)));
            }
            Some(TranscriptName::Agent(_)) => {
                let meta = meta_file(path);
                gone.extend(Some(meta).filter(|p| is(p, std::fs::Metadata::is_file)));
            }
            _ => {}
        }
        gone.push(path.clone());
        Ok(Removal::Files(gone))
    }
}

/// The name of the folder in which the sessions of a working folder are kept.
///
/// Several folders can have one name, so nobody can tell from the name which it was: that is in the
/// records of each session.
///
/// ```
/// use rethread_formats::claude_code::encode_cwd;
/// assert_eq!(encode_cwd("/home/me/my_shop.2"), "-home-me-my-shop-2");
/// ```
pub fn encode_cwd(cwd: &str) -> String {
    let plain = |unit: u16| {
        let byte = u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
        byte.map_or('-', char::from)
    };
    let name: String = cwd.encode_utf16().map(plain).collect();
    if name.len() <= LONGEST {
        return name;
    }
    let hash = cwd.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    format!("{}-{}", &name[..LONGEST], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = Vec::new();
    loop {
        digits.push(DIGITS[(number % 36) as usize]);
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().map(|d| char::from(*d)).collect()
}

/// What the name of a file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TranscriptName {
    /// A session with this id.
    Session(String),
    /// A sub-agent with this id.
    Agent(String),
    /// Nothing: the beginning of the file must.
    Unsure,
}

impl TranscriptName {
    /// What the name of a file of lines tells; none for other files.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy();
        let stem = name.strip_suffix(".jsonl")?;
        if stem.starts_with('.') {
            return None;
        }
        Some(if is_uuid(stem) {
            Self::Session(stem.to_owned())
        } else if let Some(id) = stem.strip_prefix("agent-").filter(|id| !id.is_empty()) {
            Self::Agent(id.to_owned())
        } else {
            Self::Unsure
        })
    }
}

/// Whether text is a UUID as the client demands it of names of sessions.
pub(super) fn is_uuid(text: &str) -> bool {
    let fits = |(i, byte): (usize, u8)| match i {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// The client's folders, whether they are there or not.
pub(super) fn config_folders(env: &Env) -> Vec<PathBuf> {
    agent_folders(env, "CLAUDE_CONFIG_DIR", ".claude")
}

/// The sessions of the client's folder, of its folder of projects, or of one project.
pub(super) fn list_folder(root: &Path, out: &mut SourceSink<'_>) {
    let inner = root.join(PROJECTS);
    let projects = if inner.is_dir() {
        inner
    } else if root.file_name().is_some_and(|name| name == PROJECTS) {
        root.to_owned()
    } else {
        list_project(root, out);
        return;
    };
    for project in folder_entries(&projects, out) {
        // Links to folders count; a session's own folder is no project.
        let is_session = project
            .file_name()
            .is_some_and(|name| is_uuid(&name.to_string_lossy()));
        if !is_session && project.is_dir() {
            list_project(&project, out);
        }
    }
}

fn list_project(folder: &Path, out: &mut SourceSink<'_>) {
    for path in folder_entries(folder, out) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_uuid(&name) {
            for agent in agents_in(&path, out) {
                list_file(agent, out);
            }
        } else if TranscriptName::of(&path).is_some() && path.is_file() {
            list_file(path, out);
        }
    }
}

fn list_file(path: PathBuf, out: &mut SourceSink<'_>) {
    match TranscriptName::of(&path) {
        Some(TranscriptName::Session(id) | TranscriptName::Agent(id)) => {
            out(Ok(Source::new(FORMAT, id, path)));
        }
        Some(TranscriptName::Unsure) if is_session(&path) => {
            let id = file_stem(&path);
            out(Ok(Source::new(FORMAT, id, path)));
        }
        _ => {}
    }
}

/// The transcripts of the sub-agents in a session's own folder, those in groups too.
fn agents_in(session: &Path, out: &mut SourceSink<'_>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = VecDeque::from([(session.join(SUBAGENTS), 0)]);
    while let Some((folder, depth)) = folders.pop_front() {
        for path in folder_entries(&folder, out) {
            let kind = std::fs::symlink_metadata(&path).map(|m| m.file_type());
            let is_folder = kind.is_ok_and(|k| k.is_dir());
            if is_folder && depth < DEEPEST {
                folders.push_back((path, depth + 1));
            } else if matches!(TranscriptName::of(&path), Some(TranscriptName::Agent(_))) {
                found.push(path);
            }
        }
    }
    found
}

pub(super) fn source_at(named: TranscriptName, path: PathBuf) -> Source {
    let id = match named {
        TranscriptName::Session(id) | TranscriptName::Agent(id) => id,
        TranscriptName::Unsure => file_stem(&path),
    };
    Source::new(FORMAT, id, path)
}

/// The name of a transcript without its ending.
pub(super) fn file_stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The session that a sub-agent's transcript lies under, as its folder says.
pub(super) fn parent_of_agent(path: &Path) -> Option<String> {
    let mut folders = path.ancestors().skip(1);
    let subagents = folders.find(|f| f.file_name().is_some_and(|n| n == SUBAGENTS))?;
    let name = subagents.parent()?.file_name()?.to_string_lossy();
    is_uuid(&name).then(|| name.into_owned())
}

/// The file that describes a sub-agent, beside its transcript.
pub(super) fn meta_file(transcript: &Path) -> PathBuf {
    transcript.with_extension("meta.json")
}

/// The session that a transcript belongs to, and the folder for its sub-agents.
pub(super) fn family_paths(transcript: &Path) -> (PathBuf, PathBuf) {
    let mut folders = transcript.ancestors().skip(1);
    let is_theirs = |f: &&Path| f.file_name().is_some_and(|n| n == SUBAGENTS);
    if let Some(own) = folders.find(is_theirs).and_then(Path::parent) {
        return (own.with_extension("jsonl"), own.join(SUBAGENTS));
    }
    let own = transcript.with_extension("");
    (transcript.to_owned(), own.join(SUBAGENTS))
}

/// The transcripts of a session's sub-agents that lie in its own folder.
pub(super) fn agents_of(transcript: &Path) -> Vec<PathBuf> {
    agents_in(&transcript.with_extension(""), &mut |_| {})
}

/// The file of a session that holds a long output, if it is there. Of the path that a record names
/// only the last part counts: the store may have been moved.
pub(super) fn saved_output(transcript: &Path, named: &str) -> Option<PathBuf> {
    let name = SafeName::new(named.rsplit(['/', '\\']).next()?).ok()?;
    let path = join(&transcript.with_extension("").join(TOOL_RESULTS), &name);
    path.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders() {
        let long = format!("/{}", "a/b.c".repeat(60));
        let name = encode_cwd(&long);
        assert_eq!(name.len(), 200 + 1 + name.rsplit('-').next().unwrap().len());
        for (cwd, name) in [
            ("/", "-"),
            ("/a b/c_d.e", "-a-b-c-d-e"),
            ("/häuser", "-h-user"),
            ("/😀", "---"),
            ("C:\\Users\\me", "C--Users-me"),
        ] {
            assert_eq!(encode_cwd(cwd), name, "{cwd}");
        }
        assert_eq!(encode_cwd("/a.b"), encode_cwd("/a-b"));
    }

    #[test]
    fn a_long_name_ends_with_a_hash_of_the_whole() {
        let cwd = format!("/{}", "x".repeat(250));
        // The hash of the same text in any language whose strings hash like those of Java.
        let hash = cwd
            .bytes()
            .fold(0_i32, |h, b| h.wrapping_mul(31).wrapping_add(i32::from(b)));
        let expected = format!("-{}-{}", "x".repeat(199), base36(hash.unsigned_abs()));
        assert_eq!(encode_cwd(&cwd), expected);
        assert_eq!(base36(0), "0");
        assert_eq!(base36(1_294), "zy");
        assert_eq!(base36(i32::MIN.unsigned_abs()), "zik0zk");
    }

    #[test]
    fn names_of_files() {
        let id = "5f0c5f0c-0000-4000-8000-000000000001";
        let named = |name: &str| TranscriptName::of(Path::new(name));
        assert_eq!(
            named(&format!("{id}.jsonl")),
            Some(TranscriptName::Session(id.into()))
        );
        assert_eq!(
            named("agent-a7.jsonl"),
            Some(TranscriptName::Agent("a7".into()))
        );
        assert_eq!(named("agent-.jsonl"), Some(TranscriptName::Unsure));
        assert_eq!(named("notes.jsonl"), Some(TranscriptName::Unsure));
        assert_eq!(named("agent-a7.meta.json"), None);
        assert_eq!(named(".hidden.jsonl"), None);
        let under = format!("/p/{id}/subagents/group/agent-a7.jsonl");
        assert_eq!(parent_of_agent(Path::new(&under)).as_deref(), Some(id));
        assert_eq!(parent_of_agent(Path::new("/p/agent-a7.jsonl")), None);
    }
}
