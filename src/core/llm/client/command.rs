//! A provider that starts a program, which reads a prompt and writes an answer.
//!
//! The system's shell runs the user's command line, so pipes and quotes work as usual. Text from transcripts goes only to the
//! program's standard input, never to the shell.

mod group;
mod guard;
mod lines;
mod stderr;
mod words;

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::secrets::Secrets;
use super::too_long::is_too_long;
use super::{Answer, Provider, Purpose, Question, Rejection, Usage, seconds_since};

use group::Group;
pub use group::end_programs;
pub use lines::{LineError, LineProgram, MAX_LINE_BYTES};
use stderr::StderrTail;
pub use words::split_words;

/// A program that reads the prompt from standard input and writes the answer to standard output.
pub(super) struct Program {
    pub command: String,
    /// Time limit of one answer; the program is killed when it is over.
    pub timeout: Duration,
    pub secrets: Secrets,
}

/// Longer answers are rejected.
const MAX_ANSWER_BYTES: usize = 32 << 20;
/// The environment variable that passes the maximum tokens of the answer to the program.
const MAX_TOKENS_VARIABLE: &str = "RECOMPACT_MAX_TOKENS";
/// Exit codes of shells for a program that does not exist or cannot be started.
const NOT_STARTED_CODES: [i32; 3] = [126, 127, 9009];
/// Time between two checks whether the program ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

impl Provider for Program {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        question.check(Purpose::Write)?;
        let began = Instant::now();
        let mut shell = shell(&self.command);
        shell.env(MAX_TOKENS_VARIABLE, question.max_tokens.to_string());
        let mut group = Group::spawn(shell)
            .map_err(|error| Rejection::ProviderFailed(self.message(&format!("it cannot be started: {error}"))))?;
        let (status, output, error) = self.exchange(&mut group.child, question, began + self.timeout)?;
        if !status.success() {
            return Err(self.failure(status, &error));
        }
        Ok(Answer { seconds: seconds_since(began), ..self.read(&output)? })
    }

    fn read(&self, answer: &[u8]) -> Result<Answer, Rejection> {
        let text = self.secrets.hide(&String::from_utf8_lossy(answer));
        Ok(Answer { text, logprobs: Vec::new(), cut_off: false, usage: Usage::default(), seconds: 0.0 })
    }
}

impl Program {
    fn message(&self, what: &str) -> String {
        format!("`{}`: {what}", self.secrets.one_line(&self.command))
    }

    /// Sends the question and waits until the program ends. Returns its exit status, its output and its errors. Threads serve
    /// the three pipes in parallel, so no side can block the other.
    fn exchange(
        &self,
        child: &mut Child,
        question: &Question,
        end: Instant,
    ) -> Result<(ExitStatus, Vec<u8>, StderrTail), Rejection> {
        let too_late = || {
            let seconds = self.timeout.as_secs_f64();
            Rejection::Lost(self.message(&format!("no answer within {seconds} s; --timeout allows more")))
        };
        if let Some(mut stdin) = child.stdin.take() {
            let prompt = prompt_text(question);
            // An error is ignored: the program does not have to read the prompt.
            thread::spawn(move || stdin.write_all(prompt.as_bytes()));
        }
        let output = child.stdout.take().map(|pipe| run_in_background(move || read_answer(pipe)));
        let error = StderrTail::new(child.stderr.take());
        let output = receive_before(output, end).map_err(|()| too_late())?;
        if output.len() > MAX_ANSWER_BYTES {
            return Err(Rejection::Declined(self.message(&format!("its answer is longer than {} MiB", MAX_ANSWER_BYTES >> 20))));
        }
        if !error.is_complete_before(end) {
            return Err(too_late());
        }
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok((status, output, error)),
                Ok(None) if Instant::now() < end => thread::sleep(POLL_INTERVAL),
                Ok(None) => return Err(too_late()),
                Err(error) => return Err(Rejection::Lost(self.message(&error.to_string()))),
            }
        }
    }

    fn failure(&self, status: ExitStatus, error: &StderrTail) -> Rejection {
        let last = self.secrets.one_line(error.last_line().as_deref().unwrap_or("it wrote no error message"));
        match status.code() {
            _ if is_too_long(&last) => Rejection::TooLong(last),
            Some(code) if NOT_STARTED_CODES.contains(&code) => {
                Rejection::ProviderFailed(self.message(&format!("it cannot be started: {last}")))
            }
            _ => Rejection::Lost(self.message(&format!("it failed ({status}): {last}"))),
        }
    }
}

/// Returns the system prompt, an empty line, and the user message.
fn prompt_text(question: &Question) -> String {
    if question.system.is_empty() { question.user.clone() } else { format!("{}\n\n{}", question.system, question.user) }
}

fn run_in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (send, receive) = channel();
    thread::spawn(move || send.send(work()));
    receive
}

fn receive_before(bytes: Option<Receiver<Vec<u8>>>, end: Instant) -> Result<Vec<u8>, ()> {
    match bytes.map(|bytes| bytes.recv_timeout(end.saturating_duration_since(Instant::now()))) {
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(RecvTimeoutError::Timeout)) => Err(()),
        Some(Err(RecvTimeoutError::Disconnected)) | None => Ok(Vec::new()),
    }
}

/// Reads up to one byte more than [`MAX_ANSWER_BYTES`], so that a longer answer is detected.
fn read_answer(pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.take(MAX_ANSWER_BYTES as u64 + 1).read_to_end(&mut bytes);
    bytes
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
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
