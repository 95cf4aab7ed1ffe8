//! `worktree`: git worktrees with a thread store of their own.

use std::path::{Path, PathBuf};

use rethread_catalog::keep;
use rethread_disk::{DiskError, Durability, Mode, SafeName, ensure_folder};
use rethread_formats::{
    FormatRef, Found, Hooks, Made, MessageInput, NewSession, PROJECT_FORMAT, Root, SeenPlace,
    Source, TextMessage, Writing,
};
use rethread_model::{Note, Role};
use rethread_project::{LeftOff, Repository, Worktree};

use crate::edit::{keep_in_worktree, remember_project};
use crate::hooks::{HookOutcome, HookReport, HookStep, carry_out};
use crate::{Error, TrustedHooks};

/// A worktree to be made.
#[derive(Clone, Debug, Default)]
pub struct AddWorktree {
    /// Its name, for folder and branch.
    pub name: Option<String>,
    /// Its folder, where the user chose one.
    pub path: Option<PathBuf>,
    /// Its branch, where the user chose one.
    pub branch: Option<String>,
    /// The thread in it.
    pub session: NewSession,
}

/// A worktree that was made.
#[derive(Debug)]
pub struct AddedWorktree {
    /// The thread in it.
    pub made: Made,
    /// Its folder.
    pub worktree: PathBuf,
    /// Its branch.
    pub branch: String,
    /// What became of the project's hooks.
    pub hooks: Vec<HookReport>,
}

/// What the user says to hooks that are not trusted yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Trust exactly these.
    Given,
    /// Do not.
    Declined,
    /// There was nobody to ask.
    Unasked,
}

/// Makes a worktree with a thread, and carries out the project's hooks if they are trusted.
/// `consent` is asked about hooks that are not; `begin` is told before each step.
pub fn add_worktree(
    w: &Writing<'_>,
    mut add: AddWorktree,
    consent: &mut dyn FnMut(&Hooks) -> Consent,
    begin: &mut dyn FnMut(&HookStep),
) -> Result<AddedWorktree, Error> {
    let repository = repository_of(&add.session.cwd)?;
    let main = main_root(&repository)?;
    let (hooks, notes) = PROJECT_FORMAT.in_projects()?.hooks(&main)?;
    let (folder, branch) = settle_names(w, &mut add, &main)?;
    if let Some(parent) = folder.parent() {
        ensure_folder(parent, &Mode::Private, w.durability)?;
    }
    let left_off = repository
        .add_worktree(&folder, &branch)
        .map_err(|e| Error::git(&e))?;
    let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
    add.session.cwd.clone_from(&folder);
    add.session.root = None;
    let writer = PROJECT_FORMAT.writable()?;
    let mut made = match writer.create(w, &add.session) {
        Ok(made) => remember_project(w, made),
        Err(e) => {
            // A worktree without its thread is nothing that was asked for.
            let _ = repository.remove_worktree(&folder);
            let _ = repository.delete_branch(&branch);
            return Err(e.into());
        }
    };
    made.notes.extend(notes);
    made.notes.extend(left_off.into_iter().map(left_off_note));
    let reports = match hooks {
        Some(hooks) => {
            let step = HookRun {
                w,
                repository: &repository,
                main: &main,
                folder: &folder,
            };
            step.run_hooks(&hooks, &made, consent, begin)
        }
        None => Vec::new(),
    };
    keep_in_worktree(w, &made.path.clone(), &mut made.notes);
    Ok(AddedWorktree {
        made,
        worktree: folder,
        branch,
        hooks: reports,
    })
}

/// Says what of the repository git did not run.
fn left_off_note(left_off: LeftOff) -> Note {
    let why = "because it is the repository's own";
    match left_off {
        LeftOff::Hook(path) => Note::remark(format!("git's hook was not run, {why}")).at(path),
        LeftOff::Monitor(command) => {
            Note::remark(format!("`core.fsmonitor` was left off, {why}: `{command}`"))
        }
        // The files are not what they would be.
        LeftOff::Filter(name) if name == "lfs" => Note::damage(
            "large files are pointers to them: git's filter `lfs` was left off, because it downloads",
        )
        .hint("`git lfs pull` in the worktree gets them"),
        LeftOff::Filter(name) => Note::damage(format!("git's filter `{name}` was left off, {why}"))
            .hint("one that is in your own configuration (`git config --global`) is yours, and is used"),
        _ => Note::remark(format!("git did not run something, {why}")),
    }
}

