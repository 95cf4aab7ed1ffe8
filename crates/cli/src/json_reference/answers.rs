//! What commands print: one row a field.

use super::kind::Kind::{Any, Flag, Integer, List, Map, Number, OrNull, Text, Time, Word};
use super::kind::{JsonAnswer, Field, Kind, Object, always, maybe};
use super::message::{CONTEXT, FOLLOWED, NATIVE_CONTEXT, RECORD, TREE_ENTRY, TREE_SUBAGENT};
use super::session::{REMOVED, SESSION};

pub(crate) static READING: &[JsonAnswer] = &[
    JsonAnswer { name: "overview", call: "rethread --json", means: "what there is on this machine; one object. Sessions of sub-agents count with those that started them. Of converted copies, only what was said in them since counts among messages and tokens.", objects: &[&OVERVIEW] },
    JsonAnswer { name: "agents", call: "rethread agents --json", means: "a line a format.", objects: &[&AGENT] },
    JsonAnswer { name: "list", call: "rethread list --json", means: "a line a session.", objects: &[&SESSION] },
    JsonAnswer { name: "search", call: "rethread search QUERY --json", means: "a line a place; where nothing is asked of texts, a line a session.", objects: &[&FOUND_PLACE] },
    JsonAnswer { name: "stats", call: "rethread stats --json", means: "one object: what was counted, by [the law](statistics.md). `--explain` adds the rows behind the numbers.", objects: &[&STATS] },
    JsonAnswer { name: "index", call: "rethread index --json", means: "one object.", objects: &[&INDEX_OVERVIEW] },
    JsonAnswer { name: "index-clear", call: "rethread index --clear --json", means: "a line a folder that was there.", objects: &[&REMOVED_CACHE] },
    JsonAnswer { name: "show", call: "rethread show SESSION --json", means: "one object.", objects: &[&RECORD] },
    JsonAnswer { name: "show-raw", call: "rethread show SESSION --to raw -o DIR --json", means: "a line a file that was copied.", objects: &[&WRITTEN] },
    JsonAnswer { name: "follow", call: "rethread show SESSION --follow --json", means: "a line a message, as it is said, those that are there first; `rethread list --follow --json` prints the same for all sessions, from now on. An answer that its client adds to is told again, with what is new in it alone.", objects: &[&FOLLOWED] },
    JsonAnswer { name: "tree", call: "rethread tree SESSION --json", means: "a line an entry, then a line a sub-agent.", objects: &[&TREE_ENTRY, &TREE_SUBAGENT] },
    JsonAnswer { name: "context", call: "rethread context SESSION --json", means: "one object.", objects: &[&CONTEXT] },
    JsonAnswer { name: "context-native", call: "rethread context SESSION --native --json", means: "one object.", objects: &[&NATIVE_CONTEXT] },
    JsonAnswer { name: "open", call: "rethread open SESSION --json", means: "one object.", objects: &[&OPENED] },
    JsonAnswer { name: "check", call: "rethread check PATH --json", means: "a line a violation; nothing where there is none.", objects: &[&VIOLATION] },
];

pub(crate) static MOVING: &[JsonAnswer] = &[
    JsonAnswer { name: "export", call: "rethread export --report json", means: "one object. `--json` names what is written, [Unified NDJSON](formats/ndjson.md) ([schema of its lines](unified-ndjson.schema.json)); alone or with `--source`, the paths of what was written are printed, a line each, as the document of that format shows. Beside `--markdown` or `--html` it also prints this object. With `-o -` the export itself is on stdout, and the report on stderr.", objects: &[&EXPORTED] },
    JsonAnswer { name: "convert", call: "rethread convert SESSION --to FORMAT --json", means: "a line a session.", objects: &[&CONVERTED] },
    JsonAnswer { name: "restore", call: "rethread restore FILE --json", means: "a line a session.", objects: &[&RESTORED] },
    JsonAnswer { name: "resume", call: "rethread resume SESSION --print --json", means: "one object.", objects: &[&CALL] },
    JsonAnswer { name: "migrate", call: "rethread migrate PATH --json", means: "a line a session.", objects: &[&MIGRATED] },
];

