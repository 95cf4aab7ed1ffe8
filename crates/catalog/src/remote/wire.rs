//! The one connection to another machine: the program `ssh`, and the loop that it runs there.

use std::io::{self, BufRead, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::coming::Coming;
use super::listed::{RemotePath, Version, Versions, line};
use super::script::{HELLO, command};
use super::{RemoteError, Ssh, Target};

/// The longest line that is read.
const LONGEST_LINE: u64 = 16 * 1024;
/// How many lines the user's own files there may print before ours begin.
const MOST_GREETINGS: usize = 1000;
/// How many files a home may have.
const MOST_FILES: usize = 1_000_000;
/// How much of what `ssh` says is kept.
const KEPT: u64 = 8 * 1024;
/// How long the last words of `ssh` are waited for. It may leave something running that never ends,
/// and keeps its streams.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Options that hold whatever the user's own settings are: nobody is asked anything, a machine that
/// does not answer is given up, and nothing but our own streams goes over the connection.
const OPTIONS: [&str; 12] = [
    "-T",
    "-x",
    "-a",
    "-oBatchMode=yes",
    "-oConnectTimeout=10",
    "-oServerAliveInterval=15",
    "-oServerAliveCountMax=4",
    "-oClearAllForwardings=yes",
    "-oPermitLocalCommand=no",
    "-oRemoteCommand=none",
    "-oRequestTTY=no",
    "--",
];

/// A connection.
pub(super) struct Wire {
    child: Child,
    stdin: Option<ChildStdin>,
    out: Coming,
    /// How long it may say nothing.
    patience: Duration,
    errors: Receiver<Vec<u8>>,
    /// How files are told from their earlier selves.
    pub(super) versions: Versions,
    /// The clock there, in seconds.
    pub(super) now: u64,
    /// The home folder there.
    pub(super) home: String,
}

/// A file that is wanted.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) path: RemotePath,
    pub(super) version: Version,
    /// How much of it is here already, and the checksum of that.
    pub(super) begun: Option<(u64, String)>,
}

/// What a list said.
#[derive(Debug, Default)]
pub(super) struct RemoteListing {
    pub(super) files: Vec<(RemotePath, Version)>,
    /// How many have names that cannot be used here, and the first of them.
    pub(super) refused: Option<(usize, String)>,
    /// Whether something there could not be read.
    pub(super) partial: bool,
}

