//! What is in a sample: texts with places in them that the paths of the sample are put into.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rethread_formats::{atsf, claude_code, gemini, pi};

use super::repository::{GitHistory, SampleCommit};
use super::{PROJECT, Sample};
use crate::Error;

const CLAUDE_CODE: &str = "7f3a90c1-5b1e-4c2d-9d3e-2a6f0c8b1e47";
const GEMINI: &str = "5d0f6f1e-3a51-4c0e-9a6b-0c5d8f1b2a01";
const PI: &str = "01a1cf0e-8e00-72d4-8f15-b07c41e9a2d6";
const CODEX: &str = "01a1caf1-ba90-7b31-9c40-5e2f8a61d703";
const OPENCODE: &str = "ses_5b2f64c10001Payments00000001";
const ATSF: &str = "4bb6f253-e8da-41ca-a930-3080721602ab";

/// The sessions, newest first.
pub(super) const SESSIONS: [&str; 6] = [CLAUDE_CODE, GEMINI, PI, CODEX, OPENCODE, ATSF];

/// The database of OpenCode in the home.
pub(super) const DATABASE: &str = ".local/share/opencode/opencode.db";

/// The files of the agents' stores. Two agents name a folder after that of the project.
const STORES: [(&str, &str); 8] = [
    (
        ".claude/projects/{{CLAUDE}}/7f3a90c1-5b1e-4c2d-9d3e-2a6f0c8b1e47.jsonl",
        include_str!("claude-code/session.jsonl"),
    ),
    (
        ".claude/projects/{{CLAUDE}}/7f3a90c1-5b1e-4c2d-9d3e-2a6f0c8b1e47/subagents/agent-a3f19c2.jsonl",
        include_str!("claude-code/agent.jsonl"),
    ),
    (
        ".claude/projects/{{CLAUDE}}/7f3a90c1-5b1e-4c2d-9d3e-2a6f0c8b1e47/subagents/agent-a3f19c2.meta.json",
        include_str!("claude-code/agent.meta.json"),
    ),
    (
        ".codex/sessions/2026/11/11/rollout-2026-11-11T14-10-02-01a1caf1-ba90-7b31-9c40-5e2f8a61d703.jsonl",
        include_str!("codex/session.jsonl"),
    ),
    (
        ".codex/session_index.jsonl",
        include_str!("codex/session_index.jsonl"),
    ),
    (
        ".pi/agent/sessions/{{PI}}/2026-11-12T09-20-00-000Z_01a1cf0e-8e00-72d4-8f15-b07c41e9a2d6.jsonl",
        include_str!("pi/session.jsonl"),
    ),
    (
        ".gemini/tmp/shop/chats/session-2026-11-12T15-04-5d0f6f1e.jsonl",
        include_str!("gemini/session.jsonl"),
    ),
    (
        ".gemini/projects.json",
        include_str!("gemini/projects.json"),
    ),
];

const ROWS: [(&str, &str); 4] = [
    ("project", include_str!("opencode/project.jsonl")),
    ("session", include_str!("opencode/session.jsonl")),
    ("message", include_str!("opencode/message.jsonl")),
    ("part", include_str!("opencode/part.jsonl")),
];

const THREAD: [(&str, &str); 2] = [
    ("thread.json", include_str!("atsf/thread.json")),
    ("messages.jsonl", include_str!("atsf/messages.jsonl")),
];

/// The picture in a conversation: attempts to sign in, minute by minute.
const PICTURE: &[u8] = include_bytes!("attempts.png");

/// What the places in the texts are filled with.
pub(super) struct SampleValues {
    /// As it stands within a JSON string.
    project: String,
    project_hash: String,
    first_commit: String,
    picture: String,
}

impl SampleValues {
    pub(super) fn new(sample: &Sample, history: &GitHistory) -> Result<Self, Error> {
        let project = sample.project.to_str().ok_or_else(|| Error::Usage {
            message: format!(
                "`{}` is no name that conversations can be written with: it is not UTF-8",
                sample.folder.display()
            ),
            hint: Some("name another folder".to_owned()),
        })?;
        let mut quoted = String::from_utf8_lossy(&rethread_json::quote(project)).into_owned();
        quoted.pop();
        quoted.remove(0);
        Ok(Self {
            project: quoted,
            project_hash: gemini::project_hash(project),
            first_commit: history.first_commit().to_owned(),
            picture: STANDARD.encode(PICTURE),
        })
    }