/// Whether the project of a folder wants a worktree for each new session of this format. One that
/// is in a worktree already is there.
pub fn wants_worktree(format: FormatRef, folder: &Path) -> Result<bool, Error> {
    let Some(projects) = format.projects() else {
        return Ok(false);
    };
    match Repository::find(folder).filter(|r| !r.is_linked_worktree()) {
        Some(repository) => Ok(projects.wants_worktree(repository.root())?),
        None => Ok(false),
    }
}

/// How often another id is tried when a folder is taken; with a seed, the first ones may be.
const TRIES: u32 = 10_000;

/// Chooses the thread's id, and with it folder and branch. Only what the user named can be taken.
fn settle_names(
    w: &Writing<'_>,
    add: &mut AddWorktree,
    main: &Path,
) -> Result<(PathBuf, String), Error> {
    let named = add.name.is_some() || add.path.is_some();
    let chosen = add.session.id.clone();
    // The worktree may bring descriptions of the main project's threads along.
    let known: Vec<String> = described_in(main).0.into_iter().map(|t| t.id).collect();
    for _ in 0..TRIES {
        let id = chosen
            .clone()
            .unwrap_or_else(|| w.env.uuid(b"thread").to_string());
        let short: String = id.chars().take(8).collect();
        let placed = worktree_place(w, add, main, &short);
        let taken = known.contains(&id) || (placed.is_err() && !named);
        if chosen.is_some() || !taken {
            add.session.id = Some(id);
            return placed;
        }
    }
    Err(Error::usage("no free id was found"))
}

/// Where a worktree goes, and what its branch is called.
fn worktree_place(
    w: &Writing<'_>,
    add: &AddWorktree,
    main: &Path,
    short: &str,
) -> Result<(PathBuf, String), Error> {
    let safe = |name: &str| {
        SafeName::new(name)
            .map_err(|e| Error::usage(format!("`{name}` cannot be a worktree's name: {e}")))
    };
    let name = match &add.name {
        Some(name) => safe(name)?,
        None => safe(&format!("thread-{short}"))?,
    };
    let branch = add.branch.clone().or_else(|| add.name.clone());
    let branch = branch.unwrap_or_else(|| format!("rethread-{short}"));
    if branch.is_empty() || branch.starts_with('-') || branch.chars().any(char::is_control) {
        return Err(Error::usage(format!(
            "`{branch}` cannot be a branch's name"
        )));
    }
    let folder = match &add.path {
        Some(path) => path.clone(),
        None => default_folder(w, main, &name)?,
    };
    if std::fs::symlink_metadata(&folder).is_ok() {
        return Err(Error::usage(format!("`{}` exists", folder.display())));
    }
    Ok((folder, branch))
}

/// `worktrees/<project>/<name>` in the data folder.
fn default_folder(w: &Writing<'_>, main: &Path, name: &SafeName) -> Result<PathBuf, Error> {
    let project = main.file_name().unwrap_or_default().to_string_lossy();
    let project = SafeName::new(&project).or_else(|_| SafeName::new("project"));
    let project = project.map_err(|e| Error::usage(e.to_string()))?;
    let worktrees = w.env.data.join("worktrees");
    Ok(rethread_disk::join(
        &rethread_disk::join(&worktrees, &project),
        name,
    ))
}

/// What carrying out hooks needs to know.
struct HookRun<'a> {
    w: &'a Writing<'a>,
    repository: &'a Repository,
    main: &'a Path,
    folder: &'a Path,
}

