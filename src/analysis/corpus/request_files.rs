//! Files that hold one request each: those of one conversation count as one transcript, the last of them.

use std::collections::HashMap;
use std::path::Path;

use super::listings::Listings;
use crate::transcript::format::LoggedRequest;
use crate::transcript::source::Input;

/// The part of a file in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// The file of this name has a later request that repeats this one.
    Earlier(String),
    /// The last request; these files hold the earlier ones, in order.
    Last(Vec<Input>),
}

/// The parts of the files of each folder, by name, found when the first of them is read.
#[derive(Default)]
pub(super) struct RequestFiles(Listings<HashMap<String, Part>>);

impl RequestFiles {
    /// Returns the part of a file; `None` if it is alone. `files` are those among which the others are, and `read` returns the request
    /// of one.
    pub(super) fn part(
        &self,
        input: &Input,
        files: impl FnOnce() -> Vec<Input>,
        read: impl Fn(&Input) -> Option<LoggedRequest>,
    ) -> Option<Part> {
        let folder = folder(&input.name);
        let parts = self.0.of(Path::new(folder), |_| {
            let files = files().into_iter().filter(|other| self::folder(&other.name) == folder);
            parts(files.filter_map(|other| read(&other).map(|request| (other, request))).collect())
        });
        parts.get(&input.name).cloned()
    }
}

fn folder(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Finds the last request of each file's conversation: the longest one that repeats its messages and, if several do, its response.
fn parts(mut requests: Vec<(Input, LoggedRequest)>) -> HashMap<String, Part> {
    // Stable: of two equal requests, the later file counts.
    requests.sort_by_key(|(_, request)| request.messages());
    let mut parts: HashMap<String, Part> = HashMap::new();
    let mut earlier: HashMap<&str, Vec<Input>> = HashMap::new();
    for (n, (file, request)) in requests.iter().enumerate() {
        let repeats: Vec<_> = requests[n + 1..].iter().filter(|(_, later)| later.repeats(request)).collect();
        let answers = repeats.iter().rev().find(|(_, later)| later.answers(request));
        if let Some((last, _)) = answers.or(repeats.last()) {
            parts.insert(file.name.clone(), Part::Earlier(last.name.clone()));
            earlier.entry(&last.name).or_default().push(file.clone());
        }
    }
    let lasts = earlier.into_iter().filter(|(last, _)| !parts.contains_key(*last)).collect::<Vec<_>>();
    parts.extend(lasts.into_iter().map(|(last, files)| (last.to_owned(), Part::Last(files))));
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

    fn file(name: &str) -> Input {
        Input::built_in(name.to_owned(), &[])
    }

    fn found(requests: &[(&str, &str)]) -> Vec<Option<Part>> {
        let numbered = requests.iter().enumerate();
        let numbered = numbered.map(|(nth, (said, response))| (file(&nth.to_string()), request(said, response))).collect();
        let parts = parts(numbered);
        (0..requests.len()).map(|at| parts.get(&at.to_string()).cloned()).collect()
    }

    fn earlier(last: &str) -> Option<Part> {
        Some(Part::Earlier(last.to_owned()))
    }

    fn last<const N: usize>(earlier: [&str; N]) -> Option<Part> {
        Some(Part::Last(earlier.map(file).to_vec()))
    }

    #[test]
    fn requests_that_repeat_one_another_are_one_conversation() {
        let chain = [("u a v", "b"), ("u", "a"), ("title?", "t"), ("u a v b w", "c")];
        let expected = [earlier("3"), earlier("3"), None, last(["1", "0"])];
        assert_eq!(found(&chain), expected);
    }

    #[test]
    fn two_runs_of_one_task_are_told_apart_by_their_responses() {
        let runs = [("u", "a"), ("u a v", "x"), ("u", "b"), ("u b v", "x")];
        let expected = [earlier("1"), last(["0"]), earlier("3"), last(["2"])];
        assert_eq!(found(&runs), expected);
    }

    #[test]
    fn files_of_other_folders_are_not_asked() {
        let files = RequestFiles::default();
        let names = ["a/1.json", "a/2.json", "b/3.json"].map(file);
        let part = files.part(
            &names[0],
            || names.to_vec(),
            |other| {
                assert_ne!(other.name, "b/3.json", "another folder");
                Some(if *other == names[0] { request("u", "a") } else { request("u a v", "b") })
            },
        );
        assert_eq!(part, earlier("a/2.json"));
    }
}
