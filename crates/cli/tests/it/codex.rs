//! Sessions of the Codex CLI: found, listed, read and shown.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use rethread_formats::{Conversation, Format, Source, Want, codex::Codex};
use rethread_model::{Bodies, Body, Kept, Kind, LinkKind, State, TitleSource, Usage, Visibility};

use crate::world::{Answer, World, copy, json, tree};

const EVERYTHING: &str = "019ed50c-2fb3-7002-a384-000000000001";
const ROLLED_BACK: &str = "019ed917-1cf7-72a3-92f5-000000000002";
const COPY: &str = "019ed9ff-0000-7000-8000-000000000004";
const DAMAGED: &str = "019ed917-1cf7-72a3-92f5-000000000005";
const BASE: &str = "01a1e075-346b-7c10-a10e-000000000006";
const FORK: &str = "01a1e075-3644-7a81-8767-000000000007";
const CHILD: &str = "01a1e075-71a2-7901-a444-000000000008";
const LOST: &str = "01a1e075-9000-7901-a444-000000000009";
const PACKED: &str = "01a1e075-346b-7c10-a10e-00000000000a";

const CASES: [&str; 9] = [
    "2025/document",
    "0.20/items",
    "0.140/everything",
    "0.140/rolled-back",
    "0.140/copied-fork",
    "0.140/damaged",
    "0.166/forks",
    "0.166/lost-base",
    "0.166/packed",
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex")
}

/// A home with these cases, laid out as the client does it.
fn home(cases: &[&str]) -> World {
    let w = World::new();
    for case in cases {
        copy(&fixtures().join(case), &w.home.join(".codex"));
    }
    w
}

fn sessions_of(case: &str) -> Vec<PathBuf> {
    let files = tree(&fixtures().join(case)).into_iter().map(|(p, _)| p);
    files
        .filter(|p| p.file_name().unwrap() != "session_index.jsonl")
        .collect()
}

fn read(path: &Path) -> Conversation {
    let source = Source::new("codex", String::new(), path.to_owned());
    Codex.read(&source).unwrap()
}

/// The session with this id of a case.
fn session(case: &str, id: &str) -> Conversation {
    let named = |p: &&PathBuf| p.to_str().unwrap().contains(id);
    read(sessions_of(case).iter().find(named).unwrap())
}

/// The bytes of every part, once from its records and once as it is saved, are those of the file.
fn assert_lossless(conversation: &Conversation) {
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let original = fs::read(&part.path).unwrap();
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        assert_eq!(tiled.len() as u64, part.len(), "{}", part.path.display());
        let is_packed = part.path.extension().is_some_and(|e| e == "zst");
        if !is_packed {
            assert!(original.starts_with(&tiled), "{}", part.path.display());
        }
        if !part.borrowed {
            let mut saved = Vec::new();
            conversation.native.save(number, &mut saved).unwrap();
            assert_eq!(saved, original, "{}", part.path.display());
            assert!(is_packed || tiled == original, "{}", part.path.display());
        }
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
}

fn messages(answer: &str) -> usize {
    json(answer.lines().next().unwrap())["message_count"]
        .as_u64()
        .unwrap()
        .try_into()
        .unwrap()
}

#[test]
fn fixtures_are_read_and_saved_byte_for_byte() {
    let mut count = 0;
    for case in CASES {
        for path in sessions_of(case) {
            assert_lossless(&read(&path));
            count += 1;
        }
    }
    assert_eq!(count, 12);
}

#[test]
fn all_generations_are_listed() {
    let w = home(&CASES);
    // What looks like a session and is none of the client's.
    let credentials = "{\"session\":{\"id\":\"x\"},\"items\":[]}";
    fs::write(w.home.join(".codex/auth.json"), credentials).unwrap();
    fs::write(
        w.home.join(".codex/history.jsonl"),
        "{\"session_id\":\"x\",\"ts\":1,\"text\":\"x\"}\n",
    )
    .unwrap();
    let before = tree(&w.home);
    assert_snapshot!("codex_list", w.plain(&w.ok(&["list"])));
    assert_snapshot!(
        "codex_list_json",
        w.plain(&w.ok(&["list", "--json", "--sort", "tokens"]))
    );
    assert!(tree(&w.home) == before, "reading writes nothing");
}

