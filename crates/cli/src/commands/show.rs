//! `show`: read a conversation.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rethread_disk::{
    Created, Durability, Mode, create_with, ensure_folder, open_read, replace_with,
};
use rethread_engine::{
    ConversationWithFiles, Env, Part, Query, copy_raw, copy_rows, follow_session, listed_as,
    raw_files, raw_rows, show, show_ndjson, write_page,
};
use rethread_render::{
    Options, PageContext, message_lines, session_record, write_markdown, write_text, write_turns,
};
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::following::{FollowFlags, tell_followed};
use crate::homes::HomeFlags;
use crate::marking::MarkedLines;
use crate::names::name_parser;
use crate::output::{json_out, local, print, print_json};
use crate::pager::page;

/// Read a conversation.
///
/// With `--json`, prints one session record of the unified vocabulary.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread show latest                         the newest conversation
  rethread show 7f3a --last 2 --full           the last question and answer, with whole outputs
  rethread show 7f3a --at '#12'                from there on
  rethread show 7f3a --at '#12' --mark cookie  the same, with a word marked
  rethread show latest --last 1 --follow       what is said from now on
  rethread show 7f3a --to markdown -o talk.md  into a file
  rethread show 7f3a --to ndjson -o one.ndjson  an export of it alone
  zcat old.ndjson.gz | rethread show -         what another program gives
  rethread show 7f3a --to raw                  the original bytes of its main file
  rethread show 7f3a --to raw -o DIR           all of its files")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Show {
    /// The session; `-` for what comes down a pipe.
    #[arg(value_parser = name_parser())]
    session: String,
    /// What to show it as.
    #[arg(long, value_name = "FORM", default_value = "text")]
    to: ShowForm,
    #[command(flatten)]
    part: PartFlags,
    /// Only the last N turns: what you said and what the agent answered, with all its steps, are one
    /// each. In JSON, only the last N messages.
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Show outputs and changes whole, however long they are. A page has them whole, and all that is
    /// named below, folded.
    #[arg(long)]
    full: bool,
    /// Leave out calls of tools and their results.
    #[arg(long)]
    no_tools: bool,
    /// Also show what the model thought.
    #[arg(long)]
    thinking: bool,
    /// Also show what neither you nor the agent wrote: permissions, skills, AGENTS.md, reminders.
    #[arg(long)]
    injected: bool,
    /// Also show what happened beside the conversation: hooks, settings, titles.
    #[arg(long)]
    events: bool,
    /// Mark what a query of `rethread search` looks for, in text.
    #[arg(long, value_name = "QUERY")]
    mark: Option<String>,
    /// Go on with what is said from now on, as it is said, until the command is interrupted. With
    /// `--json`, one message object a line, with the `session_id` and the `agent`.
    #[arg(long, conflicts_with_all = ["output", "branch", "all_branches", "at"])]
    follow: bool,
    #[command(flatten)]
    following: FollowFlags,
    /// Write to FILE instead; with `--to raw`, copy all files into the folder FILE.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace FILE if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    #[command(flatten)]
    homes: HomeFlags,
}

