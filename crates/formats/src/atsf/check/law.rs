//! The rules by their short names, and the headings of the document under which they stand.

/// A rule and its place in the document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub(super) rule: &'static str,
    pub(super) section: &'static str,
}

pub(super) const LAYOUT: &str = "Directory Layout";
pub(super) const NAMING: &str = "Naming Conventions";
pub(super) const VERSIONING: &str = "Spec Versioning";
pub(super) const CONFIG: &str = "`config.json` - Project-Level Configuration";
pub(super) const HOOKS: &str = "`worktreeHooks` — Worktree Setup Hooks (v1.1+)";
pub(super) const THREAD: &str = "`thread.json` - Thread Metadata Envelope";
pub(super) const LOG: &str = "`messages.jsonl` - Message Log";
pub(super) const MESSAGE: &str = "Message Object";
pub(super) const BLOCKS: &str = "Content Block Types";
pub(super) const CALLS: &str = "Tool Call Object";
pub(super) const ASSETS: &str = "Image Assets";
pub(super) const IGNORE: &str = "Default `.gitignore`";
pub(super) const CONCURRENCY: &str = "Concurrency";
pub(super) const COMPATIBILITY: &str = "Compatibility Notes";

pub(super) const fn law(rule: &'static str, section: &'static str) -> Law {
    Law { rule, section }
}

pub(super) const UNREADABLE: Law = law("unreadable", LAYOUT);
pub(super) const NO_IGNORE: Law = law("gitignore", IGNORE);
pub(super) const NO_MANIFEST: Law = law("manifest-missing", THREAD);
pub(super) const NO_LOG: Law = law("log-missing", LAYOUT);
pub(super) const UTF8: Law = law("utf-8", COMPATIBILITY);
pub(super) const BOM: Law = law("byte-order-mark", COMPATIBILITY);
pub(super) const VERSION: Law = law("version", VERSIONING);
pub(super) const TIMESTAMP: Law = law("timestamp", COMPATIBILITY);
pub(super) const ABSOLUTE: Law = law("absolute-path", COMPATIBILITY);
pub(super) const RELATIVE: Law = law("relative-path", THREAD);
pub(super) const THREAD_ID: Law = law("thread-id", NAMING);
pub(super) const FOLDER: Law = law("folder-name", NAMING);
pub(super) const PROTOCOL: Law = law("protocol", THREAD);
pub(super) const STATS: Law = law("stats", THREAD);
pub(super) const UPDATED: Law = law("updated-at", THREAD);
pub(super) const BLANK: Law = law("blank-line", LOG);
pub(super) const TORN: Law = law("torn-line", CONCURRENCY);
pub(super) const GIANT: Law = law("giant-line", LOG);
pub(super) const ORDER: Law = law("time-order", LOG);
pub(super) const ROLE: Law = law("role", MESSAGE);
pub(super) const STATUS: Law = law("tool-status", CALLS);
pub(super) const SAME_ID: Law = law("duplicate-id", MESSAGE);
pub(super) const SAME_CALL: Law = law("duplicate-id", CALLS);
pub(super) const ASSET_REF: Law = law("asset-ref", ASSETS);
pub(super) const ASSET_NAME: Law = law("asset-name", NAMING);
pub(super) const ASSET_HASH: Law = law("asset-hash", ASSETS);
pub(super) const NO_ASSET: Law = law("missing-asset", ASSETS);
pub(super) const SECRET: Law = law("secret", CONFIG);
pub(super) const HOOK_PATH: Law = law("hook-path", HOOKS);
pub(super) const PLATFORM: Law = law("platform", HOOKS);

/// A text is no JSON, or not the kind of value that belongs there.
pub(super) const fn json(section: &'static str) -> Law {
    law("json", section)
}

/// A field that must be there is not.
pub(super) const fn required(section: &'static str) -> Law {
    law("required-field", section)
}

/// A field is of another type.
pub(super) const fn wrong_type(section: &'static str) -> Law {
    law("field-type", section)
}

/// An object has a key twice.
pub(super) const fn same_key(section: &'static str) -> Law {
    law("duplicate-key", section)
}

/// Values lie too deep to be looked at.
pub(super) const fn too_deep(section: &'static str) -> Law {
    law("nesting", section)
}

/// There is more than is told.
pub(super) const fn more(section: &'static str) -> Law {
    law("more", section)
}
