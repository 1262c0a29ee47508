//! What a live driver prints: `tests/oracles/scripted_model.mjs` describes it.

use std::sync::LazyLock;

use recompact::transcript::conversation::{Conversation, Role};
use recompact::transcript::format::{self, Level, OtherFile, ReadOptions};
use regex::Regex;
use serde_json::Value;

/// One run of a program.
pub struct Run {
    pub window: u64,
    pub max_output: u64,
    /// The transcript that the program wrote, if recompact reads its form.
    pub session: Option<String>,
    /// The transcripts of its ancestors, the parent's first, if it names a part of them as its beginning.
    ancestors: Vec<OtherFile>,
    /// What `recompact record` wrote.
    pub log: String,
    /// The requests of the agent that were answered, without those for a summary.
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
        let mut run = Self {
            window: number(&settings, "window"),
            max_output: number(&settings, "max_output"),
            session: settings["session"].as_str().map(str::to_owned),
            ancestors: settings["ancestors"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|text| OtherFile { name: String::new(), bytes: text.as_str().expect("a text").into() })
                .collect(),
            log: settings["log"].as_str().expect("a text").to_owned(),
            requests: Vec::new(),
            asked: Vec::new(),
            folds: Vec::new(),
            replies: Vec::new(),
        };
        let mut items: Vec<Value> = Vec::new();
        for line in lines {
            items.truncate(number(&line, "shared") as usize);
            items.extend_from_slice(line["then"].as_array().expect("items"));
            if line["failed"] == true {
                continue;
            }
            let real = Real { items: items.clone(), said: line["said"].clone() };
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

    /// The session as recompact reads it: from the transcript, if there is one, and from the log; each with the index of its first
    /// request. Those of its ancestors are in their files, or are copied in its own.
    pub fn conversations(&self) -> Vec<(&'static str, Conversation, usize)> {
        let ancestors = |from: usize| ReadOptions { others: self.ancestors[from..].into(), ..ReadOptions::default() };
        let older =
            (0..self.ancestors.len()).map(|at| only("ancestor", &self.ancestors[at].bytes, &ancestors(at + 1)).calls.len());
        let older: usize = older.sum();
        let transcript = self.session.as_ref().map(|text| {
            let conversation = only("transcript", text.as_bytes(), &ancestors(0));
            let first = older.max(copied(&conversation));
            ("transcript", conversation, first)
        });
        let log = ("log", only("log", self.log.as_bytes(), &ReadOptions::default()), 0);
        transcript.into_iter().chain([log]).collect()
    }
}

/// Returns how many responses a conversation begins with that are no calls of it: a fork of Qwen Code copies them.
fn copied(conversation: &Conversation) -> usize {
    let first = conversation.calls.first().map_or(0, |call| call.response);
    conversation.messages[..first].iter().filter(|message| message.role == Role::Assistant).count()
}

fn only(name: &str, bytes: &[u8], options: &ReadOptions) -> Conversation {
    let mut reading = (format::sniff(bytes).expect("a known format").read)(bytes, options);
    let skipped: Vec<_> = reading.notes.iter().filter(|note| note.level == Level::Skipped).collect();
    assert!(skipped.is_empty(), "{name}: {skipped:?}");
    assert_eq!(reading.conversations.len(), 1, "conversations of the {name}");
    reading.conversations.swap_remove(0)
}

/// What Qwen Code says about the day and its skills. It is renewed at each request, and no part of its transcript.
static REMINDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)<system-reminder>.*?</system-reminder>").expect("a pattern"));

/// Joins adjacent messages of one role: programs differ in how they divide them. Reminders are left out.
pub fn joined(items: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for mut item in items {
        if let ("user", Some(text)) = (item[0].as_str().unwrap_or_default(), item[1].as_str()) {
            item[1] = REMINDER.replace_all(text, "").into();
        }
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