pub(crate) static WRITING: &[JsonAnswer] = &[
    JsonAnswer { name: "new", call: "rethread new --format F --json", means: "one object.", objects: &[&MADE] },
    JsonAnswer { name: "append", call: "rethread append SESSION TEXT --json", means: "a line a message, as soon as it is saved.", objects: &[&ADDED] },
    JsonAnswer { name: "branch", call: "rethread branch SESSION ENTRY --json", means: "a line for each entry that was added.", objects: &[&ADDED] },
    JsonAnswer { name: "label", call: "rethread label SESSION ENTRY TEXT --json", means: "one object, of the record that says so.", objects: &[&ADDED] },
    JsonAnswer { name: "fork", call: "rethread fork SESSION --json", means: "one object.", objects: &[&MADE] },
    JsonAnswer { name: "rename", call: "rethread rename SESSION TITLE --json", means: "one object.", objects: &[&RENAMED] },
    JsonAnswer { name: "rm", call: "rethread rm SESSION --json", means: "a line a session; with `--dry-run`, those that would go.", objects: &[&REMOVED] },
];

pub(crate) static PROJECTS: &[JsonAnswer] = &[
    JsonAnswer { name: "init", call: "rethread init --json", means: "one object.", objects: &[&STARTED] },
    JsonAnswer { name: "worktree-add", call: "rethread worktree add --json", means: "one object.", objects: &[&WORKTREE_ADDED] },
    JsonAnswer { name: "worktree-list", call: "rethread worktree list --json", means: "a line a worktree.", objects: &[&WORKTREE] },
    JsonAnswer { name: "worktree-remove", call: "rethread worktree remove NAME --json", means: "one object.", objects: &[&WORKTREE_REMOVED] },
    JsonAnswer { name: "trust", call: "rethread trust --json", means: "one object. Without `--yes`, and where nobody can be asked, nothing is trusted: the object says what the hooks would do, and the command fails.", objects: &[&TRUST] },
    JsonAnswer { name: "trust-list", call: "rethread trust --list --json", means: "a line for each that is trusted.", objects: &[&TRUSTED] },
    JsonAnswer { name: "trust-revoke", call: "rethread trust --revoke --json", means: "one object.", objects: &[&REVOKED] },
    JsonAnswer { name: "sample", call: "rethread sample DIR --json", means: "one object.", objects: &[&SAMPLE] },
    JsonAnswer { name: "sample-clear", call: "rethread sample --clear --json", means: "one object.", objects: &[&CLEARED] },
    JsonAnswer { name: "help", call: "rethread help COMMAND --json", means: "one object.", objects: &[&COMMAND_HELP] },
    JsonAnswer { name: "mcp-config", call: "rethread mcp --print-config CLIENT --json", means: "one object.", objects: &[&CLIENT_CONFIG] },
    JsonAnswer { name: "completions", call: "rethread completions SHELL --json", means: "one object.", objects: &[&COMPLETIONS] },
    JsonAnswer { name: "man", call: "rethread man --json", means: "one object.", objects: &[&MANUAL] },
    JsonAnswer { name: "man-output", call: "rethread man -o DIR --json", means: "a line a page.", objects: &[&WRITTEN] },
];

pub(crate) static TALK: &[JsonAnswer] = &[
    JsonAnswer { name: "error", call: "stderr of any command with --json", means: "one object for a failure; where only a part failed, a line each.", objects: &[&FAILURE] },
    JsonAnswer { name: "note", call: "stderr of any command with --json, for what was noticed", means: "a line a note. `warning` where something was damaged or skipped, `note` for the rest.", objects: &[&WARNING, &REMARK] },
];

