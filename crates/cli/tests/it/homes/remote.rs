//! Homes of other machines, with a program in the place of `ssh` that runs the command here, in the
//! home that the test chose: what is asked for, what is answered, and what becomes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{
    FIRST, MORE, SECOND, SECRETS, age, claude, configure, furnish, listed, put, without_home,
};
use crate::opencode::store::database;
use crate::world::{World, json, tree};

/// A world with a second machine.
pub(super) struct Machines {
    pub(super) w: World,
    /// The home on the other machine.
    pub(super) far: PathBuf,
}

/// Goes on in the shell as `ssh` would: its last argument is the command.
const RUN: &str = r#"for last; do :; done
exec sh -c "$last""#;

impl Machines {
    pub(super) fn new() -> Self {
        let w = World::new();
        let far = w.root.join("far/ada");
        fs::create_dir_all(&far).unwrap();
        let machines = Self { w, far };
        machines.answer_with(RUN);
        machines
    }

    /// A machine with sessions of many agents.
    fn furnished() -> Self {
        let machines = Self::new();
        furnish(&machines.far);
        machines
    }

    /// From now on this script is what runs instead of `ssh`.
    fn answer_with(&self, script: &str) {
        self.answer_within(script, "");
    }

    /// The same, with more settings.
    fn answer_within(&self, script: &str, settings: &str) {
        let path = self.w.root.join("ssh");
        let far = self.far.display();
        fs::write(
            &path,
            format!("#!/bin/sh\nHOME={far}; export HOME\n{script}\n"),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        configure(
            &self.w,
            &format!("ssh = ['{}']\n{settings}", path.display()),
        );
    }

    /// Writes down what is asked for; gives it.
    fn asked(&self, run: impl FnOnce()) -> Vec<String> {
        let log = self.w.root.join("asked");
        let _ = fs::remove_file(&log);
        self.answer_with(&format!(
            "for last; do :; done\ntee {} | sh -c \"$last\"",
            log.display()
        ));
        run();
        self.answer_with(RUN);
        let asked = fs::read_to_string(&log).unwrap();
        let files = asked.lines().filter(|l| l.starts_with(['G', 'T']));
        files.map(str::to_owned).collect()
    }

    /// The copy of the home.
    pub(super) fn copy(&self) -> PathBuf {
        let remotes = self.w.home.join(".cache/rethread/remotes");
        let mut folders = fs::read_dir(&remotes).unwrap();
        folders.next().unwrap().unwrap().path().join("home")
    }

    pub(super) fn session(&self, id: &str) -> PathBuf {
        let name = format!(".claude/projects/-shop/{id}.jsonl");
        self.far.join(name)
    }

    fn far_listed(&self) -> Vec<Value> {
        listed(
            &self.w,
            &["--remote", "ada@VM01", "--home-name", "remote_vm01"],
        )
    }
}

/// Every file of the copy is, byte for byte, one of those that were there.
#[track_caller]
pub(super) fn assert_no_half_file(copy: &Path, versions: &[Vec<(PathBuf, Vec<u8>)>], far: &Path) {
    for (path, bytes) in tree(copy) {
        let there = far.join(path.strip_prefix(copy).unwrap());
        let known =
            |all: &Vec<(PathBuf, Vec<u8>)>| all.iter().any(|(p, b)| *p == there && *b == bytes);
        assert!(versions.iter().any(known), "{}", path.display());
    }
}

#[test]
fn another_machine_s_home_is_read_as_it_is_there() {
    let m = Machines::furnished();
    let far = m.far_listed();
    let there = listed(&m.w, &["--home", m.far.to_str().unwrap()]);
    assert!(there.len() > 9, "{}", there.len());
    assert_eq!(without_home(far.clone()), without_home(there.clone()));
    for (one, other) in far.iter().zip(&there) {
        assert_eq!(one["home"], "remote_vm01");
        assert_eq!(one["source"]["type"], "remote");
        assert_eq!(one["source"]["host"], "VM01");
        assert_eq!(one["source"]["path"], other["source"]["path"]);
    }
    let agents: Vec<&str> = far.iter().map(|s| s["agent"].as_str().unwrap()).collect();
    for agent in [
        "agentuse",
        "atsf",
        "claude-code",
        "codex",
        "copilot",
        "gemini",
        "opencode",
        "pi",
    ] {
        assert!(agents.contains(&agent), "{agent}: {agents:?}");
    }
}

#[test]
fn an_export_of_another_machine_is_that_of_the_machine_itself() {
    let m = Machines::furnished();
    let export = |args: &[&str]| {
        let answer = m.w.run(&[&["export", "--aw", "-o", "-"], args].concat());
        assert!([0, 3].contains(&answer.code), "{answer:?}");
        answer.out
    };
    let far = export(&["--remote", "ada@VM01", "--home-name", "remote_vm01"]);
    // A long output beside a session is named where it can be read.
    let far = far.replace(m.copy().to_str().unwrap(), m.far.to_str().unwrap());
    let there = export(&["--home", m.far.to_str().unwrap()]);
    let there = there.replace(
        r#""source":{"type":"local","host":null,"#,
        r#""source":{"type":"remote","host":"VM01","#,
    );
    let there = there.replacen(r#""homes":["local"]"#, r#""homes":["remote_vm01"]"#, 1);
    for (one, other) in far.lines().zip(there.lines()) {
        assert_eq!(one, other);
    }
    assert_eq!(far.len(), there.len());
    let file = m.w.project.join("far.ndjson");
    fs::write(&file, far).unwrap();
    let checked = m.w.run(&["check", "far.ndjson"]);
    assert_eq!(checked.code, 0, "{checked:?}");
}

#[test]
fn only_conversations_are_copied_and_only_for_this_user() {
    let m = Machines::furnished();
    std::os::unix::fs::symlink("/etc", m.far.join(".claude/projects/etc")).unwrap();
    m.far_listed();
    let copy = m.copy();
    for secret in SECRETS {
        assert!(
            m.far.join(secret).exists() && !copy.join(secret).exists(),
            "{secret}"
        );
    }
    assert!(
        !copy.join(".claude/projects/etc").exists(),
        "links are not followed"
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&copy), 0o700);
    for (path, bytes) in tree(&copy) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        assert_ne!(bytes, b"secret", "{}", path.display());
    }
}