impl HookRun<'_> {
    fn run_hooks(
        &self,
        hooks: &Hooks,
        made: &Made,
        consent: &mut dyn FnMut(&Hooks) -> Consent,
        begin: &mut dyn FnMut(&HookStep),
    ) -> Vec<HookReport> {
        let skipped = |why: String| {
            vec![HookReport {
                step: HookStep::All,
                outcome: HookOutcome::Skipped(why),
            }]
        };
        if !self.repository.is_known() {
            let why = "the repository does not know this folder as a worktree";
            return skipped(why.to_owned());
        }
        let trust = TrustedHooks::of_hooks(hooks, self.repository);
        if !trust.is_given(self.w.env) {
            let why = match consent(hooks) {
                Consent::Given => None,
                Consent::Declined => Some("you did not trust them"),
                Consent::Unasked => Some("they are not trusted"),
            };
            if let Some(why) = why {
                return skipped(why.to_owned());
            }
            if let Err(e) = trust.grant_trust(self.w.env) {
                // The thread is there; hooks are carried out only by a trust that is remembered.
                return skipped(format!("the trust was not remembered: {e}"));
            }
        }
        let mut reports = carry_out(hooks, self.main, self.folder, begin);
        reports.extend(
            hooks
                .initial_prompt
                .as_ref()
                .map(|prompt| self.write_prompt(prompt, made)),
        );
        reports
    }

    /// Says the initial prompt as the first message of the user.
    fn write_prompt(&self, prompt: &Result<String, String>, made: &Made) -> HookReport {
        let text = match prompt {
            Ok(text) => text.clone(),
            Err(why) => {
                return HookReport {
                    step: HookStep::Senseless,
                    outcome: HookOutcome::Failed(why.clone()),
                };
            }
        };
        let source = Source::new(PROJECT_FORMAT, made.id.clone(), made.path.clone());
        let message = MessageInput::Text(TextMessage {
            role: Role::User,
            text: text.clone(),
            images: Vec::new(),
            model: None,
        });
        let saved = PROJECT_FORMAT
            .writable()
            .and_then(|writer| writer.append(self.w, &source, std::slice::from_ref(&message)));
        let failed = match saved {
            Ok(appended) => appended.ids.into_iter().find_map(Result::err),
            Err(e) => Some(e),
        };
        let outcome = failed.map_or(HookOutcome::Done, |e| HookOutcome::Failed(e.to_string()));
        HookReport {
            step: HookStep::InitialPrompt(text),
            outcome,
        }
    }
}

fn repository_of(folder: &Path) -> Result<Repository, Error> {
    Repository::find(folder)
        .ok_or_else(|| Error::usage(format!("`{}` is in no git repository", folder.display())))
}

fn main_root(repository: &Repository) -> Result<PathBuf, Error> {
    let root = repository.main_root();
    root.ok_or_else(|| Error::usage("a bare repository has no project to take hooks from"))
}

/// A worktree, with its threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedWorktree {
    /// The worktree.
    pub worktree: Worktree,
    /// Its threads.
    pub threads: Vec<Source>,
}

/// The worktrees of the repository that a folder is in, the main one first.
pub fn list_worktrees(folder: &Path) -> Result<Vec<ListedWorktree>, Error> {
    let with_threads = |worktree: Worktree| {
        let (threads, _) = threads_of(&worktree.path);
        ListedWorktree { worktree, threads }
    };
    Ok(repository_of(folder)?
        .worktrees()
        .into_iter()
        .map(with_threads)
        .collect())
}

/// The threads that are whole in a worktree (git carries descriptions of others along), and why
/// there may be more.
fn threads_of(worktree: &Path) -> (Vec<Source>, Option<Note>) {
    let (mut threads, trouble) = described_in(worktree);
    threads.retain(|thread| PROJECT_FORMAT.store().is_whole(thread));
    (threads, trouble)
}

fn described_in(worktree: &Path) -> (Vec<Source>, Option<Note>) {
    let root = Root {
        format: PROJECT_FORMAT,
        path: worktree.to_owned(),
        found: Found::Worktree,
        seen: SeenPlace::default(),
    };
    let (mut threads, mut trouble) = (Vec::new(), None);
    PROJECT_FORMAT
        .store()
        .list(&root, &mut |found| match found {
            Ok(thread) => threads.push(thread),
            Err(note) => trouble = Some(note),
        });
    (threads, trouble)
}

