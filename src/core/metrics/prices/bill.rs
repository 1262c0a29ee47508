//! Cost of the recorded calls: the tokens that the provider billed, at its prices.
//!
//! A call is one message of one request; all iterations of the model for it, and those of advisor models, are billed. If a recording
//! repeats the usage on every line, the reader takes the last, which has the final output; lines that a harness wrote itself (`<synthetic>`) are not calls. A call that is in several conversations
//! of a transcript, because branches of a session share their beginning, is billed once, with the first conversation.
//!
//! On recorded sessions the result equals that of ccusage (20.0.24), to the token, but for sub-agents that are only in `progress` records:
//! ccusage leaves them out. The two differ also in cases that no session we know contains: above 200,000 tokens ccusage applies a
//! model's higher price only to the tokens of each kind above that limit, and the provider applies it to the whole request; if the last
//! line of a response has less output than an earlier one, ccusage takes the larger; it counts a message for each request that brought
//! it, even the tokens of `<synthetic>` lines; and it prices fast modes, but no searches of the web and no regions.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::iter;

use serde::{Deserialize, Serialize};

use xxhash_rust::xxh3::xxh3_64;

use super::{Price, Prices};
use crate::transcript::conversation::{Call, Compaction, Conversation, Service, Usage};

/// Billed tokens and their price.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    /// Calls with a usage.
    pub calls: usize,
    /// Input that was neither read from the prompt cache nor written to it.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    pub output: u64,
    /// Searches of the web that are billed by the number.
    pub web_searches: u64,
    /// US dollars at list prices; `None` if there was no call, or if the price of a model is unknown.
    pub usd: Option<f64>,
    /// Output tokens. Where the record has only the first tokens of a response, the tokens of its text are counted.
    pub output_counted: u64,
    /// US dollars with the counted output, and with writes to the prompt cache that the record calls input.
    pub usd_counted: Option<f64>,
    /// What has no known price and is not in `usd`, such as a service of the provider.
    pub unpriced: BTreeSet<String>,
}

/// What one call was billed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallBill {
    /// Hash of the ids of its message and its request; `None` if they were not recorded.
    id: Option<u64>,
    /// By model: its own, and that of an advisor.
    bills: Vec<(Option<String>, Bill)>,
}

/// Adds up calls, each once: a call that is in several transcripts or branches counts where it is first.
#[derive(Debug, Default)]
pub struct Ledger {
    billed: HashSet<u64>,
}

impl Ledger {
    /// Returns the bill of each model over some calls, without those that were added before; and how many those are.
    pub fn add(&mut self, calls: &[CallBill]) -> (BTreeMap<Option<String>, Bill>, usize) {
        let (mut bills, mut repeated) = (BTreeMap::<_, Bill>::new(), 0);
        for call in calls {
            if call.id.is_some_and(|id| !self.billed.insert(id)) {
                repeated += 1;
                continue;
            }
            for (model, bill) in &call.bills {
                bills.entry(model.clone()).or_default().add(bill);
            }
        }
        (bills, repeated)
    }
}

