//! `search`: conversations by what was said in them.

use std::io::Write;
use std::time::Instant;

use clap::{Args, ValueEnum};
use rethread_engine::{
    Env, FilterName, HitOrder, NearMiss, OtherWords, Query, SearchAnswer, SearchLibrary,
    SearchOptions, SnippetSize, search,
};

use rethread_render::one_line;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filters::FilterFlags;
use crate::found_text::FoundText;
use crate::homes::HomeFlags;
use crate::output::{json_out, say};
use crate::pager::page;
use crate::progress::Progress;

/// Find conversations by what was said in them, by titles and by files.
///
/// Words are all wanted, in one text: a prompt, an answer, a call of a tool, its output, a title. Each
/// conversation is told with its best places, and the command that opens it there. With `--json`, one
/// object for each place.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread search redirect cookie           both words, in any order
  rethread search '\"set the cookie\"'        a phrase; the quotes are for rethread
  rethread search 'auth* -test'             words that begin with auth, and no test
  rethread search 'timeout OR deadline'     either
  rethread search '/fn \\w+_cookie/'         a regular expression, as it stands in the text
  rethread search role:user since:7d login  what you said of it this week
  rethread search tool:bash 'cargo test'    what was run
  rethread search file:src/auth.rs          which conversations touched a file

In a query: word, \"a phrase\", begin*, -without, a OR b, /regex/ (/regex/i ignores case), and filters:
agent:codex dir:api role:user tool:bash file:src/main.rs model:opus is:subagent has:error has:image
since:7d until:yesterday title:login; -agent:codex leaves out. `agent:` `dir:` `model:` `title:` `is:`
`has:` `file:` choose conversations; `role:` `tool:` `since:` `until:` choose texts.")]
pub(crate) struct Search {
    /// What to look for. Write `--` before a query that begins with `-`, or quote all of it.
    #[arg(value_name = "QUERY", required_unless_present_any = QUERY_FLAGS)]
    query: Vec<String>,
    #[command(flatten)]
    filters: FilterFlags,
    /// Only workspaces: `.`, a path, or a part of a name. Can be repeated.
    #[arg(long, value_name = "WORKSPACE")]
    dir: Vec<String>,
    /// Only what `user`, `assistant`, `tool` or `system` said. Can be repeated.
    #[arg(long, value_name = "ROLE")]
    role: Vec<String>,
    /// Only calls and outputs of this tool. Can be repeated.
    #[arg(long, value_name = "TOOL")]
    tool: Vec<String>,
    /// Only conversations that read or wrote this file: its path, the end of it, or a folder.
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// Only conversations with this in their title.
    #[arg(long, value_name = "TEXT")]
    title: Vec<String>,
    /// Only conversations that have an `error` or an `image`.
    #[arg(long, value_name = "WHAT")]
    has: Vec<String>,
    /// Only conversations that are a `subagent`.
    #[arg(long, value_name = "WHAT")]
    is: Vec<String>,
    /// What comes first.
    #[arg(long, value_name = "KEY", default_value = "relevance")]
    sort: SearchOrder,
    /// At most so many conversations; 0 for all. In JSON all are told unless this is given.
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Show so many lines before and behind what was found.
    #[arg(short = 'C', long, value_name = "N", default_value = "0")]
    context: usize,
    #[command(flatten)]
    homes: HomeFlags,
}

/// Flags that are a query by themselves.
const QUERY_FLAGS: [&str; 11] = [
    "agent", "since", "until", "model", "dir", "role", "tool", "file", "title", "has", "is",
];

/// So many conversations are told to people.
const USUAL_LIMIT: usize = 10;
/// So many places of each are told to people.
const PLACES: usize = 3;
/// The widest piece of a text that scripts are told.
const JSON_WIDTH: usize = 240;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SearchOrder {
    Relevance,
    Newest,
}

impl Search {
    fn parse_query(&self) -> Result<Query, Failure> {
        let typed = self.query.join(" ");
        let mut query = Query::parse(&typed).map_err(rethread_engine::Error::from)?;
        for (name, values) in [
            (FilterName::Dir, &self.dir),
            (FilterName::Role, &self.role),
            (FilterName::Tool, &self.tool),
            (FilterName::File, &self.file),
            (FilterName::Title, &self.title),
            (FilterName::Has, &self.has),
            (FilterName::Is, &self.is),
        ] {
            let added = query.add_filter(name, values);
            added.map_err(rethread_engine::Error::from)?;
        }
        if query.is_empty() && self.filters.is_empty() {
            return Err(Failure::Usage {
                message: "there is nothing to look for".to_owned(),
                hint: Some("`rethread search --help` shows what a query can be".to_owned()),
            });
        }
        Ok(query)
    }

