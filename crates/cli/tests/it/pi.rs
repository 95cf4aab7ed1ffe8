//! Sessions of pi and Atomic: found, listed, read and shown.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use rethread_formats::{Conversation, FormatRef, Source, Want, atomic, pi};
use rethread_model::{Bodies, Body, EntryIx, Kept, Kind, Severity, TitleSource, Visibility};

use crate::world::{World, copy, json};

const EVERYTHING: &str = "01a1e054-fcf9-71e6-a3da-f0135322e25c";

fn fixtures(slug: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(slug)
}

/// The one session of a case.
fn session(slug: &str, case: &str) -> PathBuf {
    let files = fs::read_dir(fixtures(slug).join(case)).unwrap();
    let mut files: Vec<PathBuf> = files.map(|f| f.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{case}");
    files.remove(0)
}

fn read(format: FormatRef, path: &Path) -> Conversation {
    let source = Source::new(format, String::new(), path.to_owned());
    format.reader().read(&source).unwrap()
}

fn pi(case: &str) -> Conversation {
    read(pi::FORMAT, &session("pi", case))
}

/// Puts the cases of a format where their sessions belong.
fn lay_out(w: &World, slug: &str, cases: &[&str], agent: &str) {
    for case in cases {
        let to = w.home.join(agent).join("sessions/--home-me-shop--");
        copy(&fixtures(slug).join(case), &to);
    }
}

/// Reads a session and saves every part of it: the same bytes, every record accounted for.
fn assert_lossless(format: FormatRef, path: &Path) -> Conversation {
    let conversation = read(format, path);
    let mut records = Vec::new();
    for (number, part) in (0_u32..).zip(&conversation.native.parts) {
        let mut saved = Vec::new();
        conversation.native.save(number, &mut saved).unwrap();
        let original = fs::read(&part.path).unwrap();
        assert!(saved == original, "{}", part.path.display());
        let count = u32::try_from(part.record_count()).unwrap();
        let tiled: Vec<u8> = (0..count).flat_map(|r| part.read(r).unwrap()).collect();
        assert!(tiled == original, "records tile {}", part.path.display());
        records.push(count);
    }
    assert_eq!(conversation.session.unaccounted(&records), None);
    for (ix, _) in conversation.session.indexed() {
        conversation.body(ix);
    }
    conversation
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let files = crate::world::tree(folder);
    files.into_iter().map(|(path, _)| path).collect()
}

#[test]
fn fixtures_are_read_and_saved_byte_for_byte() {
    let formats: [(FormatRef, &str); 2] = [(pi::FORMAT, "pi"), (atomic::FORMAT, "atomic")];
    for (format, slug) in formats {
        for path in files_below(&fixtures(slug)) {
            let is_session = path.extension().is_some_and(|e| e == "jsonl")
                && !path.components().any(|c| c.as_os_str() == "no-session");
            if is_session {
                assert_lossless(format, &path);
            }
        }
    }
}

#[test]
fn both_formats_are_listed() {
    let w = World::new();
    lay_out(
        &w,
        "pi",
        &["1/linear", "2/hooks", "3/everything"],
        ".pi/agent",
    );
    lay_out(&w, "atomic", &["3/workflow", "1/linear"], ".atomic/agent");
    assert_snapshot!("pi_list", w.plain(&w.ok(&["list", "--hidden"])));
    assert_snapshot!(
        "pi_list_tokens",
        w.plain(&w.ok(&["list", "--hidden", "--json", "--sort", "tokens"]))
    );
    let atomic = w.ok(&["list", "--hidden", "--tsv", "--agent", "atomic"]);
    assert_eq!(atomic.lines().count(), 2, "{atomic}");
}

#[test]
fn show_as_text_markdown_and_json() {
    let w = World::new();
    lay_out(&w, "pi", &["3/everything"], ".pi/agent");
    let id = format!("pi:{EVERYTHING}");
    assert_snapshot!("pi_show", w.plain(&w.ok(&["show", &id, "--thinking"])));
    assert_snapshot!(
        "pi_markdown",
        w.plain(&w.ok(&["show", &id, "--to", "markdown"]))
    );
    assert_snapshot!("pi_json", w.plain(&w.ok(&["show", &id, "--json"])));
    let raw = w.command(&["show", &id, "--to", "raw"]).output().unwrap();
    assert_eq!(raw.stdout, fs::read(session("pi", "3/everything")).unwrap());
}

#[test]
fn show_the_first_version_and_a_workflow_of_atomic() {
    let w = World::new();
    lay_out(&w, "pi", &["1/linear"], ".pi/agent");
    lay_out(&w, "atomic", &["3/workflow"], ".atomic/agent");
    assert_snapshot!(
        "pi_show_first_version",
        w.plain(&w.ok(&["show", "5b0c6a1e"]))
    );
    assert_snapshot!(
        "atomic_json",
        w.plain(&w.ok(&["show", "01a1da8a", "--json"]))
    );
}

#[test]
fn variables_name_other_folders() {
    let w = World::new();
    let ids = |variables: &[(&str, &str)], args: &[&str]| {
        let mut all = vec!["list", "--tsv"];
        all.extend(args);
        let mut command = w.command(&all);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let id = |line: &str| line.split('\t').take(2).collect::<Vec<_>>().join(" ")[..].to_owned();
        let mut ids: Vec<String> = text.lines().map(id).collect();
        ids.sort();
        let short = |id: &String| format!("{}{}", &id[..8], &id[id.rfind(' ').unwrap()..]);
        ids.iter().map(short).collect::<Vec<_>>()
    };
    lay_out(&w, "pi", &["1/linear"], ".pi/agent");
    lay_out(&w, "atomic", &["1/linear"], ".atomic/agent");
    lay_out(&w, "pi", &["2/hooks"], "elsewhere");
    lay_out(&w, "atomic", &["3/half-workflow"], "x/.atomic/agent");
    copy(&fixtures("pi/3/crlf-bom"), &w.home.join("flat"));
    // One version wrote its sessions beside the folder that they belong into.
    copy(&fixtures("pi/1/branched"), &w.home.join(".pi/agent"));
    let both = ["01996e00 atomic", "0e9f2c64 pi", "5b0c6a1e pi"];
    assert_eq!(ids(&[], &[]), both);
    let pi = ("PI_CODING_AGENT_DIR", "~/elsewhere");
    assert_eq!(ids(&[pi], &[]), ["01996e00 atomic", "9c4d7e52 pi"]);
    assert_eq!(ids(&[pi], &["--home", "../home"]), both);
    let atomic = ("ATOMIC_CODING_AGENT_DIR", "~/x/.atomic/agent");
    assert_eq!(ids(&[pi, atomic], &[]), ["01a1dac1 atomic", "9c4d7e52 pi"]);
    let flat = w.home.join("flat");
    let sessions = ("PI_CODING_AGENT_SESSION_DIR", flat.to_str().unwrap());
    let more = [
        "01996e00 atomic",
        "01a1d03d pi",
        "0e9f2c64 pi",
        "5b0c6a1e pi",
    ];
    assert_eq!(ids(&[sessions], &[]), more);
    let sessions = ("ATOMIC_CODING_AGENT_SESSION_DIR", "~/flat");
    assert_eq!(ids(&[sessions], &[])[1], "01a1d03d atomic");
}

#[cfg(unix)]
#[test]
fn folders_that_are_links_are_listed() {
    let w = World::new();
    copy(&fixtures("pi/2/hooks"), &w.root.join("moved"));
    let sessions = w.home.join(".pi/agent/sessions");
    fs::create_dir_all(&sessions).unwrap();
    std::os::unix::fs::symlink(w.root.join("moved"), sessions.join("--home-me-shop--")).unwrap();
    assert_eq!(w.ok(&["list", "--tsv"]).lines().count(), 1);
}

#[test]
fn a_project_that_a_session_names_is_searched() {
    let w = World::new();
    w.thread("named by pi");
    fs::remove_dir_all(w.home.join(".local/share/rethread")).unwrap();
    let folder = w.home.join(".pi/agent/sessions/--shop--");
    fs::create_dir_all(&folder).unwrap();
    let cwd = w.project.to_str().unwrap().replace('\\', "\\\\");
    let header = format!("{{\"type\":\"session\",\"id\":\"s1\",\"cwd\":\"{cwd}\"}}\n");
    fs::write(folder.join("a.jsonl"), header).unwrap();
    let mut command = w.command(&["list", "--tsv"]);
    let output = command.current_dir(&w.root).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("named by pi"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn what_is_no_session_is_not_listed() {
    let folder = fixtures("pi/3/no-session");
    assert_eq!(pi::FORMAT.store().at_path(&folder), []);
    let w = World::new();
    let there = w.home.join(".pi/agent/sessions/--home-me-shop--");
    copy(&folder, &there);
    // What is named like a session and is neither one nor a pointer to one is damaged.
    let name = "2026-11-15T12-00-00-000Z_headless.jsonl";
    fs::write(there.join(name), "{}\n").unwrap();
    let listed = w.run(&["list"]);
    assert_eq!(listed.code, 3, "{listed:?}");
    assert_snapshot!(listed.out, @"headless  pi  -                 0  -  [damaged] (no title)");
    assert_snapshot!(w.plain(&listed.err), @"
    warning: [ROOT]/home/.pi/agent/sessions/--home-me-shop--/2026-11-15T12-00-00-000Z_headless.jsonl: not a session: its first value is no header
    note: 1 file holds no conversation (`--verbose` names it)
    ");
    for name in ["pointer", "index", "numeric", "headless"] {
        let path = folder.join(format!("{name}.jsonl"));
        let error = pi::FORMAT
            .reader()
            .read(&Source::new(
                rethread_formats::pi::FORMAT,
                String::new(),
                path.clone(),
            ))
            .unwrap_err();
        assert_eq!(error.kind(), "not_a_session", "{name}: {error}");
        assert!(pi::FORMAT.store().at_path(&path).is_empty(), "{name}");
    }
}

#[test]
fn paths_lead_to_sessions_of_one_format() {
    let w = World::new();
    lay_out(&w, "pi", &["2/hooks"], ".pi/agent");
    lay_out(&w, "atomic", &["1/linear"], ".atomic/agent");
    for (agent, format) in [(".pi", "pi"), (".atomic", "atomic")] {
        let sessions = w.home.join(agent).join("agent/sessions");
        for path in [
            &w.home.join(agent).join("agent"),
            &sessions,
            &sessions.join("--home-me-shop--"),
            &files_below(&sessions)[0],
        ] {
            let shown = w.ok(&["show", path.to_str().unwrap(), "--json"]);
            let first = shown.lines().next().unwrap();
            assert!(first.contains(&format!("\"{format}\"")), "{first}");
        }
    }
}

#[test]
fn the_first_version_is_a_chain_with_ids_that_stay() {
    let c = pi("1/linear");
    let head = &c.session.head;
    assert_eq!(head.dialect.as_deref(), Some("1"));
    // The header names the first model; another was chosen since.
    assert_eq!(head.model.as_ref().unwrap().id, "gpt-5.1-codex");
    let entries: Vec<_> = c.session.indexed().collect();
    for pair in entries.windows(2) {
        assert_eq!(pair[1].1.parent, Some(pair[0].0));
    }
    let again = pi("1/linear");
    for (ix, _) in &entries {
        let id = c.session.id(*ix);
        assert_eq!(id.len(), 8);
        assert_eq!(id, again.session.id(*ix));
        assert_eq!(c.session.find(id), Some(*ix));
    }
    let Body::Compaction(compaction) = c.body(entries[7].0) else {
        panic!("{:?}", c.body(entries[7].0));
    };
    // The header is 0, so the seventh entry is meant.
    assert_eq!(
        compaction.kept,
        Kept::From(c.session.id(entries[6].0).to_owned())
    );
}

#[test]
fn values_that_are_no_entries_count_in_the_first_version() {
    let c = pi("1/branched");
    assert_eq!(c.session.head.links.len(), 1);
    let kept: Vec<_> = c
        .session
        .indexed()
        .filter_map(|(ix, _)| match c.body(ix) {
            Body::Compaction(compaction) => Some(compaction.kept),
            _ => None,
        })
        .collect();
    let answer = c.session.indexed().nth(1).unwrap().0;
    assert_eq!(
        kept,
        [Kept::From(c.session.id(answer).to_owned()), Kept::Nothing]
    );
}

#[test]
fn messages_of_extensions_say_who_is_meant_to_see_them() {
    let seen = |c: &Conversation| -> Vec<(String, Visibility)> {
        let shown = c.session.indexed().filter_map(|(ix, e)| match c.body(ix) {
            Body::Message(m) => Some((m.extension?, e.visibility)),
            _ => None,
        });
        shown.collect()
    };
    assert_eq!(
        seen(&pi("2/hooks")),
        [
            ("git-status".to_owned(), Visibility::Injected),
            ("notes".to_owned(), Visibility::Visible)
        ]
    );
    let workflow = read(atomic::FORMAT, &session("atomic", "3/workflow"));
    assert!(workflow.session.head.hidden);
    assert_eq!(
        seen(&workflow),
        [
            ("banner".to_owned(), Visibility::UiOnly),
            ("state".to_owned(), Visibility::Hidden)
        ]
    );
    let leaf = workflow.session.leaf().unwrap();
    assert_eq!(
        workflow.session.id(leaf),
        "aa000007",
        "usage is beside the tree"
    );
    assert!(
        !read(atomic::FORMAT, &session("atomic", "3/half-workflow"))
            .session
            .head
            .hidden
    );
}

#[test]
fn damage_is_named_and_the_rest_is_read() {
    let c = pi("3/damaged");
    let notes: Vec<String> = c
        .notes
        .iter()
        .map(|n| format!("{}: {}", n.line.unwrap(), n.message))
        .collect();
    assert_snapshot!("pi_damage_notes", notes.join("\n"));
    assert_eq!(
        c.session.head.title.as_ref().unwrap().source,
        TitleSource::FirstPrompt
    );
    let ids: Vec<&str> = c
        .session
        .indexed()
        .map(|(ix, _)| c.session.id(ix))
        .collect();
    assert_eq!(ids.len(), 11, "{ids:?}");
    assert_eq!(c.session.leaf().map(|l| c.session.id(l)), Some(""));
    let summary = pi::FORMAT.reader().summarize(&c.source, Want::default());
    let messages = c.session.message_count() as u64;
    assert_eq!(
        (summary.counts.messages, &summary.head),
        (messages, &c.session.head)
    );
}

#[test]
fn parents_that_are_wrong_make_roots() {
    let c = pi("3/links");
    let parents: Vec<String> = c
        .session
        .indexed()
        .map(|(ix, e)| format!("{}: {} < {:?}", ix.get(), c.session.id(ix), e.parent))
        .collect();
    let notes = c
        .notes
        .iter()
        .map(|n| format!("{}: {}", n.line.unwrap(), n.message));
    let all: Vec<String> = parents.into_iter().chain(notes).collect();
    assert_snapshot!("pi_links", all.join("\n"));
    let w = World::new();
    let path = session("pi", "3/links");
    assert_eq!(w.run(&["show", path.to_str().unwrap()]).code, 3);
}

#[test]
fn oddities_of_encoding_and_version() {
    let c = pi("3/crlf-bom");
    assert_eq!(
        (c.session.message_count(), c.notes.len()),
        (2, 0),
        "{:?}",
        c.notes
    );
    let c = pi("3/text-version");
    assert_eq!(
        (c.session.head.dialect.as_deref(), c.notes.len()),
        (Some("3"), 0)
    );
    let c = pi("3/header-only");
    assert!(c.session.head.workspace.path.as_ref().unwrap().len() > 1024);
    assert_eq!(
        (c.session.leaf(), c.session.head.updated),
        (None, c.session.head.created)
    );
    let c = pi("4/later");
    assert_eq!(c.notes.len(), 1);
    assert_eq!(c.notes[0].severity, Severity::Remark);
    assert!(c.notes[0].message.contains("version 4"), "{:?}", c.notes);
}

#[test]
fn a_log_cut_at_every_byte_is_read_up_to_there() {
    let w = World::new();
    let whole = fs::read(session("pi", "2/hooks")).unwrap();
    let path = w.root.join("cut.jsonl");
    let header = whole.iter().position(|b| *b == b'\n').unwrap();
    for len in header..=whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        let c = assert_lossless(pi::FORMAT, &path);
        let ended = whole[..len].split(|b| *b == b'\n').count() - 1;
        assert!(c.session.entries().len() + 1 >= ended, "{len}");
        let torn = c.notes.iter().any(|n| n.message.contains("not finished"));
        let complete = c.session.entries().len() + 1 > ended || whole[len - 1] == b'\n';
        assert!(torn != complete || len == header, "{len}: {:?}", c.notes);
    }
}

#[test]
fn giant_entries_are_known_by_their_beginning() {
    let w = World::new();
    let path = w.root.join("giant.jsonl");
    let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"g\"}\n");
    text += "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
    text += "{\"type\":\"custom_message\",\"customType\":\"x\",\"content\":\"";
    text += &"x".repeat(rethread_json::LINE_CAP);
    text += "\",\"display\":true,\"id\":\"b\",\"parentId\":\"a\"}\n";
    text += "{\"type\":\"message\",\"id\":\"c\",\"parentId\":\"b\",\"message\":{\"role\":\"user\",\"content\":\"there?\"}}\n";
    fs::write(&path, text).unwrap();
    let c = read(pi::FORMAT, &path);
    let kinds: Vec<Kind> = c.session.entries().iter().map(|e| e.kind).collect();
    assert!(kinds.iter().all(|k| k.is_message()), "{kinds:?}");
    let leaf = c.session.leaf().unwrap();
    assert_eq!(c.session.entry(leaf).parent.map(EntryIx::get), Some(1));
    assert_eq!(c.notes.len(), 1, "{:?}", c.notes);
}

#[test]
fn a_chain_of_very_many_entries() {
    let w = World::new();
    let path = w.root.join("long.jsonl");
    let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"long\"}\n");
    let count = 200_000_u32;
    for n in 0..count {
        let parent = match n {
            0 => "null".to_owned(),
            n => format!("\"{:08x}\"", n - 1),
        };
        text += &format!(
            "{{\"type\":\"label\",\"id\":\"{n:08x}\",\"parentId\":{parent},\"targetId\":\"0\"}}\n"
        );
    }
    fs::write(&path, text).unwrap();
    let c = read(pi::FORMAT, &path);
    assert!(c.notes.is_empty());
    assert_eq!(c.session.entries().len(), count as usize);
    let mut at = c.session.leaf();
    let mut depth = 0;
    while let Some(ix) = at {
        depth += 1;
        at = c.session.entry(ix).parent;
    }
    assert_eq!(depth, count);
}

#[test]
fn all_sessions_of_the_corpus_are_read_and_saved() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let w = World::new();
    let mut read = 0;
    for path in files_below(&corpus.join("pi")) {
        let Some(source) = pi::FORMAT.store().at_path(&path).pop() else {
            let start = fs::read(&path).unwrap();
            let is_named = path.to_str().unwrap().ends_with(".trajectory.jsonl");
            assert!(
                is_named || !start.starts_with(b"{\"type\":\"session\""),
                "{}",
                path.display()
            );
            continue;
        };
        let c = assert_lossless(pi::FORMAT, &path);
        let summary = pi::FORMAT.reader().summarize(
            &source,
            Want {
                usage: true,
                ..Want::default()
            },
        );
        let quick = pi::FORMAT.reader().summarize(&source, Want::default());
        assert_eq!(summary.head, c.session.head, "{}", path.display());
        assert_eq!(quick.head, c.session.head);
        assert_eq!(quick.counts.messages, summary.counts.messages);
        let answer = w.run(&["show", path.to_str().unwrap(), "--json"]);
        assert!(
            matches!(answer.code, 0 | 3),
            "{}: {}",
            path.display(),
            answer.err
        );
        for line in answer.out.lines() {
            json(line);
        }
        read += 1;
    }
    assert!(read > 0, "no sessions under {}", corpus.display());
}

#[cfg(unix)]
#[test]
fn a_folder_that_looks_like_an_option_is_a_folder() {
    let w = World::new();
    for name in ["-rf", "-", "--help"] {
        let header = serde_json::json!({
            "type": "session", "version": 3, "id": "01a1df14-1e00-7948-8523-d812268295b1",
            "timestamp": "2026-11-15T12:00:00.000Z", "cwd": name,
        });
        fs::write(w.project.join("s.jsonl"), format!("{header}\n")).unwrap();
        fs::create_dir(w.project.join(name)).unwrap();
        let said = w.ok(&["resume", "./s.jsonl", "--print"]);
        let (cd, _) = said.split_once(" && ").unwrap();
        let shell = std::process::Command::new("sh")
            .args(["-c", &format!("{cd} && pwd")])
            .current_dir(&w.project)
            .output()
            .unwrap();
        let went = String::from_utf8(shell.stdout).unwrap();
        assert_eq!(
            went.trim_end(),
            w.project.join(name).to_str().unwrap(),
            "{cd}"
        );
    }
}