static OVERVIEW: Object = Object { name: "overview", means: "What there is", groups: &[&[
    always("agents", List(&Kind::Object(&OVERVIEW_AGENT)), "the agents that have sessions here"),
    always("session_count", Integer, "all sessions but the hidden ones"),
    always("hidden_count", Integer, "how many more there are that their agents hide"),
    always("copy_count", Integer, "how many of the sessions are converted copies of others that are there"),
    always("message_count", Integer, "all messages"),
    always("total_tokens", Integer, "all tokens"),
    always("size", Integer, "bytes of all of them"),
    always("recent", List(&Kind::Object(&SESSION)), "the sessions in which something was last said"),
    always("found", List(&Text), "the places where sessions are"),
    always("looked", List(&Kind::Object(&LOOKED)), "the places that were looked at"),
    maybe("budget", Kind::Object(&BUDGET), "how much of the month's budget is spent, if there is one"),
]] };

static OVERVIEW_AGENT: Object = Object { name: "overview-agent", means: "How much of an agent there is", groups: &[&[
    always("agent", Text, "its short name"),
    always("name", Text, "its name for people"),
    always("session_count", Integer, "its sessions"),
    always("copy_count", Integer, "how many of the sessions are converted copies of others that are there"),
    always("message_count", Integer, "its messages"),
    always("total_tokens", Integer, "its tokens"),
    always("updated_at", OrNull(&Time), "when something was last said"),
    always("messages_by_day", List(&Kind::Object(&DAY_COUNT)), "the last seven days with how many messages were written on each, today last"),
    always("workspaces", List(&Text), "the names of some workspaces, the newest first"),
]] };

static DAY_COUNT: Object = Object { name: "day-count", means: "How many there were on a day", groups: &[&[
    always("day", Text, "the day in the local time zone, as in `2026-11-01`"),
    always("count", Integer, "how many"),
]] };

static LOOKED: Object = Object { name: "looked", means: "A place that was looked at", groups: &[&[
    always("agent", Text, "for whose sessions"),
    always("place", Text, "the place"),
]] };

static AGENT: Object = Object { name: "agent", means: "A supported format", groups: &[&[
    always("agent", Text, "its short name"),
    always("name", Text, "its name for people"),
    always("versions", Text, "the versions that are read"),
    always("can", List(&Word(&["read", "write", "resume"])), "what can be done with it"),
    always("sessions", Integer, "how many there are, those of sub-agents and hidden ones among them"),
    always("places", List(&Text), "where they are"),
    always("looks_in", Text, "where they are looked for"),
    always("converts_from", Map(&List(&Kind::Object(&FATE))), "for each other format, how its sessions arrive"),
    always("judged_by", OrNull(&Text), "the program that went on with converted sessions in the project's tests"),
]] };

static FATE: Object = Object { name: "fate", means: "How things of one kind arrive", groups: &[&[
    always("what", Text, "the kind"),
    always("count", Integer, "how many there were"),
    always("native", Integer, "how many of them arrive as the format's own"),
]] };

static NATIVE: Object = Object { name: "native", means: "Things of one kind that are the format's own", groups: &[&[
    always("what", Text, "the kind"),
    always("count", Integer, "how many"),
]] };

static WRITTEN: Object = Object { name: "written-file", means: "A file that was written", groups: &[&[
    always("path", Text, "the file"),
]] };

static OPENED: Object = Object { name: "opened-page", means: "A page", groups: &[&[
    always("id", Text, "the session's id"),
    always("path", Text, "the page"),
    always("browser", OrNull(&Text), "the browser that was started; null if none was"),
]] };

