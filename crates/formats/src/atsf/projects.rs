//! What a project wants done when a worktree is made: `worktreeHooks` of its configuration.
//!
//! These come from a repository that anybody may have written. Here they are only read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_json::Value;
use rethread_model::{Note, State, Summary};
use rethread_project::{Repository, upward};

use super::config::Config;
use super::create::ensure_store;
use super::manifest::Manifest;
use super::store::{AGENT, CONFIG, MANIFEST, THREADS};
use super::{Atsf, SLUG};
use crate::fields::string_of;
use crate::{CommandHook, Hooks, Made, OpenError, Projects, SymlinkHook, WriteError, Writing};

/// How long a command may run when the project does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

impl Projects for Atsf {
    /// The project that new threads of this folder are written to: the git worktree's root; outside
    /// git the nearest folder upward that has a `.agent`, else the folder itself.
    fn project_of(&self, folder: &Path) -> PathBuf {
        if let Some(repository) = Repository::find(folder) {
            return repository.root().to_owned();
        }
        let nearest = upward(folder).find(|f| f.join(AGENT).is_dir());
        nearest.unwrap_or(folder).to_owned()
    }

    /// Creates what is missing of a project's store.
    fn init(&self, w: &Writing<'_>, folder: &Path) -> Result<Made, WriteError> {
        let project = self.project_of(folder);
        let notes = Config::read(&project)?.notes;
        let created = ensure_store(w, &project)?;
        Ok(Made {
            id: SLUG.to_owned(),
            path: project.join(AGENT),
            project,
            created,
            notes,
        })
    }

    /// The hooks of a project, if it has any, and what was noticed on reading its configuration.
    fn hooks(&self, project: &Path) -> Result<(Option<Hooks>, Vec<Note>), OpenError> {
        let config = Config::read(project)?;
        let block = config.value(&["worktreeHooks"]).filter(|v| !v.is_null());
        let hooks = block.map(|block| Hooks {
            config: project.join(AGENT).join(CONFIG),
            raw: block.raw().to_vec(),
            symlinks: each(block, "symlinks", symlink),
            commands: each(block, "postSetupCommands", command),
            initial_prompt: block
                .get("initialPrompt")
                .filter(|v| !v.is_null())
                .map(|v| {
                    let text = v.str().map(std::borrow::Cow::into_owned);
                    text.ok_or_else(|| "`initialPrompt` is not a text".to_owned())
                }),
        });
        let nothing = |h: &Hooks| {
            h.symlinks.is_empty() && h.commands.is_empty() && h.initial_prompt.is_none()
        };
        let hooks = hooks.filter(|h| !nothing(h));
        let mut notes = config.notes;
        // What is trusted in another project must not count for the one that links to it.
        let on_the_way = [project.join(AGENT), project.join(AGENT).join(CONFIG)];
        let link = on_the_way.into_iter().find(|path| path.is_symlink());
        match (hooks, link) {
            (Some(_), Some(link)) => {
                notes.push(Note::damage("is a link, so the hooks there do not count").at(link));
                Ok((None, notes))
            }
            (hooks, _) => Ok((hooks, notes)),
        }
    }

    /// Whether the project wants a worktree for each new thread.
    fn wants_worktree(&self, project: &Path) -> Result<bool, OpenError> {
        let config = Config::read(project)?;
        Ok(config
            .value(&["defaults", "useWorktree"])
            .and_then(Value::bool)
            .unwrap_or(false))
    }

    fn description_file(&self) -> &'static str {
        MANIFEST
    }

    /// What a list shows of a thread whose folder is gone, from a copy of its description.
    fn described(&self, folder: &Path, description: Vec<u8>) -> Option<Summary> {
        let manifest = Manifest::parse(folder.join(MANIFEST), description).ok()?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        Some(Summary {
            head: manifest.head(&name),
            path: folder.to_owned(),
            counts: manifest.counts(),
            state: State::Gone,
            ..Summary::default()
        })
    }

    fn holder_of<'a>(&self, session: &'a Path) -> Option<&'a Path> {
        let threads = session.parent().filter(|p| p.ends_with(THREADS))?;
        threads.parent().filter(|p| p.ends_with(AGENT))?.parent()
    }
}