/// Bills every call of a conversation and of its other branches, and every recorded summary. `priced_as` is the model that all are priced
/// as; without it, each is priced as its own model. `outputs` has the output of each call
/// ([`outputs`](crate::metrics::cost::outputs)); what is missing is as recorded.
pub fn call_bills(conversation: &Conversation, prices: &Prices, priced_as: Option<&str>, outputs: &[u64]) -> Vec<CallBill> {
    // A call that is priced as another model is priced as that model's usual service.
    let usual = Service::default();
    let hides_writes = hides_cache_writes(conversation);
    let bill = |model: Option<&str>, time: Option<i64>, usage: &Usage, service: &Service, output: u64| {
        let service = if priced_as.is_some() { &usual } else { service };
        let (quote, unpriced) = prices.quote_served(priced_as.or(model), time, service);
        let price = quote.at(usage.request());
        let usd = quote.entry.is_some().then(|| price.usd(usage) + quote.searches(service));
        let written = if hides_writes && usage.request() >= quote.min_tokens { usage.input } else { 0 };
        let more = Usage { input: 0, cache_write_5m: written, output: output.saturating_sub(usage.output), ..Usage::default() };
        let more = price.usd(&more) - written as f64 * price.input / 1e6;
        let bill = Bill {
            web_searches: service.web_searches,
            output_counted: output.max(usage.output),
            usd_counted: usd.map(|usd| usd + more),
            unpriced: unpriced.into_iter().collect(),
            ..Bill::from_usage(usage, usd)
        };
        (model.map(str::to_owned), bill)
    };
    let of_call = |(call, output): (&Call, u64)| {
        let model = call.model.as_deref();
        let mut bills = vec![bill(model, call.time, call.usage.as_ref()?, &call.service, output)];
        // The searches are counted for the call as a whole.
        let service = Service { web_searches: 0, ..call.service.clone() };
        for other in &call.other_iterations {
            match other.model.as_deref() {
                None => bills[0].1.add(&bill(model, call.time, &other.usage, &service, other.usage.output).1),
                advisor => bills.push(bill(advisor, call.time, &other.usage, &usual, other.usage.output)),
            }
        }
        bills[0].1.calls = 1;
        let id = call.message_id.as_ref().map(|message| {
            let request = call.request_id.as_deref().unwrap_or_default();
            xxh3_64(format!("{message}\0{request}").as_bytes())
        });
        Some(CallBill { id, bills })
    };
    let of_compaction = |compaction: &Compaction| {
        let usage = compaction.summary_usage.as_ref()?;
        let before = conversation.calls.iter().rev().find(|call| call.response < compaction.message_index);
        let (model, time) = before.map_or((None, None), |call| (call.model.as_deref(), call.time));
        Some(CallBill { id: None, bills: vec![bill(model, time, usage, &usual, usage.output)] })
    };
    let calls = conversation.calls.iter().zip(outputs.iter().copied().chain(iter::repeat(0))).filter_map(of_call);
    let branches = conversation.other_branches.iter().map(|call| (call, 0)).filter_map(of_call);
    calls.chain(branches).chain(conversation.compactions.iter().filter_map(of_compaction)).collect()
}

/// Returns whether a record with reads of the prompt cache has no number for what is written to it, as Codex's: then its input was
/// written.
fn hides_cache_writes(conversation: &Conversation) -> bool {
    let usages = || conversation.calls.iter().filter_map(|call| call.usage.as_ref());
    usages().any(|usage| usage.cache_read > 0) && usages().all(|usage| usage.cache_write_5m + usage.cache_write_1h == 0)
}

impl Bill {
    fn from_usage(usage: &Usage, usd: Option<f64>) -> Self {
        let Usage { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning: _ } = *usage;
        Self { calls: 1, input, cache_read, cache_write_5m, cache_write_1h, output, usd, ..Self::default() }
    }

    /// Adds another bill; the sum has no price if one of them has none.
    pub fn add(&mut self, other: &Self) {
        let sum = |own: Option<f64>, others: Option<f64>| match (self.calls, other.calls) {
            (_, 0) => own,
            (0, _) => others,
            _ => own.zip(others).map(|(a, b)| a + b),
        };
        (self.usd, self.usd_counted) = (sum(self.usd, other.usd), sum(self.usd_counted, other.usd_counted));
        self.calls += other.calls;
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
        self.output_counted += other.output_counted;
        self.web_searches += other.web_searches;
        self.unpriced.extend(other.unpriced.iter().cloned());
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
        Bill::sum(bills_of(&mut Ledger::default(), &prices, &conversation, priced_as).values())
    }

