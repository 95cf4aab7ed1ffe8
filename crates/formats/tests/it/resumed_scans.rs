//! Lists of logs that grow: a scan that is gone on with finds what one of the whole log finds.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rethread_formats::{FormatRef, SavedScan, Source, Want, claude_code, codex, copilot, pi};
use rethread_model::Summary;

/// The formats whose scans can be gone on with. Their fixtures and real logs are in folders of their
/// names.
const FORMATS: [FormatRef; 4] = [
    claude_code::FORMAT,
    codex::FORMAT,
    copilot::FORMAT,
    pi::FORMAT,
];

/// What a list shows of a session, going on with an earlier scan; and where the next one can go on.
fn summarize_from(
    source: &Source,
    want: Want,
    from: Option<&SavedScan>,
) -> (Summary, Option<SavedScan>) {
    source.format.reader().summarize_from(source, want, from)
}

const WANTS: [Want; 2] = [
    Want {
        usage: false,
        size: false,
    },
    Want {
        usage: true,
        size: false,
    },
];

/// All logs below a folder, in order.
fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn fixtures(format: &str) -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let found = logs(&all.join(format));
    assert!(found.len() >= 5, "there are fixtures of {format}");
    found
}

/// A log of its own in a folder, which grows.
struct Growing {
    _folder: tempfile::TempDir,
    source: Source,
}

impl Growing {
    fn new(format: FormatRef, name: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name.file_name().unwrap());
        Self {
            source: Source::new(format, "id".to_owned(), path),
            _folder: folder,
        }
    }

    fn put(&self, bytes: &[u8]) {
        std::fs::write(&self.source.path, bytes).unwrap();
    }

    /// Scans the log up to a cut, then goes on with the whole, and compares.
    fn check_cut(&self, log: &[u8], cut: usize, want: Want) {
        self.put(&log[..cut]);
        let (_, saved) = summarize_from(&self.source, want, None);
        self.put(log);
        let (whole, whole_saved) = summarize_from(&self.source, want, None);
        let (resumed, resumed_saved) = summarize_from(&self.source, want, saved.as_ref());
        let name = self.source.path.display();
        assert_eq!(resumed, whole, "{name} cut at {cut}, {want:?}");
        let upto = |saved: Option<SavedScan>| saved.map(|s| s.read_upto);
        assert_eq!(upto(resumed_saved), upto(whole_saved));
        if let Some(saved) = saved {
            let last_break = log[..cut].iter().rposition(|b| *b == b'\n');
            assert_eq!(saved.read_upto, last_break.map_or(0, |at| at as u64 + 1));
        }
    }
}