static FOUND_PLACE: Object = Object { name: "found-place", means: "A text that was found", groups: &[&[
    always("session_id", Text, "the session's id"),
    always("agent", Text, "the format of the agent that held it, by its short name"),
    always("workspace", Text, "the folder that the work was done in; empty if unknown"),
    always("title", OrNull(&Text), "its title"),
    always("updated_at", OrNull(&Time), "when its last message was written"),
    always("path", Text, "its main file or folder"),
    always("is_agent_session", Flag, "whether another session started it"),
    always("parent_session_id", OrNull(&Text), "that session"),
    always("entry", OrNull(&Text), "the entry as `show --at` takes it, `#12`; null for a title"),
    always("entry_id", OrNull(&Text), "the entry's id"),
    always("kind", OrNull(&Word(&["title", "prompt", "answer", "thinking", "tool_call", "tool_output", "summary", "injected", "event"])), "what the text is; null where nothing is asked of texts"),
    always("role", OrNull(&Word(&["user", "assistant", "tool", "system"])), "who speaks, as `role:` takes it"),
    always("tool", OrNull(&Text), "the tool, of a call or its output"),
    always("part", OrNull(&Word(&["active", "compacted", "left_branch", "subagent", "carried_original"])), "which part of the conversation it is in"),
    always("time", OrNull(&Time), "when it was said"),
    always("snippet", Text, "a piece of the text, in which white space is single spaces; with `-C`, lines"),
    always("marks", List(&List(&Integer)), "where in it what was looked for is: pairs of the first character and the one behind the last, counted from 0"),
    always("files", List(&Kind::Object(&TOUCHED_FILE)), "the files that were asked for and that the call touches"),
]] };

static TOUCHED_FILE: Object = Object { name: "touched-file", means: "A file that a call of a tool touches", groups: &[&[
    always("path", Text, "the path, as the conversation spells it"),
    always("use", Word(&["read", "written"]), "what was done to it"),
]] };

static STATS: Object = Object { name: "stats", means: "What conversations used", groups: &[&[
    always("by", Word(&["day", "week", "month", "hour", "agent", "model", "tool", "workspace", "session"]), "what is added up together"),
    always("since", OrNull(&Time), "from when on, where that was asked for"),
    always("until", OrNull(&Time), "up to when"),
    always("total", Kind::Object(&STATS_TOTAL), "all together"),
    always("groups", List(&Kind::Object(&STATS_GROUP)), "each group, in the order that was asked for"),
    always("unpriced", List(&Kind::Object(&UNPRICED_MODEL)), "models whose price nobody knows"),
    always("left_out", Map(&Integer), "how many responses do not count where they stand, by reason: `repeated`, `inherited`, `converted`"),
    always("oddities", List(&Kind::Object(&ODDITY)), "what could not be counted as it is"),
    always("budget", OrNull(&Kind::Object(&BUDGET)), "how much of the month's budget is spent, if there is one"),
    always("prices", Kind::Object(&PRICE_SOURCE), "where prices are from"),
    maybe("rows", List(&Kind::Object(&STATS_ROW)), "the responses behind the numbers, with `--explain`"),
    maybe("more_rows", Integer, "how many more there are"),
]] };

/// What is added up.
const STATS_SUMS: &[Field] = &[
    always("session_count", Integer, "sessions in which something of it happened; sub-agents count with their parents"),
    always("response_count", Integer, "responses of models"),
    always("token_usage", Kind::Object(&STATS_TOKENS), "what they used"),
    always("cost_usd", Number, "what they cost in US dollars, as far as that is known"),
    always("recorded_usd", Number, "how much of that agents recorded"),
    always("computed_usd", Number, "how much of it is computed by the table of prices"),
    always("unpriced_responses", Integer, "responses whose price nobody knows"),
    always("message_count", Integer, "messages of all roles"),
    always("prompt_count", Integer, "what people said"),
    always("tool_call_count", Integer, "calls of tools"),
    always("tool_failure_count", Integer, "how many of them failed"),
    always("tool_ms", Integer, "how long they took together, in milliseconds"),
    always("active_ms", Integer, "how long something went on, in milliseconds"),
    always("lines_added", Integer, "lines that came into files"),
    always("lines_removed", Integer, "lines that went out of files"),
    always("size", Integer, "bytes on disk; 0 in groups that are no sessions"),
];

static STATS_TOTAL: Object = Object { name: "stats-total", means: "Sums", groups: &[STATS_SUMS] };

