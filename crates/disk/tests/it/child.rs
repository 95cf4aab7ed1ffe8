//! This test binary, started again as another process that does one thing and says what it did.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rethread_disk::{
    Created, DiskError, Durability, LockedLog, Mode, UnlockedLog, append_line, create,
    create_folder, create_folder_with, ensure_folder, remove_folder, replace,
};

const TASK: &str = "DISK_TEST_TASK";
const PATH: &str = "DISK_TEST_PATH";
const WORKER: &str = "DISK_TEST_WORKER";
/// Looked for right before and right after the task: they mark it in a trace.
pub(crate) const BEGIN: &str = "/rethread-disk-test-begin";
pub(crate) const END: &str = "/rethread-disk-test-end";
const PATIENCE: Duration = Duration::from_mins(1);

/// The arguments with which this binary does a task.
pub(crate) fn arguments() -> [&'static str; 4] {
    [
        "--exact",
        "child::worker",
        "--nocapture",
        "--test-threads=1",
    ]
}

pub(crate) fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// Sets what the task is.
pub(crate) fn assign<'a>(command: &'a mut Command, task: &str, path: &Path) -> &'a mut Command {
    command
        .env(TASK, task)
        .env(PATH, path)
        // Cargo names folders there, and looking through many of them would be calls that count.
        .env_remove("LD_LIBRARY_PATH")
        .stdin(Stdio::null())
}

/// A process that does `task`, started through a line of `sh` if there is one.
pub(crate) fn command(task: &str, path: &Path, shell: Option<&str>) -> Command {
    let mut command = match shell {
        Some(line) => {
            let mut sh = Command::new("sh");
            sh.arg("-c")
                .arg(format!("{line}; exec \"$0\" \"$@\""))
                .arg(program());
            sh
        }
        None => Command::new(program()),
    };
    assign(&mut command, task, path).args(arguments());
    command
}

/// The command as worker number `n` of several.
pub(crate) fn numbered(mut command: Command, n: usize) -> Command {
    command.env(WORKER, n.to_string());
    command
}

/// What a child said: what was done, and what was refused with which words.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: ExitStatus,
    pub(crate) done: Vec<usize>,
    pub(crate) failed: Vec<(usize, String)>,
}

impl Said {
    pub(crate) fn new(status: ExitStatus, output: &[u8]) -> Said {
        let output = String::from_utf8_lossy(output);
        let words = |line: &str, kind: &str| -> Option<(usize, String)> {
            let rest = line.strip_prefix(kind)?;
            let (n, rest) = rest.split_once(' ')?;
            Some((n.parse().ok()?, rest.to_owned()))
        };
        let done = output
            .lines()
            .filter_map(|l| words(l, "done "))
            .map(|(n, _)| n)
            .collect();
        let failed = output.lines().filter_map(|l| words(l, "failed ")).collect();
        Said {
            status,
            done,
            failed,
        }
    }
}

pub(crate) fn run(mut command: Command) -> Said {
    let output = command.output().unwrap();
    Said::new(output.status, &output.stdout)
}

/// Says in one write call that step `n` has ended, and how.
fn say(n: usize, result: &Result<(), DiskError>) {
    let line = match result {
        Ok(()) => format!("\ndone {n} \n"),
        Err(e) => format!("\nfailed {n} {e}\n"),
    };
    io::stdout().write_all(line.as_bytes()).unwrap();
}

/// Not a test: what the other process does.
#[test]
fn worker() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let path = PathBuf::from(std::env::var_os(PATH).unwrap());
    let n = std::env::var(WORKER).map_or(0, |n| n.parse().unwrap());
    let steps = steps(&task, &path, n);
    make_calls_that_count();
    let _ = std::fs::metadata(BEGIN);
    for (i, step) in steps.into_iter().enumerate() {
        say(i, &step());
    }
    let _ = std::fs::metadata(END);
}

