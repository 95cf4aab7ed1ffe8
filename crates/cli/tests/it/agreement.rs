//! Lists and readers say the same of a session: how much is in it, what it is called, when it was held.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rethread_formats::{FORMATS, Source, Want, summarize};
use rethread_model::{Activity, Entry, EntryIx, Session, State, Summary, Visibility};
use rethread_render::{dollars, short_count};

use crate::world::{World, json};

const ALL: Want = Want {
    usage: true,
    size: true,
};

fn sources_at(path: &Path) -> Vec<Source> {
    FORMATS
        .iter()
        .flat_map(|f| f.store().at_path(path))
        .collect()
}

/// All sessions in the files below a folder.
pub(crate) fn sessions(folder: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                let is_session = ["thread.json", "session.json"]
                    .iter()
                    .any(|name| path.join(name).is_file());
                if is_session {
                    found.extend(sources_at(&path));
                }
                folders.push(path);
            } else {
                found.extend(sources_at(&path));
            }
        }
    }
    found.sort_by(|a, b| (&a.path, &a.id).cmp(&(&b.path, &b.id)));
    found.dedup();
    found
}

pub(crate) fn folders() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let corpus = rethread_judges::corpus_if_any();
    std::iter::once(fixtures).chain(corpus).collect()
}

/// The messages of a session as lists count them: all of them, on whatever branch, but for
/// - those that a sub-agent was given by its parent, where they count;
/// - responses of Claude Code that it wrote anew: each counts once;
/// - words that Codex showed and of which it has no message: lists do not look for those.
fn counted_messages<'a>(
    source: &Source,
    summary: &Summary,
    session: &'a Session,
) -> Vec<&'a Entry> {
    let mut responses = BTreeSet::new();
    let mut is_first = |ix| {
        session
            .usage_key(ix)
            .is_none_or(|key| responses.insert(key))
    };
    let slug = source.format.slug();
    let counts = |(ix, entry): &(EntryIx, &Entry)| {
        entry.kind.is_message()
            && !(entry.inherited && summary.is_subagent())
            && !(slug == "codex" && entry.visibility == Visibility::UiOnly)
            && (slug != "claude-code" || is_first(*ix))
    };
    session
        .indexed()
        .filter(counts)
        .map(|(_, entry)| entry)
        .collect()
}

fn differences(source: &Source) -> Vec<String> {
    let (quick, full) = (summarize(source, Want::default()), summarize(source, ALL));
    let held = |s: &Summary| (s.head.created, s.head.updated);
    let mut found = Vec::new();
    let mut same = |what: &str, one: &dyn std::fmt::Debug, other: &dyn std::fmt::Debug| {
        let (one, other) = (format!("{one:?}"), format!("{other:?}"));
        if one != other {
            let place = format!("{}#{}", source.path.display(), source.id);
            found.push(format!("{place}: {what}: {one} is not {other}"));
        }
    };
    // Descriptions and names of files tell less than what is in them.
    if !["atsf", "agentuse"].contains(&source.format.slug()) {
        same("messages", &quick.counts.messages, &full.counts.messages);
        same("times", &held(&quick), &held(&full));
    }
    same("title", &quick.head.title, &full.head.title);
    if !matches!(full.state, State::Ready | State::Empty) {
        return found;
    }
    let Ok(read) = source.format.reader().read(source) else {
        return found;
    };
    let session = &read.session;
    // Where the log of a thread is missing, its description is all that is known.
    let is_counted = full.counts.usage.is_some() || source.format.slug() != "atsf";
    if is_counted {
        let said = counted_messages(source, &full, session);
        same("messages read", &full.counts.messages, &(said.len() as u64));
        let mut activity = Activity::default();
        for entry in &said {
            activity.add_message(entry.time);
        }
        same("times of messages", &full.activity, &activity);
        if said.iter().any(|entry| entry.time.is_some()) {
            let read = (session.head.created, session.head.updated);
            same("times read", &held(&full), &read);
        }
    }
    same("title", &full.head.title, &session.head.title);
    same("id", &full.head.id, &session.head.id);
    if let (Some(created), Some(updated)) = held(&full) {
        same("began before it ended", &true, &(created <= updated));
    }
    found
}

#[test]
fn lists_and_readers_agree() {
    for folder in folders() {
        let all = sessions(&folder);
        assert!(all.len() > 50, "{}: {}", folder.display(), all.len());
        let found: Vec<String> = all.iter().flat_map(differences).collect();
        assert!(
            found.is_empty(),
            "{} of {} differ:\n{}",
            found.len(),
            all.len(),
            found.join("\n")
        );
    }
}

/// What the binary prints. Of real conversations some of each format, because there are many.
#[test]
fn list_and_show_print_the_same_session_object() {
    let w = World::new();
    for (folder, most) in folders().iter().zip([usize::MAX, 12]) {
        let mut formats = std::collections::BTreeMap::<&str, usize>::new();
        for source in sessions(folder) {
            let count = formats.entry(source.format.slug()).or_default();
            if *count < most && summarize(&source, Want::default()).state == State::Ready {
                *count += 1;
                assert_printed_alike(&w, &source);
            }
        }
        assert!(formats.len() >= 7, "{formats:?}");
    }
}

