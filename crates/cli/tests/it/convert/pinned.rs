//! What converted sessions carry is on people's disks: the digests that later versions compare what is
//! said now with must stay the same.

use std::fmt::Write as _;

use rethread_engine::Source;
use rethread_formats::carry::{CarriedOriginal, MessageTree};
use sha2::{Digest, Sha256};

use super::Desk;
use super::matrix::{assert_blessed, fixture_sessions, fixtures, targets};

/// The first four bytes of the SHA-256 of all digests that travel in a converted session, and of how
/// the things that they stand for follow each other.
fn carried(made: &Source) -> Option<String> {
    let conversation = made.format.reader().read(made).ok()?;
    let items = conversation.embedded_original().ok()?;
    let carried = CarriedOriginal::read_values(&items).ok()??;
    let mut hash = Sha256::new();
    let mut add = |marks: &[u64], shape: &MessageTree| {
        for mark in marks {
            hash.update(mark.to_be_bytes());
        }
        hash.update(format!("{:?} {:?};", shape.parts, shape.end));
    };
    add(&carried.marks, &carried.shape);
    for agent in &carried.agents {
        add(&agent.marks, &agent.shape);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let [a, b, c, d, ..] = digest;
    Some(format!(
        "{} {a:02x}{b:02x}{c:02x}{d:02x}",
        carried.marks.len()
    ))
}

/// A line for each fixture, with a column for each format that it is converted to.
#[test]
fn the_digests_that_travel_along_stay_the_same() {
    let temp = tempfile::tempdir().unwrap();
    let base = std::fs::canonicalize(fixtures()).unwrap();
    let slugs: Vec<&str> = targets().map(|f| f.about().slug).collect();
    let mut table = format!("session\t{}\n", slugs.join("\t"));
    let desk = Desk::new();
    for source in fixture_sessions(temp.path()) {
        let path = std::fs::canonicalize(&source.path).unwrap();
        let name = [base.as_path(), temp.path()]
            .iter()
            .find_map(|base| path.strip_prefix(base).ok())
            .unwrap_or(&path);
        write!(table, "{} {}", name.display(), source.id).unwrap();
        for to in targets() {
            let made = desk.convert(&source, to).ok();
            let cell = made.and_then(|(_, made)| carried(&made));
            write!(table, "\t{}", cell.as_deref().unwrap_or("-")).unwrap();
        }
        table.push('\n');
    }
    assert_blessed(&fixtures().join("converted/digests.tsv"), &table);
}
