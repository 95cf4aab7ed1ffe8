//! A real `sshd` on loopback, with keys made for one test and a home of the test's choice.
//!
//! The test listens, and starts an `sshd` for each connection, as `inetd` does. So there is no port
//! to be guessed and nothing to wait for, and the test can count what goes over the connection and
//! cut it.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::installed_program;

/// What `ssh` calls the machine.
const HOST: &str = "VM01";

/// As root, `sshd` wants a user and a folder of its own. It gets them in a view of the file system
/// that nobody else sees.
const AS_ROOT: &str = r#"mount --bind "$1/passwd" /etc/passwd &&
mount --bind "$1/shadow" /etc/shadow &&
mount -t tmpfs -o mode=755 tmpfs /run && mkdir -m 755 /run/sshd &&
exec "$2" -i -e -f "$1/sshd_config""#;

/// A server that is at hand.
#[derive(Debug)]
pub struct Sshd {
    folder: PathBuf,
    ssh: PathBuf,
    counts: Arc<TrafficCounts>,
}

#[derive(Debug)]
struct TrafficCounts {
    connections: AtomicU64,
    /// How many bytes went to clients.
    sent: AtomicU64,
    /// After how many bytes a connection is cut.
    cut: AtomicU64,
}

impl Sshd {
    /// Serves a home folder; keys and settings go into `folder`. None if OpenSSH is not installed,
    /// and then the test is to be skipped.
    ///
    /// # Panics
    ///
    /// If it is not installed where `CI` is set, or does not start.
    pub fn serve_home(home: &Path, folder: &Path) -> Option<Self> {
        let sshd = installed_program("RETHREAD_JUDGE_SSHD")?;
        let ssh = installed_program("RETHREAD_JUDGE_SSH")?;
        let keygen = installed_program("RETHREAD_JUDGE_SSH_KEYGEN")?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port on loopback");
        let port = listener.local_addr().expect("the port").port();
        fs::create_dir_all(folder).expect("a folder for keys");
        for name in ["host", "user"] {
            let made = Command::new(&keygen)
                .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
                .arg(folder.join(name))
                .status();
            assert!(made.is_ok_and(|status| status.success()), "a key");
        }
        write_configs(home, folder, port);
        let counts = Arc::new(TrafficCounts {
            connections: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            cut: AtomicU64::new(u64::MAX),
        });
        let (of_server, keys) = (counts.clone(), folder.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                serve_client(&client, &sshd, &keys, &of_server);
            }
        });
        Some(Self {
            folder: folder.to_owned(),
            ssh,
            counts,
        })
    }

    /// What `ssh` calls the machine.
    pub fn host(&self) -> &'static str {
        HOST
    }

    /// The client with what it needs to get in, as arguments of a command line.
    pub fn ssh_command(&self) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let config = self.folder.join("ssh_config");
        vec![text(&self.ssh), "-F".to_owned(), text(&config)]
    }

    /// How many connections there were.
    pub fn connection_count(&self) -> u64 {
        self.counts.connections.load(Ordering::SeqCst)
    }

    /// How many bytes went to clients so far.
    pub fn sent_bytes(&self) -> u64 {
        self.counts.sent.load(Ordering::SeqCst)
    }

    /// From now on a connection is cut after so many bytes.
    pub fn cut_connections_after(&self, bytes: u64) {
        self.counts.cut.store(bytes, Ordering::SeqCst);
    }
}

/// Writes the settings of the server and of the client.
fn write_configs(home: &Path, folder: &Path, port: u16) {
    let write = |name: &str, text: String| {
        fs::write(folder.join(name), text).expect("settings are written");
    };
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("a key");
    let at = |name: &str| folder.join(name).display().to_string();
    write("authorized_keys", read("user.pub"));
    write("known_hosts", format!("{HOST} {}", read("host.pub")));
    write(
        "sshd_config",
        format!(
            "HostKey {}\nAuthorizedKeysFile {}\nSetEnv HOME={}\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin prohibit-password\nPidFile none\nPrintMotd no\nLogLevel ERROR\n",
            at("host"),
            at("authorized_keys"),
            home.display()
        ),
    );
    write(
        "ssh_config",
        format!(
            "Host {HOST}\n  HostName 127.0.0.1\n  Port {port}\n  HostKeyAlias {HOST}\n  \
             IdentityFile {}\n  IdentitiesOnly yes\n  IdentityAgent none\n  \
             UserKnownHostsFile {}\n  GlobalKnownHostsFile none\n  StrictHostKeyChecking yes\n",
            at("user"),
            at("known_hosts")
        ),
    );
    write(
        "passwd",
        "root:*:0:0:root:/root:/bin/sh\nsshd:*:100:65534::/run/sshd:/usr/sbin/nologin\n".to_owned(),
    );
    write(
        "shadow",
        "root:*:19000:0:99999:7:::\nsshd:*:19000::::::\n".to_owned(),
    );
}

/// Starts a server for one client, and passes on what they say until one of them ends.
fn serve_client(client: &TcpStream, sshd: &Path, folder: &Path, counts: &Arc<TrafficCounts>) {
    counts.connections.fetch_add(1, Ordering::SeqCst);
    let log = fs::File::create(folder.join("sshd_log")).expect("a log");
    let mut server = sshd_command(sshd, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .expect("`sshd` starts");
    let of_server = (server.stdin.take(), server.stdout.take());
    let of_client = (client.try_clone(), client.try_clone());
    let ((Some(mut to_server), Some(mut from_server)), (Ok(mut to_client), Ok(mut from_client))) =
        (of_server, of_client)
    else {
        kill_server(&mut server);
        return;
    };
    std::thread::spawn(move || {
        // Not by `io::copy`: the system would hold the pipe while it waits for the client.
        let _ = copy_counted(
            &mut from_client,
            &mut to_server,
            u64::MAX,
            &AtomicU64::new(0),
        );
    });
    let counts = counts.clone();
    std::thread::spawn(move || {
        let cut = counts.cut.load(Ordering::SeqCst);
        // A client that is gone is no trouble.
        let _ = copy_counted(&mut from_server, &mut to_client, cut, &counts.sent);
        let _ = to_client.shutdown(Shutdown::Both);
        kill_server(&mut server);
    });
}

fn copy_counted(
    from: &mut dyn Read,
    to: &mut dyn Write,
    mut left: u64,
    sent: &AtomicU64,
) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    while left > 0 {
        let n = from.read(&mut buffer)?;
        let n = usize::try_from(left).map_or(n, |left| left.min(n));
        if n == 0 {
            break;
        }
        to.write_all(&buffer[..n])?;
        sent.fetch_add(n as u64, Ordering::SeqCst);
        left -= n as u64;
    }
    Ok(())
}

fn kill_server(server: &mut Child) {
    let _ = server.kill();
    let _ = server.wait();
}

fn sshd_command(sshd: &Path, folder: &Path) -> Command {
    if is_root() {
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", AS_ROOT, "sh"]);
        command.arg(folder).arg(sshd);
        return command;
    }
    let mut command = Command::new(sshd);
    command.args(["-i", "-e", "-f"]);
    command.arg(folder.join("sshd_config"));
    command
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}