#[test]
fn show_as_text_markdown_and_json() {
    let w = home(&["0.140/everything"]);
    let id = format!("codex:{EVERYTHING}");
    assert_snapshot!("codex_show", w.plain(&w.ok(&["show", &id, "--thinking"])));
    assert_snapshot!(
        "codex_markdown",
        w.plain(&w.ok(&["show", &id, "--to", "markdown"]))
    );
    assert_snapshot!("codex_json", w.plain(&w.ok(&["show", &id, "--json"])));
    let raw = w.command(&["show", &id, "--to", "raw"]).output().unwrap();
    let original = fs::read(&sessions_of("0.140/everything")[0]).unwrap();
    assert_eq!(raw.stdout, original);
}

#[test]
fn show_the_oldest_two_generations() {
    let w = home(&["2025/document", "0.20/items"]);
    assert_snapshot!("codex_document", w.plain(&w.ok(&["show", "5d0c1b6e"])));
    assert_snapshot!(
        "codex_items",
        w.plain(&w.ok(&["show", "3c9a7b52", "--thinking"]))
    );
}

#[test]
fn a_tree_with_turns_that_were_taken_back() {
    let w = home(&["0.140/rolled-back"]);
    assert_snapshot!(w.ok(&["tree", ROLLED_BACK]), @"
    ● #1        user: One
    ● #2        assistant: 1
    ├─ ○ #3        user: Two
    │  ○ #4        assistant: 2
    │  ○ #5        user: Three
    │  ○ #6        assistant: 3
    ● #7        event: thread_rolled_back: the last 2 turns were taken back
    ● #8        user: Four
    ● #9        assistant: 4  ◀ leaf
    ");
    let listed = json(w.ok(&["list", "--json"]).trim());
    assert_eq!(listed["archived"], true);
}

#[test]
fn more_turns_than_there_are_leave_what_came_before_the_first() {
    let w = home(&["0.140/rolled-back"]);
    let path = tree(&w.home.join(".codex")).remove(0).0;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"num_turns\":2", "\"num_turns\":9")).unwrap();
    let c = read(&path);
    let leaf = c.session.active_path();
    assert_eq!(leaf.len(), 3, "the event, a question and an answer");
}

#[test]
fn a_fork_by_pointer_has_its_past_from_another_file() {
    let w = home(&["0.166/forks"]);
    assert_snapshot!("codex_fork", w.plain(&w.ok(&["show", FORK])));
    let c = session("0.166/forks", FORK);
    assert_eq!(c.notes, []);
    assert_eq!(c.native.parts.len(), 2);
    assert!(c.native.parts[1].borrowed);
    let inherited: Vec<bool> = c.session.entries().iter().map(|e| e.inherited).collect();
    assert_eq!(inherited, [true, true, true, false, false]);
    let link = &c.session.head.links[0];
    assert_eq!((link.kind, link.session.as_str()), (LinkKind::ForkOf, BASE));
    assert_eq!(link.entry.as_deref(), Some("msg_2"));
    assert_eq!(usage(&c).total(), 14, "what the base cost is counted there");
}