/// A worktree that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedWorktree {
    /// Where it was.
    pub path: PathBuf,
    /// The threads that went with it, whose descriptions are kept.
    pub threads: Vec<Source>,
}

/// Removes a worktree, by its folder, the folder's name, or its branch. Refuses while there are
/// threads in it, unless forced; their descriptions are kept first.
pub fn remove_worktree(
    w: &Writing<'_>,
    folder: &Path,
    name: &str,
    force: bool,
) -> Result<RemovedWorktree, Error> {
    let repository = repository_of(folder)?;
    let found = find_worktree(&repository, folder, name)?;
    let path = found.worktree.path;
    if !found.worktree.exists {
        repository.prune_worktrees().map_err(|e| Error::git(&e))?;
        return Ok(RemovedWorktree {
            path,
            threads: Vec::new(),
        });
    }
    if !found.threads.is_empty() && !force {
        return Err(Error::Refused {
            message: format!(
                "`{}` holds {} threads, which would go with it",
                path.display(),
                found.threads.len()
            ),
            hint: "`--force` removes it, and keeps their descriptions".to_owned(),
        });
    }
    for thread in &found.threads {
        match keep(w.env, &thread.path, Durability::Close) {
            // A thread without a description has nothing to keep.
            Ok(()) | Err(DiskError::NotFound { .. }) => {}
            Err(e) => return Err(e.into()),
        }
    }
    if !force {
        refuse_changes(&path)?;
    }
    let outside =
        Repository::find(&repository.main_root().unwrap_or_default()).unwrap_or(repository);
    outside.remove_worktree(&path).map_err(|e| Error::git(&e))?;
    Ok(RemovedWorktree {
        path,
        threads: found.threads,
    })
}

/// Refuses to remove a worktree in which something would be lost.
fn refuse_changes(worktree: &Path) -> Result<(), Error> {
    let changes = repository_of(worktree)?.changes();
    // What we put there ourselves is no change of the user's.
    let own = |name: &String| name.starts_with(".agent/");
    let changes = changes.map_err(|e| Error::git(&e))?;
    match changes.iter().find(|name| !own(name)) {
        None => Ok(()),
        Some(name) => Err(Error::Refused {
            message: format!(
                "`{}` holds what is in no commit, such as `{name}`",
                worktree.display()
            ),
            hint: "`--force` removes it all the same".to_owned(),
        }),
    }
}

fn find_worktree(
    repository: &Repository,
    folder: &Path,
    name: &str,
) -> Result<ListedWorktree, Error> {
    let asked = crate::absolute(folder, Path::new(name));
    let fits = |w: &Worktree| {
        w.path == asked
            || w.path.file_name().is_some_and(|n| n == name)
            || w.branch.as_deref() == Some(name)
    };
    let mut found: Vec<Worktree> = repository.worktrees().into_iter().filter(fits).collect();
    match (found.pop(), found.is_empty()) {
        (None, _) => Err(Error::usage(format!("no worktree is named `{name}`"))),
        (Some(w), true) if w.is_main => Err(Error::usage(format!(
            "`{}` is the main worktree",
            w.path.display()
        ))),
        (Some(worktree), true) => {
            let (threads, trouble) = threads_of(&worktree.path);
            // Threads that nobody can see would go without a word.
            match trouble {
                Some(note) => Err(unseen_threads(&worktree, note)),
                None => Ok(ListedWorktree { worktree, threads }),
            }
        }
        (Some(_), false) => Err(Error::usage(format!(
            "several worktrees are named `{name}`: give a path"
        ))),
    }
}

/// Why a worktree is not removed whose threads cannot be seen.
fn unseen_threads(worktree: &Worktree, note: Note) -> Error {
    let path = note.path.unwrap_or_else(|| worktree.path.clone());
    Error::Refused {
        message: format!("`{}` {}", path.display(), note.message),
        hint: "there may be threads in it; `git worktree remove --force` removes it all the same"
            .to_owned(),
    }
}
