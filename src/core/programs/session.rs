//! One session with a program.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::pool::Pool;
use super::protocol;
use crate::engine::external::{Decision, ExternalError, ExternalRequest, ExternalSession, SessionStart, Shape};
use crate::llm::client::LineProgram;

/// A session. When it is over, its program waits for the next one.
pub(super) struct Session {
    pool: Arc<Pool>,
    command: String,
    /// Found with the first answer.
    shape: Shape,
    timeout: Duration,
    /// `None` after an error: the program was ended.
    program: Option<LineProgram>,
    /// A program that was started for this session only, and is asked the same.
    second: Option<LineProgram>,
    /// Number of answers of the second program.
    repeated: usize,
    /// The program waits for a summary, so it cannot begin another session.
    awaits_summary: bool,
}

impl Session {
    /// Begins a session with a program, and with a second one that is to answer the same.
    pub(super) fn begin(
        pool: Arc<Pool>,
        command: &str,
        start: &SessionStart,
        program: LineProgram,
        second: Option<LineProgram>,
    ) -> Result<Self, String> {
        let shape = start.shape.unwrap_or(Shape::Anthropic);
        let (timeout, program, command) = (start.timeout, Some(program), command.to_owned());
        let mut session = Self { pool, command, shape, timeout, program, second, repeated: 0, awaits_summary: false };
        let answer = session.exchange(protocol::start(start))?;
        session.shape = session.checked(protocol::started(&answer, start.shape).map_err(|error| error.to_string()))?;
        Ok(session)
    }

    fn decision(&mut self, line: Vec<u8>, call: usize) -> Result<Decision, String> {
        let answer = self.exchange(line)?;
        let decision = self.checked(protocol::decision(&answer, call, self.shape).map_err(|error| error.to_string()))?;
        self.awaits_summary = matches!(decision, Decision::Ask(_));
        Ok(decision)
    }

    /// Sends a line and returns the answer.
    fn exchange(&mut self, line: Vec<u8>) -> Result<String, String> {
        let Some(program) = &mut self.program else { return Err("it was ended after an error".to_owned()) };
        if let Err(error) = program.check_idle() {
            return self.checked(Err(error.to_string()));
        }
        if let Some(second) = &self.second {
            second.send(line.clone());
        }
        program.send(line);
        let answer = program.receive(self.timeout).map_err(|error| error.to_string());
        let answer = self.checked(answer)?;
        if let Some(second) = &mut self.second {
            let again = second.receive(self.timeout).map_err(|error| format!("started again and asked the same, {error}"));
            let same = again.and_then(|again| if is_same(&answer, &again) { Ok(()) } else { Err(difference(&answer, &again)) });
            self.checked(same)?;
            self.repeated += 1;
        }
        Ok(answer)
    }

    /// Ends the program after an error.
    fn checked<T>(&mut self, result: Result<T, String>) -> Result<T, String> {
        if result.is_err() {
            self.abandon();
        }
        result
    }
}

impl ExternalSession for Session {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn request(&mut self, request: &ExternalRequest) -> Result<Decision, ExternalError> {
        Ok(self.decision(protocol::request(request, self.shape), request.call)?)
    }

    fn summary(&mut self, call: usize, summary: Result<&str, &str>) -> Result<Decision, ExternalError> {
        Ok(self.decision(protocol::summary(call, summary), call)?)
    }

    fn abandon(&mut self) {
        (self.program, self.second) = (None, None);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(program) = self.program.take() else { return };
        if self.second.is_some() {
            self.pool.count_repeated(&self.command, self.repeated);
        }
        if !self.awaits_summary {
            self.pool.give_back(&self.command, program);
        }
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one == other || matches!((parse(one), parse(other)), (Some(one), Some(other)) if one == other)
}

fn parse(line: &str) -> Option<Value> {
    serde_json::from_str(line).ok()
}

/// Says where two answers differ first.
fn difference(one: &str, other: &str) -> String {
    let at = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    format!("it is not deterministic: started again and asked the same, its answer differs from byte {} on", at + 1)
}
