//! What became of everything, for people and for scripts.

use rethread_engine::{AGENTS, ConvertOutcome, Converted, ItemFate};
use rethread_render::one_line;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{print, print_json, say};

/// How it is told.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line, or nearly"
)]
pub(super) struct ConvertReport {
    pub(super) as_json: bool,
    /// What the target has no place for is left out.
    pub(super) is_lean: bool,
    /// Nothing is written.
    pub(super) is_dry: bool,
    /// There is one session, so it needs no name.
    pub(super) is_one: bool,
}

/// What the words of the reports mean, said once below them.
#[derive(Clone, Copy, Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a word that was said or not"
)]
pub(super) struct Legend {
    native: bool,
    along: bool,
    left_out: bool,
}

impl Legend {
    /// Says what the words mean that were used.
    pub(super) fn say(self, to: &str) {
        if self.native {
            say(&format!(
                "what is native, {to} has as its own, and its client shows it"
            ));
        }
        if self.along {
            say(&format!(
                "what travels along is packed into the session where {to} leaves it alone; converting back restores it"
            ));
        }
        if self.left_out {
            say("what is left out is not in the new session, and does not come back");
        }
    }
}

/// What the target's own reader does not find as it was.
pub(super) fn lost(done: &Converted) -> impl Iterator<Item = &ItemFate> {
    done.fates.iter().filter(|fate| !fate.is_native())
}

impl ConvertReport {
    /// Tells what became of a session.
    pub(super) fn show(self, done: &Converted, legend: &mut Legend) -> Result<(), Failure> {
        if self.as_json {
            return print_json(&self.object(done));
        }
        if self.is_dry {
            return self.table(done, legend);
        }
        match done.way {
            ConvertOutcome::Before => {
                say("already there: it was converted before, and nothing was written");
            }
            ConvertOutcome::There => say("the original is there as it was; nothing was written"),
            ConvertOutcome::Back { added, changed } => say(&format!(
                "the original is back{}",
                match (added, changed) {
                    (0, 0) => " as it was".to_owned(),
                    (added, 0) => format!(", with {added} messages more"),
                    (0, changed) => format!(", with {changed} changed"),
                    (added, changed) =>
                        format!(", with {changed} changed and {added} messages more"),
                }
            )),
            ConvertOutcome::Written => {
                for (is_dropped, word) in [(false, "travels along"), (true, "left out")] {
                    let rest = lost(done).filter(|fate| self.drops(done, fate) == is_dropped);
                    let rest: Vec<&str> = rest.map(|fate| fate.what).collect();
                    if !rest.is_empty() {
                        legend.along |= !is_dropped;
                        legend.left_out |= is_dropped;
                        say(&format!("{word}: {}", rest.join(", ")));
                    }
                }
            }
        }
        let path = done.path.to_string_lossy();
        print(&format!("{}\t{}", one_line(&done.id), one_line(&path)))
    }

    fn object(self, done: &Converted) -> Value {
        let is_written = done.way == ConvertOutcome::Written;
        let lost = |dropped: bool| -> Vec<Value> {
            let is_told = |fate: &&ItemFate| {
                (is_written || fate.what == AGENTS) && self.drops(done, fate) == dropped
            };
            let all = lost(done).filter(is_told);
            all.map(|f| json!({ "what": f.what, "count": f.count, "native": f.native }))
                .collect()
        };
        let native = done.fates.iter().filter(|fate| fate.native > 0);
        let native: Vec<Value> = native
            .map(|f| json!({ "what": f.what, "count": f.native }))
            .collect();
        json!({
            "source": done.source.path,
            "from": done.source.format.slug(),
            "to": done.to,
            "id": done.id,
            "path": (!self.is_dry).then_some(&done.path),
            "way": way(done),
            "native": native,
            "carried": lost(false),
            "dropped": lost(true),
        })
    }

    /// Whether what is not the target's own is left out, and does not travel along.
    fn drops(self, done: &Converted, fate: &ItemFate) -> bool {
        self.is_lean || (done.left_out > 0 && fate.what == AGENTS)
    }

    /// What would become of everything, for people.
    fn table(self, done: &Converted, legend: &mut Legend) -> Result<(), Failure> {
        let id = one_line(&done.source.id);
        if let ConvertOutcome::Back { .. } | ConvertOutcome::There = done.way {
            let to = done.to;
            return print(&format!("{id} came from {to}: its original comes back"));
        }
        if !self.is_one {
            print(&format!("{id}:"))?;
        }
        for fate in &done.fates {
            let is_dropped = self.drops(done, fate);
            let word = if is_dropped {
                "left out"
            } else {
                "travel along"
            };
            let ItemFate {
                what,
                count,
                native,
            } = fate;
            let rest = count - native;
            legend.native |= *native > 0;
            legend.along |= rest > 0 && !is_dropped;
            legend.left_out |= rest > 0 && is_dropped;
            let line = match (native, rest) {
                (_, 0) => format!("{what:<14} {count:>6}  native"),
                (0, _) => format!("{what:<14} {count:>6}  {word}"),
                _ => format!("{what:<14} {count:>6}  {native} native, {rest} {word}"),
            };
            print(&line)?;
        }
        Ok(())
    }
}

fn way(done: &Converted) -> &'static str {
    match done.way {
        ConvertOutcome::Written => "written",
        ConvertOutcome::Back {
            added: 0,
            changed: 0,
        } => "restored",
        ConvertOutcome::Back { added: 0, .. } => "changed",
        ConvertOutcome::Back { .. } => "continued",
        ConvertOutcome::There => "unchanged",
        ConvertOutcome::Before => "already there",
    }
}
