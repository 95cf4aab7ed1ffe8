//! Letting two sides take turns.

use crate::benchmark::{Benchmark, Outcome, Pair, Side};
use crate::process::Used;

/// What came of all rounds.
pub(crate) struct Ratios {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) greatest: f64,
    /// What each side took, where each is a process of its own: the least processor time of all
    /// rounds, and the most memory.
    pub(crate) subject: Option<Used>,
    pub(crate) peer: Option<Used>,
}

/// Measures both sides in rounds, after one that does not count. In each, they take turns, and so
/// does who goes first.
pub(crate) fn measure(benchmark: &Benchmark, pair: &mut dyn Pair) -> Outcome<Ratios> {
    round(benchmark, pair)?;
    let rounds = pair.rounds();
    let mut ratios = Vec::with_capacity(rounds);
    let (mut subject, mut peer) = (None, None);
    for _ in 0..rounds {
        let round = round(benchmark, pair)?;
        ratios.push(round.ratio);
        subject = best(subject, round.subject);
        peer = best(peer, round.peer);
    }
    ratios.sort_by(f64::total_cmp);
    Ok(Ratios {
        least: ratios[0],
        median: ratios[rounds / 2],
        greatest: ratios[rounds - 1],
        subject,
        peer,
    })
}

/// The least time and the most memory of two.
fn best(one: Option<Used>, other: Option<Used>) -> Option<Used> {
    let (Some(one), Some(other)) = (one, other) else {
        return one.or(other);
    };
    Some(Used {
        cpu: one.cpu.min(other.cpu),
        peak: one.peak.max(other.peak),
    })
}

struct Round {
    ratio: f64,
    subject: Option<Used>,
    peer: Option<Used>,
}

fn round(benchmark: &Benchmark, pair: &mut dyn Pair) -> Outcome<Round> {
    let (mut subject, mut peer) = (0.0, 0.0);
    let (mut of_subject, mut of_peer) = (None, None);
    for run in 0..benchmark.runs {
        let mut turn = [Side::Subject, Side::Peer];
        turn.rotate_left(run % 2);
        for side in turn {
            pair.restore(side)?;
            let took = benchmark.clock.count(pair, side)?;
            let used = pair.used();
            match side {
                Side::Subject => {
                    subject += took;
                    of_subject = best(of_subject, used);
                }
                Side::Peer => {
                    peer += took;
                    of_peer = best(of_peer, used);
                }
            }
        }
    }
    Ok(Round {
        ratio: benchmark.aim.ratio(subject, peer),
        subject: of_subject,
        peer: of_peer,
    })
}
