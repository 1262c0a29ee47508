//! Synthetic sessions of a coding agent, independent of a transcript format.
//!
//! A seed and a number of messages give the same session everywhere. The proportions are those of recorded sessions: a user
//! request about every forty messages, most calls to a shell or a file reader, results with a median of 600 characters and a
//! maximum of tens of thousands, and files that are read again after edits.

mod language;
mod random;

use serde_json::{Value, json};

use language::Language;
use random::Random;

/// A session, response by response.
pub struct Trace {
    pub responses: Vec<Response>,
}

/// One response of the model.
pub struct Response {
    /// The user's text before it. Without one, the response follows the tool results of the previous response.
    pub request: Option<String>,
    pub thinking: Option<String>,
    pub text: Option<String>,
    pub calls: Vec<ToolCall>,
}

/// A tool call and its result.
pub struct ToolCall {
    pub id: String,
    pub name: &'static str,
    pub input: Value,
    pub result: String,
}

/// Bounds of the deciles of a result's length in characters.
const RESULT_CHARS: [usize; 11] = [20, 80, 180, 300, 440, 600, 900, 1_500, 2_600, 5_000, 12_000];
/// One result in a hundred is longer than all deciles.
const HUGE_RESULT_CHARS: std::ops::Range<usize> = 20_000..60_000;
/// Average responses per user request; a response is two messages.
const RESPONSES_PER_TURN: usize = 20;
const FILES: usize = 40;
/// After this many responses the agent changes to other files with other names.
const RESPONSES_PER_PART: usize = 200;

impl Trace {
    /// Generates a session of this many messages of user and assistant. The number is even, because the last message is the
    /// final reply.
    pub fn new(seed: u64, messages: usize) -> Self {
        let mut world = World::new(seed);
        let responses = messages / 2;
        let mut begins_turn = true;
        let mut response = |index: usize| {
            if index > 0 && index.is_multiple_of(RESPONSES_PER_PART) {
                world = World { calls: world.calls, ..World::new(world.random.next()) };
            }
            let ends_turn = index + 1 == responses || world.random.below(RESPONSES_PER_TURN) == 0;
            world.response(std::mem::replace(&mut begins_turn, ends_turn), ends_turn)
        };
        Self { responses: (0..responses).map(&mut response).collect() }
    }
}

/// The project the agent works on.
struct World {
    random: Random,
    language: Language,
    /// Contents, in the order of [`Language::paths`].
    files: Vec<String>,
    calls: usize,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let language = Language::new(FILES, &mut random);
        let mut file = |_| {
            let chars = random.between(HUGE_RESULT_CHARS);
            language.fill(chars, &mut random, Language::code_line)
        };
        let files = (0..FILES).map(&mut file).collect();
        Self { random, language, files, calls: 0 }
    }

    fn response(&mut self, begins_turn: bool, ends_turn: bool) -> Response {
        // Draw the number even at the end of a turn, to keep the stream of random numbers.
        let is_parallel = self.random.chance(15);
        let calls = if ends_turn {
            0
        } else if is_parallel {
            self.random.between(2..5)
        } else {
            1
        };
        Response {
            request: begins_turn.then(|| self.prose(60..900)),
            thinking: self.random.chance(40).then(|| self.prose(200..1_500)),
            text: (ends_turn || self.random.chance(60)).then(|| self.prose(60..600)),
            calls: (0..calls).map(|_| self.call()).collect(),
        }
    }

    fn prose(&mut self, chars: std::ops::Range<usize>) -> String {
        let chars = self.random.between(chars);
        self.language.fill(chars, &mut self.random, Language::sentence)
    }

    fn call(&mut self) -> ToolCall {
        self.calls += 1;
        let id = format!("toolu_{:08x}{:05}", self.random.next() as u32, self.calls);
        let file = self.random.below(FILES);
        let path = self.language.paths[file].clone();
        let (name, input, result) = match self.random.below(20) {
            0..10 => {
                let command = format!("cargo test {} -- {}", self.language.name(&mut self.random), path);
                let chars = self.result_chars();
                let result = self.language.fill(chars, &mut self.random, Language::log_line);
                ("bash", json!({"command": command, "timeout": 120_000}), result)
            }
            10..17 => ("read_file", json!({"path": path}), self.part_of(file)),
            _ => {
                let (old, new) = self.edit(file);
                ("edit_file", json!({"path": path, "old_text": old, "new_text": new}), format!("Edited {path}"))
            }
        };
        ToolCall { id, name, input, result }
    }

    fn result_chars(&mut self) -> usize {
        if self.random.chance(1) {
            return self.random.between(HUGE_RESULT_CHARS);
        }
        let decile = self.random.below(RESULT_CHARS.len() - 1);
        self.random.between(RESULT_CHARS[decile]..RESULT_CHARS[decile + 1])
    }

    /// Returns the beginning of a file, up to a line end.
    fn part_of(&mut self, file: usize) -> String {
        let chars = self.result_chars();
        let content = &self.files[file];
        let end = content[chars.min(content.len())..].find('\n').map_or(content.len(), |line| chars + line);
        content[..end].to_owned()
    }

    /// Changes one of a file's first lines.
    fn edit(&mut self, file: usize) -> (String, String) {
        let line = self.random.below(100);
        let old = self.files[file].lines().nth(line).unwrap_or_default().to_owned();
        let mut new = self.language.fill(1, &mut self.random, Language::code_line);
        new.truncate(new.trim_end().len());
        self.files[file] = self.files[file].replacen(&old, &new, 1);
        (old, new)
    }
}