#[test]
fn a_fork_whose_base_is_gone_shows_what_is_left() {
    let w = home(&["0.166/lost-base"]);
    let answer = w.run(&["show", LOST]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert!(answer.out.contains("Alone"), "{answer:?}");
    assert!(
        answer.err.contains("what it was forked from is missing"),
        "{answer:?}"
    );
}

#[test]
fn a_base_that_is_too_short_is_named() {
    let w = home(&["0.166/forks"]);
    let path = |id: &str| {
        let files = tree(&w.home.join(".codex")).into_iter().map(|(p, _)| p);
        files
            .into_iter()
            .find(|p| p.to_str().unwrap().ends_with(&format!("{id}.jsonl")))
            .unwrap()
    };
    let text = fs::read_to_string(path(BASE)).unwrap();
    let start: String = text.split_inclusive('\n').take(5).collect();
    fs::write(path(BASE), start).unwrap();
    let c = read(&path(FORK));
    assert_eq!(c.notes.len(), 1, "{:?}", c.notes);
    assert!(c.notes[0].message.contains("ends before"), "{:?}", c.notes);
    assert_lossless(&c);
    // Two that go on from each other are no endless tale.
    let circle = fs::read_to_string(path(FORK)).unwrap();
    fs::write(
        path(BASE),
        circle
            .replace(FORK, "x")
            .replace(BASE, FORK)
            .replace('x', BASE),
    )
    .unwrap();
    let c = read(&path(FORK));
    assert!(
        c.notes.iter().any(|n| n.message.contains("circle")),
        "{:?}",
        c.notes
    );
}

#[test]
fn a_fork_that_copied_its_past_counts_only_its_own() {
    let c = session("0.140/copied-fork", COPY);
    let said: Vec<(Kind, bool)> = c
        .session
        .entries()
        .iter()
        .map(|e| (e.kind, e.inherited))
        .collect();
    let messages: Vec<bool> = said
        .iter()
        .filter(|(k, _)| k.is_message())
        .map(|(_, i)| *i)
        .collect();
    assert_eq!(messages, [true, true, false, false]);
    let own = usage(&c);
    assert_eq!((own.input, own.cache_read, own.output), (200, 500, 4));
    assert_eq!(listed_usage(&c), own);
    let recorded = &c.session.head.recorded_usage[0].usage;
    assert_eq!(
        recorded.total(),
        1209,
        "the client's own total is cumulative"
    );
}

#[test]
fn sub_agents_are_linked_with_the_call_that_started_them() {
    let parent = session("0.166/forks", BASE);
    let link = &parent.session.head.links[0];
    assert_eq!(
        (link.kind, link.session.as_str()),
        (LinkKind::SubAgent, CHILD)
    );
    assert_eq!(link.tool_call.as_deref(), Some("call_1"));
    let child = session("0.166/forks", CHILD);
    let link = &child.session.head.links[0];
    assert_eq!((link.kind, link.session.as_str()), (LinkKind::Parent, BASE));
    assert_eq!(child.session.head.agent.role.as_deref(), Some("Laplace"));
    assert!(child.session.head.hidden);
    let shown = home(&["0.166/forks"]).ok(&["show", BASE]);
    assert!(shown.contains(&format!("sub-agent: {CHILD}")), "{shown}");
}

#[test]
fn sub_agents_count_once_with_the_sessions_that_started_them() {
    let counted = |w: &World, args: &[&str]| {
        let mut all = vec!["list", "--json", "--sort", "tokens"];
        all.extend(args);
        let listed = w.ok(&all);
        let one = |line| {
            let session = json(line);
            let tokens = &session["token_usage"];
            let number = |value: &serde_json::Value| value.as_u64().unwrap();
            let tokens = [
                number(&tokens["input_tokens"]),
                number(&tokens["cache_read_tokens"]),
                number(&tokens["output_tokens"]),
            ];
            let id = session["id"].as_str().unwrap();
            let last = id.chars().last().unwrap();
            (last, number(&session["message_count"]), tokens)
        };
        listed.lines().map(one).collect::<Vec<_>>()
    };
    // The fork is made a sub-agent: older ones had a copy of all that was said before.
    let w = home(&["0.140/copied-fork"]);
    let is_fork = |(p, _): &(PathBuf, Vec<u8>)| p.to_str().unwrap().contains(COPY);
    let (path, bytes) = tree(&w.home.join(".codex"))
        .into_iter()
        .find(is_fork)
        .unwrap();
    let of = "\"forked_from_id\":\"019ed917-1cf7-72a3-92f5-000000000003\"";
    let as_agent = of.replace("forked_from_id", "parent_thread_id");
    let source = "\"source\":{\"subagent\":{\"thread_spawn\":{\"depth\":1}}}";
    let text = String::from_utf8(bytes).unwrap().replace(of, &as_agent);
    fs::write(&path, text.replacen("\"source\":\"cli\"", source, 1)).unwrap();
    assert_eq!(counted(&w, &[]), [('3', 4, [700, 500, 9])]);
    assert_eq!(
        counted(&w, &["--subagents"]),
        [('4', 2, [200, 500, 4]), ('3', 2, [500, 0, 5])]
    );
    // The last total, which the client itself counted, is that of both.
    let text = fs::read_to_string(&path).unwrap();
    let total = json(text.lines().last().unwrap());
    let total = &total["payload"]["info"]["total_token_usage"];
    assert_eq!(
        (&total["input_tokens"], &total["output_tokens"]),
        (&1200.into(), &9.into())
    );
    let w = home(&["0.166/forks"]);
    let all = counted(&w, &["--subagents"]);
    let with_parents = counted(&w, &[]);
    let sum = |all: &[(char, u64, [u64; 3])]| {
        all.iter().fold((0, 0), |sum, (_, messages, tokens)| {
            (sum.0 + messages, sum.1 + tokens.iter().sum::<u64>())
        })
    };
    assert_eq!((all.len(), with_parents.len()), (3, 2));
    assert_eq!(sum(&all), sum(&with_parents));
}

#[test]
fn damage_is_salvaged_and_named() {
    let w = home(&["0.140/damaged"]);
    let answer = w.run(&["show", DAMAGED]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_snapshot!("codex_damage_notes", w.plain(&answer.err));
    for text in ["A", "B", "C", "D\u{fffd}", "E"] {
        let line = format!("\n{text}\n");
        assert!(answer.out.contains(&line), "{text}: {}", answer.out);
    }
    assert_eq!(w.run(&["list"]).code, 0);
}

#[test]
fn a_log_cut_anywhere_is_read_up_to_there() {
    let w = World::new();
    let path = w.home.join("cut.jsonl");
    for case in ["0.140/damaged", "0.140/rolled-back"] {
        let bytes = fs::read(&sessions_of(case)[0]).unwrap();
        let mut most = 0;
        for end in 1..bytes.len() {
            fs::write(&path, &bytes[..end]).unwrap();
            let source = Source::new("codex", String::new(), path.clone());
            let Ok(c) = Codex.read(&source) else {
                assert_eq!(most, 0, "{end}");
                continue;
            };
            assert_lossless(&c);
            let count = c.session.entries().len();
            assert!(count + 1 >= most, "{end}: an event may find its item");
            most = most.max(count);
            let whole = bytes[..end].ends_with(b"\n") || bytes[end] == b'\n';
            assert!(
                whole || !c.notes.is_empty() || case.ends_with("damaged"),
                "{end}"
            );
        }
    }
}

#[test]
fn compressed_sessions_are_read_and_saved_as_they_are() {
    let w = home(&["0.166/packed"]);
    let listed = w.ok(&["list", "--json"]);
    assert_eq!(messages(&listed), 2);
    let shown = w.ok(&["show", PACKED]);
    assert!(
        shown.contains("Pack it") && shown.contains("Packed."),
        "{shown}"
    );
    let path = tree(&w.home.join(".codex")).remove(0).0;
    let raw = w
        .command(&["show", PACKED, "--to", "raw"])
        .output()
        .unwrap();
    assert_eq!(raw.stdout, fs::read(&path).unwrap());
    // Half of it gives what comes before the damage, or nothing, and says so.
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let answer = w.run(&["list"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    // Where the plain file is there too, that one counts.
    fs::write(&path, &bytes).unwrap();
    let plain = path.with_extension("");
    let original = fs::read_to_string(&sessions_of("0.140/rolled-back")[0]).unwrap();
    fs::write(plain, original.replace(ROLLED_BACK, PACKED)).unwrap();
    let listed = w.ok(&["list", "--json"]);
    assert_eq!((listed.lines().count(), messages(&listed)), (1, 8));
}

#[test]
fn a_variable_names_the_home_and_folders_do_not_matter() {
    let w = World::new();
    let other = w.root.join("other");
    copy(&fixtures().join("0.140/everything"), &other);
    let from = tree(&other).remove(1).0;
    let name = from.file_name().unwrap();
    for place in ["sessions", "sessions/2020/01/01", "sessions/by-hand"] {
        let _ = fs::remove_dir_all(other.join("sessions"));
        fs::create_dir_all(other.join(place)).unwrap();
        fs::copy(
            &sessions_of("0.140/everything")[0],
            other.join(place).join(name),
        )
        .unwrap();
        let run = |args: &[&str]| -> Answer {
            let output = w.command(args).env("CODEX_HOME", &other).output().unwrap();
            Answer {
                code: output.status.code().unwrap(),
                out: String::from_utf8(output.stdout).unwrap(),
                err: String::from_utf8(output.stderr).unwrap(),
            }
        };
        let listed = run(&["list", "--json"]);
        assert_eq!(
            json(listed.out.trim())["title"],
            "Signs of the shop",
            "{listed:?}"
        );
        let elsewhere = run(&["list", "--home", w.home.to_str().unwrap()]);
        assert!(!elsewhere.out.contains("shop"), "{elsewhere:?}");
        let by_path = run(&["show", other.to_str().unwrap(), "--last", "1"]);
        assert!(by_path.out.contains("Any time."), "{by_path:?}");
    }
}

#[test]
fn titles_say_where_they_came_from() {
    let w = home(&["0.140/everything"]);
    let title = || {
        let source = Codex.at_path(&w.home.join(".codex")).remove(0);
        let read = Codex.read(&source).unwrap().session.head.title.unwrap();
        let listed = Codex
            .summarize(&source, Want::default())
            .head
            .title
            .unwrap();
        assert_eq!(read, listed);
        (read.text, read.source)
    };
    assert_eq!(title(), ("Signs of the shop".to_owned(), TitleSource::User));
    fs::remove_file(w.home.join(".codex/session_index.jsonl")).unwrap();
    assert_eq!(title(), ("Green signs".to_owned(), TitleSource::User));
    let path = tree(&w.home.join(".codex")).remove(0).0;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("thread_name_updated", "thread_settings_applied"),
    )
    .unwrap();
    assert_eq!(
        title(),
        ("Why is the sign red?".to_owned(), TitleSource::FirstPrompt)
    );
}

#[test]
fn a_compaction_is_one_entry_with_the_past_that_replaced_the_other() {
    let c = session("0.140/everything", EVERYTHING);
    let all = c
        .session
        .indexed()
        .filter(|(_, e)| e.kind == Kind::Compaction);
    let all: Vec<_> = all.map(|(ix, _)| ix).collect();
    assert_eq!(all.len(), 1);
    assert_eq!(
        c.session.origin(all[0]).len(),
        2,
        "the record and the event"
    );
    let Body::Compaction(compaction) = c.body(all[0]) else {
        panic!()
    };
    assert_eq!(
        compaction.summary.unwrap().value,
        "The sign was red and is green."
    );
    let Kept::Replacement(messages) = compaction.kept else {
        panic!("{:?}", compaction.kept)
    };
    assert_eq!(messages.len(), 2);
}

#[test]
fn tokens_count_once_a_response() {
    let c = session("0.140/everything", EVERYTHING);
    let sum = usage(&c);
    assert_eq!(
        (sum.input, sum.cache_read, sum.output, sum.reasoning),
        (1500, 2500, 160, 40)
    );
    assert_eq!(listed_usage(&c), sum);
    let base = session("0.166/forks", BASE);
    let sum = usage(&base);
    assert_eq!((sum.input, sum.cache_read, sum.cache_write), (15, 12, 6));
    assert_eq!(Some(sum.total()), sum.recorded_total);
    assert_eq!(listed_usage(&base), sum);
    let recorded = base.session.head.recorded_usage[0].usage;
    assert_eq!(recorded.total(), sum.total());
}

/// What the entries count, each response once, without what was inherited.
fn usage(c: &Conversation) -> Usage {
    let mut sum = Usage::default();
    let mut seen = std::collections::HashSet::new();
    for (ix, _) in c.session.indexed().filter(|(_, e)| !e.inherited) {
        let is_new = c.session.usage_key(ix).is_none_or(|key| seen.insert(key));
        let usage = match c.body(ix) {
            Body::Message(message) => message.usage,
            Body::Usage(record) => Some(record.usage),
            _ => None,
        };
        if let (Some(usage), true) = (usage, is_new) {
            sum += &usage;
        }
    }
    sum
}

fn listed_usage(c: &Conversation) -> Usage {
    let summary = Codex.summarize(
        &c.source,
        Want {
            usage: true,
            ..Want::default()
        },
    );
    assert_eq!(summary.state, State::Ready);
    summary.counts.usage.unwrap()
}

#[test]
fn what_the_client_put_among_the_words_of_the_person_is_marked() {
    let c = session("0.140/everything", EVERYTHING);
    let injected = c
        .session
        .entries()
        .iter()
        .filter(|e| e.visibility == Visibility::Injected);
    assert_eq!(injected.count(), 3);
    let shown = home(&["0.140/everything"]).ok(&["show", EVERYTHING]);
    assert!(shown.contains("(injected) <skill>"), "{shown}");
}

#[test]
fn other_agents_files_are_not_mistaken_for_sessions() {
    let w = World::new();
    for (name, text) in [
        (
            "a.jsonl",
            "{\"type\":\"session\",\"id\":\"x\",\"timestamp\":\"t\"}\n",
        ),
        (
            "b.jsonl",
            "{\"type\":\"user\",\"uuid\":\"x\",\"message\":{\"role\":\"user\"}}\n",
        ),
        (
            "c.jsonl",
            "{\"type\":\"user.message\",\"data\":{},\"id\":\"x\",\"timestamp\":\"t\"}\n",
        ),
        (
            "d.jsonl",
            "{\"session_id\":\"x\",\"ts\":1,\"text\":\"t\"}\n",
        ),
        ("e.jsonl", "{\"role\":\"user\",\"content\":\"x\"}\n"),
        ("f.json", "{\"session\":{},\"items\":[]}"),
        ("g.json", "[1,2"),
        ("h.jsonl", ""),
    ] {
        let path = w.root.join(name);
        fs::write(&path, text).unwrap();
        assert!(Codex.at_path(&path).is_empty(), "{name}");
        let source = Source::new("codex", String::new(), path);
        assert!(Codex.read(&source).is_err(), "{name}");
    }
}

#[test]
fn a_project_that_a_session_names_is_searched() {
    let w = World::new();
    let thread = w.thread("named by codex");
    fs::remove_dir_all(w.home.join(".local/share/rethread")).unwrap();
    let folder = w.home.join(".codex/sessions");
    fs::create_dir_all(&folder).unwrap();
    let text = fs::read_to_string(&sessions_of("0.140/rolled-back")[0]).unwrap();
    let cwd = w.project.to_str().unwrap().replace('\\', "\\\\");
    let name = format!("rollout-2026-06-18T09-00-00-{ROLLED_BACK}.jsonl");
    fs::write(folder.join(name), text.replace("/home/me/shop", &cwd)).unwrap();
    for args in [&["list", "--tsv"][..], &["show", &thread]] {
        let mut command = w.command(args);
        let output = command.current_dir(&w.root).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("named by codex"), "{args:?}: {text}");
    }
}

/// The lines of a session, each as JSON.
fn lines(path: &Path) -> Vec<serde_json::Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(json)
        .collect()
}

/// Starts a session and gives its id and file.
fn start(w: &World, args: &[&str]) -> (String, PathBuf) {
    let mut all = vec!["new", "--format", "codex", "--json"];
    all.extend(args);
    let made = json(&w.ok(&all));
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("id"), PathBuf::from(text("path")))
}

