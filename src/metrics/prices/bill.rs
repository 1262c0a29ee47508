//! Cost of the recorded calls: the tokens that the provider billed, at its prices.
//!
//! A call is one message of one request; all iterations of the model for it, and those of advisor models, are billed. If a recording repeats the usage on every line, the reader takes the last, which has
//! the final output; lines that a harness wrote itself (`<synthetic>`) are not calls. A call that is in several conversations
//! of a transcript, because branches of a session share their beginning, is billed once, with the first conversation.
//!
//! On recorded sessions the result equals that of ccusage (20.0.24), to the token. The two differ only in cases that no
//! session we know contains: above 200,000 tokens ccusage applies a model's higher price only to the tokens of each kind
//! above that limit, and the provider applies it to the whole request; if the last line of a response has less output than an
//! earlier one, ccusage takes the larger; it counts a message for each request that brought it, even the tokens of
//! `<synthetic>` lines; and it knows the factors of fast modes.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::{Price, Prices};
use crate::transcript::conversation::{Conversation, Usage};

/// Billed tokens and their price.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Bill {
    /// Calls with a usage.
    pub calls: usize,
    /// Input that was neither read from the prompt cache nor written to it.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    pub output: u64,
    /// US dollars; `None` if there was no call, or if the price of a model is unknown.
    pub usd: Option<f64>,
}

/// Bills the conversations of one transcript, each call once.
pub struct Ledger<'a> {
    prices: &'a Prices,
    priced_as: Option<&'a str>,
    /// Message id and request id of the calls already billed.
    billed: HashSet<(&'a str, Option<&'a str>)>,
}

impl<'a> Ledger<'a> {
    /// `priced_as` is the model that all calls are priced as; without it, each call is priced as its own model.
    pub fn new(prices: &'a Prices, priced_as: Option<&'a str>) -> Self {
        Self { prices, priced_as, billed: HashSet::new() }
    }

    /// Returns the bill of each model of a conversation, without the calls that were billed before.
    pub fn bills(&mut self, conversation: &'a Conversation) -> BTreeMap<Option<&'a str>, Bill> {
        let mut bills: BTreeMap<_, Bill> = BTreeMap::new();
        for call in &conversation.calls {
            let Some(usage) = call.usage else { continue };
            if let Some(message) = &call.message_id
                && !self.billed.insert((message, call.request_id.as_deref()))
            {
                continue;
            }
            let model = call.model.as_deref();
            let mut own = self.bill(model, call.time, &usage);
            for other in &call.other_iterations {
                match other.model.as_deref() {
                    None => own.add(&self.bill(model, call.time, &other.usage)),
                    advisor => bills.entry(advisor).or_default().add(&self.bill(advisor, call.time, &other.usage)),
                }
            }
            bills.entry(model).or_default().add(&Bill { calls: 1, ..own });
        }
        for compaction in &conversation.compactions {
            let Some(usage) = &compaction.summary_usage else { continue };
            let before = conversation.calls.iter().rev().find(|call| call.response < compaction.message_index);
            let (model, time) = before.map_or((None, None), |call| (call.model.as_deref(), call.time));
            bills.entry(model).or_default().add(&self.bill(model, time, usage));
        }
        bills
    }

    fn bill(&self, model: Option<&str>, time: Option<i64>, usage: &Usage) -> Bill {
        Bill::from_usage(usage, self.usd(model, time, usage))
    }

    fn usd(&self, model: Option<&str>, time: Option<i64>, usage: &Usage) -> Option<f64> {
        let quote = self.prices.quote(self.priced_as.or(model), time);
        quote.entry.is_some().then(|| quote.at(usage.request()).usd(usage))
    }
}

impl Bill {
    fn from_usage(usage: &Usage, usd: Option<f64>) -> Self {
        let Usage { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning: _ } = *usage;
        Self { calls: 1, input, cache_read, cache_write_5m, cache_write_1h, output, usd }
    }

    /// Adds another bill; the sum has no price if one of them has none.
    pub fn add(&mut self, other: &Self) {
        self.usd = match (self.calls, other.calls) {
            (_, 0) => self.usd,
            (0, _) => other.usd,
            _ => self.usd.zip(other.usd).map(|(a, b)| a + b),
        };
        self.calls += other.calls;
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
    }

    /// Returns the sum of all bills.
    pub fn sum<'b>(bills: impl IntoIterator<Item = &'b Self>) -> Self {
        bills.into_iter().fold(Self::default(), |mut sum, bill| {
            sum.add(bill);
            sum
        })
    }
}

