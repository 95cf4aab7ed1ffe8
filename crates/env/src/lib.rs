//! What the library may know of the machine it runs on.
//!
//! [`Env`] is folders, variables, clock and randomness, and [`Home`] is a home folder of another
//! machine or system. [`Env::system`] is the one place that asks; everything else is given an [`Env`],
//! so that the same store, clock and seed give the same bytes.

mod env;
mod home;

pub use env::{Env, EnvError};
pub use home::{Home, HomeKind};