#[test]
fn a_new_session_is_what_the_client_asks_for() {
    let w = World::with_git();
    let (id, path) = start(&w, &["--title", "By hand"]);
    let name = format!("rollout-2026-11-15T12-00-00-{id}.jsonl");
    assert_eq!(path, w.home.join(".codex/sessions/2026/11/15").join(name));
    let all = lines(&path);
    let meta = &all[0]["payload"];
    assert_eq!(all[0]["type"], "session_meta");
    assert_eq!(meta["id"], id.as_str());
    assert_eq!(meta["cwd"], w.project.to_str().unwrap());
    assert_eq!(meta["git"]["branch"], "main");
    assert!(meta.get("model_provider").is_none(), "{meta}");
    // Without an index, the name stands in the session; no index appears.
    assert_eq!(all[1]["payload"]["thread_name"], "By hand");
    assert!(!w.home.join(".codex/session_index.jsonl").exists());
    let again = w.run(&["new", "--format", "codex", "--id", &id]);
    assert_ne!(again.code, 0, "{again:?}");
    let word = w.run(&["new", "--format", "codex", "--id", "word"]);
    assert!(word.err.contains("no UUID"), "{word:?}");
    let before = tree(&w.home);
    for (flag, given, what) in [
        ("--metadata", "{}", "metadata"),
        ("--agent-id", "x", "agent ids"),
        ("--protocol", "acp", "protocol"),
        ("--parent", id.as_str(), "sub-agents"),
        ("--project-key", "global", "project keys"),
        ("--agent-key", "name", "agent keys"),
    ] {
        let refused = w.run(&["new", "--format", "codex", flag, given]);
        let why = format!("have no {what}");
        assert!(refused.err.contains(&why), "{flag}: {refused:?}");
    }
    assert_eq!(tree(&w.home), before, "nothing was written");
}