static STATS_GROUP: Object = Object { name: "stats-group", means: "What was added up together", groups: &[&[
    always("key", OrNull(&Text), "the day, month (`2026-11`), hour (`09`), name or id; null of what says nothing of it"),
    maybe("agent", OrNull(&Text), "of a session, its agent"),
    maybe("workspace", OrNull(&Text), "of a session, its workspace"),
    maybe("title", OrNull(&Text), "of a session, its title"),
], STATS_SUMS] };

static STATS_TOKENS: Object = Object { name: "stats-tokens", means: "Tokens", groups: &[&[
    always("input_tokens", Integer, "input that no cache answered"),
    always("output_tokens", Integer, "output, reasoning included"),
    always("cache_creation_tokens", Integer, "input written to a cache"),
    always("cache_read_tokens", Integer, "input from a cache"),
    always("reasoning_tokens", Integer, "the part of the output that was reasoning"),
    always("total_tokens", Integer, "all of them"),
]] };

static UNPRICED_MODEL: Object = Object { name: "unpriced-model", means: "A model whose price nobody knows", groups: &[&[
    always("model", Text, "its name, with its provider; empty where the source names none"),
    always("responses", Integer, "how many responses"),
    always("tokens", Integer, "how many tokens"),
]] };

static ODDITY: Object = Object { name: "oddity", means: "What could not be counted as it is", groups: &[&[
    always("kind", Word(&["bad_count", "huge_count", "bad_cost", "no_usage", "bad_time", "ends_before_start"]), "what it is"),
    always("count", Integer, "how often"),
    always("session_id", OrNull(&Text), "the first session with it"),
    always("entry", OrNull(&Text), "the entry there, as `show --at` takes it"),
    always("example", Text, "what stands there, shortened"),
]] };

static BUDGET: Object = Object { name: "budget", means: "How much of a month's budget is spent", groups: &[&[
    always("month_usd", Number, "what `config.toml` says is to be spent a month, in US dollars"),
    always("spent_usd", Number, "what was spent this month, as far as that is known"),
    always("unpriced_responses", Integer, "responses of this month whose price nobody knows"),
]] };

static PRICE_SOURCE: Object = Object { name: "price-source", means: "Where prices are from", groups: &[&[
    always("package", Text, "the package on PyPI"),
    always("version", Text, "its version"),
    always("date", Text, "the day on which that was the newest"),
]] };

static STATS_ROW: Object = Object { name: "stats-row", means: "A response behind a number", groups: &[&[
    always("session_id", OrNull(&Text), "its session"),
    always("path", OrNull(&Text), "the session's main file or folder"),
    always("entry", OrNull(&Text), "its entry, as `show --at` takes it"),
    always("time", OrNull(&Time), "when it was given"),
    always("model", OrNull(&Text), "its model, with its provider"),
    always("token_usage", Kind::Object(&STATS_TOKENS), "what it used"),
    always("cost_usd", OrNull(&Number), "what it cost; null where nobody knows, or where it does not count"),
    always("cost_basis", Word(&["recorded", "shared", "computed", "unpriced"]), "how that is known; `shared` is a part of what the agent recorded for the whole session"),
    always("is_rest", Flag, "whether it stands for what an agent added up itself and no response tells"),
    always("left_out", OrNull(&Word(&["repeated", "inherited", "converted"])), "why it does not count here"),
]] };

static INDEX_OVERVIEW: Object = Object { name: "index-overview", means: "What is known of conversations from before", groups: &[&[
    always("catalogue", OrNull(&Kind::Object(&CATALOGUE_STATE)), "what lists know; null where nothing is kept"),
    always("index", OrNull(&Kind::Object(&INDEX_STATE)), "what searches know; null where there is none yet"),
    always("pending_sessions", Integer, "how many sessions are not in the index as they are now"),
    always("pending_bytes", Integer, "how many bytes of them are new"),
]] };

static CATALOGUE_STATE: Object = Object { name: "catalogue-state", means: "The catalogue", groups: &[&[
    always("path", Text, "its folder"),
    always("sessions", Integer, "how many sessions it knows"),
    always("size", Integer, "bytes of its files"),
]] };

