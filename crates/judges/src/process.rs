//! A program that answers one line with one line.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A running program. It ends when its input does, at the latest with the tests.
#[derive(Debug)]
pub struct JsonLineProcess {
    ends: Mutex<ProcessPipes>,
}

#[derive(Debug)]
struct ProcessPipes {
    /// Kept, so that it is there as long as its ends are.
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl JsonLineProcess {
    /// Starts a program. What it says on stderr is seen.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn start(program: &Path, args: &[&OsStr]) -> Self {
        let mut command = Command::new(program);
        command.args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(e) => panic!("`{}` does not start: {e}", program.display()),
        };
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            panic!("`{}` has no ends", program.display());
        };
        let output = BufReader::new(output);
        Self {
            ends: Mutex::new(ProcessPipes {
                child,
                input,
                output,
            }),
        }
    }

    /// Sends a JSON value, which must not hold a line break, and gives the answer.
    ///
    /// # Panics
    ///
    /// If the program ended.
    pub fn send_request(&self, question: &[u8]) -> Vec<u8> {
        assert!(!question.contains(&b'\n'), "a question is one line");
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = Vec::new();
        let sent = ends.input.write_all(&[question, b"\n"].concat());
        let asked = sent.and_then(|()| ends.input.flush());
        let heard = asked.and_then(|()| ends.output.read_until(b'\n', &mut answer));
        if heard.is_err() || answer.pop() != Some(b'\n') {
            let status = ends.child.wait();
            panic!("the program gave no answer and ended: {heard:?}, {status:?}");
        }
        answer
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_its_answer() {
        let echo = JsonLineProcess::start("cat".as_ref(), &[]);
        assert_eq!(echo.send_request(b"[1]"), b"[1]");
        assert_eq!(echo.send_request(b"{}"), b"{}");
    }

    #[test]
    #[should_panic(expected = "gave no answer")]
    fn a_program_that_ends_is_noticed() {
        JsonLineProcess::start("true".as_ref(), &[]).send_request(b"[1]");
    }
}
