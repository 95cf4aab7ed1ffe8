//! Programs that show a page.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A program that may show a page, with what it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserCall {
    /// Its name, or its whole path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Whether it shows the page in the terminal, and is waited for.
    pub in_terminal: bool,
}

/// Browsers that need the terminal for themselves.
const IN_TERMINAL: [&str; 6] = ["w3m", "lynx", "links", "elinks", "browsh", "carbonyl"];

/// How long a program may take to say that it cannot show the page.
const PATIENCE: Duration = Duration::from_millis(1500);

/// How often it is asked.
const STEP: Duration = Duration::from_millis(25);

/// The programs that may show a page, the best first: those of the variable `BROWSER`, which holds
/// several between colons, with `%s` for the page, and then what the system has. Where there is no
/// screen, only those of the variable count.
pub fn browser_calls(page: &Path, variable: Option<&OsStr>, has_screen: bool) -> Vec<BrowserCall> {
    let page = page.to_string_lossy();
    let asked = variable.map(OsStr::to_string_lossy).unwrap_or_default();
    // A path of Windows has a colon in it.
    let between = if cfg!(windows) { ';' } else { ':' };
    let asked = asked
        .split(between)
        .filter_map(|words| parse_browser_call(words, &page));
    let mut calls: Vec<BrowserCall> = asked.collect();
    let by_system: &[(&str, &[&str])] = if cfg!(windows) {
        &[("rundll32", &["url.dll,FileProtocolHandler"])]
    } else if cfg!(target_os = "macos") {
        &[("open", &[])]
    } else if has_screen {
        &[("xdg-open", &[]), ("wslview", &[]), ("x-www-browser", &[])]
    } else {
        &[]
    };
    for (program, args) in by_system {
        let args = args.iter().map(|arg| (*arg).to_owned());
        calls.push(BrowserCall {
            program: (*program).to_owned(),
            args: args.chain([page.clone().into_owned()]).collect(),
            in_terminal: false,
        });
    }
    calls
}

/// The call that one entry of the variable describes. Its words are those between spaces: nothing
/// else in it means anything, and no shell sees it.
fn parse_browser_call(words: &str, page: &str) -> Option<BrowserCall> {
    let mut words = words.split_whitespace();
    let program = words.next()?.to_owned();
    let mut args: Vec<String> = words.map(str::to_owned).collect();
    if args.iter().any(|arg| arg.contains("%s")) {
        for arg in &mut args {
            *arg = arg.replace("%s", page);
        }
    } else {
        args.push(page.to_owned());
    }
    let name = program.rsplit(['/', '\\']).next().unwrap_or(&program);
    let in_terminal = IN_TERMINAL.contains(&name);
    Some(BrowserCall {
        program,
        args,
        in_terminal,
    })
}

/// Starts a program that shows a page; `program` is its file. Says whether it does, as far as that can
/// be known: one that still runs after a moment, or ended well.
pub fn start_browser(program: &Path, call: &BrowserCall) -> bool {
    let mut command = Command::new(program);
    command.args(&call.args);
    if call.in_terminal {
        return command.status().is_ok_and(|status| status.success());
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // What ends this program does not end the browser.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    let mut waited = Duration::ZERO;
    while waited < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => sleep(STEP),
            Err(_) => return false,
        }
        waited += STEP;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(variable: Option<&str>, has_screen: bool) -> Vec<Vec<String>> {
        let page = Path::new("/cache/it's $(x); a.html");
        let calls = browser_calls(page, variable.map(OsStr::new), has_screen);
        let words = |call: BrowserCall| [vec![call.program], call.args].concat();
        calls.into_iter().map(words).collect()
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn those_that_are_asked_for_come_first() {
        let page = "/cache/it's $(x); a.html";
        assert_eq!(calls(None, false), Vec::<Vec<String>>::new());
        assert_eq!(calls(None, true)[0], ["xdg-open", page]);
        assert_eq!(
            calls(Some("firefox -new-tab %s:w3m: "), false),
            [vec!["firefox", "-new-tab", page], vec!["w3m", page]]
        );
        assert_eq!(
            calls(Some("sh -c 'echo %s'"), false),
            [vec!["sh", "-c", "'echo", &format!("{page}'")]],
            "quotes mean nothing"
        );
        let call = &browser_calls(Path::new("/p"), Some("/usr/bin/w3m".as_ref()), false)[0];
        assert!(call.in_terminal);
    }

    #[test]
    #[cfg(unix)]
    fn a_program_that_fails_at_once_shows_nothing() {
        let call = &browser_calls(Path::new("/p"), Some("x".as_ref()), false)[0];
        assert!(!start_browser(Path::new("/bin/false"), call));
        assert!(!start_browser(Path::new("/nowhere/at/all"), call));
        assert!(start_browser(Path::new("/bin/true"), call));
    }
}