static INDEX_STATE: Object = Object { name: "index-state", means: "The search index", groups: &[&[
    always("path", Text, "its folder"),
    always("sessions", Integer, "how many sessions are in it"),
    always("texts", Integer, "how many texts"),
    always("size", Integer, "bytes of its files"),
]] };

static REMOVED_CACHE: Object = Object { name: "removed-cache", means: "A folder that was deleted", groups: &[&[
    always("removed", Text, "the folder"),
]] };

pub(crate) static VIOLATION: Object = Object { name: "violation", means: "A rule that is broken", groups: &[&[
    always("path", Text, "the file"),
    always("line", OrNull(&Integer), "the line, from 1"),
    always("level", Word(&["error", "warning"]), "how bad it is"),
    always("rule", Text, "the rule's short name"),
    always("section", OrNull(&Text), "its heading in the format's document"),
    always("message", Text, "what is wrong"),
]] };

static EXPORTED: Object = Object { name: "export-report", means: "What an export wrote", groups: &[&[
    always("files", List(&Text), "the files and folders that were written"),
    always("session_count", Integer, "how many sessions are in them"),
    always("skipped", Integer, "how many could not be read, and are not"),
    always("warnings", List(&Text), "what was damaged, as on stderr"),
]] };

static CONVERTED: Object = Object { name: "converted", means: "A session that was converted", groups: &[&[
    always("source", Text, "where it is"),
    always("from", Text, "its format"),
    always("to", Text, "the new session's format"),
    always("id", Text, "the new session's id"),
    always("path", OrNull(&Text), "its main file or folder, which every command takes as SESSION; null with `--dry-run`"),
    always("way", Word(&["written", "restored", "changed", "continued", "unchanged", "already there"]), "what was done"),
    always("native", List(&Kind::Object(&NATIVE)), "what became the format's own"),
    always("carried", List(&Kind::Object(&FATE)), "what is packed, for the way back"),
    always("dropped", List(&Kind::Object(&FATE)), "what is left out"),
]] };

static RESTORED: Object = Object { name: "restored", means: "A session of an export", groups: &[&[
    always("source", Text, "the export"),
    always("id", Text, "its id"),
    always("agent", Text, "its agent"),
    always("title", OrNull(&Text), "its title"),
    always("path", OrNull(&Text), "where it is now"),
    always("outcome", Word(&["restored", "would come back", "already there", "differs"]), "what became of it"),
]] };

static CALL: Object = Object { name: "call", means: "How to go on", groups: &[&[
    always("command", List(&Text), "the program and its arguments"),
    always("cwd", OrNull(&Text), "the folder to start it in"),
]] };

static MIGRATED: Object = Object { name: "migrated", means: "A session of the current version", groups: &[&[
    always("id", Text, "its id"),
    always("path", Text, "its file"),
    always("from", Text, "the version that it had"),
    always("to", Text, "the version that it has"),
    always("backup", OrNull(&Text), "the old file; null where there was nothing to do"),
]] };

static MADE: Object = Object { name: "new-session", means: "A session that was made", groups: &[&[
    always("id", Text, "its id"),
    always("path", Text, "its main file or folder"),
]] };

static ADDED: Object = Object { name: "new-entry", means: "An entry that was added", groups: &[&[
    always("id", Text, "its id"),
]] };

static RENAMED: Object = Object { name: "new-title", means: "A title that was set", groups: &[&[
    always("title", Text, "the title"),
]] };

static STARTED: Object = Object { name: "store", means: "A store", groups: &[&[
    always("path", Text, "its folder"),
    always("created", List(&Text), "what was missing and was made"),
]] };

static WORKTREE_ADDED: Object = Object { name: "new-worktree", means: "A worktree with a thread in it", groups: &[&[
    always("id", Text, "the thread's id"),
    always("path", Text, "the thread's folder"),
    always("worktree", Text, "the worktree's folder"),
    always("branch", Text, "its branch"),
    always("hooks", List(&Kind::Object(&HOOK)), "what became of each of the project's hooks"),
]] };

