//! What is printed.

use rethread_json::{Object, quote};

use crate::benchmark::Benchmark;
use crate::measure::Ratios;
use crate::process::Used;

/// A table, or one JSON object a line.
pub(crate) struct Report {
    pub(crate) as_json: bool,
}

impl Report {
    pub(crate) fn begin(&self) {
        if !self.as_json {
            row(["name", "subject", "peer", "ratio", "rounds", "aim", ""].map(str::to_owned));
        }
    }

    pub(crate) fn line(&self, b: &Benchmark, ratios: &Ratios) {
        let met = b.aim.is_met(ratios.median);
        if self.as_json {
            return print_json(b, ratios, met);
        }
        let verdict = match met {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "",
        };
        row([
            b.name.to_owned(),
            b.subject.to_owned(),
            b.peer.to_owned(),
            format!("{:.2}", ratios.median),
            format!("{:.2} to {:.2}", ratios.least, ratios.greatest),
            b.aim.to_string(),
            verdict.to_owned(),
        ]);
        if let (Some(subject), Some(peer)) = (ratios.subject, ratios.peer) {
            println!("{:<15} {}; peer: {}", "", figures(subject), figures(peer));
        }
    }
}

/// What a process took, in figures of this machine.
fn figures(used: Used) -> String {
    let memory = format!("{} MiB at most", used.peak.div_ceil(1 << 20));
    if used.cpu.is_zero() {
        return memory;
    }
    format!(
        "{:.2} s of processor time, {memory}",
        used.cpu.as_secs_f64()
    )
}

fn row([name, subject, peer, ratio, rounds, aim, verdict]: [String; 7]) {
    let line =
        format!("{name:<15} {subject:<42} {peer:<42} {ratio:>7}  {rounds:<16} {aim:<18} {verdict}");
    println!("{}", line.trim_end());
}

fn print_json(b: &Benchmark, ratios: &Ratios, met: Option<bool>) {
    let number = |n: f64| format!("{n:.3}").into_bytes();
    let cpu = |used: Option<Used>| used.map(|u| number(u.cpu.as_secs_f64()));
    let peak = |used: Option<Used>| used.map(|u| u.peak.to_string().into_bytes());
    let line = Object::new()
        .str("name", b.name)
        .str("subject", b.subject)
        .str("peer", b.peer)
        .str("clock", &format!("{:?}", b.clock).to_lowercase())
        .raw("ratio", &number(ratios.median))
        .raw("least", &number(ratios.least))
        .raw("greatest", &number(ratios.greatest))
        .raw("aim", &quote(&b.aim.to_string()))
        .opt_raw("subject_cpu", cpu(ratios.subject).as_deref())
        .opt_raw("subject_peak", peak(ratios.subject).as_deref())
        .opt_raw("peer_cpu", cpu(ratios.peer).as_deref())
        .opt_raw("peer_peak", peak(ratios.peer).as_deref())
        .opt_raw("met", met.map(|m| if m { &b"true"[..] } else { b"false" }))
        .finish();
    println!("{}", String::from_utf8_lossy(&line));
}