#[test]
fn messages_go_into_both_streams() {
    let w = World::new();
    let (id, path) = start(&w, &[]);
    let long = "x".repeat(80);
    w.ok(&[
        "append",
        &id,
        "What is in the picture?",
        "--image",
        pixel(&w).to_str().unwrap(),
    ]);
    for message in [
        r#"{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","tool_id":"toolu_1","tool_name":"Bash","input":{"command":"ls"}},{"type":"tool_use","tool_id":"LONG","tool_name":"Read","input":"plain"}],"metadata":{"model":{"name":"gpt-x"},"token_usage":{"input_tokens":10,"output_tokens":5,"cache_read_tokens":90},"extensions":{"blocks":[{"type":"thinking","text":"Hm."}]}}}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_id":"toolu_1","output":"a\nb"},{"type":"tool_result","tool_id":"LONG","output":"no","is_error":true}]}"#,
        r#"{"role":"assistant","content":"Two files.","metadata":{"token_usage":{"input_tokens":1,"output_tokens":2}}}"#,
    ] {
        let answer = w.pipe(
            &["append", &id, "--message-json", "-"],
            message.replace("LONG", &long),
        );
        assert_eq!(answer.code, 0, "{answer:?}");
    }
    w.ok(&["append", &id, "--role", "system", "Be brief."]);
    let kinds: Vec<String> = lines(&path)
        .iter()
        .map(|l| {
            let inner = l["payload"]["type"].as_str().unwrap_or_default();
            format!("{} {inner}", l["type"].as_str().unwrap())
        })
        .collect();
    assert_snapshot!(kinds.join("\n"), @"
    session_meta 
    response_item message
    event_msg user_message
    turn_context 
    event_msg agent_message
    response_item message
    response_item function_call
    response_item function_call
    event_msg agent_reasoning
    event_msg token_count
    response_item function_call_output
    response_item function_call_output
    event_msg agent_message
    response_item message
    event_msg token_count
    response_item message
    ");
    let calls: Vec<String> = lines(&path)
        .iter()
        .filter_map(|l| l["payload"]["call_id"].as_str().map(str::to_owned))
        .collect();
    assert_eq!((&calls[0], &calls[1]), (&calls[2], &calls[3]));
    assert!(calls.iter().all(|id| id.len() <= 64), "{calls:?}");
    let c = read(&path);
    assert_eq!(c.notes, []);
    assert_eq!(usage(&c).total(), 108);
    assert_eq!(c.session.head.recorded_usage[0].usage.total(), 108);
    assert_snapshot!("codex_written", w.plain(&w.ok(&["show", &id])));
}

/// A picture of one point.
fn pixel(w: &World) -> PathBuf {
    let path = w.root.join("pixel.png");
    fs::write(&path, b"\x89PNG\r\n\x1a\nnot much more").unwrap();
    path
}

#[test]
fn what_cannot_be_written_is_refused_and_the_rest_is_saved() {
    let w = World::new();
    let (id, path) = start(&w, &[]);
    let input = "{\"role\":\"user\",\"content\":\"one\"}\nbroken\n{\"role\":\"user\",\"content\":\"two\"}\n";
    let answer = w.pipe(&["append", &id, "--message-json", "-"], input);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 2);
    let before = fs::read(&path).unwrap();
    let strict = w.pipe(&["append", &id, "--strict", "--message-json", "-"], input);
    assert_ne!(strict.code, 0);
    assert_eq!(fs::read(&path).unwrap(), before, "nothing of it");
    for case in ["2025/document", "0.20/items", "0.166/packed"] {
        let w = home(&[case]);
        let file = tree(&w.home.join(".codex")).remove(0);
        let answer = w.run(&["append", file.0.to_str().unwrap(), "x"]);
        assert_eq!(answer.code, 2, "{case}: {answer:?}");
        assert!(answer.err.contains("have no way to change"), "{answer:?}");
        assert_eq!(fs::read(&file.0).unwrap(), file.1);
    }
}

