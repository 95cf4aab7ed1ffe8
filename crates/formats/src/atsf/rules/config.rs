//! `config.json`: its fields, its hooks, and that there are no secrets in it.

use std::path::Path;

use rethread_disk::{DiskError, read_small};
use rethread_json::Value;

use super::law::{COMPATIBILITY, CONFIG, HOOK_PATH, HOOKS, LAYOUT, PLATFORM};
use super::secrets;
use super::version;
use crate::Violation;
use crate::check::fields::{Field, Is, judge, may, must};
use crate::check::known::shown_text;
use crate::check::sheet::{Headings, Sheet, unreadable};
use crate::check::walk::walk_values;

/// What the document says of the fields.
const FIELDS: &[Field] = &[
    must(CONFIG, "specVersion", Is::Text),
    may(CONFIG, "createdBy", Is::Object),
    must(CONFIG, "createdBy.name", Is::Text),
    must(CONFIG, "createdBy.version", Is::Text),
    may(CONFIG, "defaults", Is::Object),
    may(CONFIG, "defaults.agentId", Is::Text),
    may(CONFIG, "defaults.interactionMode", Is::Text),
    may(CONFIG, "defaults.useWorktree", Is::Bool),
    may(CONFIG, "agentSettings", Is::Object),
    may(CONFIG, "worktreeHooks", Is::Object),
    may(HOOKS, "worktreeHooks.symlinks", Is::Array),
    may(HOOKS, "worktreeHooks.symlinks[]", Is::Object),
    must(HOOKS, "worktreeHooks.symlinks[].source", Is::Text),
    may(HOOKS, "worktreeHooks.symlinks[].target", Is::Text),
    may(HOOKS, "worktreeHooks.postSetupCommands", Is::Array),
    may(HOOKS, "worktreeHooks.postSetupCommands[]", Is::Object),
    must(HOOKS, "worktreeHooks.postSetupCommands[].command", Is::Text),
    may(HOOKS, "worktreeHooks.postSetupCommands[].label", Is::Text),
    may(
        HOOKS,
        "worktreeHooks.postSetupCommands[].timeout",
        Is::Number,
    ),
    may(
        HOOKS,
        "worktreeHooks.postSetupCommands[].continueOnError",
        Is::Bool,
    ),
    may(
        HOOKS,
        "worktreeHooks.postSetupCommands[].platforms",
        Is::Array,
    ),
    may(
        HOOKS,
        "worktreeHooks.postSetupCommands[].platforms[]",
        Is::Text,
    ),
    may(HOOKS, "worktreeHooks.initialPrompt", Is::Text),
];

const PLATFORMS: &[&str] = &["win32", "darwin", "linux"];

/// Judges a configuration; whether there is one.
pub(super) fn check_config(path: &Path, out: &mut dyn FnMut(Violation)) -> bool {
    let bytes = match read_small(path) {
        Ok(bytes) => bytes,
        Err(DiskError::NotFound { .. }) => return false,
        Err(e) => {
            out(unreadable(path, &e, LAYOUT));
            return true;
        }
    };
    let mut sheet = Sheet::new(
        path,
        &bytes,
        1,
        Headings {
            section: CONFIG,
            general: COMPATIBILITY,
        },
    );
    if let Some(tree) = sheet.object() {
        let root = tree.root(&bytes);
        if version::is_known(&mut sheet, root) {
            judge(&mut sheet, root, "", FIELDS);
            hooks(&mut sheet, root);
            walk_values(&mut sheet, root, &mut secrets::judge_secrets);
        }
    }
    sheet.report_all(out);
    true
}

fn hooks(sheet: &mut Sheet<'_>, root: Value<'_>) {
    let list = |name| {
        let list = root.at(&["worktreeHooks", name]);
        list.into_iter().flat_map(Value::items).enumerate()
    };
    for (i, link) in list("symlinks") {
        for key in ["source", "target"] {
            let Some(value) = link.get(key) else { continue };
            let Some(why) = value.str().as_deref().and_then(leads_out) else {
                continue;
            };
            let message = format!("`worktreeHooks.symlinks[{i}].{key}` {why}");
            sheet.error(HOOK_PATH, value.span().start, message);
        }
    }
    for (i, command) in list("postSetupCommands") {
        let platforms = command.get("platforms").into_iter();
        for (n, platform) in platforms.flat_map(Value::items).enumerate() {
            let Some(name) = platform.str().filter(|p| !PLATFORMS.contains(&&**p)) else {
                continue;
            };
            let place = format!("worktreeHooks.postSetupCommands[{i}].platforms[{n}]");
            let message = format!(
                "`{place}` is {}, not `win32`, `darwin` or `linux`",
                shown_text(&name)
            );
            sheet.warning(PLATFORM, platform.span().start, message);
        }
    }
}

/// Why a path is not one inside the repository or the worktree, whatever the platform.
fn leads_out(path: &str) -> Option<&'static str> {
    let mut parts = path
        .split(['/', '\\'])
        .filter(|p| !p.is_empty() && *p != ".");
    if path.is_empty() {
        Some("is empty")
    } else if is_absolute(path) {
        Some("is an absolute path, not a relative one")
    } else if parts.clone().any(|p| p == "..") {
        Some("leads out of the folder with `..`")
    } else if parts.next().is_some_and(|p| p.eq_ignore_ascii_case(".git")) {
        Some("leads into `.git`")
    } else {
        None
    }
}

/// Whether a path is absolute on some platform: the file may come from another.
pub(super) fn is_absolute(path: &str) -> bool {
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':');
    path.starts_with(['/', '\\']) || drive
}