    /// A text of JSON with its places filled.
    fn fill_text(&self, text: &str) -> Vec<u8> {
        text.replace("{{PROJECT}}", &self.project)
            .replace("{{PROJECT_HASH}}", &self.project_hash)
            .replace("{{FIRST_COMMIT}}", &self.first_commit)
            .replace("{{PICTURE}}", &self.picture)
            .into_bytes()
    }
}

/// The files of the agents' stores, by their names below the home.
pub(super) fn home_files(sample: &Sample, fill: &SampleValues) -> Vec<(String, Vec<u8>)> {
    let project = sample.project.to_string_lossy();
    let claude = claude_code::encode_cwd(&project);
    let pi = pi::session_folder(&sample.project);
    let files = STORES.iter().map(|(name, text)| {
        let name = name.replace("{{CLAUDE}}", &claude).replace("{{PI}}", &pi);
        (name, fill.fill_text(text))
    });
    let root = format!(".gemini/tmp/{PROJECT}/.project_root");
    files.chain([(root, project.as_bytes().to_vec())]).collect()
}

/// All texts of the sample, for telling one version of it from another.
pub(super) fn all_texts() -> Vec<Vec<u8>> {
    let stores = STORES.iter().chain(&ROWS).chain(&THREAD);
    let stores = stores.flat_map(|(name, text)| [*name, *text]);
    let commits = project_commits();
    let files = commits.iter().flat_map(|commit| &commit.files);
    let files = files.flat_map(|(name, text)| [*name, *text]);
    let texts = stores.chain(files).map(|text| text.as_bytes().to_vec());
    texts.chain([PICTURE.to_vec()]).collect()
}

/// The rows of OpenCode's database, table by table.
pub(super) fn database_rows(fill: &SampleValues) -> Vec<(&'static str, Vec<u8>)> {
    ROWS.map(|(table, text)| (table, fill.fill_text(text)))
        .into()
}

/// The files of the project: those of its last commit, and what git does not keep.
pub(super) fn project_files(fill: &SampleValues) -> Vec<(String, Vec<u8>)> {
    let commits = project_commits();
    let kept = commits.iter().flat_map(|commit| &commit.files);
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, text) in kept {
        files.retain(|(known, _)| known != name);
        files.push(((*name).to_owned(), text.as_bytes().to_vec()));
    }
    let ignored = include_str!("project/env.local");
    files.push((".env.local".to_owned(), ignored.into()));
    files.extend(THREAD.map(|(name, text)| {
        let name = format!(".agent/threads/{ATSF}/{name}");
        (name, fill.fill_text(text))
    }));
    files
}

/// The history of the project: each commit with the files that it changes.
pub(super) fn project_commits() -> [SampleCommit<'static>; 5] {
    [
        SampleCommit {
            message: "Start the shop",
            time: 1_794_213_000,
            files: vec![
                (".agent/.gitignore", atsf::GITIGNORE),
                (
                    ".agent/config.json",
                    include_str!("project/agent-config.json"),
                ),
                (".gitignore", include_str!("project/gitignore")),
                ("AGENTS.md", include_str!("project/agents.md")),
                ("README.md", include_str!("project/readme.md")),
                ("package.json", include_str!("project/package.json")),
                ("src/orders.js", include_str!("project/orders-1.js")),
                ("src/price.js", include_str!("project/price-1.js")),
                ("src/signin.js", include_str!("project/signin-1.js")),
                (
                    "test/signin.test.js",
                    include_str!("project/signin.test.js"),
                ),
            ],
        },
        SampleCommit {
            message: "Limit sign-in attempts",
            time: 1_794_408_000,
            files: vec![
                ("src/limit.js", include_str!("project/limit.js")),
                ("src/signin.js", include_str!("project/signin-2.js")),
            ],
        },
        SampleCommit {
            message: "Fetch all prices at once",
            time: 1_794_476_400,
            files: vec![("src/orders.js", include_str!("project/orders-2.js"))],
        },
        SampleCommit {
            message: "Write prices with a comma",
            time: 1_794_496_200,
            files: vec![("src/price.js", include_str!("project/price-2.js"))],
        },
        SampleCommit {
            message: "Lead back to the page that asked for the sign-in",
            time: 1_794_587_700,
            files: vec![("src/signin.js", include_str!("project/signin-3.js"))],
        },
    ]
}