static HOOK: Object = Object { name: "hook", means: "What became of a hook", groups: &[&[
    always("step", Word(&["symlink", "command", "initialPrompt", "invalid", "all"]), "what it is; `all` where none was carried out"),
    maybe("source", Text, "of a link: what it leads to"),
    maybe("target", Text, "of a link: where it stands"),
    maybe("command", Text, "of a command: the line for the shell"),
    maybe("label", OrNull(&Text), "of a command: what it is called"),
    always("status", Word(&["done", "failed", "skipped"]), "what became of it"),
    maybe("message", Text, "why it was not done"),
]] };

static WORKTREE: Object = Object { name: "worktree", means: "A worktree", groups: &[&[
    always("path", Text, "its folder"),
    always("branch", OrNull(&Text), "its branch; null if it has none"),
    always("is_main", Flag, "whether it is the repository's own"),
    always("exists", Flag, "whether its folder is there"),
    always("thread_count", Integer, "how many threads it holds"),
]] };

static WORKTREE_REMOVED: Object = Object { name: "removed-worktree", means: "A worktree that is gone", groups: &[&[
    always("path", Text, "its folder"),
    always("threads", List(&Text), "the ids of the threads that went with it"),
]] };

const TRUST_FIELDS: &[Field] = &[
    always("hash", Text, "the SHA-256 of the hooks, in hex"),
    always("path", Text, "the file that has them"),
    always("repository", Text, "the repository's git folder"),
    always("identity", Text, "what tells that repository from another at the same path"),
];

static TRUSTED: Object = Object { name: "trusted", means: "Hooks that are trusted", groups: &[TRUST_FIELDS] };

static TRUST: Object = Object { name: "shown-hooks", means: "Hooks, and whether they are trusted", groups: &[TRUST_FIELDS, &[
    always("trusted", Flag, "whether they are trusted now"),
    always("hooks", Kind::Object(&HOOKS), "what they would do"),
]] };

static HOOKS: Object = Object { name: "hooks", means: "What hooks would do in a new worktree", groups: &[&[
    always("symlinks", List(&Kind::Object(&HOOK_LINK)), "links that are made"),
    always("commands", List(&Kind::Object(&HOOK_COMMAND)), "commands that are run, in order"),
    always("initial_prompt", OrNull(&Text), "what is said to the agent first"),
    always("invalid", List(&Text), "why others make no sense; those are never carried out"),
]] };

static HOOK_LINK: Object = Object { name: "hook-link", means: "A link", groups: &[&[
    always("source", Text, "what it leads to, from the repository's root"),
    always("target", Text, "where it stands, from the worktree's root"),
]] };

static HOOK_COMMAND: Object = Object { name: "hook-command", means: "A command", groups: &[&[
    always("command", Text, "the line for the shell"),
    always("label", OrNull(&Text), "what it is called"),
    always("platforms", OrNull(&List(&Text)), "the platforms it is for; null for all"),
]] };

static REVOKED: Object = Object { name: "revoked", means: "Trust that was taken back", groups: &[&[
    always("path", Text, "the file that has the hooks"),
    always("revoked", Integer, "how many were trusted"),
]] };

static SAMPLE: Object = Object { name: "sample", means: "A sample", groups: &[&[
    always("path", Text, "its folder"),
    always("project", Text, "the project in it"),
    always("home", Text, "the home in it"),
    always("sessions", List(&Text), "the ids of its sessions"),
]] };

static CLEARED: Object = Object { name: "cleared-sample", means: "What `--sample` had changed is forgotten", groups: &[&[
    always("removed", OrNull(&Text), "the folder of the copy; null if there was none"),
]] };

static COMPLETIONS: Object = Object { name: "completions", means: "What a shell needs", groups: &[&[
    always("shell", Text, "the shell"),
    always("script", Text, "the script for it"),
]] };

static MANUAL: Object = Object { name: "manual", means: "The manual page", groups: &[&[
    always("page", Text, "the page, for `man`"),
]] };