    fn limit(&self, is_json: bool) -> usize {
        match self.limit {
            Some(0) => usize::MAX,
            Some(limit) => limit,
            None if is_json => usize::MAX,
            None => USUAL_LIMIT,
        }
    }
}

pub(crate) fn run(context: &Context, args: &Search) -> Result<Exit, Failure> {
    let started = Instant::now();
    let query = args.parse_query()?;
    let filter = args.filters.filter(context, &args.homes)?;
    let (env, notes) = args.homes.open(context)?;
    let width = context.style().width;
    let options = SearchOptions {
        query: &query,
        filter: &filter,
        order: match args.sort {
            SearchOrder::Relevance => HitOrder::Relevance,
            SearchOrder::Newest => HitOrder::Newest,
        },
        limit: args.limit(context.json),
        places: if context.json { usize::MAX } else { PLACES },
        size: SnippetSize {
            width: if context.json { JSON_WIDTH } else { width },
            context: args.context,
        },
        zone: context.zone(),
    };
    let progress = Progress::new("searching");
    let library = SearchLibrary::open(&env, &|done, of| progress.at(done, of));
    let mut answer = search(&env, &library, &options, &|done, of| progress.at(done, of))?;
    drop(progress);
    answer.notes.splice(0..0, notes);
    for found in &mut answer.conversations {
        found.summary.path = context.given_path(&found.summary.path);
    }
    let exit = context.notes(&answer.notes);
    if answer.conversations.is_empty() {
        if !context.json {
            context.tell_notes();
            let looked_at = counted(answer.looked_at, "conversation");
            say(&format!("nothing was found in {looked_at}"));
        }
        keep_index(&env, &library);
        return Ok(Exit::Failed);
    }
    let typed = args.query.join(" ");
    let has_terms = query.wanted_terms().next().is_some();
    let shown = FoundText::new(context, &answer, if has_terms { &typed } else { "" });
    if let Some(miss) = &answer.miss {
        context.say(&near_miss(miss));
    }
    if context.json {
        json_out(std::io::BufWriter::new(std::io::stdout().lock()), |out| {
            shown.write_json(out)
        })?;
        keep_index(&env, &library);
        return Ok(exit);
    }
    let took = started.elapsed();
    page(context, |out: &mut dyn Write| {
        shown.write(out)?;
        writeln!(out, "{}", footer(context, &answer, took))
    })?;
    keep_index(&env, &library);
    Ok(exit)
}

/// Adds to the index what is new, if that is much: the answer is there already, and the next one comes
/// sooner. Whoever interrupts it keeps what was done.
fn keep_index(env: &Env, library: &SearchLibrary) {
    if library.is_worth_indexing() {
        let progress = Progress::of_bytes("indexing");
        // Where it cannot be kept, the next search reads once more.
        let _ = library.update_index(env, &|done, of| progress.at_byte(done, of));
    }
}

/// Says how what is told differs from what was asked for.
fn near_miss(miss: &NearMiss) -> String {
    match miss {
        NearMiss::DifferentTexts => {
            "no text has all of this; these conversations have it in different places".to_owned()
        }
        NearMiss::OtherWords(others) => {
            let other = |one: &OtherWords| {
                let words: Vec<String> =
                    one.words.iter().take(3).map(|w| format!("`{w}`")).collect();
                let words = words.join(", ");
                format!("{words} instead of `{}`", one.typed)
            };
            let others: Vec<String> = others.iter().map(other).collect();
            let text = format!("nothing has this; looked for {}", others.join(", "));
            one_line(&text).into_owned()
        }
    }
}

/// `1 conversation`, `2 conversations`
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", crate::table::count(count as u64))
}

/// `2 conversations, 5 places`
fn footer(context: &Context, answer: &SearchAnswer, took: std::time::Duration) -> String {
    let mut parts = vec![counted(answer.total, "conversation")];
    if answer.total_places > 0 {
        parts.push(counted(answer.total_places, "place"));
    }
    // A clock that is set is one for tests.
    if context.env.has_running_clock() {
        parts.push(format!("{} ms", took.as_millis()));
    }
    let mut line = parts.join(", ");
    let told = answer.conversations.len();
    if told < answer.total {
        line = format!("the best {told} of {line} (`-n 0` tells all)");
    }
    line
}