/// System calls are counted in each thread, and a disturbance hits the nth one of every thread. So
/// this one gets ahead of the thread that runs the tests.
fn make_calls_that_count() {
    use std::{io::Seek as _, os::unix::fs::FileExt as _};
    for _ in 0..100 {
        let null = std::fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .unwrap();
        (&null).write_all(b"x").unwrap();
        assert_eq!((&null).read(&mut [0]).unwrap(), 0);
        assert_eq!(null.read_at(&mut [0], 0).unwrap(), 0);
        (&null).rewind().unwrap();
        null.metadata().unwrap();
        drop(std::fs::read_dir("/").unwrap());
    }
}

type Step = Box<dyn FnOnce() -> Result<(), DiskError>>;

fn step(path: &Path, f: impl FnOnce(&Path) -> Result<(), DiskError> + 'static) -> Step {
    let path = path.to_owned();
    Box::new(move || f(&path))
}

fn steps(task: &str, path: &Path, n: usize) -> Vec<Step> {
    let each = Durability::Each;
    match task {
        "replace" => vec![
            step(path, move |p| replace(p, &big(b'1'), Mode::Private, each)),
            step(path, move |p| replace(p, &big(b'2'), Mode::Private, each)),
        ],
        "create" => vec![
            step(path, move |p| {
                create(p, &big(b'1'), Mode::Private, each).map(drop)
            }),
            step(path, move |p| {
                create(p, &big(b'2'), Mode::Private, each).map(drop)
            }),
        ],
        "append_line" => vec![
            step(path, move |p| {
                append_line(p, b"one", Mode::Private, each).map(drop)
            }),
            step(path, move |p| {
                append_line(p, b"two", Mode::Private, each).map(drop)
            }),
        ],
        "append_unlocked" => [b"one", b"two"]
            .map(|line| {
                step(path, move |p| {
                    UnlockedLog::open(p, Mode::Private)?
                        .append(line, each)
                        .map(drop)
                })
            })
            .into(),
        "append" => {
            vec![
                step(path, |p| append(p, b"one\n")),
                step(path, |p| append(p, b"two\nthree\n")),
            ]
        }
        "rewrite" => vec![step(path, rewrite), step(path, |p| append(p, b"after\n"))],
        "big" => vec![
            step(path, |p| {
                append_line(p, &[b'x'; 5000], Mode::Private, Durability::None).map(drop)
            }),
            step(path, |p| append(p, &[&[b'y'; 5000][..], b"\n"].concat())),
        ],
        "create_folder_with" => [b'1', b'2']
            .map(|byte| step(path, move |p| whole_folder(p, byte).map(drop)))
            .into(),
        "taken_meanwhile" => ["one", "two"]
            .map(|name| step(&path.join(name), taken_meanwhile))
            .into(),
        "create_folder" => ["one", "two"]
            .map(|name| {
                step(&path.join(name), move |p| {
                    create_folder(p, &SHARED, each).map(new)
                })
            })
            .into(),
        "ensure_folder" => ["a/b", "a/c/d"]
            .map(|name| step(&path.join(name), move |p| ensure_folder(p, &SHARED, each)))
            .into(),
        "remove_folder" => ["one", "two"]
            .map(|name| step(&path.join(name), remove_folder))
            .into(),
        #[cfg(target_os = "linux")]
        "full_disk" => crate::full_disk::CHECKS
            .iter()
            .map(|check| {
                step(path, |p| {
                    check(p);
                    Ok(())
                })
            })
            .collect(),
        "modes" => vec![step(path, modes)],
        "crowd" => crowd(path, n),
        "rewriter" => vec![step(path, rewriter)],
        #[cfg(target_os = "linux")]
        "trash" => vec![step(path, |p| {
            let by = rethread_disk::trash(p)?;
            std::fs::write(p.with_extension("by"), format!("{by:?}")).unwrap();
            Ok(())
        })],
        other => panic!("no task `{other}`"),
    }
}

/// More than one buffer, so that it is written in several calls.
pub(crate) fn big(byte: u8) -> Vec<u8> {
    vec![byte; 150_000]
}