#[test]
fn the_second_time_only_what_changed_is_copied() {
    let m = Machines::furnished();
    let first = m.asked(|| drop(m.far_listed()));
    assert!(first.len() > 40, "{first:?}");
    assert!(first.iter().all(|q| q.starts_with("G ")), "{first:?}");
    assert_eq!(m.asked(|| drop(m.far_listed())), [""; 0]);
    // A log that grew: only the rest of it.
    let log = m.session(FIRST);
    let before = fs::read_to_string(&log).unwrap();
    put(&log, &format!("{before}{MORE}"));
    put(&m.session(SECOND), &claude(SECOND, "/home/ada/shop"));
    age(&log);
    age(&m.session(SECOND));
    let asked = m.asked(|| drop(m.far_listed()));
    let name = |id: &str| format!(".claude/projects/-shop/{id}.jsonl");
    let rest = format!("T {} {} {}", before.len(), MORE.len(), name(FIRST));
    let size = claude(SECOND, "/home/ada/shop").len();
    let whole = format!("G {size} {}", name(SECOND));
    assert_eq!(sorted(asked), sorted(vec![rest, whole]));
    assert_eq!(
        fs::read(m.copy().join(name(FIRST))).unwrap(),
        fs::read(&log).unwrap()
    );
    // One that grew but does not begin as it did: all of it.
    let other = before.replace("till", "cellar") + MORE + MORE;
    put(&log, &other);
    age(&log);
    let asked = m.asked(|| drop(m.far_listed()));
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(
        fs::read_to_string(m.copy().join(name(FIRST))).unwrap(),
        other
    );
    assert_eq!(m.asked(|| drop(m.far_listed())), [""; 0]);
}

fn sorted(mut all: Vec<String>) -> Vec<String> {
    all.sort();
    all
}

#[test]
fn what_was_changed_in_this_second_is_not_taken_for_settled() {
    let m = Machines::new();
    let log = m.session(FIRST);
    put(&log, &claude(FIRST, "/home/ada/shop"));
    // The same size, and perhaps the same times.
    m.far_listed();
    let other = claude(FIRST, "/home/ada/shop").replace("door", "hall");
    put(&log, &other);
    m.far_listed();
    let copy = m
        .copy()
        .join(format!(".claude/projects/-shop/{FIRST}.jsonl"));
    assert_eq!(fs::read_to_string(copy).unwrap(), other);
}

