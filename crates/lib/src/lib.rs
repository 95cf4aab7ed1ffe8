//! Rethread as a library: what a builder of tools needs, without a command line or a terminal.
//!
//! A conversation is found by [`list`](engine::list) or [`find`](engine::find), read by
//! [`show`](engine::show), and carried into another agent by [`convert`](engine::convert). The example
//! runs on the built-in sample, a small project with conversations of six agents; a program that means
//! this machine's own says `Env::system()?` and leaves the sample out.
//!
//! ```
//! use rethread_lib::engine::{Env, Filter, Part, Sort, list, show, temporary_sample};
//! use rethread_lib::model::{Bodies, Body};
//!
//! let sample = temporary_sample(&Env::system()?)?;
//! let env = &sample.env;
//!
//! let listed = list(env, &Filter::default(), Sort::Updated, &|_, _| {})?;
//! assert!(listed.sessions.len() > 5);
//!
//! let shown = show(env, "claude-code:latest", Part::Active)?;
//! for entry in &shown.entries {
//!     if let Body::Message(message) = shown.conversation.body(*entry) {
//!         println!("{:?} says {} things", message.role, message.blocks.len());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | crate | what it has |
//! | --- | --- |
//! | [`engine`] | the verbs (list, show, append, fork, convert, …) as functions that return plain values |
//! | [`model`] | what a conversation is |
//! | [`formats`] | each agent's own records, read and written byte for byte; pi's `SessionManager` |
//! | [`render`] | a conversation as text, Markdown, HTML or JSON |
//! | [`samp`] | agents writing to each other through files |
//! | [`json`], [`disk`] | lossless JSON, and writing files so that a crash loses nothing |
//!
//! Whole programs are in the folder `examples`: `list`, `read` and `convert`.

pub use rethread_disk as disk;
pub use rethread_engine as engine;
pub use rethread_formats as formats;
pub use rethread_json as json;
pub use rethread_model as model;
pub use rethread_render as render;
pub use rethread_samp as samp;