static FAILURE: Object = Object { name: "failure", means: "A failure", groups: &[&[
    always("error", Kind::Object(&ERROR), "why it failed"),
]] };

static ERROR: Object = Object { name: "error-object", means: "Why something failed", groups: &[&[
    always("kind", Word(KINDS), "what kind of failure"),
    always("message", Text, "a line for people"),
    maybe("path", Text, "the file"),
    maybe("line", Integer, "the line, from 1"),
    maybe("candidates", Any, "what an ambiguous name may mean: of sessions a list of `agent`, `id`, `path`; of messages a list of ids"),
    maybe("hint", Text, "what to do next"),
]] };

const KINDS: &[&str] = &[
    "ambiguous", "bad_input", "bad_message", "busy", "damaged", "exists", "git", "io", "no_conversation",
    "not_a_session", "not_found", "refused", "unsupported", "unsupported_version", "usage", "verification",
];

static WARNING: Object = Object { name: "warning", means: "Something was damaged or skipped", groups: &[&[
    always("warning", Kind::Object(&NOTE), "what"),
]] };

static REMARK: Object = Object { name: "remark", means: "Something is worth knowing", groups: &[&[
    always("note", Kind::Object(&NOTE), "what"),
]] };

static NOTE: Object = Object { name: "note-object", means: "What was noticed", groups: &[&[
    always("message", Text, "a line for people"),
    maybe("path", Text, "the file"),
    maybe("line", Integer, "the line, from 1"),
    maybe("offset", Integer, "the byte in the file"),
    maybe("hint", Text, "what to do next"),
]] };

static CLIENT_CONFIG: Object = Object { name: "client-config", means: "What a client must know of the server", groups: &[&[
    always("client", Text, "the client"),
    always("place", Text, "where it belongs"),
    always("text", Text, "what to add there, or to run"),
    always("command", List(&Text), "the words that start the server"),
]] };

static COMMAND_HELP: Object = Object { name: "command-help", means: "A command with all below it", groups: &[&[
    always("command", Text, "how it is called"),
    always("aliases", List(&Text), "its other names"),
    always("about", OrNull(&Text), "what it does, in a line"),
    always("details", OrNull(&Text), "what else there is to say"),
    always("examples", OrNull(&Text), "calls, with what they do"),
    always("arguments", List(&Kind::Object(&ARGUMENT_HELP)), "what it takes in order"),
    always("options", List(&Kind::Object(&ARGUMENT_HELP)), "its flags; those that every command takes are with the program"),
    always("answers", List(&Kind::Object(&ANSWER_HELP)), "what it prints with `--json`"),
    always("commands", List(&Kind::Object(&COMMAND_HELP)), "the commands below it"),
    maybe("version", Text, "the version, of the program"),
    maybe("exit_codes", Map(&Text), "what exit codes mean, of the program"),
    maybe("$defs", Map(&Any), "a JSON Schema for each object that is named, where this was asked for"),
]] };

static ARGUMENT_HELP: Object = Object { name: "argument-help", means: "An argument or an option", groups: &[&[
    always("name", Text, "its name"),
    always("long", OrNull(&Text), "the flag, of an option"),
    always("short", OrNull(&Text), "the short flag, where there is one"),
    always("value", OrNull(&Text), "what its value is called; null where it takes none"),
    always("choices", List(&Text), "the values that it takes, where they are few"),
    always("default", OrNull(&Text), "its value where none is given"),
    always("required", Flag, "whether it must be there"),
    always("repeatable", Flag, "whether it can be there several times"),
    always("about", OrNull(&Text), "what it means"),
]] };

static ANSWER_HELP: Object = Object { name: "answer-help", means: "An answer of a command", groups: &[&[
    always("name", Text, "the name of its schema in the documentation"),
    always("section", Text, "the part of the documentation that it is in"),
    always("call", Text, "how the command is called"),
    always("means", Text, "what it prints"),
    always("objects", List(&Text), "the objects; each that is printed is one of these"),
]] };
