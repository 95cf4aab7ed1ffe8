//! What somebody can put into a repository to have a program run.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::trap::{Trap, has_terminals, program};

/// A trick, and how plain git falls for it.
pub(super) struct Trick {
    /// What `git init` is told.
    pub(super) init: &'static [&'static str],
    /// Puts it into the repository.
    pub(super) set: fn(&mut Trap),
    /// Does with plain git what must leave the canary.
    pub(super) control: fn(&Trap),
}

fn add_worktree(trap: &Trap) {
    let path = trap.w.root.join("control");
    let path = path.to_str().unwrap();
    trap.plain_git(&trap.w.project, &["worktree", "add", "-b", "control", path]);
}

fn status(trap: &Trap) {
    trap.plain_git(&trap.w.project, &["status"]);
    trap.plain_git(&trap.w.root.join("empty"), &["status"]);
}

fn first_commit(trap: &Trap) {
    let args = ["rev-list", "--max-parents=0", "HEAD"];
    trap.plain_git(&trap.w.project, &args);
}

pub(super) const HOOKS: Trick = Trick {
    init: &[],
    set: |trap| trap.hooks_in(&trap.git_dir().join("hooks")),
    control: add_worktree,
};

pub(super) const HOOKS_ELSEWHERE: Trick = Trick {
    init: &[],
    set: |trap| {
        let hooks = trap.w.root.join("hooks");
        trap.hooks_in(&hooks);
        trap.configure(format!("[core]\nhooksPath = {}", hooks.display()));
    },
    control: add_worktree,
};

pub(super) const FSMONITOR: Trick = Trick {
    init: &[],
    set: |trap| trap.configure(format!("[core]\nfsmonitor = {}", trap.evil())),
    control: status,
};

pub(super) const FILTER_SMUDGE: Trick = Trick {
    init: &[],
    set: |trap| trap.configure(filter("evil", "smudge", trap)),
    control: add_worktree,
};

pub(super) const FILTER_CLEAN: Trick = Trick {
    init: &[],
    set: |trap| trap.configure(filter("evil", "clean", trap)),
    control: status,
};

pub(super) const FILTER_PROCESS: Trick = Trick {
    init: &[],
    set: |trap| {
        trap.configure(filter("evil", "process", trap));
        trap.configure("required = true");
    },
    control: add_worktree,
};

/// Git takes `a` for the key where this is said on its command line.
pub(super) const FILTER_WITH_A_SIGN: Trick = Trick {
    init: &[],
    set: |trap| odd_filter(trap, b"a=b"),
    control: add_worktree,
};

pub(super) const FILTER_THAT_IS_NO_TEXT: Trick = Trick {
    init: &[],
    set: |trap| odd_filter(trap, b"a\xffb"),
    control: add_worktree,
};

pub(super) const FILTER_WITH_ODD_LETTERS: Trick = Trick {
    init: &[],
    set: |trap| odd_filter(trap, b"A.b;#-$(x)"),
    control: add_worktree,
};

/// It counts in a new worktree alone.
pub(super) const INCLUDED_IN_WORKTREES: Trick = Trick {
    init: &[],
    set: |trap| {
        let path = trap.git_dir().join("more");
        fs::write(&path, filter("evil", "smudge", trap)).unwrap();
        trap.configure("[includeIf \"gitdir:**/worktrees/**\"]\npath = more");
    },
    control: add_worktree,
};

/// It counts on a branch alone.
pub(super) const INCLUDED_ON_BRANCHES: Trick = Trick {
    init: &[],
    set: |trap| {
        let path = trap.git_dir().join("more");
        fs::write(&path, filter("evil", "smudge", trap)).unwrap();
        for branch in ["new", "chosen", "control", "rethread-*"] {
            trap.configure(format!("[includeIf \"onbranch:{branch}\"]\npath = more"));
        }
    },
    control: add_worktree,
};

pub(super) const INCLUDED: Trick = Trick {
    init: &[],
    set: |trap| {
        let path = trap.w.project.join("settings");
        fs::write(&path, everything(trap)).unwrap();
        trap.configure("[include]\npath = ../settings");
    },
    control: |trap| {
        status(trap);
        add_worktree(trap);
    },
};

/// A configuration of each worktree's own.
pub(super) const PER_WORKTREE: Trick = Trick {
    init: &[],
    set: |trap| {
        trap.configure("[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = true");
        let git_dir = trap.git_dir();
        fs::write(git_dir.join("config.worktree"), everything(trap)).unwrap();
        for name in ["old", "empty"] {
            let path = git_dir.join("worktrees").join(name).join("config.worktree");
            fs::write(path, everything(trap)).unwrap();
        }
    },
    control: status,
};