#[test]
fn an_append_adds_whole_lines_behind_what_is_there() {
    for (case, id) in [
        ("0.140/damaged", DAMAGED),
        ("0.166/forks", FORK),
        ("0.140/everything", EVERYTHING),
    ] {
        let w = home(&[case]);
        let is_it = |(p, _): &(PathBuf, Vec<u8>)| p.to_str().unwrap().contains(id);
        let (path, before) = tree(&w.home.join(".codex"))
            .into_iter()
            .find(is_it)
            .unwrap();
        let entries = read(&path).session.entries().len();
        w.ok(&["append", id, "One more thing"]);
        w.ok(&["append", id, "--role", "agent", "Which?"]);
        let after = fs::read(&path).unwrap();
        assert!(after.starts_with(&before), "{case}");
        let c = read(&path);
        assert_eq!(
            c.session.entries().len(),
            entries + 2,
            "{case}: one entry each"
        );
        let numbers: Vec<u64> = String::from_utf8_lossy(&after)
            .lines()
            .filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok()?["ordinal"].as_u64())
            .collect();
        assert!(numbers.windows(2).all(|n| n[1] == n[0] + 1), "{numbers:?}");
        assert_eq!(numbers.is_empty(), id != FORK);
    }
}

#[test]
fn a_name_goes_into_the_index_where_there_is_one() {
    let w = home(&["0.140/everything"]);
    let (path, before) = tree(&w.home.join(".codex")).remove(1);
    w.ok(&["rename", EVERYTHING, "Third name"]);
    assert_eq!(
        fs::read(&path).unwrap(),
        before,
        "the session stays as it is"
    );
    let index = fs::read_to_string(w.home.join(".codex/session_index.jsonl")).unwrap();
    assert_eq!(index.lines().count(), 3);
    assert_eq!(
        json(index.lines().last().unwrap())["thread_name"],
        "Third name"
    );
    assert!(w.ok(&["list"]).contains("Third name"));
    let w = home(&["0.166/forks"]);
    w.ok(&["rename", FORK, "Only here"]);
    assert!(w.ok(&["list"]).contains("Only here"));
    assert!(!w.home.join(".codex/session_index.jsonl").exists());
}

