//! The rules by their short names, and the headings of the document under which they stand.

use crate::check::law::{Law, law, unreadable};

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

pub(super) const UNREADABLE: Law = unreadable(LAYOUT);
pub(super) const NO_IGNORE: Law = law("gitignore", IGNORE);
pub(super) const NO_MANIFEST: Law = law("manifest-missing", THREAD);
pub(super) const NO_LOG: Law = law("log-missing", LAYOUT);
pub(super) const VERSION: Law = law("version", VERSIONING);
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