pub(super) const PAGER: Trick = Trick {
    init: &[],
    set: |trap| {
        let evil = trap.evil();
        trap.configure(format!(
            "[core]\npager = {evil}\neditor = {evil}\naskPass = {evil}"
        ));
        for command in [
            "status", "config", "branch", "worktree", "remote", "reset", "rev-list",
        ] {
            trap.configure(format!("[pager]\n{command} = {evil}"));
        }
    },
    // A pager is only started on a terminal; an editor is anywhere.
    control: |trap| {
        if !has_terminals() {
            let args = ["commit", "--quiet", "--allow-empty"];
            trap.plain_git(&trap.w.project, &args);
            return;
        }
        let mut script = Command::new("script");
        script
            .args(["-qec", "git --paginate log", "/dev/null"])
            .current_dir(&trap.w.project);
        trap.run_plain(script);
    },
};

pub(super) const ALIAS: Trick = Trick {
    init: &[],
    set: |trap| {
        for name in [
            "status",
            "config",
            "branch",
            "worktree",
            "remote",
            "reset",
            "rev-list",
            "rev-parse",
            "ls-files",
            "symbolic-ref",
            "other",
        ] {
            trap.configure(format!("[alias]\n{name} = !{}", trap.evil()));
        }
    },
    control: |trap| {
        trap.plain_git(&trap.w.project, &["other"]);
    },
};

pub(super) const PROMISOR: Trick = Trick {
    init: &[],
    set: |trap| {
        promise(trap, &format!("ext::{} %S", trap.evil()));
        lose_objects(trap);
    },
    control: first_commit,
};

/// Commits are there, and a file is not.
pub(super) const PROMISED_FILE: Trick = Trick {
    init: &[],
    set: |trap| {
        promise(trap, &format!("ext::{} %S", trap.evil()));
        let blob = trap.w.git(&["rev-parse", "HEAD:README.md"]);
        let (folder, name) = blob.split_at(2);
        fs::remove_file(trap.git_dir().join("objects").join(folder).join(name)).unwrap();
    },
    control: add_worktree,
};

pub(super) const SSH: Trick = Trick {
    init: &[],
    set: |trap| {
        promise(trap, "ssh://example.invalid/shop");
        trap.configure(format!("[core]\nsshCommand = {}", trap.evil()));
        lose_objects(trap);
    },
    control: first_commit,
};

pub(super) const UPLOAD_PACK: Trick = Trick {
    init: &[],
    set: |trap| {
        promise(trap, trap.w.root.to_str().unwrap());
        trap.configure(format!("[remote \"e\"]\nuploadpack = {}", trap.evil()));
        lose_objects(trap);
    },
    control: first_commit,
};

/// The repository is somebody else's, and says that this is safe.
pub(super) const OF_ANOTHER_USER: Trick = Trick {
    init: &[],
    set: |trap| {
        promise(trap, &format!("ext::{} %S", trap.evil()));
        trap.configure("[safe]\ndirectory = *");
        trap.configure(everything(trap));
        lose_objects(trap);
        let mut chown = Command::new("chown");
        chown.args(["-R", "65534"]).arg(&trap.w.project);
        assert!(chown.status().unwrap().success());
    },
    // To name a folder skips the check of whom it belongs to.
    control: |trap| {
        let args = ["--git-dir", ".git", "rev-list", "--max-parents=0", "HEAD"];
        trap.plain_git(&trap.w.project, &args);
    },
};

pub(super) const POINTER: Trick = Trick {
    init: &[],
    set: |trap| {
        let elsewhere = move_away(trap);
        let pointer = format!("gitdir: {elsewhere}\n");
        fs::write(trap.w.project.join(".git"), pointer).unwrap();
        let elsewhere = std::path::Path::new(&elsewhere);
        trap.plain_git(
            &trap.w.project,
            &["worktree", "repair", "../old", "../empty"],
        );
        trap.hooks_in(&elsewhere.join("hooks"));
        let config = elsewhere.join("config");
        let more = fs::read_to_string(&config).unwrap() + &everything(trap);
        fs::write(config, more).unwrap();
    },
    control: status,
};

pub(super) const LINK: Trick = Trick {
    init: &[],
    set: |trap| {
        let elsewhere = move_away(trap);
        symlink(elsewhere, trap.w.project.join(".git")).unwrap();
        trap.hooks_in(&trap.git_dir().join("hooks"));
        trap.configure(everything(trap));
    },
    control: status,
};

pub(super) const REFERENCES_IN_TABLES: Trick = Trick {
    init: &["--ref-format=reftable"],
    set: |trap| {
        promise(trap, &format!("ext::{} %S", trap.evil()));
        trap.hooks_in(&trap.git_dir().join("hooks"));
        trap.configure(everything(trap));
        lose_objects(trap);
    },
    control: first_commit,
};