/// The items of a list of hooks; a block or list of the wrong type is one hook that makes no sense.
fn each<T>(
    block: Value<'_>,
    key: &str,
    read: impl Fn(Value<'_>) -> Result<T, String>,
) -> Vec<Result<T, String>> {
    if !block.is_object() {
        // Said once is enough.
        let first = key == "symlinks";
        return first
            .then(|| Err("`worktreeHooks` is not an object".to_owned()))
            .into_iter()
            .collect();
    }
    match block.get(key).filter(|v| !v.is_null()) {
        None => Vec::new(),
        Some(list) if list.is_array() => list
            .items()
            .map(|item| {
                if item.is_object() {
                    read(item)
                } else {
                    Err(format!("an item of `{key}` is not an object"))
                }
            })
            .collect(),
        Some(_) => vec![Err(format!("`{key}` is not an array"))],
    }
}

fn symlink(item: Value<'_>) -> Result<SymlinkHook, String> {
    let source = text(item, "source")?.ok_or("a link has no `source`")?;
    let target = text(item, "target")?.unwrap_or_else(|| source.clone());
    Ok(SymlinkHook { source, target })
}

fn command(item: Value<'_>) -> Result<CommandHook, String> {
    let command = text(item, "command")?.ok_or("a command has no `command`")?;
    let timeout = match item.get("timeout").filter(|v| !v.is_null()) {
        None => Some(DEFAULT_TIMEOUT),
        Some(value) => {
            let millis = value
                .f64()
                .filter(|n| *n >= 0.0)
                .ok_or("`timeout` is no number of milliseconds")?;
            // Zero is for ever, and so is what no clock can hold.
            let limit = Duration::try_from_secs_f64(millis / 1000.0).ok();
            limit.filter(|l| !l.is_zero())
        }
    };
    let flag = |key: &str| match item.get(key).filter(|v| !v.is_null()) {
        None => Ok(false),
        Some(value) => value
            .bool()
            .ok_or_else(|| format!("`{key}` is neither true nor false")),
    };
    let platforms = match item.get("platforms").filter(|v| !v.is_null()) {
        None => None,
        Some(list) if list.is_array() => Some(
            list.items()
                .filter_map(|p| p.str().map(std::borrow::Cow::into_owned))
                .collect(),
        ),
        Some(_) => return Err("`platforms` is not an array".to_owned()),
    };
    Ok(CommandHook {
        command,
        label: text(item, "label")?,
        timeout,
        continue_on_error: flag("continueOnError")?,
        platforms,
    })
}

fn text(item: Value<'_>, key: &str) -> Result<Option<String>, String> {
    match item.get(key).filter(|v| !v.is_null()) {
        None => Ok(None),
        Some(value) => {
            let readable = value
                .text()
                .is_some_and(|t| !t.lossy && !t.text.contains('\0'));
            let text = string_of(item, key).filter(|_| readable);
            text.map(Some)
                .ok_or_else(|| format!("`{key}` is not a text"))
        }
    }
}

#[cfg(test)]
mod tests {
    use rethread_json::Document;

    use super::*;

    fn timeout(json: &str) -> Result<Option<Duration>, String> {
        let text = format!("{{\"command\":\"x\"{json}}}");
        let document = Document::parse(text.into_bytes()).unwrap();
        command(document.root()).map(|c| c.timeout)
    }

    #[test]
    fn time_limits_are_as_the_document_says() {
        assert_eq!(timeout(""), Ok(Some(Duration::from_mins(2))));
        assert_eq!(
            timeout(",\"timeout\":1500"),
            Ok(Some(Duration::from_millis(1500)))
        );
        assert_eq!(timeout(",\"timeout\":0"), Ok(None), "zero is for ever");
        assert_eq!(timeout(",\"timeout\":1e300"), Ok(None));
        for wrong in ["-1", "\"5\"", "1e400", "[]"] {
            assert!(
                timeout(&format!(",\"timeout\":{wrong}")).is_err(),
                "{wrong}"
            );
        }
    }
}
