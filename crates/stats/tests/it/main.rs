//! What is counted of sessions.

mod agreement;