#[test]
fn a_fork_copies_the_way_to_an_entry() {
    // (case, session, entry, what is said)
    for (case, id, at, said) in [
        ("0.140/rolled-back", ROLLED_BACK, None, "One 1 Four 4"),
        (
            "0.140/rolled-back",
            ROLLED_BACK,
            Some("#5"),
            "One 1 Two 2 Three",
        ),
        (
            "0.166/forks",
            FORK,
            None,
            "Open the shop It is open. Close it instead Closed.",
        ),
        (
            "0.166/forks",
            FORK,
            Some("msg_2"),
            "Open the shop It is open.",
        ),
    ] {
        let w = home(&[case]);
        let before = tree(&w.home.join(".codex"));
        let mut args = vec!["fork", id, "--json"];
        args.extend(at.into_iter().flat_map(|at| ["--at", at]));
        let made = json(&w.ok(&args));
        let path = PathBuf::from(made["path"].as_str().unwrap());
        for (path, bytes) in &before {
            assert_eq!(&fs::read(path).unwrap(), bytes, "the source stays as it is");
        }
        let c = read(&path);
        assert_eq!(c.notes, [], "{case}");
        assert_eq!(c.native.parts.len(), 1, "it needs no other file");
        let texts: Vec<String> = c
            .session
            .active_path()
            .into_iter()
            .filter_map(|ix| match c.body(ix) {
                Body::Message(m) => match m.blocks.first() {
                    Some(rethread_model::Block::Text(t)) => Some(t.value.clone()),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        assert_eq!(texts.join(" "), said, "{case} {at:?}");
        let link = &c.session.head.links[0];
        assert_eq!((link.kind, link.session.as_str()), (LinkKind::ForkOf, id));
        w.ok(&["append", made["id"].as_str().unwrap(), "On"]);
        assert_eq!(
            read(&path).session.active_path().len(),
            c.session.active_path().len() + 1
        );
    }
}

#[test]
fn resume_is_the_clients_own_command() {
    let w = home(&["0.140/everything"]);
    let answer = w.run(&["resume", EVERYTHING, "--print"]);
    assert!(
        answer.out.contains(&format!("codex resume {EVERYTHING}")),
        "{answer:?}"
    );
}

#[test]
fn check_names_what_the_client_would_stumble_over() {
    let w = home(&CASES);
    let home = w.home.join(".codex");
    let answer = w.run(&["check", home.to_str().unwrap()]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let text = w.plain(&answer.out).replace("[ROOT]/home/.codex/", "");
    assert_snapshot!("codex_check", text);
    let (id, path) = start(&w, &[]);
    w.ok(&["append", &id, "Fine"]);
    let fine = w.run(&["check", path.to_str().unwrap()]);
    assert_eq!((fine.code, fine.out.as_str()), (0, ""), "{fine:?}");
}

#[test]
fn check_knows_the_numbers_of_pages() {
    let w = home(&["0.166/forks"]);
    let is_base = |(p, _): &(PathBuf, Vec<u8>)| p.to_str().unwrap().contains(BASE);
    let (path, bytes) = tree(&w.home.join(".codex"))
        .into_iter()
        .find(is_base)
        .unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let rules = |text: &str| {
        fs::write(&path, text).unwrap();
        let answer = w.run(&["check", path.to_str().unwrap(), "--json"]);
        let rules = answer
            .out
            .lines()
            .filter_map(|l| json(l)["rule"].as_str().map(str::to_owned));
        rules.collect::<Vec<_>>()
    };
    assert_eq!(rules(&text), Vec::<String>::new());
    assert_eq!(rules(&text.replace("\"ordinal\":3,", "")), ["ordinal"]);
    assert_eq!(
        rules(&text.replace("\"ordinal\":3,", "\"ordinal\":4,")),
        ["ordinal", "ordinal"]
    );
    assert_eq!(
        rules(&text.replace("\"paginated\"", "\"striped\"")),
        ["history-mode"]
    );
    assert_eq!(
        rules(&text.replace("\"cli_version\"", "\"x\"")),
        ["meta-field"]
    );
    let without_first: String = text.split_inclusive('\n').skip(1).collect();
    assert_eq!(rules(&without_first), ["meta-first"]);
    assert_eq!(
        rules(&text.replace("UserMessage", "HookPrompt")),
        ["preview"]
    );
}
