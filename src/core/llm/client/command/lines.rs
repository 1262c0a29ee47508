//! A program that stays: it reads lines from standard input and answers each with a line on standard output.
//!
//! It is started without a shell and without this program's environment. Threads serve its three pipes, so that a program which
//! does not read, does not answer or writes without end costs its caller no more than the time limit.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::super::secrets::Secrets;
use super::group::Group;
use super::stderr::StderrTail;

/// Longer lines are refused.
pub const MAX_LINE_BYTES: usize = 32 << 20;
/// Lines that are read ahead; a program that writes more waits.
const READ_AHEAD: usize = 2;
/// Time between two checks whether the program ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long the last words and the exit status of a program are awaited after it closed its output.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Lines of standard error in the message about a program that ended: the last one of a stack trace often says nothing.
const LAST_LINES: usize = 10;
/// Spaces before such a line, at most.
const MAX_INDENT: usize = 24;
/// Variables that a program gets in any case: without them, systems find no other program.
const ALWAYS_PASSED: &[&str] = if cfg!(windows) { &["PATH", "PATHEXT", "SystemRoot"] } else { &["PATH"] };

/// A running program that answers lines. It ends, with everything it started, when this is dropped.
pub struct LineProgram {
    // Dropped first: the threads of the pipes end when the program does.
    group: Group,
    input: Sender<Vec<u8>>,
    output: Receiver<Result<String, LineError>>,
    errors: StderrTail,
}

/// Why a program gave no line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("it did not answer within {} s", .0.as_secs_f64())]
    Late(Duration),
    /// With the exit status, if it is known, and the last lines of standard error.
    #[error("it ended ({status}):{}", last_words(.errors))]
    Ended { status: String, errors: Vec<String> },
    #[error("it closed its output")]
    Closed,
    #[error("it wrote a line before it was asked")]
    Unasked,
    #[error("its answer is longer than {} MiB", MAX_LINE_BYTES >> 20)]
    TooLong,
    #[error("its answer is not UTF-8")]
    NotUtf8,
    #[error("its last line is not complete: it has no line break")]
    HalfLine,
}

impl LineProgram {
    /// Starts a program by its words: the program, then its arguments. Its environment is `variables` and the search path.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be started.
    pub fn start(words: &[String], variables: &[(String, OsString)]) -> io::Result<Self> {
        let Some((program, arguments)) = words.split_first() else { return Err(io::ErrorKind::NotFound.into()) };
        let mut command = Command::new(program);
        command.args(arguments).env_clear();
        command.envs(ALWAYS_PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let mut group = Group::spawn(command)?;
        let (input, lines) = channel::<Vec<u8>>();
        if let Some(mut stdin) = group.child.stdin.take() {
            thread::spawn(move || while lines.recv().is_ok_and(|line| stdin.write_all(&line).is_ok()) {});
        }
        let (send, output) = sync_channel(READ_AHEAD);
        if let Some(stdout) = group.child.stdout.take() {
            thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                while let Some(line) = read_line(&mut stdout) {
                    let is_last = line.is_err();
                    if send.send(line).is_err() || is_last {
                        break;
                    }
                }
            });
        }
        let errors = StderrTail::new(group.child.stderr.take());
        Ok(Self { group, input, output, errors })
    }

    /// Sends a line, which must end in a line break. Does not wait until the program reads it.
    pub fn send(&self, line: Vec<u8>) {
        // If the program is gone, the next answer says so.
        let _ = self.input.send(line);
    }

    /// Waits for a line.
    ///
    /// # Errors
    ///
    /// Fails if there is none within the time limit, if the program ended, or if the line cannot be used.
    pub fn receive(&mut self, limit: Duration) -> Result<String, LineError> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left.min(POLL_INTERVAL)) {
                Ok(Err(LineError::HalfLine)) => return Err(self.half_line()),
                Ok(line) => return line,
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                // A child of the program may hold its output open.
                Err(RecvTimeoutError::Timeout) if self.has_ended() => {
                    return self.output.try_recv().unwrap_or_else(|_| Err(self.ended()));
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(LineError::Late(limit)),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Checks that the program waits for a line.
    ///
    /// # Errors
    ///
    /// Fails if it ended, or wrote something that it was not asked for.
    pub fn check_idle(&mut self) -> Result<(), LineError> {
        match self.output.try_recv() {
            Ok(line) => Err(line.err().unwrap_or(LineError::Unasked)),
            Err(TryRecvError::Empty) if !self.has_ended() => Ok(()),
            Err(_) => Err(self.ended()),
        }
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.group.child.try_wait(), Ok(None))
    }

    /// A line without its end: the program may have crashed while it wrote it.
    fn half_line(&mut self) -> LineError {
        let ended = self.ended();
        let has_failed = matches!(self.group.child.try_wait(), Ok(Some(status)) if !status.success());
        if has_failed { ended } else { LineError::HalfLine }
    }

    fn ended(&mut self) -> LineError {
        let end = Instant::now() + LAST_WORDS;
        while !self.has_ended() && Instant::now() < end {
            thread::sleep(POLL_INTERVAL / 10);
        }
        let status = match self.group.child.try_wait() {
            Ok(Some(status)) => status.to_string(),
            Ok(None) => return LineError::Closed,
            Err(error) => error.to_string(),
        };
        self.errors.is_complete_before(end);
        LineError::Ended { status, errors: self.errors.last_lines(LAST_LINES) }
    }
}

/// What a program wrote last, after a colon: one line beside it, several below it, each as far to the right as it was.
fn last_words(lines: &[String]) -> String {
    let shown = |line: &str| Secrets::new(Vec::new()).one_line(line);
    match lines {
        [] => " it wrote no error message".to_owned(),
        [line] => format!(" {}", shown(line)),
        several => several.iter().map(|line| format!("\n    {}{}", indent(line), shown(line))).collect(),
    }
}

/// The spaces before a line; a tab counts as four.
fn indent(line: &str) -> String {
    let before = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    let width: usize = before.map(|c| if c == '\t' { 4 } else { 1 }).sum();
    " ".repeat(width.min(MAX_INDENT))
}

/// Reads a line without its line break; `None` at the end.
fn read_line(pipe: &mut impl BufRead) -> Option<Result<String, LineError>> {
    let mut line = Vec::new();
    loop {
        let bytes = match pipe.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => &[],
        };
        if bytes.is_empty() {
            return if line.is_empty() { None } else { Some(Err(LineError::HalfLine)) };
        }
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.unwrap_or(bytes.len())];
        if line.len() + part.len() > MAX_LINE_BYTES {
            return Some(Err(LineError::TooLong));
        }
        line.extend_from_slice(part);
        let read = part.len() + usize::from(end.is_some());
        pipe.consume(read);
        if end.is_some() {
            return Some(String::from_utf8(line).map_err(|_| LineError::NotUtf8));
        }
    }
}