/// Variables that say what a configuration would.
pub(super) const VARIABLES: Trick = Trick {
    init: &[],
    set: |trap| {
        let evil = || OsString::from(&trap.evil);
        let hooks = trap.w.root.join("hooks");
        trap.hooks_in(&hooks);
        let settings = [
            ("core.fsmonitor", evil()),
            ("core.hooksPath", hooks.into()),
            ("filter.evil.smudge", trap.evil_filter().into()),
            ("filter.evil.clean", trap.evil_filter().into()),
        ];
        let keys = [
            "GIT_CONFIG_KEY_0",
            "GIT_CONFIG_KEY_1",
            "GIT_CONFIG_KEY_2",
            "GIT_CONFIG_KEY_3",
        ];
        let values = [
            "GIT_CONFIG_VALUE_0",
            "GIT_CONFIG_VALUE_1",
            "GIT_CONFIG_VALUE_2",
            "GIT_CONFIG_VALUE_3",
        ];
        let mut variables = vec![("GIT_CONFIG_COUNT", OsString::from("4"))];
        for (n, (key, value)) in settings.into_iter().enumerate() {
            variables.push((keys[n], key.into()));
            variables.push((values[n], value));
        }
        for name in [
            "GIT_PAGER",
            "GIT_EDITOR",
            "GIT_SSH_COMMAND",
            "GIT_ASKPASS",
            "GIT_EXTERNAL_DIFF",
        ] {
            variables.push((name, evil()));
        }
        trap.variables = variables;
    },
    control: |trap| {
        status(trap);
        add_worktree(trap);
    },
};

/// Variables that lead to files which say it.
pub(super) const VARIABLES_THAT_NAME_FILES: Trick = Trick {
    init: &[],
    set: |trap| {
        let config = trap.w.root.join("gitconfig");
        fs::write(&config, everything(trap)).unwrap();
        trap.variables = vec![
            ("GIT_CONFIG_GLOBAL", config.clone().into()),
            ("GIT_CONFIG_SYSTEM", config.into()),
        ];
    },
    control: status,
};

/// Another repository, and other programs of git.
pub(super) const VARIABLES_THAT_NAME_FOLDERS: Trick = Trick {
    init: &[],
    set: |trap| {
        let programs = trap.w.root.join("git-core");
        fs::create_dir(&programs).unwrap();
        for name in [
            "git-status",
            "git-remote-ext",
            "git-reset",
            "git-worktree",
            "git",
        ] {
            program(
                &programs.join(name),
                &fs::read_to_string(&trap.evil).unwrap(),
            );
        }
        let other = trap.w.root.join("other");
        fs::create_dir(&other).unwrap();
        let git = |args: &[&str]| assert!(trap.plain_git(&other, args).status.success());
        git(&["init", "-q"]);
        git(&["config", "core.fsmonitor", trap.evil()]);
        fs::write(other.join("file"), "x").unwrap();
        trap.variables = vec![
            ("GIT_DIR", other.join(".git").into()),
            ("GIT_COMMON_DIR", other.join(".git").into()),
            ("GIT_WORK_TREE", other.into()),
            ("GIT_EXEC_PATH", programs.into()),
        ];
    },
    control: status,
};

fn filter(name: &str, what: &str, trap: &Trap) -> String {
    format!("[filter \"{name}\"]\n{what} = \"{}\"", trap.evil_filter())
}

fn odd_filter(trap: &Trap, name: &[u8]) {
    let mut config = b"[filter \"".to_vec();
    config.extend(name);
    config.extend(format!("\"]\nsmudge = \"{0}\"\nclean = \"{0}\"", trap.evil_filter()).as_bytes());
    trap.configure(config);
    let attributes = [b"* filter=", name, b"\n"].concat();
    let info = trap.git_dir().join("info");
    fs::create_dir_all(&info).unwrap();
    fs::write(info.join("attributes"), attributes).unwrap();
}

/// A monitor, hooks and filters.
fn everything(trap: &Trap) -> String {
    let hooks = trap.w.root.join("hooks");
    trap.hooks_in(&hooks);
    format!(
        "[core]\nfsmonitor = {evil}\nhooksPath = {hooks}\nsshCommand = {evil}\npager = {evil}\n{smudge}\n{clean}\n",
        evil = trap.evil(),
        hooks = hooks.display(),
        smudge = filter("evil", "smudge", trap),
        clean = filter("evil", "clean", trap),
    )
}

/// Says that what is missing can be fetched from an address.
fn promise(trap: &Trap, url: &str) {
    trap.configure(format!(
        "[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = e\n\
         [remote \"e\"]\npromisor = true\nurl = {url}\n[protocol \"ext\"]\nallow = always"
    ));
}

fn lose_objects(trap: &Trap) {
    let objects = trap.git_dir().join("objects");
    fs::remove_dir_all(&objects).unwrap();
    fs::create_dir(objects).unwrap();
}

fn move_away(trap: &Trap) -> String {
    let elsewhere = trap.w.root.join("elsewhere.git");
    fs::rename(trap.w.project.join(".git"), &elsewhere).unwrap();
    elsewhere.to_str().unwrap().to_owned()
}