/// More than the umask leaves, mostly.
pub(crate) const SHARED: Mode = Mode::Exact(0o775);

/// A folder with two files, one of them in a folder of its own.
pub(crate) fn whole_folder(path: &Path, byte: u8) -> Result<Created, DiskError> {
    let each = Durability::Each;
    create_folder_with(path, SHARED, each, |folder| {
        new(create(&folder.join("log"), &big(byte), SHARED, each)?);
        new(create_folder(&folder.join("sub"), &SHARED, each)?);
        new(create(&folder.join("sub/file"), &[byte], SHARED, each)?);
        Ok(())
    })
}

/// While a folder is filled, another program makes an empty one of its name.
fn taken_meanwhile(path: &Path) -> Result<(), DiskError> {
    let each = Durability::Each;
    let made = create_folder_with(path, SHARED, each, |folder| {
        new(create(&folder.join("ours"), b"", SHARED, each)?);
        create_folder(path, &Mode::Private, each).map(new)
    })?;
    assert_eq!(made, Created::Existed);
    Ok(())
}

fn new(created: Created) {
    assert_eq!(created, Created::New);
}

fn append(path: &Path, lines: &[u8]) -> Result<(), DiskError> {
    let mut log = LockedLog::open_or_create(path, Mode::Private, PATIENCE)?;
    log.append_lasting(lines, Durability::Each).map(drop)
}

/// Replaces the log by itself without its first line.
fn rewrite(path: &Path) -> Result<(), DiskError> {
    LockedLog::open(path, PATIENCE)?.rewrite(Durability::Each, |old, new| {
        let mut all = Vec::new();
        old.read_to_end(&mut all)?;
        let first = all.iter().position(|&b| b == b'\n').map_or(0, |at| at + 1);
        new.write_all(&all[first..])
    })
}

fn modes(path: &Path) -> Result<(), DiskError> {
    let none = Durability::None;
    let like = Mode::like(&path.join("model"))?;
    for (name, mode) in [
        ("private", Mode::Private),
        ("like", like),
        ("exact", Mode::Exact(0o750)),
    ] {
        let at = |kind: &str| path.join(format!("{name}-{kind}"));
        replace(&at("replaced"), b"", mode, none)?;
        new(create(&at("created"), b"", mode, none)?);
        append_line(&at("line"), b"", mode, none)?;
        drop(LockedLog::open_or_create(&at("log"), mode, PATIENCE)?);
        new(create_folder(&at("folder"), &mode, none)?);
        let empty = |_: &Path| Ok::<(), DiskError>(());
        new(create_folder_with(&at("whole"), mode, none, empty)?);
        ensure_folder(&at("parent").join("child"), &mode, none)?;
    }
    Ok(())
}

/// Line `seq` of worker `n`: its length and its last word say whether it is whole.
pub(crate) fn crowd_line(n: usize, seq: usize) -> String {
    let len = [10, 200, 5_000, 20_000][(n + seq) % 4];
    format!("{n} {seq} {} end\n", "x".repeat(len))
}

pub(crate) const CROWD_LINES: usize = 60;
/// How many of the workers go on until they are killed.
pub(crate) const VICTIMS: usize = 3;

fn crowd(path: &Path, n: usize) -> Vec<Step> {
    let line = |seq| {
        step(path, move |p| {
            let mut log = LockedLog::open(p, PATIENCE)?;
            log.append(crowd_line(n, seq).as_bytes()).map(drop)
        })
    };
    let lines = if n < VICTIMS { 100_000 } else { CROWD_LINES };
    (0..lines).map(line).collect()
}

/// Replaces the log by itself for a while.
fn rewriter(path: &Path) -> Result<(), DiskError> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1500) {
        let mut log = LockedLog::open(path, PATIENCE)?;
        log.rewrite(Durability::None, |old, new| io::copy(old, new).map(drop))?;
        drop(log);
        std::thread::sleep(Duration::from_millis(3));
    }
    Ok(())
}
