//! Letting two sides take turns.

use crate::benchmark::{Benchmark, Outcome, Pair, Side};

/// Rounds that count, after one that does not.
const ROUNDS: usize = 9;

/// The ratios of all rounds.
pub(crate) struct Ratios {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) greatest: f64,
}

/// Measures both sides in rounds. In each, they take turns, and so does who goes first.
pub(crate) fn measure(benchmark: &Benchmark, pair: &mut dyn Pair) -> Outcome<Ratios> {
    round(benchmark, pair)?;
    let mut ratios = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        ratios.push(round(benchmark, pair)?);
    }
    ratios.sort_by(f64::total_cmp);
    Ok(Ratios {
        least: ratios[0],
        median: ratios[ROUNDS / 2],
        greatest: ratios[ROUNDS - 1],
    })
}

fn round(benchmark: &Benchmark, pair: &mut dyn Pair) -> Outcome<f64> {
    let (mut subject, mut peer) = (0.0, 0.0);
    for run in 0..benchmark.runs {
        let mut turn = [Side::Subject, Side::Peer];
        turn.rotate_left(run % 2);
        for side in turn {
            pair.restore(side)?;
            let took = benchmark.clock.count(pair, side)?;
            match side {
                Side::Subject => subject += took,
                Side::Peer => peer += took,
            }
        }
    }
    Ok(benchmark.aim.ratio(subject, peer))
}
