//! The commands that are swept over, with what they are tried on.

use std::fs;
use std::path::Path;

use super::cases::thread_of_three;
use super::logs::fixture;
use super::sweep::{Again, Sweep, Things, Unit, files};
use crate::opencode::store::{data, empty_database};
use crate::world::{World, copy, json};

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// An empty database of OpenCode, as its client leaves it.
fn empty_store(w: &World) {
    let db = empty_database(&data(w).join("opencode.db"));
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
}

/// A session of OpenCode with one message.
fn opencode_session(w: &World) -> String {
    empty_store(w);
    let made = json(&w.ok(&["new", "--format", "opencode", "--title", "Till", "--json"]));
    let id = made["id"].as_str().unwrap().to_owned();
    w.ok(&["append", &id, "first", "--model", "acme/large-2"]);
    id
}

/// What every session of an agent says, by its id.
fn sessions(w: &World, agents: &[&str]) -> Things {
    let listed = w.run(&["list", "--json", "--subagents"]);
    assert!([0, 1].contains(&listed.code), "{listed:?}");
    let all = listed.out.lines().map(json);
    let wanted = all.filter(|s| agents.iter().any(|agent| s["agent"] == *agent));
    let shown = wanted.map(|s| {
        let id = s["id"].as_str().unwrap().to_owned();
        let agent = s["agent"].as_str().unwrap();
        let shown = w.run(&["show", &format!("{agent}:{id}"), "--json"]);
        assert_eq!(shown.code, 0, "{shown:?}");
        (id, shown.out)
    });
    shown.collect()
}

fn of_opencode(w: &World) -> Things {
    sessions(w, &["opencode"])
}

pub(super) const OPENCODE_CONVERT: Sweep = Sweep {
    prepare: |w| {
        empty_store(w);
        let id = thread_of_three(w);
        words(&["convert", &id, "--to", "opencode"])
    },
    see: of_opencode,
    unit: Unit::All,
    again: Again::Finishes,
    most: 30,
};
pub(super) const OPENCODE_NEW: Sweep = Sweep {
    prepare: |w| {
        empty_store(w);
        words(&["new", "--format", "opencode", "--title", "Till"])
    },
    again: Again::Adds("\"Till\""),
    most: 15,
    ..OPENCODE_CONVERT
};
pub(super) const OPENCODE_APPEND: Sweep = Sweep {
    prepare: |w| {
        let id = opencode_session(w);
        words(&["append", &id, "one more"])
    },
    again: Again::Adds("one more"),
    most: 20,
    ..OPENCODE_CONVERT
};
pub(super) const OPENCODE_RENAME: Sweep = Sweep {
    prepare: |w| {
        let id = opencode_session(w);
        words(&["rename", &id, "Another"])
    },
    most: 15,
    ..OPENCODE_CONVERT
};
pub(super) const OPENCODE_FORK: Sweep = Sweep {
    prepare: |w| {
        let id = opencode_session(w);
        words(&["fork", &id])
    },
    again: Again::Adds("\"first\""),
    most: 20,
    ..OPENCODE_CONVERT
};
pub(super) const OPENCODE_RM: Sweep = Sweep {
    prepare: |w| {
        let id = opencode_session(w);
        words(&["rm", &id, "--force"])
    },
    again: Again::Refuses,
    most: 15,
    ..OPENCODE_CONVERT
};

/// All messages, by their ids.
fn messages(w: &World) -> Things {
    let mut things = Things::new();
    for name in ["ann", "bob"] {
        let all = w.ok(&["msg", "--as", name, "inbox", "--all", "--json"]);
        for line in all.lines() {
            let id = json(line)["id"].as_str().unwrap().to_owned();
            things.insert(id, line.to_owned());
        }
    }
    things
}

fn send<'a>(from: &'a str, to: &'a str, text: &'a str) -> [&'a str; 6] {
    ["msg", "--as", from, "send", to, text]
}

// The clock stands still, so the same message once more is the same message.
pub(super) const SEND_FIRST: Sweep = Sweep {
    prepare: |_| words(&send("ann", "bob", "hello")),
    see: messages,
    unit: Unit::All,
    again: Again::Finishes,
    most: 40,
};
pub(super) const SEND: Sweep = Sweep {
    prepare: |w| {
        w.ok(&send("ann", "bob", "hello"));
        words(&send("ann", "bob", "is the till open?"))
    },
    ..SEND_FIRST
};
pub(super) const REPLY: Sweep = Sweep {
    prepare: |w| {
        w.ok(&send("ann", "bob", "hello"));
        w.ok(&send("bob", "ann", "to begin with"));
        words(&["msg", "--as", "bob", "reply", "hello yourself"])
    },
    ..SEND_FIRST
};

/// Two sessions, one of them with sub-agents, in an export; and nothing of them in their stores.
pub(super) const RESTORE: Sweep = Sweep {
    prepare: |w| {
        let claude = w.home.join(".claude/projects/-shop");
        copy(&fixture("claude-code/2.1/everything"), &claude);
        let pi = w.home.join(".pi/agent/sessions/--shop--");
        copy(&fixture("pi/3/everything"), &pi);
        let made = w.run(&["export", "--aw", "-o", "all.ndjson"]);
        assert!([0, 3].contains(&made.code), "{made:?}");
        fs::remove_dir_all(w.home.join(".claude")).unwrap();
        fs::remove_dir_all(w.home.join(".pi")).unwrap();
        words(&["restore", "all.ndjson"])
    },
    see: |w| {
        let mut things = files(&w.home.join(".claude"));
        things.extend(files(&w.home.join(".pi")));
        things
    },
    unit: Unit::Each,
    again: Again::Finishes,
    most: 40,
};

