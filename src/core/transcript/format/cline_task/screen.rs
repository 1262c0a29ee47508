//! What was on the screen of a task (`ui_messages.json`): the bill of each request, when a compaction was made, and which messages were
//! not sent any more.

use std::collections::HashMap;

use serde_json::Value;

use super::super::notes::Notes;
use super::super::wire_usage::{self, Names};
use crate::transcript::conversation::Usage;

/// A request, as it was announced.
pub struct Request {
    /// Milliseconds since 1970.
    pub time: i64,
    /// Tokens and costs, once they were known.
    bill: Value,
}

/// A compaction, as it was announced.
#[derive(Debug, Clone, Copy, Default)]
pub struct Announced {
    /// Milliseconds since 1970.
    pub time: i64,
    pub tokens_before: Option<u64>,
    pub tokens_after: Option<u64>,
}

/// Messages that are not sent: from the first to the last index.
pub type Range = [usize; 2];

#[derive(Default)]
pub struct Screen {
    pub requests: Vec<Request>,
    /// By the id of the summary or of the mark of a truncation.
    pub compactions: HashMap<String, Announced>,
    /// By the index of the last message that was there: what was not sent then.
    ranges: HashMap<usize, Option<Range>>,
    includes_cached: bool,
    /// Nothing shows whether the input holds the cached tokens.
    pub is_unclear: bool,
}

const BESIDE: Names = Names {
    input: "tokensIn",
    includes_cached: false,
    cache_read: "cacheReads",
    cache_write: "cacheWrites",
    output: &["tokensOut"],
    reasoning: "",
};

const INSIDE: Names = Names { includes_cached: true, ..BESIDE };

impl Screen {
    pub fn new(messages: &Value) -> Self {
        let mut screen = Self::default();
        for message in messages.as_array().into_iter().flatten() {
            screen.add(message);
        }
        // Roo Code's input holds the cached tokens, Cline's and that of earlier versions does not, and the file does not say which it is.
        // A request that read more than it is said to have shows it.
        let number = |bill: &Value, key: &str| bill[key].as_u64().unwrap_or(0);
        let cached = |bill: &Value| number(bill, "cacheReads").saturating_add(number(bill, "cacheWrites"));
        screen.includes_cached = screen.requests.iter().all(|request| number(&request.bill, "tokensIn") >= cached(&request.bill));
        screen.is_unclear = screen.includes_cached && screen.requests.iter().any(|request| cached(&request.bill) > 0);
        screen
    }

    fn add(&mut self, message: &Value) {
        let time = message["ts"].as_i64().unwrap_or(0);
        let index = |value: &Value| value.as_u64().and_then(|index| usize::try_from(index).ok());
        if let Some(last) = index(&message["conversationHistoryIndex"]) {
            let range = &message["conversationHistoryDeletedRange"];
            self.ranges.insert(last, index(&range[0]).zip(index(&range[1])).map(|(first, last)| [first, last]));
        }
        if message["say"] == "api_req_started" {
            let bill = message["text"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            self.requests.push(Request { time, bill });
        }
        for (kind, id) in [("contextCondense", "condenseId"), ("contextTruncation", "truncationId")] {
            if let Some(id) = message[kind][id].as_str() {
                let tokens = |key: &str| message[kind][key].as_u64();
                let (tokens_before, tokens_after) = (tokens("prevContextTokens"), tokens("newContextTokens"));
                self.compactions.insert(id.to_owned(), Announced { time, tokens_before, tokens_after });
            }
        }
    }

    /// Returns what was billed for a request, if it was known.
    pub fn usage(&self, request: usize, line: u32, notes: &mut Notes) -> Option<Usage> {
        wire_usage::named(&self.requests[request].bill, if self.includes_cached { &INSIDE } else { &BESIDE }, line, notes)
    }

    /// Returns which messages the request of the response at this index lacked; the outer `None` if that is not known.
    pub fn not_sent(&self, response: usize) -> Option<Option<Range>> {
        self.ranges.get(&response.checked_sub(1)?).copied()
    }

    /// Returns for each response its request: the last one before it that no other response has. Responses without a time have the request
    /// with their number, if there are as many of both.
    pub fn requests_of(&self, responses: &[Option<i64>]) -> Vec<Option<usize>> {
        let Some(times) = responses.iter().copied().collect::<Option<Vec<i64>>>() else {
            let is_even = responses.len() == self.requests.len();
            return (0..responses.len()).map(|at| is_even.then_some(at)).collect();
        };
        let mut next = 0;
        let request = |time: i64| {
            let begun = next + self.requests[next..].iter().take_while(|request| request.time <= time).count();
            let last = begun.checked_sub(1).filter(|last| *last >= next);
            next = begun;
            last
        };
        times.into_iter().map(request).collect()
    }
}
