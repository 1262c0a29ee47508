//! What a live driver prints: `tests/oracles/scripted_model.mjs` describes it.

use recompact::transcript::conversation::{Conversation, Usage};
use recompact::transcript::format::{self, ReadOptions};
use serde_json::Value;

use super::session::of_requests;

/// One run of a program.
pub struct Run {
    pub window: u64,
    pub max_output: u64,
    /// What the user typed.
    pub typed: Vec<String>,
    /// The transcript that the program wrote, if recompact reads its form.
    pub session: Option<String>,
    /// The requests of the agent, without those for a summary.
    pub requests: Vec<Real>,
    /// What the summarizer is asked at each compaction. Some programs ask twice: then it is both requests together.
    pub asked: Vec<Real>,
    /// For each of them, the index of the agent's request behind it.
    pub folds: Vec<usize>,
    /// For each of them, the message that says the summary.
    pub replies: Vec<String>,
}

/// One real request.
pub struct Real {
    pub items: Vec<Value>,
    /// The answer, as an item.
    pub said: Value,
    pub usage: Usage,
}

impl Real {
    /// The texts of user and model.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter(|item| item[0] != "result").filter_map(|item| item[1].as_str())
    }
}

impl Run {
    pub fn read(printed: &str) -> Self {
        let mut lines = printed.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of the driver"));
        let settings = lines.next().expect("a line with settings");
        let number = |line: &Value, field: &str| line[field].as_u64().unwrap_or_else(|| panic!("{field} is a number"));
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let mut run = Self {
            window: number(&settings, "window"),
            max_output: number(&settings, "max_output"),
            typed: settings["typed"].as_array().expect("texts").iter().map(text).collect(),
            session: settings["session"].as_str().map(str::to_owned),
            requests: Vec::new(),
            asked: Vec::new(),
            folds: Vec::new(),
            replies: Vec::new(),
        };
        let mut items: Vec<Value> = Vec::new();
        for line in lines {
            items.truncate(number(&line, "shared") as usize);
            items.extend_from_slice(line["then"].as_array().expect("items"));
            let usage = Usage { input: number(&line, "tokens"), output: number(&line, "output"), ..Usage::default() };
            let real = Real { items: items.clone(), said: line["said"].clone(), usage };
            if line["summary"] != true {
                if run.replies.len() < run.asked.len() {
                    let summary = run.asked.last().and_then(|asked| asked.said[1].as_str()).expect("a summary");
                    let reply =
                        real.texts().find(|text| text.contains(summary)).expect("the summary is in the request behind it");
                    run.replies.push(reply.to_owned());
                }
                run.requests.push(real);
            } else if run.folds.last() == Some(&run.requests.len()) {
                run.asked.last_mut().expect("one for each").items.extend(real.items);
            } else {
                run.folds.push(run.requests.len());
                run.asked.push(real);
            }
        }
        run
    }

    /// The session as recompact reads it; without a transcript, what the requests hold.
    pub fn conversation(&self) -> Conversation {
        let Some(session) = &self.session else { return of_requests(self) };
        let bytes = session.as_bytes();
        let mut reading = (format::sniff(bytes).expect("a known format").read)(bytes, &ReadOptions::default());
        assert!(reading.notes.is_empty(), "{:?}", reading.notes);
        assert_eq!(reading.conversations.len(), 1, "conversations of the transcript");
        reading.conversations.swap_remove(0)
    }
}

/// Joins adjacent messages of one role: programs differ in how they divide them.
pub fn joined(items: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for item in items {
        match all.last_mut() {
            Some(last) if last[0] != "result" && last[0] == item[0] => {
                let texts = [&last[1], &item[1]].map(|text| text.as_str().expect("a text"));
                let calls = [&last[2], &item[2]].map(|calls| calls.as_array().cloned().unwrap_or_default());
                last[1] = texts.concat().into();
                if last[0] == "assistant" {
                    last[2] = calls.concat().into();
                }
            }
            _ => all.push(item),
        }
    }
    all
}
