//! `export`: sessions of every agent in one file.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rethread_engine::{
    ChosenSessions, ExportForms, ExportSelection, ExportTarget, Exported, PageOutput,
    choose_sessions, export_file_name, export_html, export_markdown, export_ndjson, export_notes,
    export_source,
};
use rethread_model::{Note, Severity};
use rethread_project::is_folder;
use rethread_render::InertJson;
use serde_json::json;

use crate::args::WriteFlags;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filters::FilterFlags;
use crate::homes::HomeFlags;
use crate::names::name_parser;
use crate::output::{print, print_json, say};
use crate::progress::Progress;

/// Export sessions into one file, as pages, or as they are.
///
/// The file is Unified NDJSON; other forms are Markdown, HTML pages that need nothing else, and the
/// original files. Without names, the sessions of the current workspace. A name is a path (a folder, a
/// session, or another export), else a workspace, else a session. Prints the paths of what was written.
///
/// An export carries the original files along, packed, so that nothing is lost; `--lean` leaves out
/// all that the format itself has no words for. Where there is nothing to export, the file says so: it
/// holds no sessions.
///
/// `--json` names the form that is written, as the document of Unified NDJSON has it, alone or with
/// `--source`, and paths are printed all the same. Beside `--markdown` or `--html` it also means what it
/// means everywhere: what was done is printed as one object, that of `--report json`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread export --ah --aw --json -o ./backup   everything, into ./backup/export_….ndjson
  rethread export --remote ada@vm01 --aw         what is on another machine, too
  rethread export myproject --json               the workspaces whose name has `myproject`
  rethread export myproject --source --json      with the original files beside it
  rethread export -o all.ndjson.zst --aw         into one packed file
  rethread export 7f3a -o talk.html              one conversation, to read in a browser
  rethread export --lean -o - | jq .session.id   to another program")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Export {
    /// What to export: paths, workspaces or sessions; `-` for what comes down a pipe.
    #[arg(value_name = "SESSION|WORKSPACE", value_parser = name_parser())]
    names: Vec<String>,
    /// All workspaces.
    #[arg(long)]
    aw: bool,
    #[command(flatten)]
    homes: HomeFlags,
    /// Write Markdown, a file for each session.
    #[arg(long)]
    markdown: bool,
    /// Write HTML, a page for each session that needs nothing else: no network, no scripts.
    #[arg(long)]
    html: bool,
    /// Copy the original files with their folders, and write a manifest with their SHA-256.
    #[arg(long)]
    source: bool,
    /// Where to write: a file if it ends in `.ndjson`, `.gz`, `.zst`, `.md` or `.html`, standard output
    /// if it is `-`, else a folder; folders that are not there are made. A file ending in `.gz` or `.zst`
    /// is packed.
    #[arg(short, long, value_name = "DIR|FILE|-")]
    output: Option<PathBuf>,
    #[command(flatten)]
    filters: FilterFlags,
    /// Leave out the sessions of sub-agents.
    #[arg(long)]
    no_subagents: bool,
    /// Leave out what the format has no words for: reasoning, pictures, and the original files.
    #[arg(long)]
    lean: bool,
    /// Leave calls of tools out of Markdown and HTML.
    #[arg(long)]
    no_tools: bool,
    /// Leave what the model thought out of Markdown and HTML.
    #[arg(long)]
    no_thinking: bool,
    /// Replace files that exist.
    #[arg(long)]
    force: bool,
    /// Print what was done as JSON, instead of paths.
    #[arg(long, value_name = "json")]
    report: Option<ExportReport>,
    #[command(flatten)]
    write: WriteFlags,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExportReport {
    Json,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExportForm {
    Ndjson,
    Markdown,
    Html,
    Source,
}

/// Where it is written.
#[derive(Clone, Debug)]
enum ExportDestination {
    Stdout,
    File(PathBuf),
    Folder(PathBuf),
}

pub(crate) fn run(context: &Context, args: &Export) -> Result<Exit, Failure> {
    let place = place(context, args.output.as_deref())?;
    let mut forms = forms(context, args, &place)?;
    let chosen = chosen(context, args)?;
    if chosen.is_empty() {
        if !context.json {
            say("no sessions were found");
        }
        // Only lines say of themselves that there is none.
        forms.retain(|form| *form == ExportForm::Ndjson);
        if forms.is_empty() {
            context.notes(&chosen.notes);
            return Ok(Exit::Failed);
        }
    }
    let how = ExportForms {
        lean: args.lean,
        without_tools: args.no_tools,
        without_thinking: args.no_thinking,
        force: args.force,
        strict: context.strict,
        durability: args.write.durability,
    };
    if context.strict {
        let progress = Progress::of_bytes("reading");
        let carries = |form: &ExportForm| match form {
            ExportForm::Ndjson => !args.lean,
            ExportForm::Source => true,
            ExportForm::Markdown | ExportForm::Html => false,
        };
        let with_originals = forms.iter().any(carries);
        let notes = export_notes(&chosen, with_originals, &|done, of| {
            progress.at_byte(done, of);
        });
        drop(progress);
        if notes.iter().any(|n| n.severity == Severity::Damage) {
            context.notes(&notes);
            return Ok(refused(context));
        }
    }
    let mut all = Exported {
        notes: chosen.notes.clone(),
        ..Exported::default()
    };
    for form in &forms {
        let done = write(context, *form, &chosen, how, &place)?;
        all.sessions = all.sessions.max(done.sessions);
        all.skipped = all.skipped.max(done.skipped);
        all.refused |= done.refused;
        all.files.extend(done.files);
        for note in done.notes {
            if !all.notes.contains(&note) {
                all.notes.push(note);
            }
        }
    }
    let exit = context.notes(&all.notes);
    if all.sessions == 0 || all.refused {
        context.tell_notes();
    }
    if all.sessions == 0 && !chosen.is_empty() {
        context.say("nothing was written: no session could be read");
        return Ok(Exit::Failed);
    }
    if all.refused {
        return Ok(refused(context));
    }
    report(context, args, &all, &place)?;
    if !chosen.is_empty() {
        context.notes(&[Note::remark(SECRETS)]);
    }
    Ok(exit)
}

/// Nobody looks for secrets in what is exported.
const SECRETS: &str =
    "an export holds whatever was said, secrets too: look through it before you share it";

fn refused(context: &Context) -> Exit {
    context.say("nothing was written, because of `--strict`");
    Exit::Failed
}

/// What a file that is exported to can be called, apart from what packs it.
const FILES: [&str; 3] = ["ndjson", "md", "html"];
const PACKED: [&str; 2] = ["gz", "zst"];

/// Where to write. A name that ends like another kind of file is a mistake, and no folder.
fn place(context: &Context, output: Option<&Path>) -> Result<ExportDestination, Failure> {
    let Some(path) = output else {
        return Ok(ExportDestination::Folder(PathBuf::new()));
    };
    if path == Path::new("-") {
        return Ok(ExportDestination::Stdout);
    }
    let is_named_as_folder = path.as_os_str().to_string_lossy().ends_with(['/', '\\']);
    if is_named_as_folder || is_folder(&context.env.cwd.join(path)) {
        return Ok(ExportDestination::Folder(path.to_owned()));
    }
    let ending = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let is_one_of = |kinds: &[&str], e: &String| kinds.contains(&e.as_str());
    let Some(last) = ending(path).filter(|e| is_kind_of_file(e)) else {
        return Ok(ExportDestination::Folder(path.to_owned()));
    };
    // What is packed are lines.
    let before = ending(Path::new(path.file_stem().unwrap_or_default()));
    let before = before.filter(|e| is_kind_of_file(e) && e != "ndjson");
    if is_one_of(&FILES, &last) || is_one_of(&PACKED, &last) && before.is_none() {
        return Ok(ExportDestination::File(path.to_owned()));
    }
    let kind = match before.filter(|_| is_one_of(&PACKED, &last)) {
        Some(before) => format!("{before}.{last}"),
        None => last,
    };
    Err(Failure::Usage {
        message: format!("`{}`: nothing is exported as `.{kind}`", path.display()),
        hint: Some(format!(
            "a file ends in `.ndjson`, `.ndjson.gz`, `.ndjson.zst`, `.md` or `.html`; a folder of that name is `{}/`",
            path.display()
        )),
    })
}

/// Whether a name's ending says what kind of file it is: `pdf` does, and `2026` is a part of a name.
fn is_kind_of_file(ending: &str) -> bool {
    ending.len() <= 8
        && ending.bytes().all(|b| b.is_ascii_alphanumeric())
        && ending.bytes().any(|b| b.is_ascii_alphabetic())
}

fn forms(
    context: &Context,
    args: &Export,
    place: &ExportDestination,
) -> Result<Vec<ExportForm>, Failure> {
    let suffix = match place {
        ExportDestination::File(path) => {
            path.extension().map(|e| e.to_string_lossy().to_lowercase())
        }
        ExportDestination::Stdout | ExportDestination::Folder(_) => None,
    };
    let is = |name: &str| suffix.as_deref() == Some(name);
    let (is_markdown, is_html) = (is("md"), is("html"));
    let nothing_asked = !context.json && !args.markdown && !args.html && !args.source;
    let mut forms = Vec::new();
    if context.json || (nothing_asked && !is_markdown && !is_html) {
        forms.push(ExportForm::Ndjson);
    }
    if args.markdown || (nothing_asked && is_markdown) {
        forms.push(ExportForm::Markdown);
    }
    if args.html || (nothing_asked && is_html) {
        forms.push(ExportForm::Html);
    }
    if args.source {
        forms.push(ExportForm::Source);
    }
    let fits = match (place, forms.as_slice()) {
        (ExportDestination::Folder(_), _) => true,
        (ExportDestination::Stdout, [one]) => *one != ExportForm::Source,
        (ExportDestination::File(_), [ExportForm::Markdown]) => is_markdown,
        (ExportDestination::File(_), [ExportForm::Html]) => is_html,
        (ExportDestination::File(_), [ExportForm::Ndjson]) => !is_markdown && !is_html,
        _ => false,
    };
    let is_for_people = |form: &ExportForm| matches!(form, ExportForm::Markdown | ExportForm::Html);
    if (args.no_tools || args.no_thinking) && !forms.iter().any(is_for_people) {
        return Err(Failure::Usage {
            message: "`--no-tools` and `--no-thinking` are for Markdown and HTML".to_owned(),
            hint: Some("add `--markdown` or `--html`".to_owned()),
        });
    }
    if fits {
        return Ok(forms);
    }
    Err(Failure::Usage {
        message: "what is asked for does not fit into that one file".to_owned(),
        hint: Some("`-o DIR` takes all forms at once".to_owned()),
    })
}

fn chosen(context: &Context, args: &Export) -> Result<ChosenSessions, Failure> {
    let ask = ExportSelection {
        names: context.all_named(&args.names)?,
        all_workspaces: args.aw,
        filter: args.filters.filter(context, &args.homes)?,
        subagents: !args.no_subagents,
    };
    let (env, notes) = args.homes.open(context)?;
    let progress = Progress::new("looking");
    let chosen = choose_sessions(&env, &ask, &|done, of| progress.at(done, of));
    drop(progress);
    match chosen {
        Ok(mut chosen) => {
            chosen.notes.splice(0..0, notes);
            Ok(chosen)
        }
        Err(e) => {
            context.notes(&notes);
            Err(e.into())
        }
    }
}

fn write(
    context: &Context,
    form: ExportForm,
    chosen: &ChosenSessions,
    how: ExportForms,
    place: &ExportDestination,
) -> Result<Exported, Failure> {
    let progress = Progress::of_bytes("exporting");
    let tell = |done: u64, of: u64| progress.at_byte(done, of);
    let mut stdout = io::stdout().lock();
    let folder = match place {
        ExportDestination::Folder(folder) => folder.clone(),
        ExportDestination::File(_) | ExportDestination::Stdout => PathBuf::new(),
    };
    Ok(match (form, place) {
        (ExportForm::Ndjson, ExportDestination::Stdout) => {
            let mut inert = InertJson::new(&mut stdout);
            let mut target = ExportTarget::Stream(&mut inert);
            let done = export_ndjson(&context.env, chosen, how, &mut target, &tell)?;
            inert.flush()?;
            done
        }
        (ExportForm::Ndjson, ExportDestination::File(path)) => {
            let mut target = ExportTarget::File(path.clone());
            export_ndjson(&context.env, chosen, how, &mut target, &tell)?
        }
        (ExportForm::Ndjson, ExportDestination::Folder(_)) => {
            let mut target = ExportTarget::File(folder.join(export_file_name(&context.env)));
            export_ndjson(&context.env, chosen, how, &mut target, &tell)?
        }
        (ExportForm::Markdown | ExportForm::Html, place) => {
            let pages = match place {
                ExportDestination::Stdout => PageOutput::Stream(&mut stdout),
                ExportDestination::File(path) => PageOutput::File(path.clone()),
                ExportDestination::Folder(folder) => PageOutput::Folder(folder.clone()),
            };
            if form == ExportForm::Html {
                export_html(chosen, how, pages, &tell)?
            } else {
                export_markdown(chosen, how, pages, &tell)?
            }
        }
        (ExportForm::Source, _) => export_source(&context.env, chosen, how, &folder, &tell)?,
    })
}

fn report(
    context: &Context,
    args: &Export,
    all: &Exported,
    place: &ExportDestination,
) -> Result<(), Failure> {
    // The document's own calls print paths.
    let is_asked_for = context.json && (args.markdown || args.html);
    if is_asked_for || matches!(args.report, Some(ExportReport::Json)) {
        let paths = all.files.iter().map(|p| p.to_string_lossy().into_owned());
        let damage = |n: &&Note| n.severity == Severity::Damage;
        let report = json!({
            "files": paths.collect::<Vec<_>>(),
            "session_count": all.sessions,
            "skipped": all.skipped,
            "warnings": all.notes.iter().filter(damage).map(ToString::to_string).collect::<Vec<_>>(),
        });
        if matches!(place, ExportDestination::Stdout) {
            crate::output::say_json(&report);
            return Ok(());
        }
        return print_json(&report);
    }
    for path in &all.files {
        print(&rethread_render::one_line(&path.to_string_lossy()))?;
    }
    Ok(())
}
