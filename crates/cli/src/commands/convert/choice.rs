//! Which sessions are meant.

use rethread_disk::path_of_text;
use rethread_engine::{
    ChosenSessions, Error, ExportSelection, FindError, Source, absolute, choose_sessions, find,
};

use super::{Convert, worse};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Progress;

/// The sessions that are meant, each once. Those of a workspace that have the format already are passed
/// over. A name that means nothing is an error in its place.
pub(super) fn chosen(
    context: &Context,
    args: &Convert,
    to: &str,
) -> Result<(Vec<Result<Source, Failure>>, Exit), Failure> {
    let filter = args.filters.filter(context, &args.homes)?;
    let is_filtered = args.aw || !args.filters.is_empty();
    let (env, exit) = args.homes.open_and_tell(context)?;
    let all_of = |names: &[String]| -> Result<ChosenSessions, Error> {
        let ask = ExportSelection {
            names: names.to_vec(),
            all_workspaces: args.aw,
            filter: filter.clone(),
            // They travel with the session that started them.
            subagents: false,
        };
        let progress = Progress::new("looking");
        choose_sessions(&env, &ask, &|done, of| progress.at(done, of))
    };
    let names = context.all_named(&args.names)?;
    let mut list = ChosenList {
        context,
        to,
        all: Vec::new(),
        exit,
    };
    if is_filtered {
        list.add_all(&all_of(&names)?);
        return Ok((list.all, list.exit));
    }
    for name in &names {
        let path = absolute(&env.cwd, &path_of_text(name));
        let found = find(&env, name);
        let is_workspace = match &found {
            // A folder with threads of its own is none of them.
            Ok(source) => path.is_dir() && source.path != path,
            Err(FindError::NotFound { .. }) => true,
            Err(_) => path.is_dir(),
        };
        let chosen = is_workspace.then(|| all_of(std::slice::from_ref(name)).ok());
        let chosen = chosen.flatten().filter(|chosen| !chosen.is_empty());
        match (chosen, found) {
            (Some(chosen), _) => list.add_all(&chosen),
            (None, Ok(source)) => list.add(&source),
            (None, Err(e)) => list.all.push(Err(Error::from(e).into())),
        }
    }
    Ok((list.all, list.exit))
}

/// The sessions that were chosen so far.
struct ChosenList<'a> {
    context: &'a Context,
    to: &'a str,
    all: Vec<Result<Source, Failure>>,
    exit: Exit,
}

impl ChosenList<'_> {
    fn add(&mut self, source: &Source) {
        let mut there = self.all.iter().filter_map(|s| s.as_ref().ok());
        if !there.any(|other| other == source) {
            self.all.push(Ok(source.clone()));
        }
    }

    fn add_all(&mut self, chosen: &ChosenSessions) {
        let to = self.to;
        for source in chosen.sources().filter(|source| source.format.slug() != to) {
            self.add(source);
        }
        self.exit = worse(self.exit, self.context.notes(&chosen.notes));
    }
}
