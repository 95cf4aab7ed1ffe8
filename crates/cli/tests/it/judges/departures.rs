//! Where `context` is not what a client sends, and why: sessions by the beginnings of their names.

/// Sessions that their client does not take, and why: they are only asked for with `RETHREAD_SENT_ALL`.
pub(super) const REFUSED: [(&str, &str); 21] = [
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
        "codex/codex-0.166.0-paginated-fork-image-raw/",
        "its numbers do not follow each other",
    ),
    (
        "codex/jazzyalex+agent-sessions/",
        "made by hand, of several clients",
    ),
    ("claude-code/ryoppippi+ccusage/", "no record names another"),
    ("gemini/entireio+cli/", "nothing but its messages"),
    (
        "gemini/kvsankar+agent-history/tests/fixtures/telemetry/",
        "a log",
    ),
    (
        "gemini/wesm+agentsview/internal/parser/testdata/gemini/system_messages",
        "no `projectHash`",
    ),
    (
        "gemini/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/gemini/schema_drift",
        "no `projectHash`",
    ),
    (
        "codex/kvsankar+agent-history/tests/fixtures/rejections/",
        "lines without a time",
    ),
    (
        "codex/kvsankar+agent-history/tests/fixtures/v1/",
        "lines without a time",
    ),
    (
        "codex/wesm+agentsview/",
        "lines without what the client needs",
    ),
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
        "ids that are there twice",
    ),
    (
        "claude-code/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/claude/large",
        "made by hand: calls without ids",
    ),
    (
        "claude-code/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/claude/small",
        "made by hand: all of it of a sub-agent",
    ),
    (
        "claude-code/kvsankar+agent-history/tests/fixtures/compaction/",
        "a summary that the client never wrote so",
    ),
    ("claude-code/wesm+agentsview/", "made by hand: without ids"),
    (
        "codex/kvsankar+agent-history/tests/fixtures/compaction/",
        "lines without a time",
    ),
    (
        "gemini/0.20/keys-sorted/",
        "a message without an id, which we show",
    ),
    (
        "gemini/0.61/resumed/",
        "it cut what it resumed; we show what the file still has",
    ),
    (
        "gemini/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/gemini/large",
        "of messages with one id it takes the last",
    ),
    (
        "gemini/wesm+agentsview/internal/parser/testdata/gemini/tool_calls",
        "it gives names to calls without one",
    ),
    (
        "gemini/gemini-0.61.0-tools/",
        "it cuts outputs that it sends again",
    ),
    (
        "claude-code/simonw+claude-code-transcripts/tests/sample_session",
        "made by hand: without ids",
    ),
    (
        "claude-code/jazzyalex+agent-sessions/Resources/Fixtures/stage0/agents/claude/schema_drift",
        "made by hand: without ids",
    ),
];

/// The reason that is named for a session, if one is.
pub(super) fn reason(list: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let mut found = list.iter().filter(|(start, _)| name.starts_with(start));
    found.next().map(|(_, why)| *why)
}
