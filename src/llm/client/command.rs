//! Any program that reads a prompt and writes an answer.
//!
//! Its command line is the user's own and goes to the system's shell, so that pipes and quotes mean what they mean there. What
//! transcripts say goes to its standard input and nowhere else.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::secrets::Secrets;
use super::too_long::is_too_long;
use super::{Answer, Provider, Question, Rejection, Usage, seconds_since};

/// The prompt on its standard input; what it writes to standard output is the answer.
pub(super) struct Program {
    pub command: String,
    /// For one answer; then it is killed.
    pub timeout: Duration,
    pub secrets: Secrets,
}

/// In the program's environment: the most tokens the answer may have.
const LIMIT: &str = "RECOMPACT_MAX_TOKENS";
/// An answer longer than this is none.
const MOST_BYTES: usize = 32 << 20;
/// Of what it writes to standard error, so much is kept: the end.
const MOST_BYTES_OF_ERROR: usize = 64 << 10;
/// What shells say where there is no such program, or it cannot be started.
const NOT_STARTED: [i32; 3] = [126, 127, 9009];
/// How often is looked whether it ended.
const LOOK: Duration = Duration::from_millis(5);

impl Provider for Program {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        let began = Instant::now();
        let mut child = started(&self.command, question.max_tokens)
            .map_err(|error| Rejection::Gone(self.says(&format!("it cannot be started: {error}"))))?;
        let said = self.conversed(&mut child, question, began + self.timeout);
        if said.is_err() {
            kill(&mut child);
        }
        let (status, output, error) = said?;
        if !status.success() {
            return Err(self.failed(status, &error));
        }
        let text = String::from_utf8_lossy(&output);
        Ok(Answer { text: self.secrets.hide(&text), cut_off: false, usage: Usage::default(), seconds: seconds_since(began) })
    }
}

impl Program {
    fn says(&self, what: &str) -> String {
        format!("`{}`: {what}", self.secrets.told(&self.command))
    }

    /// Hands it the question, and waits for its end and for what it writes. All three pipes move at once: neither side waits
    /// for the other, whatever it reads first, or never.
    fn conversed(
        &self,
        child: &mut Child,
        question: &Question,
        end: Instant,
    ) -> Result<(ExitStatus, Vec<u8>, Vec<u8>), Rejection> {
        let too_late = || {
            let seconds = self.timeout.as_secs_f64();
            Rejection::Lost(self.says(&format!("no answer within {seconds} s; --timeout gives it longer")))
        };
        if let Some(mut stdin) = child.stdin.take() {
            let prompt = prompt(question);
            // It need not read it.
            thread::spawn(move || stdin.write_all(prompt.as_bytes()));
        }
        let output = child.stdout.take().map(|pipe| in_background(move || beginning(pipe)));
        let error = child.stderr.take().map(|pipe| in_background(move || ending(pipe)));
        let output = in_time(output, end).map_err(|()| too_late())?;
        if output.len() > MOST_BYTES {
            return Err(Rejection::Declined(self.says(&format!("its answer is longer than {} MiB", MOST_BYTES >> 20))));
        }
        let error = in_time(error, end).map_err(|()| too_late())?;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok((status, output, error)),
                Ok(None) if Instant::now() < end => thread::sleep(LOOK),
                Ok(None) => return Err(too_late()),
                Err(error) => return Err(Rejection::Lost(self.says(&error.to_string()))),
            }
        }
    }

    fn failed(&self, status: ExitStatus, error: &[u8]) -> Rejection {
        let error = String::from_utf8_lossy(error);
        let last = error.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
        let last = self.secrets.told(last);
        match status.code() {
            _ if is_too_long(&last) => Rejection::TooLong(last),
            Some(code) if NOT_STARTED.contains(&code) => Rejection::Gone(self.says(&format!("it cannot be started: {last}"))),
            _ => Rejection::Lost(self.says(&format!("it failed ({status}): {last}"))),
        }
    }
}

/// The instructions, an empty line, and the rest.
fn prompt(question: &Question) -> String {
    match question.system.is_empty() {
        true => question.user.clone(),
        false => format!("{}\n\n{}", question.system, question.user),
    }
}

fn started(command: &str, max_tokens: u64) -> io::Result<Child> {
    let pipes = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    let [stdin, stdout, stderr] = pipes;
    shell(command).env(LIMIT, max_tokens.to_string()).stdin(stdin).stdout(stdout).stderr(stderr).spawn()
}

/// In a group of its own: it ends with all that it started, and Ctrl-C lets it finish what is paid.
#[cfg(unix)]
fn shell(command: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).process_group(0);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    #[cfg(windows)]
    std::os::windows::process::CommandExt::raw_arg(shell.arg("/C"), command);
    #[cfg(not(windows))]
    shell.args(["/C", command]);
    shell
}

/// Ends it, and on Unix what it started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    let _ = Command::new("sh").args(["-c", "kill -s KILL -- \"-$1\" 2>/dev/null", "sh", &child.id().to_string()]).status();
    let _ = child.kill();
    let _ = child.wait();
}

fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (send, receive) = channel();
    thread::spawn(move || send.send(work()));
    receive
}

fn in_time(bytes: Option<Receiver<Vec<u8>>>, end: Instant) -> Result<Vec<u8>, ()> {
    match bytes.map(|bytes| bytes.recv_timeout(end.saturating_duration_since(Instant::now()))) {
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(RecvTimeoutError::Timeout)) => Err(()),
        Some(Err(RecvTimeoutError::Disconnected)) | None => Ok(Vec::new()),
    }
}

/// What is written, up to one byte more than an answer may have.
fn beginning(pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes);
    bytes
}

/// The end of what is written; all of it is read, so that nobody waits for us.
fn ending(mut pipe: impl Read) -> Vec<u8> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 8192]);
    while let Ok(read @ 1..) = pipe.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..read]);
        bytes.drain(..bytes.len().saturating_sub(MOST_BYTES_OF_ERROR));
    }
    bytes
}