#[test]
fn what_is_gone_there_is_gone_here() {
    let m = Machines::furnished();
    let before = m.far_listed().len();
    fs::remove_file(m.session(FIRST)).unwrap();
    fs::remove_dir_all(m.far.join(".local/share/agentuse")).unwrap();
    fs::remove_dir_all(m.far.join("shop/.agent/threads")).unwrap();
    let after = m.far_listed();
    assert!(after.len() + 4 < before + 1, "{before}, {}", after.len());
    assert!(!m.copy().join(".local/share/agentuse").exists());
    assert!(!m.copy().join("shop").exists());
    let there = listed(&m.w, &["--home", m.far.to_str().unwrap()]);
    assert_eq!(without_home(after), without_home(there));
}

#[test]
fn a_connection_that_breaks_leaves_old_files_or_new_ones() {
    let m = Machines::furnished();
    m.far_listed();
    let old = tree(&m.far);
    let grown = fs::read_to_string(m.session(FIRST)).unwrap() + MORE;
    put(&m.session(FIRST), &grown);
    put(
        &m.session(SECOND),
        &claude(SECOND, "/home/ada/shop").repeat(40),
    );
    let index = m.far.join(".codex/session_index.jsonl");
    put(&index, &fs::read_to_string(&index).unwrap().repeat(3));
    let new = tree(&m.far);
    // The list is some thousand bytes long; files come behind it.
    let lengths = (0..14).map(|i| i * 2_500);
    let mut broken = 0;
    for length in lengths {
        m.answer_with(&format!(
            "for last; do :; done\nsh -c \"$last\" | {{ dd bs=1 count={length} 2>/dev/null; kill $$; }}"
        ));
        let answer = m.w.run(&["list", "--remote", "ada@VM01", "--json"]);
        assert!([0, 3].contains(&answer.code), "{length}: {answer:?}");
        broken += i32::from(answer.code == 3);
        assert_no_half_file(&m.copy(), &[old.clone(), new.clone()], &m.far);
        assert!(answer.out.lines().count() > 5, "{length}: {answer:?}");
    }
    assert!(broken > 3, "{broken}");
    m.answer_with(RUN);
    m.far_listed();
    assert_no_half_file(&m.copy(), &[new], &m.far);
}

