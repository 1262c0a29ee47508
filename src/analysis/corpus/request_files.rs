//! Files that hold one request each: those of one conversation count as one transcript, the last of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::transcript::format::LoggedRequest;

/// The part of a file in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// The file at this index has a later request that repeats this one.
    Earlier(usize),
    /// The last request; the files at these indices hold the earlier ones, in order.
    Last(Vec<usize>),
}

type Parts = Arc<HashMap<usize, Part>>;

/// The parts of the files of each folder, found when the first of them is read.
#[derive(Default)]
pub(super) struct RequestFiles(Mutex<HashMap<String, Parts>>);

impl RequestFiles {
    /// Returns the part of a file; `None` if it is alone. `read` returns the request of another file.
    pub(super) fn part(&self, names: &[&str], at: usize, read: impl Fn(usize) -> Option<LoggedRequest>) -> Option<Part> {
        let folder = folder(names[at]);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = known.entry(folder.to_owned()).or_insert_with(|| {
            let files = (0..names.len()).filter(|other| self::folder(names[*other]) == folder);
            Arc::new(parts(files.filter_map(|other| Some((other, read(other)?))).collect()))
        });
        parts.get(&at).cloned()
    }
}

fn folder(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Finds the last request of each file's conversation: the longest one that repeats its messages and, if several do, its response.
fn parts(mut requests: Vec<(usize, LoggedRequest)>) -> HashMap<usize, Part> {
    // Stable: of two equal requests, the later file counts.
    requests.sort_by_key(|(_, request)| request.messages());
    let mut parts: HashMap<usize, Part> = HashMap::new();
    let mut earlier: HashMap<usize, Vec<usize>> = HashMap::new();
    for (n, (at, request)) in requests.iter().enumerate() {
        let repeats: Vec<_> = requests[n + 1..].iter().filter(|(_, later)| later.repeats(request)).collect();
        let answers = repeats.iter().rev().find(|(_, later)| later.answers(request));
        if let Some((last, _)) = answers.or(repeats.last()) {
            parts.insert(*at, Part::Earlier(*last));
            earlier.entry(*last).or_default().push(*at);
        }
    }
    let lasts = earlier.into_iter().filter(|(last, _)| !parts.contains_key(last)).collect::<Vec<_>>();
    parts.extend(lasts.into_iter().map(|(last, files)| (last, Part::Last(files))));
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A request with these messages, the roles alternating, and its response.
    fn request(said: &str, response: &str) -> LoggedRequest {
        let message =
            |(at, text): (usize, &str)| json!({"role": if at % 2 == 0 { "user" } else { "assistant" }, "content": text});
        let messages: Vec<Value> = said.split(' ').enumerate().map(message).collect();
        let file = json!({"messages": messages, "response": {"role": "assistant", "content": response}});
        LoggedRequest::new(file.to_string().as_bytes()).expect("a request")
    }

    fn found(requests: &[(&str, &str)]) -> Vec<Option<Part>> {
        let numbered = requests.iter().map(|(said, response)| request(said, response)).enumerate().collect();
        let parts = parts(numbered);
        (0..requests.len()).map(|at| parts.get(&at).cloned()).collect()
    }

    #[test]
    fn requests_that_repeat_one_another_are_one_conversation() {
        let chain = [("u a v", "b"), ("u", "a"), ("title?", "t"), ("u a v b w", "c")];
        let expected = [Some(Part::Earlier(3)), Some(Part::Earlier(3)), None, Some(Part::Last(vec![1, 0]))];
        assert_eq!(found(&chain), expected);
    }

    #[test]
    fn two_runs_of_one_task_are_told_apart_by_their_responses() {
        let runs = [("u", "a"), ("u a v", "x"), ("u", "b"), ("u b v", "x")];
        let expected = [Some(Part::Earlier(1)), Some(Part::Last(vec![0])), Some(Part::Earlier(3)), Some(Part::Last(vec![2]))];
        assert_eq!(found(&runs), expected);
    }

    #[test]
    fn files_of_other_folders_are_not_asked() {
        let files = RequestFiles::default();
        let names = ["a/1.json", "a/2.json", "b/3.json"];
        let part = files.part(&names, 0, |at| {
            assert!(at < 2, "another folder");
            Some(if at == 0 { request("u", "a") } else { request("u a v", "b") })
        });
        assert_eq!(part, Some(Part::Earlier(1)));
    }
}