impl Show {
    /// What is shown. A page folds what a terminal leaves out, so it has everything.
    fn options(&self) -> Options {
        let tools = !self.no_tools;
        if self.to == ShowForm::Html {
            return Options {
                tools,
                ..Options::DOCUMENT
            };
        }
        Options {
            tools,
            thinking: self.thinking,
            injected: self.injected,
            events: self.events,
            full: self.full,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ShowForm {
    /// For reading at a terminal.
    Text,
    /// Markdown.
    Markdown,
    /// A page for a browser, which needs nothing else.
    Html,
    /// An export of this one session, whole; with `--branch` or `--last`, of that part alone.
    Ndjson,
    /// The original bytes.
    Raw,
}

/// Which part of the conversation is shown.
#[derive(Args, Debug)]
pub(crate) struct PartFlags {
    /// The way from the beginning to ENTRY, instead of what the agent would go on with: its id, the
    /// beginning of it, or its place as `#12`.
    #[arg(long, value_name = "ENTRY", conflicts_with = "all_branches")]
    branch: Option<String>,
    /// Everything, in the order of the file.
    #[arg(long)]
    all_branches: bool,
    /// From ENTRY on, such as a place that `search` found.
    #[arg(long, value_name = "ENTRY")]
    pub(crate) at: Option<String>,
}

impl PartFlags {
    /// Whether nothing is left out.
    pub(crate) fn is_whole(&self) -> bool {
        self.branch.is_none() && self.at.is_none()
    }

    pub(crate) fn part(&self) -> Part<'_> {
        match &self.branch {
            Some(entry) => Part::UpTo(entry),
            None if self.all_branches => Part::All,
            None => Part::Active,
        }
    }
}

pub(crate) fn run(context: &Context, args: &Show) -> Result<Exit, Failure> {
    let (env, reached) = args.homes.open_and_tell(context)?;
    let name = context.named(&args.session)?;
    if args.follow {
        return Ok(follow(context, &env, args, &name)?.or(reached));
    }
    if args.to == ShowForm::Raw {
        return Ok(raw(context, &env, args, &name)?.or(reached));
    }
    let mut shown = show(&env, &name, args.part.part())?;
    let options = args.options();
    if let Some(entry) = &args.part.at {
        shown.start_at(entry)?;
    }
    let is_json = context.json || args.to == ShowForm::Ndjson;
    match args.last {
        Some(count) if is_json => shown.keep_last_messages(count),
        Some(count) => shown.keep_last_turns(count, options),
        None => {}
    }
    let conversation = &shown.conversation;
    let path = context.given_path(&conversation.source.path);
    let pictures = ConversationWithFiles::of_conversation(conversation);
    let is_page = args.to == ShowForm::Html && !context.json;
    let is_listed = args.to != ShowForm::Ndjson && !is_page;
    let summary = is_listed.then(|| listed_as(conversation)).transpose()?;
    let mut view = shown.view(&pictures);
    (view.path, view.source) = (&path, local(&path));
    view.summary = summary.as_ref();
    let style = context.style();
    let is_whole = args.part.is_whole() && args.last.is_none();
    let around = PageContext {
        branches: is_whole,
        ..PageContext::NOTHING
    };
    let mark = args.mark.as_deref().map(Query::parse).transpose();
    let mark = mark.map_err(rethread_engine::Error::from)?;
    let found = RefCell::new(Vec::new());
    let write = |out: &mut dyn Write| match (args.to, &summary) {
        (ShowForm::Ndjson, _) => {
            show_ndjson(&context.env, &shown, (is_whole, true), out).map(|notes| {
                found.replace(notes);
            })
        }
        (_, Some(summary)) if context.json => session_record(out, &view, summary),
        (ShowForm::Markdown, _) => write_markdown(out, &view, &options),
        (ShowForm::Html, _) => write_page(&shown, &path, &options, &around, out).map(|notes| {
            found.replace(notes);
        }),
        (ShowForm::Text | ShowForm::Raw, _) => match &mark {
            Some(query) => {
                let mut lines = MarkedLines::new(out, query, style.colour);
                write_text(&mut lines, &view, &options, &style)?;
                lines.finish()
            }
            None => write_text(out, &view, &options, &style),
        },
    };
    // What was wrong is said first, where the pager does not cover it.
    let exit = context.notes(&conversation.notes);
    match &args.output {
        Some(_) if exit == Exit::Failed => {
            context.say("nothing was written, because of `--strict`");
            return Ok(exit);
        }
        Some(file) => to_file(file, args.force, write)?,
        None if is_json => {
            let out = io::BufWriter::new(io::stdout().lock());
            json_out(out, write)?;
        }
        None => page(context, write)?,
    }
    let mut notes = found.into_inner();
    notes.extend(pictures.notes());
    Ok(exit.or(context.notes(&notes)).or(reached))
}

/// Shows a session, and what is said in it from then on.
fn follow(context: &Context, env: &Env, args: &Show, name: &str) -> Result<Exit, Failure> {
    if args.to != ShowForm::Text {
        return Err(Failure::usage(
            "`--follow` shows text, or JSON with `--json`",
        ));
    }
    let method = args.following.method();
    let (mut shown, events) = follow_session(env, name, args.part.part(), method)?;
    let options = args.options();
    match args.last {
        Some(count) if context.json => shown.keep_last_messages(count),
        Some(count) => shown.keep_last_turns(count, options),
        None => {}
    }
    let conversation = &shown.conversation;
    let path = context.given_path(&conversation.source.path);
    let summary = listed_as(conversation)?;
    let mut view = shown.view(conversation);
    (view.path, view.source) = (&path, local(&path));
    view.summary = Some(&summary);
    let style = context.style();
    let exit = context.notes(&conversation.notes);
    context.tell_notes();
    let mut out = io::BufWriter::new(io::stdout().lock());
    if context.json {
        json_out(out, |out| message_lines(out, &view))?;
    } else {
        write_text(&mut out, &view, &options, &style)?;
        out.flush()?;
        drop(out);
    }
    let told = tell_followed(context, &args.following, events, |out, messages| {
        write_turns(out, &messages.view(), &options, &style)
    })?;
    Ok(exit.or(told))
}

/// Writes a file whole or not at all; an existing one only when asked.
fn to_file(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let near = folder.ancestors().find(|folder| folder.is_dir());
    let near = near.unwrap_or(Path::new("."));
    ensure_folder(folder, &Mode::like(near)?, Durability::Close)?;
    let mode = Mode::like(folder)?;
    if force {
        return Ok(replace_with(path, mode, Durability::Close, write)?);
    }
    match create_with(path, mode, Durability::Close, write)? {
        Created::New => Ok(()),
        Created::Existed => Err(Failure::Usage {
            message: format!("`{}` exists", path.display()),
            hint: Some("`--force` replaces it".to_owned()),
        }),
    }
}

fn raw(context: &Context, env: &Env, args: &Show, name: &str) -> Result<Exit, Failure> {
    let (source, files) = raw_files(env, name)?;
    let rows = raw_rows(&source)?;
    if let Some(folder) = &args.output {
        let written = match &rows {
            Some(rows) => vec![copy_rows(&source, rows, folder, Durability::Close)?],
            None => copy_raw(&source, &files, folder, Durability::Close)?,
        };
        for path in written {
            let path = path.to_string_lossy();
            if context.json {
                print_json(&json!({ "path": path }))?;
            } else {
                print(&rethread_render::one_line(&path))?;
            }
        }
        return Ok(Exit::Done);
    }
    if let Some(rows) = rows {
        let mut out = io::stdout().lock();
        rows.save_all(&mut out)?;
        out.flush()?;
    } else if let Some(main) = files.first() {
        let mut file = open_read(main)?;
        let mut out = io::stdout().lock();
        io::copy(&mut file, &mut out)?;
        out.flush()?;
    }
    Ok(Exit::Done)
}