impl Wire {
    /// Connects.
    pub(super) fn open(ssh: Ssh<'_>, target: &Target) -> Result<Self, RemoteError> {
        let [program, arguments @ ..] = ssh.words else {
            return Err(RemoteError::NoProgram);
        };
        let mut child = Command::new(program)
            .args(arguments)
            .args(OPTIONS)
            .arg(target.as_str())
            .arg(command())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| RemoteError::NotStarted(program.clone(), e))?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, errors) = channel();
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            if let Some(mut stderr) = stderr {
                // What cannot be read says nothing.
                let _ = stderr.by_ref().take(KEPT).read_to_end(&mut kept);
                let _ = io::copy(&mut stderr, &mut io::sink());
            }
            // Nobody may be waiting any more.
            let _ = sender.send(kept);
        });
        let Some(stdout) = stdout else {
            return Err(RemoteError::NoProgram);
        };
        let mut wire = Self {
            child,
            stdin,
            out: Coming::new(stdout, ssh.patience),
            patience: ssh.patience,
            errors,
            versions: Versions::Times,
            now: 0,
            home: String::new(),
        };
        match wire.greet() {
            Ok(()) => Ok(wire),
            Err(e) => Err(wire.why(e)),
        }
    }

    fn greet(&mut self) -> Result<(), RemoteError> {
        for _ in 0..MOST_GREETINGS {
            let Ok(said) = String::from_utf8(self.read_line()?) else {
                continue;
            };
            let Some(facts) = said.strip_prefix(HELLO) else {
                continue;
            };
            let mut facts = facts.splitn(3, ' ');
            self.versions = match facts.next() {
                Some("stat") => Versions::Times,
                Some("cksum") => Versions::Checksums,
                _ => break,
            };
            self.now = facts.next().and_then(|n| n.parse().ok()).unwrap_or(0);
            facts.next().unwrap_or_default().clone_into(&mut self.home);
            return if self.home.starts_with('/') {
                Ok(())
            } else {
                Err(RemoteError::Nonsense("where its home is"))
            };
        }
        Err(RemoteError::Nonsense("that it is ready"))
    }

    /// Why nothing comes any more.
    fn broken(&self, e: io::Error) -> RemoteError {
        match e.kind() {
            io::ErrorKind::TimedOut => RemoteError::Silent(self.patience),
            _ => RemoteError::Broken(e),
        }
    }

    /// A line without its end.
    fn read_line(&mut self) -> Result<Vec<u8>, RemoteError> {
        let mut line = Vec::new();
        let mut limited = self.out.by_ref().take(LONGEST_LINE);
        let read = limited.read_until(b'\n', &mut line);
        read.map_err(|e| self.broken(e))?;
        if line.pop() != Some(b'\n') {
            let end = io::Error::from(io::ErrorKind::UnexpectedEof);
            return Err(RemoteError::Broken(end));
        }
        Ok(line)
    }

    /// Lists the files that patterns name.
    pub(super) fn list(&mut self, patterns: &[&str]) -> Result<RemoteListing, RemoteError> {
        self.send(&format!("L {}\n", patterns.join(" ")))?;
        let mut listing = RemoteListing::default();
        self.read_list(&mut listing)?;
        Ok(listing)
    }

    /// Lists the files in folders.
    pub(super) fn list_folders(
        &mut self,
        folders: &[RemotePath],
    ) -> Result<RemoteListing, RemoteError> {
        let mut listing = RemoteListing::default();
        for folder in folders {
            self.send(&format!("D {}\n", folder.as_str()))?;
            self.read_list(&mut listing)?;
        }
        Ok(listing)
    }

    fn send(&mut self, request: &str) -> Result<(), RemoteError> {
        let Some(stdin) = &mut self.stdin else {
            return Err(RemoteError::Nonsense("anything any more"));
        };
        let sent = stdin.write_all(request.as_bytes());
        sent.and_then(|()| stdin.flush())
            .map_err(RemoteError::Broken)
    }

    fn read_list(&mut self, listing: &mut RemoteListing) -> Result<(), RemoteError> {
        loop {
            let said = self.read_line()?;
            if let Some(end) = said.strip_prefix(b". ") {
                listing.partial |= end != b"0";
                return Ok(());
            }
            let text = String::from_utf8_lossy(&said);
            let (version, path) =
                line(self.versions, &text).ok_or(RemoteError::Nonsense("what its files are"))?;
            match RemotePath::new(path) {
                // What is not UTF-8 was replaced, and so would not be found there.
                Ok(path) if matches!(text, std::borrow::Cow::Borrowed(_)) => {
                    listing.files.push((path, version));
                }
                _ => {
                    let first = path.to_owned();
                    listing.refused.get_or_insert((0, first)).0 += 1;
                }
            }
            if listing.files.len() > MOST_FILES {
                return Err(RemoteError::TooMany(MOST_FILES));
            }
        }
    }

    /// What is at these paths now.
    pub(super) fn ask(
        &mut self,
        paths: &[RemotePath],
    ) -> Result<Vec<Option<Version>>, RemoteError> {
        let mut answers = Vec::new();
        for path in paths {
            self.send(&format!("S {}\n", path.as_str()))?;
            answers.push(self.read_version()?);
        }
        Ok(answers)
    }

    fn read_version(&mut self) -> Result<Option<Version>, RemoteError> {
        let said = self.read_line()?;
        if said == b"gone" {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&said);
        let (version, _) =
            line(self.versions, &text).ok_or(RemoteError::Nonsense("what its files are"))?;
        Ok(Some(version))
    }

    /// Asks for files, all at once, and hands each to `take` as it comes.
    pub(super) fn fetch(
        &mut self,
        files: &[Wanted],
        take: &mut dyn FnMut(&Wanted, Incoming<'_>) -> Result<(), RemoteError>,
    ) -> Result<(), RemoteError> {
        let requests = requests(files);
        // The other end answers while it is asked, so somebody else must ask.
        let asking = self.stdin.take().map(|mut stdin| {
            std::thread::spawn(move || {
                // If the other end is gone, reading from it says so.
                let _ = stdin.write_all(&requests).and_then(|()| stdin.flush());
                stdin
            })
        });
        for file in files.iter().filter(|f| f.version.size > 0) {
            // Whoever still asks then is not waited for.
            take(file, Incoming { wire: self })?;
        }
        self.stdin = asking.and_then(|asking| asking.join().ok());
        Ok(())
    }

    /// Ends the connection in peace.
    pub(super) fn close(mut self) {
        drop(self.stdin.take());
        self.status();
    }

    /// How the program ended; one that does not is ended.
    fn status(&mut self) -> Option<i32> {
        let start = Instant::now();
        while start.elapsed() < LAST_WORDS {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        None
    }

    /// Says why the connection failed: in the words of `ssh`, where it has some.
    pub(super) fn why(mut self, e: RemoteError) -> RemoteError {
        if !matches!(e, RemoteError::Broken(_) | RemoteError::Nonsense(_)) {
            // Whoever said nothing is ended as the connection is dropped.
            return e;
        }
        drop(self.stdin.take());
        if matches!(e, RemoteError::Nonsense(_)) {
            let _ = self.child.kill();
        }
        let status = self.status();
        let said = self.errors.recv_timeout(LAST_WORDS).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        let mut lines = said.lines().map(str::trim);
        match (lines.rfind(|line| !line.is_empty()), status) {
            (_, Some(8)) => RemoteError::NoHead,
            (_, Some(9)) => RemoteError::NoHome,
            (Some(last), _) => RemoteError::Said(last.to_owned()),
            (None, _) => e,
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // After a peaceful end there is nobody left to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The requests. An empty file is known without asking.
fn requests(files: &[Wanted]) -> Vec<u8> {
    let mut all = String::new();
    for file in files.iter().filter(|f| f.version.size > 0) {
        let (size, path) = (file.version.size, file.path.as_str());
        let request = match &file.begun {
            Some((start, _)) => format!("T {start} {} {path}\n", size - start),
            None => format!("G {size} {path}\n"),
        };
        all.push_str(&request);
    }
    all.into_bytes()
}

/// The bytes of a file that was asked for, as they come. All of them must be taken.
pub(super) struct Incoming<'a> {
    wire: &'a mut Wire,
}

impl Incoming<'_> {
    /// The checksum of what comes before the bytes, where only the rest was asked for.
    pub(super) fn checksum(&mut self) -> Result<String, RemoteError> {
        let said = self.wire.read_line()?;
        Ok(String::from_utf8_lossy(&said).trim_end().to_owned())
    }

    /// Gives the bytes to `out`; tells trouble with that from trouble with the connection.
    pub(super) fn copy(
        &mut self,
        mut left: u64,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> Result<io::Result<()>, RemoteError> {
        let mut written = Ok(());
        while left > 0 {
            if let Err(e) = self.wire.out.fill_buf() {
                return Err(self.wire.broken(e));
            }
            let bytes = self.wire.out.fill_buf().map_err(RemoteError::Broken)?;
            if bytes.is_empty() {
                let end = io::Error::from(io::ErrorKind::UnexpectedEof);
                return Err(RemoteError::Broken(end));
            }
            let n = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
            if written.is_ok() {
                written = out.write_all(&bytes[..n]);
            }
            self.wire.out.consume(n);
            left -= n as u64;
            progress(n as u64);
        }
        Ok(written)
    }

    /// What is there after the bytes were read.
    pub(super) fn after(&mut self) -> Result<Option<Version>, RemoteError> {
        self.wire.read_version()
    }
}
