//! Ending a command with everything that it started.

#[cfg(target_os = "linux")]
pub(crate) use linux::ProcessFamily;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::ProcessFamily;

/// Linux: this process adopts orphans, so that all descendants can be found below it.
#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::thread;
    use std::time::Duration;

    use rustix::process::{
        Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
    };

    /// How often the descendants are looked for; each time, those found are ended.
    const ROUNDS: u32 = 400;

    /// Two looks without anybody mean that nobody is left.
    const EMPTY_LOOKS: u32 = 2;

    /// The processes below this one.
    pub(crate) struct ProcessFamily {
        me: i32,
        /// Children that were there before, and are none of our business.
        before: BTreeSet<i32>,
    }

    impl ProcessFamily {
        /// Starts to adopt orphans.
        pub(crate) fn adopt_orphans() -> Self {
            let me = getpid();
            let adopted = set_child_subreaper(Some(me));
            debug_assert!(adopted.is_ok(), "Linux has had subreapers since 3.4");
            let me = me.as_raw_nonzero().get();
            let children = parent_pids()
                .into_iter()
                .filter(|(_, parent)| *parent == me);
            Self {
                me,
                before: children.map(|(child, _)| child).collect(),
            }
        }

        /// Ends everything that was started since; gives how many were left beside `child`, the
        /// first of them.
        pub(crate) fn end_all(&mut self, child: u32) -> usize {
            let child = i32::try_from(child).unwrap_or(0);
            let mut ended = BTreeSet::new();
            let mut empty = 0;
            for round in 0..ROUNDS {
                let found = self.descendants();
                empty = if found.is_empty() { empty + 1 } else { 0 };
                if empty == EMPTY_LOOKS {
                    break;
                }
                for pid in found {
                    ended.insert(pid);
                    if let Some(pid) = Pid::from_raw(pid) {
                        // It may be gone by now, which is what we want.
                        let _ = kill_process(pid, Signal::KILL);
                    }
                }
                self.reap_adopted(child);
                thread::sleep(Duration::from_millis(u64::from(round.min(10))));
            }
            let _ = set_child_subreaper(None);
            ended.remove(&child);
            ended.len()
        }

        fn descendants(&self) -> BTreeSet<i32> {
            let parents = parent_pids();
            let mut found = BTreeSet::new();
            let mut level = vec![self.me];
            while let Some(parent) = level.pop() {
                for (pid, _) in parents.iter().filter(|(_, p)| **p == parent) {
                    if !self.before.contains(pid) && found.insert(*pid) {
                        level.push(*pid);
                    }
                }
            }
            found
        }

        /// Collects adopted children that have ended, but not the command itself: whoever started
        /// it waits for it.
        fn reap_adopted(&self, child: i32) {
            for (pid, parent) in parents_with_dead() {
                let ours = parent == self.me && pid != child && !self.before.contains(&pid);
                if let Some(pid) = Pid::from_raw(pid).filter(|_| ours) {
                    let _ = waitpid(Some(pid), WaitOptions::NOHANG);
                }
            }
        }
    }

    /// The parent of every living process.
    fn parent_pids() -> BTreeMap<i32, i32> {
        list_processes()
            .filter(|p| !p.dead)
            .map(|p| (p.pid, p.parent))
            .collect()
    }

    fn parents_with_dead() -> BTreeMap<i32, i32> {
        list_processes()
            .filter(|p| p.dead)
            .map(|p| (p.pid, p.parent))
            .collect()
    }

    struct ProcessEntry {
        pid: i32,
        parent: i32,
        /// It has ended, and waits to be collected.
        dead: bool,
    }

    fn list_processes() -> impl Iterator<Item = ProcessEntry> {
        let entries = fs::read_dir("/proc").into_iter().flatten();
        entries.filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
            // The name stands in parentheses and may hold anything.
            let after = stat.iter().rposition(|b| *b == b')')?;
            let rest = std::str::from_utf8(stat.get(after + 2..)?).ok()?;
            let mut fields = rest.split(' ');
            let state = fields.next()?;
            let parent = fields.next()?.parse().ok()?;
            Some(ProcessEntry {
                pid,
                parent,
                dead: matches!(state, "Z" | "X"),
            })
        })
    }
}

/// Elsewhere: the process group on Unix, the process tree on Windows.
#[cfg(not(target_os = "linux"))]
mod other {
    /// The processes that a command started, as far as the system can tell.
    pub(crate) struct ProcessFamily;

    #[allow(clippy::unused_self, reason = "on Linux there is something to know")]
    impl ProcessFamily {
        pub(crate) fn adopt_orphans() -> Self {
            Self
        }

        #[cfg(unix)]
        pub(crate) fn end_all(&mut self, child: u32) -> usize {
            use rustix::process::{Pid, Signal, kill_process_group};
            let group = i32::try_from(child).ok().and_then(Pid::from_raw);
            let ended = group.is_some_and(|g| kill_process_group(g, Signal::KILL).is_ok());
            usize::from(ended)
        }

        #[cfg(windows)]
        pub(crate) fn end_all(&mut self, child: u32) -> usize {
            let mut command = std::process::Command::new("taskkill");
            let ended = command
                .args(["/T", "/F", "/PID", &child.to_string()])
                .output();
            usize::from(ended.is_ok_and(|o| o.status.success()))
        }
    }
}
