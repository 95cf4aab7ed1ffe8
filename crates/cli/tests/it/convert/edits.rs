//! A change of one message in what was converted, on the way back.

use std::fs;
use std::path::Path;

use rethread_engine::{ConvertOutcome, FormatRef, Source, by_name};
use rethread_model::{Block, Bodies as _, Body, Context, Role, Visibility};

use super::matrix::{fixture_sessions, targets};
use super::{Desk, contents, files_below};

/// What somebody says instead.
pub(super) const NEW: &str = "Said differently.";

/// The last text of a session that is spelled in all formats alike, and stands in it once.
fn last_text(source: &Source) -> Option<String> {
    let conversation = source.format.reader().read(source).ok()?;
    let path = conversation.session.active_path();
    let context = Context::new(&conversation.session, &conversation, &path);
    let mut texts = Vec::new();
    for (ix, entry) in context.session.indexed() {
        if let Body::Message(message) = context.body(ix)
            && entry.visibility == Visibility::Visible
            && message.role != Role::System
        {
            texts.extend(message.blocks.into_iter().filter_map(|block| match block {
                Block::Text(text) => Some(text.value),
                _ => None,
            }));
        }
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " .,:?!".contains(c);
    let is_once = |text: &&String| texts.iter().filter(|t| t.contains(*text)).count() == 1;
    let mut good = texts
        .iter()
        .filter(|t| t.len() > 5 && t.chars().all(is_plain));
    good.rfind(is_once).cloned()
}

/// Changes a text in all files below a folder, or in the rows of a database; whether it was there.
pub(super) fn change(root: &Path, old: &str) -> bool {
    let (old, new) = (format!("\"{old}\""), format!("\"{NEW}\""));
    let mut changed = false;
    for file in files_below(root) {
        if file.file_name().is_some_and(|name| name == "opencode.db") {
            let db = rusqlite::Connection::open(&file).unwrap();
            let sql = "UPDATE part SET data = replace(data, ?1, ?2) WHERE instr(data, ?1)";
            changed |= db.execute(sql, (&old, &new)).unwrap() > 0;
        } else if let Ok(text) = fs::read_to_string(&file)
            && text.contains(&old)
        {
            fs::write(&file, text.replace(&old, &new)).unwrap();
            changed = true;
        }
    }
    changed
}

/// The contents of a session with one text in the place of another.
pub(super) fn with(source: &Source, old: &str) -> Vec<(String, String)> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace(old, NEW);
    let files = contents(source).into_iter();
    files.map(|(name, bytes)| (name, text(bytes))).collect()
}

/// What went wrong on the way through a format.
fn through(desk: &Desk, source: &Source, old: &str, to: FormatRef) -> Option<String> {
    let name = format!("{} -> {}", source.path.display(), to.slug());
    let home = source.format;
    let root = desk.root(to);
    let there = match desk.convert_to(source, to, &root) {
        Ok((_, there)) => there,
        Err(e) => return Some(format!("{name}: {e}")),
    };
    if !change(&root, old) {
        return Some(format!("{name}: `{old}` is not there"));
    }
    let (done, back) = match desk.convert(&there, home) {
        Ok(back) => back,
        Err(e) => return Some(format!("{name}: {e}")),
    };
    let changed = ConvertOutcome::Back {
        added: 0,
        changed: 1,
    };
    if done.way != changed {
        return Some(format!("{name}: `{old}`: {:?} {:?}", done.way, done.notes));
    }
    if with(&back, old) != with(source, old) {
        return Some(format!("{name}: other bytes"));
    }
    (contents(&back) == contents(source)).then(|| format!("{name}: nothing changed"))
}

#[test]
fn a_change_of_one_message_changes_that_and_nothing_else() {
    let temp = tempfile::tempdir().unwrap();
    let desk = Desk::new();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for source in fixture_sessions(temp.path()) {
        // One that has everything stands for its format.
        let name = source.path.to_string_lossy().replace('\\', "/");
        let is_rich = name.contains("/everything/") || source.format.slug() == "opencode";
        let Some(old) = last_text(&source).filter(|_| is_rich) else {
            continue;
        };
        for to in targets().filter(|f| *f != source.format) {
            tried += 1;
            wrong.extend(through(&desk, &source, &old, to));
        }
    }
    assert!(tried > 50, "{tried}");
    assert!(
        wrong.is_empty(),
        "{}\n{} wrong",
        wrong.join("\n"),
        wrong.len()
    );
}

#[test]
fn a_change_of_a_summary_changes_that() {
    let temp = tempfile::tempdir().unwrap();
    let desk = Desk::new();
    let is_it = |source: &Source| source.path.to_string_lossy().contains("compaction");
    let mut all = fixture_sessions(temp.path()).into_iter();
    let source = all
        .find(|s| s.format.slug() == "claude-code" && is_it(s))
        .unwrap();
    let conversation = by_name("claude-code")
        .unwrap()
        .reader()
        .read(&source)
        .unwrap();
    let mut bodies = conversation.session.indexed();
    let summary = bodies.find_map(|(ix, _)| match conversation.body(ix) {
        Body::Compaction(compaction) => Some(compaction.summary?.value),
        _ => None,
    });
    let summary = summary.unwrap();
    for to in targets().filter(|f| !["claude-code", "ndjson"].contains(&f.slug())) {
        assert_eq!(through(&desk, &source, &summary, to), None);
    }
}

#[test]
fn names_that_are_spelled_like_a_text_stay() {
    let desk = Desk::new();
    let id = "0aa2c3d4-0000-4000-8000-000000000001";
    let path = desk.world.root.join(format!("{id}.jsonl"));
    let record = |uuid: &str, parent: &str, kind: &str, message: &str| {
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"/p","sessionId":"{id}","version":"2.1.325","gitBranch":"main","type":"{kind}","message":{message},"uuid":"{uuid}","timestamp":"2026-11-15T12:00:00.000Z"}}"#
        )
    };
    let asked = record("u1", "null", "user", r#"{"role":"user","content":"main"}"#);
    let answer = r#"{"id":"m1","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"Which branch?"}]}"#;
    let answered = record("u2", r#""u1""#, "assistant", answer);
    fs::write(&path, format!("{asked}\n{answered}\n")).unwrap();
    let source = Source::new(rethread_formats::claude_code::FORMAT, id.to_owned(), path);
    let pi = by_name("pi").unwrap();
    let (_, there) = desk.convert(&source, pi).unwrap();
    let text = fs::read_to_string(&there.path).unwrap();
    fs::write(&there.path, text.replace(r#":"main""#, r#":"next""#)).unwrap();
    let (done, back) = desk
        .convert(&there, by_name("claude-code").unwrap())
        .unwrap();
    assert!(
        matches!(done.way, ConvertOutcome::Back { changed: 1, .. }),
        "{:?}",
        done.notes
    );
    let now = fs::read_to_string(&back.path).unwrap();
    assert_eq!(
        now,
        format!("{asked}\n{answered}\n").replace(r#""content":"main""#, r#""content":"next""#)
    );
}
