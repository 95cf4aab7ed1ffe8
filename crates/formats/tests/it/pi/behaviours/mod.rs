//! What the upstream project's own tests of its session manager ask for, each as a test of ours.
//! `docs/conformance/pi-behaviours.md` lists them all.

mod append;
mod branch;
mod branched;
mod context;
mod custom_entry;
mod labels;
mod load;
mod lookup;
mod migration;
mod path;
mod recent;
mod recovery;
mod session_id;
mod tree;
