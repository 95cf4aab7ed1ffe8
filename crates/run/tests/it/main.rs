//! Commands that end, fail, hang, and try to stay.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests lay out folders and may stop at once"
)]

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rethread_run::{End, Ran, VARIABLES, shell};

/// Orphans of one command must not be taken for those of another.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(command: &str, folder: &Path, millis: u64) -> Ran {
    shell(command, folder, Some(Duration::from_millis(millis)))
}

#[test]
fn ends_are_told_apart() {
    let _alone = alone();
    let here = Path::new("/");
    assert_eq!(run("exit 0", here, 10_000).end, End::Exited(0));
    assert_eq!(run("exit 7", here, 10_000).end, End::Exited(7));
    assert_eq!(run("kill -9 $$", here, 10_000).end, End::Signalled(9));
    assert_eq!(run("sleep 30", here, 100).end, End::TimedOut);
    assert_eq!(shell("exit 0", here, None).end, End::Exited(0));
    assert!(matches!(
        run("true", Path::new("/no/such/folder"), 1000).end,
        End::NotStarted(_)
    ));
}

#[test]
fn it_runs_in_its_folder_without_input_and_its_errors_are_kept() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let ran = run(
        "pwd > where; cat; echo first >&2; yes | head -c 1000000 >&2",
        folder.path(),
        20_000,
    );
    assert!(ran.end.is_success(), "{ran:?}");
    assert!(ran.errors.starts_with("first\ny\n"));
    assert!(ran.errors.len() <= 8192);
    let real = fs::canonicalize(folder.path()).unwrap();
    assert_eq!(
        fs::read_to_string(folder.path().join("where"))
            .unwrap()
            .trim(),
        real.to_str().unwrap()
    );
}

/// Whether a process that writes its beat to a file is still alive.
fn beats(file: &Path) -> bool {
    let read = || fs::read_to_string(file).unwrap_or_default();
    let before = read();
    std::thread::sleep(Duration::from_millis(300));
    read() != before
}

#[test]
fn nothing_outlives_a_command() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let heart = "while :; do date +%s%N > beat; sleep 0.05; done";
    fs::write(folder.path().join("heart.sh"), heart).unwrap();
    // Those that end by themselves do so when there was a beat; the others are ended.
    fs::write(
        folder.path().join("heard.sh"),
        "until [ -s beat ]; do sleep 0.05; done",
    )
    .unwrap();
    for (command, millis) in [
        ("sh heart.sh", 300),
        ("sh heart.sh & wait", 300),
        ("setsid sh heart.sh & sh heard.sh", 60_000),
        ("setsid sh heart.sh & wait", 300),
        (
            "(setsid sh -c 'setsid sh heart.sh &' &) ; sh heard.sh",
            60_000,
        ),
        (
            "nohup env -i PATH=\"$PATH\" setsid sh heart.sh >/dev/null 2>&1 & sh heard.sh; exit 1",
            60_000,
        ),
        ("trap '' TERM INT HUP; sh heart.sh", 300),
    ] {
        let beat = folder.path().join("beat");
        let _ = fs::remove_file(&beat);
        // A busy machine may need more time until there is a beat.
        let mut millis = millis;
        let ran = loop {
            let ran = run(command, folder.path(), millis);
            if beat.exists() || millis > 60_000 {
                break ran;
            }
            millis *= 5;
        };
        assert!(beat.exists(), "{command}: it ran: {ran:?}");
        assert!(!beats(&beat), "{command}: it is gone: {ran:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_was_running_before_stays() {
    let _alone = alone();
    let mut own = std::process::Command::new("sleep")
        .arg("30")
        .spawn()
        .unwrap();
    let ran = run("setsid sleep 30 & true", Path::new("/"), 10_000);
    assert_eq!(ran.left_behind, 1, "{ran:?}");
    assert!(
        own.try_wait().unwrap().is_none(),
        "the other child is alive"
    );
    own.kill().unwrap();
    own.wait().unwrap();
}

#[test]
fn a_command_is_given_some_variables_only_and_those_are_documented() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let ran = run("env > given", folder.path(), 20_000);
    assert!(ran.end.is_success(), "{ran:?}");
    let given = fs::read_to_string(folder.path().join("given")).unwrap();
    assert!(
        given.lines().any(|line| line.starts_with("PATH=")),
        "{given}"
    );
    let started_by_cargo = std::env::var_os("CARGO_MANIFEST_DIR").is_some();
    assert!(started_by_cargo && !given.contains("CARGO_"), "{given}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../SECURITY.md");
    let page = fs::read_to_string(page).unwrap();
    for name in VARIABLES {
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not documented"
        );
    }
}