/// Line breaks, and places before, behind and between them.
fn cuts(log: &[u8]) -> Vec<usize> {
    let mut cuts = vec![0, log.len()];
    let mut start = 0;
    for line in log.split_inclusive(|b| *b == b'\n') {
        let end = start + line.len();
        cuts.extend([start + 1, start + line.len() / 2, end - 1, end]);
        start = end;
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts.retain(|cut| *cut <= log.len());
    cuts
}

#[test]
fn a_scan_goes_on_from_any_cut() {
    for format in FORMATS {
        let mut resumed = 0;
        for path in fixtures(format.slug()) {
            let log = std::fs::read(&path).unwrap();
            let growing = Growing::new(format, &path);
            for cut in cuts(&log) {
                for want in WANTS {
                    growing.check_cut(&log, cut, want);
                    resumed += 1;
                }
            }
        }
        assert!(resumed > 400, "{resumed} cuts of {}", format.slug());
    }
}

#[test]
fn a_log_that_grows_line_by_line_is_read_once() {
    for format in FORMATS {
        for path in fixtures(format.slug()) {
            let log = std::fs::read(&path).unwrap();
            let growing = Growing::new(format, &path);
            let mut saved: Option<SavedScan> = None;
            let mut summary = Summary::default();
            for cut in cuts(&log) {
                growing.put(&log[..cut]);
                (summary, saved) = summarize_from(&growing.source, WANTS[1], saved.as_ref());
            }
            let whole = summarize_from(&growing.source, WANTS[1], None);
            assert_eq!((summary, saved.is_some()), (whole.0, whole.1.is_some()));
        }
    }
}

#[test]
fn what_was_scanned_is_not_read_again() {
    for (format, usual) in [
        (FORMATS[0], "c0ffee00-"),
        (FORMATS[1], "019ed50c-"),
        (FORMATS[2], "1.0/everything"),
        (FORMATS[3], "01a1e054-"),
    ] {
        let all = fixtures(format.slug());
        let path = all.iter().find(|p| p.to_str().unwrap().contains(usual));
        let path = path.unwrap();
        let log = std::fs::read(path).unwrap();
        let growing = Growing::new(format, path);
        let lines: Vec<&[u8]> = log.split_inclusive(|b| *b == b'\n').collect();
        let most = lines[..lines.len() - 2].concat();
        growing.put(&most);
        let (_, saved) = summarize_from(&growing.source, WANTS[1], None);
        let saved = saved.unwrap();

        growing.put(&log);
        let (whole, _) = summarize_from(&growing.source, WANTS[1], None);
        // Nobody does this, but whoever reads it again would notice.
        let mut blank = log.clone();
        blank[..most.len() - 64].fill(b' ');
        growing.put(&blank);
        let (resumed, _) = summarize_from(&growing.source, WANTS[1], Some(&saved));
        assert_eq!(resumed.counts, whole.counts, "{}", format.slug());
        assert_eq!(resumed.head.title, whole.head.title);

        // One that was written anew is.
        let mut other = log.clone();
        other[most.len() - 2] = b'x';
        growing.put(&other);
        let resumed = summarize_from(&growing.source, WANTS[1], Some(&saved));
        assert_eq!(resumed.0, summarize_from(&growing.source, WANTS[1], None).0);
        growing.put(&lines[..1].concat());
        let resumed = summarize_from(&growing.source, WANTS[1], Some(&saved));
        assert_eq!(resumed.0, summarize_from(&growing.source, WANTS[1], None).0);
        // So is one of which something else is asked.
        growing.put(&log);
        let resumed = summarize_from(&growing.source, WANTS[0], Some(&saved));
        assert_eq!(resumed.0, summarize_from(&growing.source, WANTS[0], None).0);
    }
}

#[test]
fn real_logs_go_on_from_cuts() {
    let Some(corpus) = std::env::var_os("RETHREAD_CORPUS").map(PathBuf::from) else {
        return;
    };
    for format in FORMATS {
        let small = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|m| m.len() < 2 << 20);
        for path in logs(&corpus.join(format.slug())).into_iter().filter(small) {
            let log = std::fs::read(&path).unwrap();
            let growing = Growing::new(format, &path);
            let all = cuts(&log);
            for at in [1, 3, 6] {
                growing.check_cut(&log, all[all.len() * at / 7], WANTS[at % 2]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_log_goes_on_from_any_cut(
        format in 0..FORMATS.len(),
        nth in any::<prop::sample::Index>(),
        junk in proptest::collection::vec(any::<u8>(), 0..80),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        state in any::<prop::sample::Index>(),
        usage in any::<bool>(),
    ) {
        let format = FORMATS[format];
        let all = fixtures(format.slug());
        let path = nth.get(&all);
        let mut log = std::fs::read(path).unwrap();
        let at = at.index(log.len() + 1);
        log.splice(at..at, junk);
        let growing = Growing::new(format, path);
        let want = Want { usage, size: false };
        let cut = cut.index(log.len() + 1);
        growing.check_cut(&log, cut, want);
        // A state that is damaged itself is no reason to stop.
        let (_, saved) = summarize_from(&growing.source, want, None);
        if let Some(mut saved) = saved {
            let at = state.index(saved.state.len());
            saved.state.truncate(at);
            let (again, _) = summarize_from(&growing.source, want, Some(&saved));
            prop_assert_eq!(again, summarize_from(&growing.source, want, None).0);
        }
    }
}
