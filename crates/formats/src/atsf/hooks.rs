//! What a project wants done when a worktree is made: `worktreeHooks` of its configuration.
//!
//! These come from a repository that anybody may have written. Here they are only read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_json::Value;
use rethread_model::Note;

use super::config::Config;
use super::layout::{AGENT, CONFIG};
use super::message::string;
use crate::OpenError;

/// How long a command may run when the project does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// The hooks of a project. A hook that makes no sense is kept as the reason why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// The file that has them.
    pub config: PathBuf,
    /// The block's own bytes: what trust is about.
    pub raw: Vec<u8>,
    /// Links to be made in the worktree.
    pub symlinks: Vec<Result<SymlinkHook, String>>,
    /// Commands to be run in it, in this order.
    pub commands: Vec<Result<CommandHook, String>>,
    /// What is said to the agent first.
    pub initial_prompt: Option<Result<String, String>>,
}

/// A link to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymlinkHook {
    /// What it leads to, from the repository's root.
    pub source: String,
    /// Where it stands, from the worktree's root.
    pub target: String,
}

/// A command to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandHook {
    /// The line for the shell.
    pub command: String,
    /// What it is called for people.
    pub label: Option<String>,
    /// How long it may run; none is for ever.
    pub timeout: Option<Duration>,
    /// Whether the next one runs although this one failed.
    pub continue_on_error: bool,
    /// The platforms it is for; all where none are named.
    pub platforms: Option<Vec<String>>,
}

impl CommandHook {
    /// Whether it is for this platform.
    pub fn is_for_this_platform(&self) -> bool {
        let here = match std::env::consts::OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        };
        self.platforms
            .as_ref()
            .is_none_or(|names| names.iter().any(|n| n == here))
    }
}

/// The hooks of a project, if it has any, and what was noticed on reading its configuration.
pub fn hooks(project: &Path) -> Result<(Option<Hooks>, Vec<Note>), OpenError> {
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
    let nothing =
        |h: &Hooks| h.symlinks.is_empty() && h.commands.is_empty() && h.initial_prompt.is_none();
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
pub fn wants_worktree(project: &Path) -> Result<bool, OpenError> {
    let config = Config::read(project)?;
    Ok(config
        .value(&["defaults", "useWorktree"])
        .and_then(Value::bool)
        .unwrap_or(false))
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
            let text = string(item, key).filter(|_| readable);
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
