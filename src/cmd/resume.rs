//! `--resume RESULTS.json`: going on with a study that was stopped.

use std::collections::HashMap;
use std::path::Path;

use recompact::results::{Finished, Results, Unfinished};
use recompact::study::Part;
use recompact::text::many;

use super::Failure;
use super::input::Source;

/// What is done already.
pub struct Resumed {
    path: String,
    done: HashMap<(String, String), serde_json::Value>,
}

impl Resumed {
    /// Reads the saved results. They must be answers to the same question.
    pub fn load(path: &Path, question: &[(String, String)]) -> Result<Self, Failure> {
        let failed = |why: String| Failure::Usage(format!("--resume {}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let results = Results::from_json(&text).map_err(|error| failed(error.to_string()))?;
        let Some(unfinished) = results.unfinished else {
            return Err(failed("this study came to its end: there is nothing to go on with".to_owned()));
        };
        if let Some(why) = differs(&unfinished.question, question) {
            return Err(failed(format!("it was begun with {why}; what is done of it does not fit")));
        }
        let key = |finished: Finished| ((finished.transcript, finished.hash), finished.part);
        Ok(Self { path: path.display().to_string(), done: unfinished.done.into_iter().map(key).collect() })
    }

    /// What was done of this transcript, if it is still the same.
    pub fn part(&self, source: Source) -> Option<Worked> {
        let part = self.done.get(&(source.name.to_owned(), hash(source)))?;
        match serde_json::from_value(part.clone()) {
            Ok(part) => Some(Worked { transcript: source.name.to_owned(), hash: hash(source), part }),
            Err(error) => {
                eprintln!("{}: what is done of {} cannot be read ({error}); it is replayed again", self.path, source.name);
                None
            }
        }
    }
}

/// What was begun with another value.
fn differs(begun: &[(String, String)], now: &[(String, String)]) -> Option<String> {
    let pairs = begun.iter().zip(now).find(|(begun, now)| begun != now);
    match pairs {
        Some(((option, begun), (same, now))) if option == same => match option.as_str() {
            "policies" => Some("other policies".to_owned()),
            option => Some(format!("{option} {begun}, not {now}")),
        },
        Some(_) => Some("other options".to_owned()),
        None if begun.len() != now.len() => Some("other options".to_owned()),
        None => None,
    }
}

/// A transcript that was worked on, and which it was.
pub struct Worked {
    transcript: String,
    hash: String,
    pub part: Part,
}

impl Worked {
    pub fn new(source: Source, part: Part) -> Self {
        Self { transcript: source.name.to_owned(), hash: hash(source), part }
    }
}

fn hash(source: Source) -> String {
    format!("{:032x}", source.hash)
}

/// What it takes to go on, where some transcripts are left.
pub fn unfinished(worked: &[Worked], transcripts: usize, question: Vec<(String, String)>) -> Result<Unfinished, Failure> {
    let finished = |worked: &Worked| {
        let part = serde_json::to_value(&worked.part)?;
        Ok(Finished { transcript: worked.transcript.clone(), hash: worked.hash.clone(), part })
    };
    let done: Result<Vec<_>, serde_json::Error> = worked.iter().map(finished).collect();
    let failed = |error| Failure::Usage(format!("{} cannot be saved: {error}", many(worked.len(), "finished transcript")));
    Ok(Unfinished { transcripts, question, done: done.map_err(failed)? })
}
