//! Rethread as a library: what a builder of tools needs, from all of its crates.
//!
//! - [`engine`] has the verbs (list, show, append, fork, …) as functions that return plain values.
//! - [`model`] says what a conversation is.
//! - [`formats`] reads and writes each agent's own records, byte for byte.
//! - [`render`] shows a conversation as text, Markdown or JSON.
//! - [`samp`] lets agents write to each other through files.
//! - [`json`] and [`disk`] are what it all stands on.
//!
//! ```no_run
//! use rethread::engine::{Env, Part, show};
//! use rethread::model::Bodies;
//!
//! let env = Env::system()?;
//! let shown = show(&env, "latest", Part::Active)?;
//! for entry in shown.entries {
//!     println!("{:?}", shown.conversation.body(entry));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use rethread_disk as disk;
pub use rethread_engine as engine;
pub use rethread_formats as formats;
pub use rethread_json as json;
pub use rethread_model as model;
pub use rethread_render as render;
pub use rethread_samp as samp;
