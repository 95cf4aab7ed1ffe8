//! Flags that choose among sessions.

use clap::Args;
use rethread_engine::{Bound, Filter, parse_moment};
use rethread_model::Moment;

use crate::context::Context;
use crate::failure::Failure;
use crate::homes::HomeFlags;

/// Which sessions are meant, of all that there are.
#[derive(Args, Debug)]
pub(crate) struct FilterFlags {
    /// Only this agent or format. Can be repeated.
    #[arg(long, value_name = "AGENT")]
    agent: Vec<String>,
    /// Only sessions in which something was said since then: `2026-11-01`, `7d`, `yesterday`,
    /// `monday`, `november`, `last week`.
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only sessions in which something was said until then; with `--since`, between the two.
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Only sessions with a model whose name has this in it. Can be repeated.
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
}

impl FilterFlags {
    /// The flags, by their names.
    pub(crate) const NAMES: [&str; 4] = ["agent", "since", "until", "model"];

    /// Whether none of them was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.agent.is_empty()
            && self.model.is_empty()
            && self.since.is_none()
            && self.until.is_none()
    }

    /// What they mean today, in these homes.
    pub(crate) fn filter(&self, context: &Context, homes: &HomeFlags) -> Result<Filter, Failure> {
        let when = |text: &Option<String>, bound| -> Result<Option<Moment>, Failure> {
            let read = |t: &String| parse_moment(t, bound, context.env.now(), context.zone());
            Ok(text.as_ref().map(read).transpose()?)
        };
        Ok(Filter {
            agents: self.agent.clone(),
            since: when(&self.since, Bound::Since)?,
            until: when(&self.until, Bound::Until)?,
            models: self.model.clone(),
            homes: homes.names(),
            ..Filter::default()
        })
    }
}