    fn bills_of(
        ledger: &mut Ledger,
        prices: &Prices,
        conversation: &Conversation,
        priced_as: Option<&str>,
    ) -> BTreeMap<Option<String>, Bill> {
        ledger.add(&call_bills(conversation, prices, priced_as, &[])).0
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
    fn services_of_the_provider_have_their_price() {
        let (prices, usage) = (Prices::built_in(), Usage { output: MILLION, ..NONE });
        let bill = |model: &str, modes: &[&str], web_searches: u64, priced_as: Option<&str>| {
            let mut conversation = conversation(&[(model, None, None, usage)]);
            let modes = modes.iter().map(|mode| (*mode).to_owned()).collect();
            conversation.calls[0].service = Service { modes, web_searches };
            let bill = Bill::sum(bills_of(&mut Ledger::default(), &prices, &conversation, priced_as).values());
            (bill.usd, bill.unpriced.into_iter().collect::<Vec<_>>().join(", "))
        };
        let usd = |usd: f64| (Some(usd), String::new());
        // A million tokens of output of Opus 4.8 cost 25 dollars; the table has twice as much for its fast mode, and 10 % more in the US.
        assert_eq!(bill("claude-opus-4-8", &[], 0, None), usd(25.0));
        assert_eq!(bill("claude-opus-4-8", &["fast"], 0, None), usd(50.0));
        assert_eq!(bill("claude-opus-4-8", &["us"], 0, None), usd(27.500000000000004));
        assert_eq!(bill("claude-opus-4-8", &["batches"], 0, None), usd(12.5));
        assert_eq!(bill("claude-opus-4-8", &[], 30, None), usd(25.3));
        assert_eq!(bill("gpt-5.5", &["priority"], 0, None), usd(75.0));
        // What is gone from the table is in the list, and the table still has the rest.
        assert_eq!(bill("claude-opus-4-6", &["fast"], 0, None), usd(150.0));
        assert_eq!(bill("claude-opus-4-7[1m]", &["fast", "us"], 0, None), usd(150.0 * 1.1));
        assert_eq!(bill("claude-opus-4-6", &["batches"], 0, None), usd(12.5));
        assert_eq!(bill("claude-opus-4-8", &["express"], 0, None), (Some(25.0), "service `express`".to_owned()));
        assert_eq!(bill("claude-opus-4-8", &["fast"], 30, Some("claude-haiku-4-5")), usd(5.0), "what the usual service costs");
        let nowhere = ("grok-code-fast-1", "searches of the web");
        assert_eq!(bill(nowhere.0, &[], 1, None).1, nowhere.1);
    }

    /// The second call reads, so the first has written: a million tokens for 6.25 dollars in place of 5.
    #[test]
    fn input_is_written_where_the_record_has_no_number_for_writes() {
        let model = "gpt-5.6-sol";
        let calls = |read| {
            [(model, None, None, Usage { input: MILLION, ..NONE }), (model, None, None, Usage { cache_read: read, ..NONE })]
        };
        let quote = Prices::built_in().quote(Some(model), None);
        let (large, small) = (quote.at(MILLION), quote.at(10_000));
        let usd = |read| bill(&calls(read), None).usd_counted.map(|usd| (usd * 1e6).round());
        let expected = |usd: f64| Some((usd * 1e6).round());
        assert!(large.cache_write_5m > large.input);
        assert_eq!(usd(0), expected(large.input));
        assert_eq!(usd(10_000), expected(large.cache_write_5m + small.cache_read / 100.0));
    }

    #[test]
    fn advisor_is_billed_as_a_model_of_its_own() {
        let (prices, usage) = (Prices::built_in(), Usage { output: MILLION, ..NONE });
        let mut conversation = conversation(&[("claude-haiku-4-5", None, None, usage)]);
        conversation.calls[0].other_iterations = vec![
            Iteration { model: None, usage },
            Iteration { model: Some("claude-opus-4-5".to_owned()), usage: Usage { input: 7, ..usage } },
        ];
        let bills = bills_of(&mut Ledger::default(), &prices, &conversation, None);
        let row = |model: &str| {
            let bill = bills.get(&Some(model.to_owned()));
            bill.map(|bill| (bill.calls, bill.input, bill.output, bill.usd.map(f64::round)))
        };
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
        let bill = Bill::sum(bills_of(&mut Ledger::default(), &prices, &conversation, None).values());
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
        let mut ledger = Ledger::default();
        let sums = [0, 1].map(|_| Bill::sum(bills_of(&mut ledger, &prices, &conversation, None).values()).calls);
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
