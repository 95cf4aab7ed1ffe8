//! Where `context` is not what a client sends, and why: sessions by the beginnings of their names.

/// Sessions that their client does not take, and why: they are only asked for with `RETHREAD_SENT_ALL`.
pub(super) const REFUSED: [(&str, &str); 14] = [
    (
        "codex/0.140/damaged/",
        "it must begin with what describes it",
    ),
    ("codex/0.166/lost-base/", "what it goes on from is gone"),
    (
        "codex/0.20/items/",
        "this client no longer reads bare items",
    ),
    ("codex/2025/document/", "nor the document of 2025"),
    ("gemini/0.20/torn/", "nor a document that is torn"),
    (
        "gemini/0.61/damaged/",
        "it fails on a message that is `null`",
    ),
    (
        "gemini/0.61/crlf-bom/",
        "nor what begins with a byte order mark",
    ),
    ("gemini/0.61/no-header/", "nor what nothing describes"),
    (
        "codex/JaydenXsoe+ocodex/.codex/main_codex.back/",
        "documents of 2025",
    ),
    ("codex/JaydenXsoe+ocodex/.codex/sessions/", "bare items"),
    (
        "codex/codex-0.166.0-paginated-fork-image-raw/2026/11/15/rollout-2026-11-15T18-25-40",
        "what it goes on from is not in the same store",
    ),
    (
        "codex/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/codex/small",
        "made by hand: what describes it is not what the client reads",
    ),
    ("claude-code/ryoppippi+ccusage/", "no record has an id"),
    (
        "codex/codex-0.166.0-paginated-fork-image/sessions/2026/11/15/rollout-2026-11-15T18-25-40",
        "what it goes on from was shortened since",
    ),
];

/// Sessions of which the client sends something else than we say, and why we do not say that.
pub(super) const OTHERWISE: [(&str, &str); 17] = [
    ("claude-code/2.1/damaged/", "we read records that it loses"),
    (
        "claude-code/2.1/links/",
        "where a parent is missing, it guesses by times",
    ),
    (
        "claude-code/2.1/two-branches-old/",
        "we go on where the client that wrote it would",
    ),
    (
        "claude-code/2.0/written-anew/",
        "this client sends a turn that was written anew twice",
    ),
    (
        "claude-code/daaain+claude-code-log/test/test_data/edge_cases",
        "made by hand: one record names another, and ids are there twice",
    ),
    (
        "claude-code/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/claude/large",
        "made by hand: calls without ids, which it leaves out",
    ),
    (
        "claude-code/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/claude/small",
        "made by hand: what is said is marked as a sub-agent's",
    ),
    (
        "claude-code/kvsankar+agent-history/tests/fixtures/compaction/",
        "made by hand: a summary as the client never wrote one, which it leaves out",
    ),
    (
        "claude-code/wesm+agentsview/",
        "made by hand: without ids, so that it sends the last record alone",
    ),
    (
        "claude-code/simonw+claude-code-transcripts/tests/sample_session",
        "made by hand: no record names its parent, so that it sends the last alone",
    ),
    (
        "claude-code/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/claude/schema_drift",
        "made by hand: some records name no parent",
    ),
    (
        "codex/kvsankar+agent-history/tests/fixtures/compaction/",
        "made by hand: its id is no UUID, so that the client begins anew",
    ),
    (
        "codex/kvsankar+agent-history/tests/fixtures/rejections/",
        "made by hand: its id is no UUID, so that the client begins anew",
    ),
    (
        "codex/kvsankar+agent-history/tests/fixtures/v1/",
        "made by hand: its id is no UUID, so that the client begins anew",
    ),
    (
        "codex/wesm+agentsview/",
        "made by hand: their ids are no UUIDs, so that the client begins anew",
    ),
    (
        "gemini/0.20/keys-sorted/",
        "a message without an id, which we show",
    ),
    (
        "gemini/0.61/resumed/",
        "it cut what it resumed; we show what the file still has",
    ),
];

/// The reason that is named for a session, if one is.
pub(super) fn reason(list: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let mut found = list.iter().filter(|(start, _)| name.starts_with(start));
    found.next().map(|(_, why)| *why)
}