#[test]
fn a_machine_that_cannot_be_reached_is_reported_and_the_rest_goes_on() {
    let m = Machines::new();
    put(&m.session(FIRST), &claude(FIRST, "/home/ada/shop"));
    m.w.ok(&["new", "--format", "pi", "--title", "Here"]);
    let refuse = "echo 'ssh: connect to host vm01 port 22: Connection refused' >&2; exit 255";
    m.answer_with(refuse);
    let list = || m.w.run(&["list", "--remote", "vm01"]);
    let answer = list();
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 1);
    insta::assert_snapshot!(answer.err, @"
    warning: `remote_vm01` cannot be read: ssh: connect to host vm01 port 22: Connection refused
    hint: `ssh vm01` must get in without asking
    ");
    let answer = m.w.run(&["show", FIRST, "--remote", "vm01"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(answer.err.contains("Connection refused"), "{answer:?}");
    // Once it was there, the copy is used.
    m.answer_with(RUN);
    assert_eq!(list().out.lines().count(), 2);
    m.answer_with(refuse);
    let answer = list();
    assert_eq!(
        (answer.code, answer.out.lines().count()),
        (3, 2),
        "{answer:?}"
    );
    assert!(
        answer.err.contains("what was copied before is used"),
        "{answer:?}"
    );
}

#[test]
fn a_machine_that_says_nothing_is_given_up_and_the_rest_goes_on() {
    const SOON: &str = "ssh_timeout = 0.1\n";
    let m = Machines::new();
    put(&m.session(FIRST), &claude(FIRST, "/home/ada/shop"));
    m.w.ok(&["new", "--format", "pi", "--title", "Here"]);
    let list = || m.w.run(&["list", "--remote", "vm01"]);
    m.answer_within("exec sleep 600", SOON);
    let answer = list();
    assert_eq!((answer.code, answer.out.lines().count()), (3, 1));
    insta::assert_snapshot!(answer.err, @"
    warning: `remote_vm01` cannot be read: it said nothing for 0.1 seconds
    hint: `ssh_timeout` in the settings says how long it is waited for
    ");
    // It may fall silent later, in the middle of a file for example, and may leave somebody behind
    // that holds the streams.
    let hello = "echo 'rethread-home 1 stat 1000 /home/ada'";
    let name = format!(".claude/projects/-shop/{FIRST}.jsonl");
    for script in [
        format!("{hello}\nexec sleep 600"),
        format!("{hello}\necho '900 1.1 {name}'\necho '. 0'\nprintf '{{'\nexec sleep 600"),
        format!("{hello}\nsleep 20\n"),
    ] {
        m.answer_within(&script, SOON);
        let answer = list();
        assert_eq!(answer.code, 3, "{script}: {answer:?}");
        assert_eq!(answer.out.lines().count(), 1, "{script}: {answer:?}");
        assert!(
            answer.err.contains("said nothing for 0.1 seconds"),
            "{answer:?}"
        );
        let half = tree(&m.w.home)
            .into_iter()
            .find(|(path, _)| path.ends_with(&name));
        assert_eq!(half, None, "{script}");
    }
    m.answer_with(RUN);
    assert_eq!(list().out.lines().count(), 2);
    m.answer_within("exec sleep 600", SOON);
    let answer = list();
    assert_eq!((answer.code, answer.out.lines().count()), (3, 2));
    assert!(
        answer.err.contains("what was copied before is used"),
        "{answer:?}"
    );
}

#[test]
fn ssh_is_called_once_and_asks_nobody() {
    let m = Machines::new();
    put(&m.session(FIRST), &claude(FIRST, "/home/ada/shop"));
    let log = m.w.root.join("called");
    m.answer_with(&format!("echo called \"$@\" >> {}\n{RUN}", log.display()));
    m.w.ok(&["export", "--remote", "ada@VM01", "--aw", "-o", "out"]);
    let called = fs::read_to_string(log).unwrap();
    assert_eq!(called.matches("called ").count(), 1, "{called}");
    let options = called.split_once("exec sh -c").unwrap().0;
    insta::assert_snapshot!(options, @"called -T -x -a -oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=15 -oServerAliveCountMax=4 -oClearAllForwardings=yes -oPermitLocalCommand=no -oRemoteCommand=none -oRequestTTY=no -- ada@VM01");
}

#[test]
fn what_a_shell_prints_by_itself_is_passed_over() {
    let m = Machines::new();
    put(&m.session(FIRST), &claude(FIRST, "/home/ada/shop"));
    m.answer_with(&format!(
        "echo 'Welcome to VM01!'; printf '\\377\\n'\n{RUN}"
    ));
    assert_eq!(m.far_listed().len(), 1);
}

#[test]
fn hostile_answers_touch_nothing_else() {
    let m = Machines::new();
    let good = claude(FIRST, "/home/ada/shop");
    let name = format!(".claude/projects/-shop/{FIRST}.jsonl");
    put(&m.far.join("good"), &good);
    let lines = [
        "5 1.1 ../../../evil".to_owned(),
        "5 1.1 /tmp/evil".to_owned(),
        "5 1.1 .claude/projects/../../../evil".to_owned(),
        "5 1.1 .claude\\projects\\evil".to_owned(),
        "5 1.1 .claude/projects/\u{1b}[31mevil.jsonl".to_owned(),
        format!("{} 1.1 {name}", good.len()),
    ];
    let list = lines.map(|l| format!("echo '{l}'")).join("\n");
    m.answer_with(&format!(
        "echo 'rethread-home 1 stat 1000 /home/ada'\n{list}\necho '. 0'\ncat {0}/good\necho '{1} 1.1 x'\nyes '. 0'",
        m.far.display(),
        good.len()
    ));
    let before = tree(&m.w.root);
    let answer = m.w.run(&["list", "--remote", "vm01"]);
    assert_eq!(answer.code, 3, "{answer:?}");
    assert_eq!(answer.out.lines().count(), 1, "{answer:?}");
    insta::assert_snapshot!(answer.err, @"warning: `remote_vm01`: 5 files have names that cannot be used here, such as `../../../evil`; left out");
    let cache = m.w.home.join(".cache");
    let after = tree(&m.w.root).into_iter();
    let elsewhere: Vec<_> = after.filter(|(p, _)| !p.starts_with(&cache)).collect();
    assert_eq!(elsewhere, before);
    let copied = tree(&m.copy());
    assert_eq!(copied.len(), 1, "{copied:?}");
    assert_eq!(copied[0].1, good.as_bytes());
}

#[test]
fn nonsense_is_no_home() {
    let m = Machines::new();
    for (script, said) in [
        ("exit 0", "ended too early"),
        ("yes hello", "does not say that it is ready"),
        (
            "echo 'rethread-home 1 stat 1000 nowhere'; cat",
            "does not say where its home is",
        ),
        (
            "echo 'rethread-home 1 stat 1000 /home/ada'; echo hello; cat",
            "does not say what its files are",
        ),
        ("exit 8", "`head` cannot count bytes"),
        ("cat /dev/zero", "ended too early"),
    ] {
        m.answer_with(script);
        let answer = m.w.run(&["list", "--remote", "vm01"]);
        assert_eq!(answer.code, 1, "{script}: {answer:?}");
        assert!(answer.err.contains(said), "{script}: {answer:?}");
    }
}

#[test]
fn a_database_comes_with_its_log() {
    let m = Machines::new();
    let folder = m.far.join(".local/share/opencode");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("opencode.db");
    database(&path, "1.18/everything");
    // Somebody has it open, and what they wrote last is only in the log.
    let client = rusqlite::Connection::open(&path).unwrap();
    let mode: String = client
        .query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    client
        .execute("UPDATE session SET title = 'In the log'", [])
        .unwrap();
    assert!(folder.join("opencode.db-wal").exists());
    let far = m.far_listed();
    assert!(!far.is_empty());
    for session in &far {
        assert_eq!(session["title"], "In the log");
    }
    assert!(
        m.copy()
            .join(".local/share/opencode/opencode.db-wal")
            .exists()
    );
    drop(client);
    m.far_listed();
    assert!(
        !m.copy()
            .join(".local/share/opencode/opencode.db-wal")
            .exists()
    );
    assert_eq!(m.far_listed().len(), far.len());
}

#[test]
fn files_are_told_apart_where_there_is_no_stat() {
    let m = Machines::furnished();
    // A `stat` that knows neither way.
    let bin = m.w.root.join("bin");
    put(&bin.join("stat"), "#!/bin/sh\nexit 1\n");
    fs::set_permissions(bin.join("stat"), fs::Permissions::from_mode(0o755)).unwrap();
    m.answer_with(&format!("PATH={}:$PATH; export PATH\n{RUN}", bin.display()));
    let far = m.far_listed();
    let there = listed(&m.w, &["--home", m.far.to_str().unwrap()]);
    assert_eq!(without_home(far), without_home(there));
    let other = claude(FIRST, "/home/ada/shop").replace("door", "hall");
    put(&m.session(FIRST), &other);
    m.far_listed();
    let copy = m
        .copy()
        .join(format!(".claude/projects/-shop/{FIRST}.jsonl"));
    assert_eq!(fs::read_to_string(copy).unwrap(), other);
}

#[test]
fn an_id_in_two_homes_is_one_if_it_is_the_same() {
    let m = Machines::new();
    let text = claude(FIRST, "/home/ada/shop");
    put(&m.session(FIRST), &text);
    let here =
        m.w.home
            .join(format!(".claude/projects/-shop/{FIRST}.jsonl"));
    put(&here, &text);
    m.w.ok(&["show", FIRST, "--remote", "vm01"]);
    put(&here, &format!("{text}{MORE}"));
    let answer = m.w.run(&["show", FIRST, "--remote", "vm01"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    assert!(answer.err.contains("could be 2 sessions"), "{answer:?}");
    for (home, messages) in [("local", 3), ("remote_vm01", 2)] {
        let flags = ["--remote", "vm01", "--home-name", home, "--json"];
        let shown = m.w.ok(&[&["show", FIRST], flags.as_slice()].concat());
        assert_eq!(json(&shown)["messages"].as_array().unwrap().len(), messages);
    }
}