pub(super) const OPEN: Sweep = Sweep {
    prepare: |w| {
        let id = thread_of_three(w);
        words(&["open", &id, "--print"])
    },
    see: |w| files(&w.home.join(".cache/rethread")),
    unit: Unit::Each,
    again: Again::Finishes,
    most: 40,
};
/// In the place of an earlier page of the same session.
pub(super) const OPEN_AGAIN: Sweep = Sweep {
    prepare: |w| {
        let id = thread_of_three(w);
        w.ok(&["open", &id, "--print"]);
        w.ok(&["append", &id, "since then"]);
        words(&["open", &id, "--print"])
    },
    ..OPEN
};

pub(super) const SAMPLE: Sweep = Sweep {
    prepare: |_| words(&["sample", "try/it"]),
    see: |w| files(&w.project.join("try/it")),
    unit: Unit::All,
    again: Again::Refuses,
    most: 20,
};
/// Into a folder that is there and empty, which gets two folders.
pub(super) const SAMPLE_HERE: Sweep = Sweep {
    prepare: |w| {
        fs::create_dir(w.project.join("here")).unwrap();
        words(&["sample", "here"])
    },
    see: |w| {
        let folder = |name: &str| {
            let inside = files(&w.project.join("here").join(name));
            (!inside.is_empty()).then(|| (name.to_owned(), format!("{inside:?}")))
        };
        ["home", "shop"].into_iter().filter_map(folder).collect()
    },
    unit: Unit::Each,
    ..SAMPLE
};
/// The copy that `--sample` works on.
pub(super) const SAMPLE_COPY: Sweep = Sweep {
    prepare: |_| words(&["--sample", "rename", "pi:latest", "Another"]),
    see: |w| {
        let folder = w.home.join(".cache/rethread");
        let names = files(&folder).into_keys();
        names.map(|name| (name, String::new())).collect()
    },
    unit: Unit::All,
    again: Again::Finishes,
    most: 20,
};

/// A small home on another machine, which a program in the place of `ssh` shows.
fn far_home(w: &World) -> std::path::PathBuf {
    let far = w.root.join("far/ada");
    copy(
        &fixture("pi/3/everything"),
        &far.join(".pi/agent/sessions/--shop--"),
    );
    copy(&fixture("gemini/0.61/everything"), &far.join(".gemini"));
    let script = w.root.join("ssh.sh");
    let home = far.display();
    fs::write(
        &script,
        format!("HOME={home}; export HOME\nfor last; do :; done\nexec sh -c \"$last\"\n"),
    )
    .unwrap();
    let settings = w.home.join(".config/rethread");
    fs::create_dir_all(&settings).unwrap();
    let ssh = format!("ssh = ['sh', '{}']\n", script.display());
    fs::write(settings.join("config.toml"), ssh).unwrap();
    far
}

const REMOTE_LIST: [&str; 4] = ["list", "--remote", "ada@VM01", "--json"];

/// The files of the copy; what is known of them beside it is another matter.
fn copied(w: &World) -> Things {
    let all = files(&w.home.join(".cache/rethread/remotes"));
    let is_inside = |name: &str| Path::new(name).iter().nth(1).is_some_and(|n| n == "home");
    all.into_iter()
        .filter(|(name, _)| is_inside(name))
        .collect()
}

pub(super) const REMOTE: Sweep = Sweep {
    prepare: |w| {
        far_home(w);
        words(&REMOTE_LIST)
    },
    see: copied,
    unit: Unit::Each,
    again: Again::Finishes,
    most: 25,
};
/// There is a copy, and since then a session went on, one came, and one went.
pub(super) const REMOTE_CHANGED: Sweep = Sweep {
    prepare: |w| {
        let far = far_home(w);
        let store = far.join(".pi/agent/sessions/--shop--");
        let gone = far.join(".claude/projects/-shop/gone.jsonl");
        fs::create_dir_all(gone.parent().unwrap()).unwrap();
        fs::write(&gone, "{\"type\":\"summary\",\"summary\":\"gone\"}\n").unwrap();
        let listed = w.run(&REMOTE_LIST);
        assert!([0, 3].contains(&listed.code), "{listed:?}");
        fs::remove_file(&gone).unwrap();
        let entry = fs::read_dir(&store).unwrap().next().unwrap().unwrap();
        let mut log = fs::read(entry.path()).unwrap();
        fs::write(store.join("another.jsonl"), &log).unwrap();
        log.extend_from_slice(b"{\"type\":\"custom\",\"customType\":\"x\",\"id\":\"e0000001\",\"parentId\":null,\"timestamp\":\"2026-11-02T09:00:00.000Z\"}\n");
        fs::write(entry.path(), log).unwrap();
        words(&REMOTE_LIST)
    },
    ..REMOTE
};
