//! `check_paths`: is this store, session or file as its format's document wants it?

use std::path::{Component, Path, PathBuf};

use rethread_catalog::{FindError, find, why_none_at};
use rethread_formats::carry::damaged_originals;
use rethread_formats::{
    Env, FORMATS, FormatRef, OpenError, Source, Violation, Want, Weight, summarize, why_empty,
};
use rethread_model::State;

use crate::show::open;
use crate::{Error, absolute};

/// What came out of a check, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// How many violations are errors.
    pub errors: u64,
    /// How many are warnings.
    pub warnings: u64,
    /// How many files were looked at.
    pub files: u64,
    /// The formats that they were measured against, by their short names.
    pub formats: Vec<&'static str>,
    /// Paths at which there is nothing that can be checked.
    pub strangers: Vec<PathBuf>,
}

/// The paths of what a user names: what is at a path, else the session of that name.
pub fn paths_to_check(env: &Env, names: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let path_of = |name: &PathBuf| {
        let text = name.to_str().filter(|_| !env.cwd.join(name).exists());
        match text.map(|text| find(env, text)) {
            Some(Ok(source)) => Ok(source.path),
            // A path that is not there is named as one that cannot be checked.
            Some(Err(FindError::NotFound { .. } | FindError::NotASession { .. })) | None => {
                Ok(name.clone())
            }
            Some(Err(e)) => Err(e.into()),
        }
    };
    names.iter().map(path_of).collect()
}

/// Measures what is at these paths against the documents of their formats. Violations come one at
/// a time in the order of paths and lines, because there may be more than memory holds.
pub fn check_paths(
    env: &Env,
    paths: &[PathBuf],
    out: &mut dyn FnMut(&Violation),
) -> Result<Checked, Error> {
    let mut paths: Vec<PathBuf> = paths.iter().map(|p| absolute_path(&env.cwd, p)).collect();
    paths.sort();
    paths.dedup();
    let mut checked = Checked::default();
    for path in paths {
        let mut is_ours = false;
        for format in FORMATS {
            let mut empty = EmptyFiles::new(*format);
            let mut tell = |violation: Violation| {
                if empty.contains(&violation.path) {
                    return;
                }
                match violation.weight {
                    Weight::Error => checked.errors += 1,
                    Weight::Warning => checked.warnings += 1,
                }
                out(&violation);
            };
            let files = match check_path(*format, &path, &mut tell) {
                Err(e)
                    if e.path()
                        .is_some_and(|at| EmptyFiles::new(*format).contains(at)) =>
                {
                    Some(1)
                }
                files => files?,
            };
            if files.is_some() {
                check_originals(*format, &path, &mut tell);
                let slug = format.slug();
                if !checked.formats.contains(&slug) {
                    checked.formats.push(slug);
                }
            }
            is_ours |= files.is_some();
            checked.files += files.unwrap_or(0);
        }
        if !is_ours && path.is_file() && why_empty(&path).is_some() {
            checked.files += 1;
        } else if !is_ours {
            checked.strangers.push(path);
        }
    }
    Ok(checked)
}

/// Measures what is at a path against the document of one format; none if it is not of that.
fn check_path(
    format: FormatRef,
    path: &Path,
    out: &mut dyn FnMut(Violation),
) -> Result<Option<u64>, OpenError> {
    match format.rules() {
        Some(rules) => rules.check(path, out),
        None if format.store().at_path(path).is_empty() => Ok(None),
        None => Err(OpenError::NoRules {
            path: path.to_owned(),
            format: format.slug(),
        }),
    }
}

/// Why there is nothing to check at a path.
pub fn nothing_to_check(path: PathBuf) -> Error {
    match why_none_at(&path) {
        Err(damaged @ FindError::Damaged { .. }) => damaged.into(),
        _ => Error::NothingToCheck { path },
    }
}

/// Healthy files in which there is no conversation: no rule speaks of them.
struct EmptyFiles {
    format: FormatRef,
    /// The file that was asked for last, and the answer: violations of a file come together.
    last: Option<(PathBuf, bool)>,
}

impl EmptyFiles {
    fn new(format: FormatRef) -> Self {
        Self { format, last: None }
    }

    fn contains(&mut self, path: &Path) -> bool {
        if let Some((last, answer)) = &self.last
            && last == path
        {
            return *answer;
        }
        let is_empty = |source: &Source| summarize(source, Want::default()).state == State::Empty;
        let answer =
            why_empty(path).is_some() && self.format.store().at_path(path).iter().any(is_empty);
        self.last = Some((path.to_owned(), answer));
        answer
    }
}

/// Compares the originals that travel along in sessions with their digests. No document speaks of
/// them, but whoever converts back wants them as they were.
fn check_originals(format: FormatRef, path: &Path, out: &mut dyn FnMut(Violation)) {
    for source in format.store().at_path(path) {
        // What cannot be read was told already.
        let notes = open(&source).and_then(|session| Ok(damaged_originals(&session)?));
        for note in notes.unwrap_or_default() {
            out(Violation {
                weight: Weight::Error,
                path: source.path.clone(),
                line: note.line,
                rule: "original",
                section: "What travels along",
                message: note.message,
            });
        }
    }
}

/// The whole path of what a user named. Its own name stays, though it may be a link: the name of
/// a session's folder means something.
fn absolute_path(from: &Path, path: &Path) -> PathBuf {
    let joined = from.join(path);
    let parts = (joined.parent(), joined.components().next_back());
    match parts {
        (Some(parent), Some(Component::Normal(name))) => absolute(from, parent).join(name),
        _ => absolute(from, path),
    }
}