fn assert_printed_alike(w: &World, source: &Source) {
    let path = source.path.to_str().unwrap();
    let name = format!("{path}#{}", source.id);
    let listed = w.run(&["list", path, "--json", "--hidden"]);
    let shown = w.run(&["show", &name, "--json"]);
    // Half of a character is kept as it stands, and some readers of JSON refuse that.
    let Ok(shown) = serde_json::from_str::<serde_json::Value>(&shown.out) else {
        return;
    };
    let shown = shown["session"].clone();
    let mut lines = listed.out.lines().map(json);
    let listed = lines.find(|s| s["id"] == shown["id"]);
    let listed = listed.unwrap_or_else(|| panic!("{name} is not listed"));
    for field in [
        "message_count",
        "tool_call_count",
        "token_usage",
        "cost_usd",
        "size",
        "title",
        "started_at",
        "ended_at",
    ] {
        assert_eq!(listed[field], shown[field], "{name}: {field}");
    }
    let names = |object: &serde_json::Value| -> Vec<String> {
        object.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(names(&listed), names(&shown), "{name}");
    assert_headings_alike(w, &name, &listed);
}

/// The heading of a session for people says what the list says.
fn assert_headings_alike(w: &World, name: &str, listed: &serde_json::Value) {
    let count = listed["message_count"].as_u64().unwrap();
    let noun = if count == 1 { "message" } else { "messages" };
    let counted = format!("{count} {noun}");
    let is_counted = |fact: &str| {
        let fact = fact.split_once(" (").map_or(fact, |(fact, _)| fact);
        fact == counted || fact.ends_with(&format!(" of {counted}"))
    };
    let command = w.command(&["show", name]).env("COLUMNS", "1000").output();
    let shown = String::from_utf8_lossy(&command.unwrap().stdout).into_owned();
    let heading = shown.split("\n\n").next().unwrap();
    let used = |field: &str| listed["token_usage"][field].as_u64().unwrap_or(0);
    let fields = [
        "input_tokens",
        "output_tokens",
        "cache_creation_tokens",
        "cache_read_tokens",
    ];
    let total: u64 = fields.iter().map(|field| used(field)).sum();
    let tokens = (total > 0).then(|| format!("{} tokens", short_count(total)));
    let cost = listed["cost_usd"].as_f64().filter(|usd| *usd >= 0.005);
    let cost = cost.map(dollars);
    let assert_facts = |what: &str, facts: &[&str]| {
        assert!(
            facts.iter().any(|f| is_counted(f)),
            "{name}: {what}: {counted}: {facts:?}"
        );
        for fact in tokens.iter().chain(&cost) {
            assert!(
                facts.contains(&fact.as_str()),
                "{name}: {what}: {fact}: {facts:?}"
            );
        }
    };
    let facts: Vec<&str> = heading.split(['\n', '·']).map(str::trim).collect();
    assert_facts("text", &facts);
    for args in [
        &["show", name, "--to", "html"],
        &["export", name, "--html", "-o", "-"][..],
    ] {
        let page = w.run(args).out;
        let facts = page.split("<details class=facts><summary>").nth(1).unwrap();
        let facts = facts.split("</summary>").next().unwrap();
        let facts: Vec<&str> = facts.split('·').map(str::trim).collect();
        assert_facts(args[0], &facts);
    }
    for args in [
        &["show", name, "--to", "markdown"],
        &["export", name, "--markdown", "-o", "-"][..],
    ] {
        let document = w.run(args).out;
        let value = |fact: &str| {
            let start = format!("- {fact}: ");
            document.lines().find_map(|line| line.strip_prefix(&start))
        };
        let messages = value("Messages").unwrap();
        let number = messages.split(' ').next();
        assert_eq!(number, Some(count.to_string().as_str()), "{name}: {args:?}");
        for (fact, field) in [("Started", "started_at"), ("Ended", "ended_at")] {
            // One in which nothing was said is listed by the time of its file.
            if let Some(time) = listed[field].as_str().filter(|_| count > 0) {
                assert_eq!(value(fact), Some(time), "{name}: {args:?}: {fact}");
            }
        }
        if used("input_tokens") + used("output_tokens") > 0 {
            let start = format!("in {}, out {}", used("input_tokens"), used("output_tokens"));
            let tokens = value("Tokens").unwrap_or_default();
            assert!(
                tokens.starts_with(&start),
                "{name}: {args:?}: {tokens} is not {start}"
            );
        }
        if cost.is_some() {
            assert_eq!(value("Cost"), cost.as_deref(), "{name}: {args:?}");
        }
    }
}

#[test]
fn a_list_has_the_same_fields_whatever_is_asked() {
    let w = World::new();
    w.thread("For later");
    let names = |args: &[&str]| {
        let mut all = vec!["list", "--json"];
        all.extend(args);
        let out = w.ok(&all);
        let line = json(out.lines().next().unwrap());
        line.as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let plain = names(&[]);
    for field in ["token_usage", "cost_usd", "size", "state", "links"] {
        assert!(plain.iter().any(|name| name == field), "{field}: {plain:?}");
    }
    for args in [
        &["--sort", "tokens"][..],
        &["--sort", "size"],
        &["--subagents"],
        &["--hidden", "--limit", "1"],
    ] {
        assert_eq!(names(args), plain, "{args:?}");
    }
}
