//! What `context` says that a model would see, beside what the client itself sends when it goes on with
//! the same session: for every fixture, and for small real sessions.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_engine::by_name;
use rethread_formats::Source;
use rethread_formats::claude_code::encode_cwd;
use rethread_judges::{ClientKind, Turn};
use serde_json::{Value, json as value};

use super::departures::{OTHERWISE, REFUSED, reason};
use crate::world::{World, copy, json, tree};

/// What is said in the end.
const PROMPT: &str = "And what is next?";

/// Real sessions up to this size are asked for, unless `RETHREAD_SENT_ALL` is set.
const SMALL: u64 = 64 * 1024;

/// The same of Gemini CLI, which takes ten times as long to start as the others.
const SMALL_OF_GEMINI: u64 = 4 * 1024;

const AGENTS: [&str; 3] = ["claude-code", "codex", "gemini"];

/// What a client sends, turn by turn; else why it sends nothing.
type Sent = Result<Vec<String>, String>;

/// A session that a client is to go on with.
struct Case {
    /// Its path, as far as it tells it apart.
    name: String,
    path: PathBuf,
    client: ClientKind,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// The sessions of an agent below a folder.
fn cases(slug: &str, folder: &Path, most: u64) -> Vec<Case> {
    let format = by_name(slug).unwrap();
    let mut found = Vec::new();
    for (path, bytes) in tree(folder) {
        let sources: Vec<Source> = format.store().at_path(&path);
        let Some(source) = sources.first().filter(|s| s.path == path) else {
            continue;
        };
        // Neither sub-agents, nor what is kept beside chats.
        let is_beside = name_of(&path).starts_with("agent-")
            || slug == "gemini" && !name_of(&path).starts_with("session-");
        if is_beside || bytes.len() as u64 > most || format.reader().read(source).is_err() {
            continue;
        }
        let name = path.strip_prefix(folder).unwrap();
        let name = format!("{slug}/{}", name.to_string_lossy().replace('\\', "/"));
        let client = match slug {
            "codex" => ClientKind::Codex,
            "gemini" => ClientKind::Gemini,
            _ => ClientKind::Claude,
        };
        found.push(Case { name, path, client });
    }
    found
}

fn name_of(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn uuid_of(text: &str) -> Option<&str> {
    let is_id = |at: &usize| {
        text.get(*at..at + 36).is_some_and(|id| {
            let mut parts = id.split('-').map(str::len);
            let fits = id.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
            fits && parts.by_ref().eq([8, 4, 4, 4, 12])
        })
    };
    let at = (0..text.len()).rev().find(is_id)?;
    text.get(at..at + 36)
}

impl Case {
    /// Puts the session where its client looks. Gives its file and its id there.
    fn lay_out(&self, w: &World) -> Option<(PathBuf, String)> {
        let stem = self.path.file_stem().unwrap().to_str().unwrap();
        let name = self.path.file_name().unwrap().to_str().unwrap();
        let (path, id) = match self.client {
            ClientKind::Codex => {
                let text = fs::read_to_string(&self.path).unwrap_or_default();
                let first = text.lines().next().unwrap_or_default();
                let first: Value = serde_json::from_str(first).unwrap_or_default();
                let id = first["payload"]["id"].as_str().map(str::to_owned);
                let id = id.or_else(|| Some(uuid_of(name)?.to_owned()))?;
                let folder = w.home.join(".codex/sessions/2026/01/01");
                fs::create_dir_all(&folder).unwrap();
                // Forks go on from other files.
                let is_store = |folder: &&Path| folder.ends_with("sessions");
                if let Some(all) = self.path.ancestors().find(is_store) {
                    copy(all, &w.home.join(".codex/sessions"));
                    let below = self.path.strip_prefix(all).unwrap();
                    (w.home.join(".codex/sessions").join(below), id)
                } else {
                    let name = if name.starts_with("rollout-") && name.contains(&id) {
                        name.to_owned()
                    } else {
                        format!("rollout-2026-01-01T00-00-00-{id}.jsonl")
                    };
                    (folder.join(name), id)
                }
            }
            ClientKind::Gemini => {
                let folder = w.home.join(".gemini/tmp/shop");
                fs::create_dir_all(folder.join("chats")).unwrap();
                let root = w.project.to_str().unwrap();
                fs::write(folder.join(".project_root"), root).unwrap();
                let source = Source::new(
                    rethread_formats::gemini::FORMAT,
                    String::new(),
                    self.path.clone(),
                );
                let read = by_name("gemini").unwrap().reader().read(&source).unwrap();
                let name = match name.strip_prefix("session-") {
                    Some(_) => name.to_owned(),
                    None => format!("session-{name}"),
                };
                (folder.join("chats").join(name), read.session.head.id)
            }
            _ => {
                let project = encode_cwd(w.project.to_str().unwrap());
                let folder = w.home.join(".claude/projects").join(project);
                fs::create_dir_all(&folder).unwrap();
                let id = uuid_of(stem).unwrap_or("0aa2c3d4-0000-4000-8000-000000000001");
                let beside = self.path.with_extension("");
                if beside.is_dir() {
                    copy(&beside, &folder.join(id));
                }
                (folder.join(format!("{id}.jsonl")), id.to_owned())
            }
        };
        fs::copy(&self.path, &path).unwrap();
        if self.client == ClientKind::Codex && !name.ends_with(".zst") {
            // It goes on only with what the same provider answered.
            for (path, bytes) in tree(&w.home.join(".codex/sessions")) {
                let text = String::from_utf8_lossy(&bytes);
                // Forks name places in other files by bytes.
                let named = "\"model_provider";
                if !name_of(&path).ends_with(".zst") && text.contains(named) {
                    fs::write(path, text.replace(named, "\"other_provider")).unwrap();
                }
            }
        }
        Some((path, id))
    }

    /// What we say that the model would see, and what the client sends.
    fn both(&self) -> Option<(Vec<String>, Sent)> {
        let w = World::new();
        let desk = self.client.set_up(&w.home, &w.project)?;
        // It deletes what is old otherwise.
        let kept = value!({ "general": { "sessionRetention": { "enabled": false }, "disableAutoUpdate": true } });
        let desk = match self.client {
            ClientKind::Gemini => desk.with_settings(kept),
            _ => desk,
        };
        let (path, id) = self.lay_out(&w)?;
        let ours = said(&w, &path, self.client);
        let theirs = desk.try_resume_session(&id, PROMPT).map(|sent| {
            let mut lines = Vec::new();
            let mut is_in_result = false;
            for turn in sent.into_iter().flat_map(apart) {
                // What a tool gave beside its text is a part of its result to us.
                let is_media = matches!(turn, Turn::Image(_) | Turn::File(_));
                is_in_result = matches!(turn, Turn::ToolResult(..)) || is_in_result && is_media;
                if is_in_result && is_media {
                    continue;
                }
                let is_again = self.client == ClientKind::Gemini
                    && matches!(turn, Turn::ToolResult(..))
                    && line(&turn, self.client).is_some_and(|l| lines.contains(&l));
                // Of its own sessions it sends results again that stand beside their calls.
                if !is_again {
                    lines.extend(line(&turn, self.client));
                }
            }
            lines.pop();
            if lines
                .last()
                .is_some_and(|last| last == "assistant: No response requested.")
            {
                lines.pop();
            }
            lines
        });
        Some((ours, theirs))
    }
}

/// Turns without what the client does to them on the way: it says what the person said meanwhile behind a
/// result.
pub(crate) fn apart(turn: Turn) -> Vec<Turn> {
    const MEANWHILE: &str =
        "\n\n<system-reminder>\nThe user sent a new message while you were working:\n";
    match turn {
        Turn::ToolResult(id, text) => match text.split_once(MEANWHILE) {
            Some((given, said)) => {
                let said = said.split("\n\n").next().unwrap_or_default().to_owned();
                let given = Turn::ToolResult(id, given.to_owned());
                vec![given, Turn::Text("user".to_owned(), said)]
            }
            None => vec![Turn::ToolResult(id, text)],
        },
        turn => vec![turn],
    }
}

/// What `context` says.
fn said(w: &World, path: &Path, client: ClientKind) -> Vec<String> {
    let answer = w.run(&["context", path.to_str().unwrap(), "--json"]);
    assert!(matches!(answer.code, 0 | 3), "{answer:?}");
    let context = json(&whole(&answer.out));
    let messages = context["messages"].as_array().unwrap();
    let turns = messages.iter().flat_map(turns);
    turns.filter_map(|turn| line(&turn, client)).collect()
}

/// A text without halves of characters, which the clients do not send.
fn whole(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find("\\ud") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let is_pair = from.get(6..8) == Some("\\u");
        let take = if is_pair { 12 } else { 6 };
        out.push_str(if is_pair { &from[..12] } else { "\\ufffd" });
        rest = &from[take..];
    }
    out + rest
}

/// What a message of `context` says, in the words of the judges, but for instructions.
pub(crate) fn turns(message: &Value) -> Vec<Turn> {
    let role = message["role"].as_str().unwrap();
    if role == "system" {
        return Vec::new();
    }
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut others = items(&message["metadata"]["extensions"]["blocks"])
        .into_iter()
        .peekable();
    let mut all = Vec::new();
    for (at, block) in items(&message["content"]).into_iter().enumerate() {
        while let Some(other) = others.next_if(|b| b["at"].as_u64() <= Some(at as u64)) {
            all.push(other);
        }
        all.push(block);
    }
    all.extend(others);
    all.iter().filter_map(|block| turn(role, block)).collect()
}

fn turn(role: &str, block: &Value) -> Option<Turn> {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    Some(match block["type"].as_str()? {
        "text" | "aside" => Turn::Text(role.to_owned(), text("text")),
        "thinking" => Turn::Thinking(text("text")),
        "tool_use" => Turn::ToolCall(text("tool_id"), text("tool_name"), block["input"].clone()),
        "tool_result" => Turn::ToolResult(text("tool_id"), text("output")),
        "image" => Turn::Image(role.to_owned()),
        "file" => Turn::File(role.to_owned()),
        _ => return None,
    })
}

/// What clients say by themselves.
const OWN: [&str; 7] = [
    "<system-reminder>",
    "<environment_context>",
    "<session_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "[Tool call interrupted: the session ended",
    "[The previous response was interrupted before it completed.]",
];

/// A turn on one line; none for what clients say by themselves, and for thoughts, of which each sends what
/// its model takes.
fn line(turn: &Turn, client: ClientKind) -> Option<String> {
    let is_own = |text: &str| text.is_empty() || OWN.iter().any(|tag| text.starts_with(tag));
    // One client writes the tool's name before an id, and sends it without.
    let id = |id: &String| match client {
        ClientKind::Gemini => String::new(),
        _ => id.clone(),
    };
    Some(match turn {
        Turn::Text(_, text) | Turn::ToolResult(_, text) if is_own(text.trim()) => return None,
        Turn::Text(role, text) => format!("{role}: {}", text.trim()),
        Turn::Thinking(_) => return None,
        Turn::ToolCall(call, name, input) => {
            // It had this name before.
            let name = if name == "Task" { "Agent" } else { name };
            format!("call {} {name} {input}", id(call))
        }
        Turn::ToolResult(call, text) => format!("result {} {}", id(call), text.trim()),
        Turn::Image(_) => "picture".to_owned(),
        Turn::File(_) => "file".to_owned(),
    })
}

/// What is not as it should be with a session.
fn wrong(case: &Case) -> Option<String> {
    let (ours, theirs) = case.both()?;
    let short = |line: Option<&String>| {
        let line = line.map_or("nothing", String::as_str);
        line.chars()
            .take(200)
            .collect::<String>()
            .replace('\n', "\\n")
    };
    let name = &case.name;
    let (mut refused, mut otherwise) = (reason(&REFUSED, name), reason(&OTHERWISE, name));
    if asks_why() {
        (refused, otherwise) = (None, None);
    }
    match theirs {
        Err(why) if refused.is_none() => Some(format!("{name}: {why}")),
        Err(_) => None,
        Ok(_) if refused.is_some() => {
            Some(format!("{name}: the client takes it, and is said not to"))
        }
        Ok(theirs) if theirs == ours && otherwise.is_some() => Some(format!(
            "{name}: the client sends what we say, and is said not to"
        )),
        Ok(theirs) if theirs == ours || otherwise.is_some() => None,
        Ok(theirs) => {
            let same = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
            Some(format!(
                "{name}: {} turns, {} sent, other from {same} on\n  ours: {}\n  sent: {}",
                ours.len(),
                theirs.len(),
                short(ours.get(same)),
                short(theirs.get(same)),
            ))
        }
    }
}

/// Whether to say what is seen of the sessions that are listed as departures, and of no others: for who
/// looks whether the reasons are true.
fn asks_why() -> bool {
    std::env::var_os("RETHREAD_SENT_WHY").is_some()
}

/// Asks two clients at a time.
#[track_caller]
fn assert_sent(mut cases: Vec<Case>) {
    let is_all = std::env::var_os("RETHREAD_SENT_ALL").is_some();
    cases.retain(|case| {
        let is_refused = reason(&REFUSED, &case.name).is_some();
        if asks_why() {
            return is_refused || reason(&OTHERWISE, &case.name).is_some();
        }
        is_all || !is_refused
    });
    let (even, odd): (Vec<_>, Vec<_>) = cases.iter().enumerate().partition(|(n, _)| n % 2 == 0);
    let run = |half: Vec<(usize, &Case)>| -> Vec<String> {
        half.into_iter()
            .filter_map(|(_, case)| wrong(case))
            .collect()
    };
    let found = std::thread::scope(|s| {
        let other = s.spawn(|| run(odd));
        let mut found = run(even);
        found.extend(other.join().unwrap());
        found
    });
    assert!(
        found.is_empty(),
        "{}\n{} wrong of {}",
        found.join("\n"),
        found.len(),
        cases.len()
    );
}

#[test]
fn context_of_every_fixture_is_what_its_client_sends() {
    let mut all = Vec::new();
    for slug in AGENTS {
        all.extend(cases(slug, &fixtures().join(slug), u64::MAX));
    }
    assert!(all.len() > 30, "{}", all.len());
    assert_sent(all);
}

#[test]
fn context_of_small_real_sessions_is_what_their_clients_send() {
    let Some(corpus) = rethread_judges::corpus() else {
        return;
    };
    let is_all = std::env::var_os("RETHREAD_SENT_ALL").is_some();
    let mut all = Vec::new();
    for slug in AGENTS {
        let most = match slug {
            _ if is_all => u64::MAX,
            "gemini" => SMALL_OF_GEMINI,
            _ => SMALL,
        };
        for folder in [slug, "recorded"].map(|name| corpus.join(name)) {
            if folder.is_dir() {
                all.extend(cases(slug, &folder, most));
            }
        }
    }
    assert_sent(all);
}

/// A row of the lists that is about nothing hides that a session was renamed, or is looked at again.
#[test]
fn every_departure_is_about_a_session() {
    let corpus = rethread_judges::corpus();
    for (start, why) in REFUSED.into_iter().chain(OTHERWISE) {
        let (slug, rest) = start.split_once('/').unwrap();
        let is_ours = rest.starts_with(|c: char| c.is_ascii_digit());
        let folders = match &corpus {
            _ if is_ours => vec![fixtures().join(slug)],
            Some(corpus) => vec![corpus.join(slug), corpus.join("recorded")],
            None => continue,
        };
        let begins = |folder: PathBuf| {
            let (above, name) = rest.rsplit_once('/').unwrap();
            let entries = fs::read_dir(folder.join(above)).into_iter().flatten();
            let mut names = entries.map(|e| e.unwrap().file_name());
            names.any(|found| found.to_string_lossy().starts_with(name))
        };
        assert!(folders.into_iter().any(begins), "{start}: {why}");
    }
}