impl Price {
    /// Returns the cost of a usage, in US dollars.
    pub fn usd(&self, usage: &Usage) -> f64 {
        let parts = [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write_5m, self.cache_write_5m),
            (usage.cache_write_1h, self.cache_write_1h),
            (usage.output, self.output),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{
        Call, Compaction, ConversationBuilder, Iteration, Message, Origin, RecordedEdit, Role, Thinking,
    };

    /// Builds a conversation from calls: model, message, request, usage.
    fn conversation(calls: &[(&str, Option<&str>, Option<&str>, Usage)]) -> Conversation {
        let mut builder = ConversationBuilder::new("main", "claude-code", Thinking::Turn);
        for (model, message, request, usage) in calls {
            let blocks = vec![builder.text("Done.", Origin::Agent, 1)];
            let response = Message { role: Role::Assistant, is_string_content: false, blocks, time: None, line: 1 };
            let owned = |id: &Option<&str>| id.map(str::to_owned);
            let call = Call {
                usage: Some(*usage),
                model: Some((*model).to_owned()),
                message_id: owned(message),
                request_id: owned(request),
                ..Call::default()
            };
            builder.response(response, call);
        }
        builder.finish()
    }

    fn bill(calls: &[(&str, Option<&str>, Option<&str>, Usage)], priced_as: Option<&str>) -> Bill {
        let (prices, conversation) = (Prices::built_in(), conversation(calls));
        Bill::sum(Ledger::new(&prices, priced_as).bills(&conversation).values())
    }

    const MILLION: u64 = 1_000_000;
    const NONE: Usage = Usage { input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 0, reasoning: None };

    #[test]
    fn each_token_kind_is_billed_at_its_price() {
        for (usage, usd) in [
            (Usage { input: MILLION, ..NONE }, 5.0),
            (Usage { cache_read: MILLION, ..NONE }, 0.5),
            (Usage { cache_write_5m: MILLION, ..NONE }, 6.25),
            (Usage { cache_write_1h: MILLION, ..NONE }, 10.0),
            (Usage { output: MILLION, reasoning: Some(MILLION), ..NONE }, 25.0),
        ] {
            assert_eq!(bill(&[("claude-opus-4-5", None, None, usage)], None).usd, Some(usd), "{usage:?}");
        }
    }

    #[test]
    fn large_request_is_billed_at_the_higher_price() {
        let usage = Usage { input: 1, cache_read: 199_999, output: MILLION, ..NONE };
        let sonnet = |usage| bill(&[("claude-sonnet-4-5", None, None, usage)], None).usd.map(|usd| (usd * 1e6).round());
        assert_eq!(sonnet(usage), Some(3.0 + 59_999.7_f64.round() + 15e6));
        assert_eq!(sonnet(Usage { input: 2, ..usage }), Some(12.0 + 119_999.4_f64.round() + 22.5e6));
    }

    #[test]
    fn advisor_is_billed_as_a_model_of_its_own() {
        let (prices, usage) = (Prices::built_in(), Usage { output: MILLION, ..NONE });
        let mut conversation = conversation(&[("claude-haiku-4-5", None, None, usage)]);
        conversation.calls[0].other_iterations = vec![
            Iteration { model: None, usage },
            Iteration { model: Some("claude-opus-4-5".to_owned()), usage: Usage { input: 7, ..usage } },
        ];
        let bills = Ledger::new(&prices, None).bills(&conversation);
        let row =
            |model| bills.get(&Some(model)).map(|bill: &Bill| (bill.calls, bill.input, bill.output, bill.usd.map(f64::round)));
        assert_eq!(row("claude-haiku-4-5"), Some((1, 0, 2 * MILLION, Some(10.0))));
        assert_eq!(row("claude-opus-4-5"), Some((1, 7, MILLION, Some(25.0))));
    }

    #[test]
    fn recorded_summary_is_billed_as_the_model_before_it() {
        let (prices, usage) = (Prices::built_in(), Usage { output: MILLION, ..NONE });
        let mut conversation = conversation(&[("claude-haiku-4-5", None, None, usage)]);
        conversation.compactions.push(Compaction {
            message_index: 1,
            edit: RecordedEdit::Fold { into: Vec::new() },
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            summary_usage: Some(usage),
            line: 1,
        });
        let bill = Bill::sum(Ledger::new(&prices, None).bills(&conversation).values());
        assert_eq!((bill.output, bill.usd), (2 * MILLION, Some(10.0)));
    }

    #[test]
    fn repeated_call_is_billed_once() {
        let usage = Usage { output: MILLION, ..NONE };
        let calls = [("m1", "r1"), ("m1", "r1"), ("m1", "r2"), ("m2", "r1")];
        let calls = calls.map(|(message, request)| ("claude-haiku-4-5", Some(message), Some(request), usage));
        assert_eq!(bill(&calls, None).usd, Some(15.0));
        let nameless = ("claude-haiku-4-5", None, None, usage);
        assert_eq!(bill(&[nameless, nameless], None).usd, Some(10.0), "calls without ids are all different");

        let (prices, conversation) = (Prices::built_in(), conversation(&calls));
        let mut ledger = Ledger::new(&prices, None);
        let sums = [0, 1].map(|_| Bill::sum(ledger.bills(&conversation).values()).calls);
        assert_eq!(sums, [3, 0], "another branch of the session brings nothing new");
    }

    #[test]
    fn bill_of_unknown_model_has_tokens_and_no_price() {
        let usage = Usage { output: MILLION, ..NONE };
        let calls = [("claude-haiku-4-5", None, None, usage), ("mystery", None, None, usage)];
        let both = bill(&calls, None);
        assert_eq!((both.calls, both.output, both.usd), (2, 2 * MILLION, None));
        assert_eq!(bill(&calls, Some("claude-opus-4-5-20251101")).usd, Some(50.0));
        assert_eq!(bill(&[], None), Bill::default());
    }
}
