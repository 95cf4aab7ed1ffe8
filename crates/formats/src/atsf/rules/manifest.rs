//! `thread.json`: its fields, and whether it fits its folder and its log.

use std::ffi::OsStr;

use rethread_disk::{SafeName, UnsafeName};
use rethread_json::{Kind, Value};

use super::config::is_absolute;
use super::counts::{Last, LogFacts};
use super::law::{ABSOLUTE, FOLDER, PROTOCOL, RELATIVE, STATS, THREAD, THREAD_ID, UPDATED};
use crate::check::fields::{Field, Is, judge, may, moment, must};
use crate::check::known::shown_text;
use crate::check::sheet::Sheet;
use crate::check::walk::walk_values;

/// What the document says of the fields.
const FIELDS: &[Field] = &[
    must(THREAD, "specVersion", Is::Text),
    must(THREAD, "threadId", Is::Text),
    must(THREAD, "title", Is::Text),
    must(THREAD, "createdAt", Is::Time),
    must(THREAD, "updatedAt", Is::Time),
    must(THREAD, "agent", Is::Object),
    must(THREAD, "agent.id", Is::Text),
    must(THREAD, "agent.name", Is::Text),
    may(THREAD, "agent.version", Is::Text),
    may(THREAD, "agent.protocol", Is::Text),
    may(THREAD, "agent.protocolVersion", Is::Number),
    must(THREAD, "context", Is::Object),
    must(THREAD, "context.workingDir", Is::Text),
    may(THREAD, "context.relativeDir", Is::Text),
    may(THREAD, "context.gitBranch", Is::Text),
    may(THREAD, "context.gitCommit", Is::Text),
    may(THREAD, "context.worktree", Is::Object),
    must(THREAD, "context.worktree.path", Is::Text),
    must(THREAD, "context.worktree.branch", Is::Text),
    must(THREAD, "stats", Is::Object),
    must(THREAD, "stats.messageCount", Is::Number),
    must(THREAD, "stats.userMessageCount", Is::Number),
    must(THREAD, "stats.agentMessageCount", Is::Number),
    must(THREAD, "stats.toolCallCount", Is::Number),
    may(THREAD, "metadata", Is::Object),
];

const PROTOCOLS: &[&str] = &["acp", "mcp", "custom"];

/// Judges a description by itself and by the folder that it is in.
pub(super) fn check_manifest(sheet: &mut Sheet<'_>, root: Value<'_>, folder: Option<&OsStr>) {
    judge(sheet, root, "", FIELDS);
    if let Some(id) = root.get("threadId") {
        thread_id(sheet, id, folder);
    }
    if let Some(protocol) = root.at(&["agent", "protocol"])
        && let Some(name) = protocol.str().filter(|p| !PROTOCOLS.contains(&&**p))
    {
        let name = shown_text(&name);
        let message = format!("`agent.protocol` is {name}, not `acp`, `mcp` or `custom`");
        sheet.warning(PROTOCOL, protocol.span().start, message);
    }
    for path in [
        &["context", "workingDir"][..],
        &["context", "worktree", "path"],
    ] {
        if let Some(value) = root.at(path)
            && let Some(text) = value.str().filter(|t| !is_absolute(t))
        {
            let message = format!(
                "`{}` is {}, not an absolute path",
                path.join("."),
                shown_text(&text)
            );
            sheet.error(ABSOLUTE, value.span().start, message);
        }
    }
    if let Some(value) = root.at(&["context", "relativeDir"])
        && let Some(text) = value.str().filter(|t| is_absolute(t))
    {
        let message = format!(
            "`context.relativeDir` is {}, an absolute path",
            shown_text(&text)
        );
        sheet.error(RELATIVE, value.span().start, message);
    }
    walk_values(sheet, root, &mut |_, _, _| {});
}

fn thread_id(sheet: &mut Sheet<'_>, value: Value<'_>, folder: Option<&OsStr>) {
    let Some(id) = value.str() else { return };
    let at = value.span().start;
    match SafeName::new(&id) {
        Ok(_) => {}
        Err(
            why @ (UnsafeName::Empty
            | UnsafeName::Dots(_)
            | UnsafeName::TooLong { .. }
            | UnsafeName::Separator(_)
            | UnsafeName::Control { .. }),
        ) => {
            let message = format!("`threadId` cannot be the name of a folder: {why}");
            return sheet.error(THREAD_ID, at, message);
        }
        Err(why) => {
            let message = format!("`threadId` is not a name on every platform: {why}");
            sheet.warning(THREAD_ID, at, message);
        }
    }
    if let Some(folder) = folder.filter(|name| *name != OsStr::new(&*id)) {
        let (id, folder) = (shown_text(&id), shown_text(&folder.to_string_lossy()));
        let message = format!("`threadId` is {id}, but the folder is named {folder}");
        sheet.error(FOLDER, at, message);
    }
}

/// Judges what is derived from the log: counts, and the time of the last message.
pub(super) fn check_derived(sheet: &mut Sheet<'_>, root: Value<'_>, log: &LogFacts) {
    let counts = [
        ("messageCount", log.messages.as_slice()),
        ("userMessageCount", &log.users),
        ("agentMessageCount", &log.agents()),
        ("toolCallCount", &log.tool_calls),
    ];
    for (name, readings) in counts {
        let Some(value) = root
            .at(&["stats", name])
            .filter(|v| v.kind() == Kind::Number)
        else {
            continue;
        };
        if value
            .u64()
            .is_some_and(|n| readings.iter().any(|r| r.holds(n)))
        {
            continue;
        }
        let is = shown_text(&String::from_utf8_lossy(value.raw()));
        let mut fits: Vec<String> = readings.iter().map(ToString::to_string).collect();
        fits.dedup();
        let message = format!(
            "`stats.{name}` is {is}, but the log has {}",
            fits.join(" or ")
        );
        sheet.error(STATS, value.span().start, message);
    }
    updated(sheet, root, log.last);
}

fn updated(sheet: &mut Sheet<'_>, root: Value<'_>, last: Last) {
    let time = |key| Some(root.get(key)?).and_then(|v| Some((v, moment(&v.str()?)?)));
    let Some((value, stored)) = time("updatedAt") else {
        return;
    };
    let (wanted, whose) = match last {
        Last::None => (time("createdAt").map(|(_, t)| t), "createdAt"),
        Last::At(time) => (Some(time), "the last message"),
        Last::Unknown => (None, ""),
    };
    let Some(wanted) = wanted.filter(|w| *w != stored) else {
        return;
    };
    let what = if whose == "createdAt" {
        format!("there are no messages and `createdAt` is {wanted}")
    } else {
        format!("{whose} is of {wanted}")
    };
    let message = format!("`updatedAt` is {stored}, but {what}");
    sheet.error(UPDATED, value.span().start, message);
}
