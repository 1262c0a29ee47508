//! Laws of a replay, for every policy and every conversation.

use std::cell::RefCell;
use std::collections::BTreeMap;

use recompact::analysis::study::Study;
use recompact::engine::context::{Cause, Change, ChangeKind, Context, Fault, FaultKind};
use recompact::engine::journal::{EventKind, File, Journal, Request, SentCopy};
use recompact::engine::layer::FileKind;
use recompact::engine::policy::Policy;
use recompact::engine::replay::{NoObserver, Observer};
use recompact::engine::summarizer;
use recompact::results::saved::Row;
use recompact::tokens::meter::python_text;
use recompact::transcript::conversation::{BlockId, BlockKind, Conversation, Thinking};
use recompact::transcript::format::Reading;
use serde_json::Value;

use crate::support::trial::{Trial, preset_with, trials};
use crate::support::{effort, generate};

/// Returns the files of a replay with their contents.
struct Files(Vec<(File, String)>);

impl Observer for Files {
    fn file(&mut self, file: &File, text: &str) {
        self.0.push((file.clone(), text.to_owned()));
    }
}

#[test]
fn layers_do_not_depend_on_later_calls() {
    let trials = trials();
    generate::check_in_turn(6, &trials, |steps, trials| {
        let whole = generate::conversation(steps, Thinking::Turn);
        for calls in [steps.len() / 2, steps.len() - 1] {
            let cut = generate::conversation(&steps[..calls], Thinking::Turn);
            for trial in &trials {
                let [of_whole, of_cut] = [&whole, &cut].map(|conversation| trial.replay(conversation, &mut NoObserver));
                let wires = |journal: &Journal| {
                    journal.synthetic_blocks.iter().map(|made| made.rewritten.block.wire().clone()).collect::<Vec<_>>()
                };
                assert!(wires(&of_whole).starts_with(&wires(&of_cut)), "{}, what layers wrote", trial.policy.name);
                let (of_whole, of_cut) =
                    (journal_text(of_whole, whole.blocks.len(), calls), journal_text(of_cut, cut.blocks.len(), calls));
                assert_eq!(of_whole, of_cut, "{}, {calls} of {} calls", trial.policy.name, steps.len());
            }
        }
    });
}

#[test]
fn shared_replay_cache_changes_no_result() {
    let named = |(number, trial): (usize, Trial)| Policy { name: format!("policy {number}"), ..trial.policy };
    let policies: Vec<Policy> = trials().into_iter().enumerate().map(named).collect();
    generate::check(1, |steps| {
        let reading = Reading { conversations: vec![generate::conversation(steps, Thinking::Turn)], notes: Vec::new() };
        let rows = |policies: &[Policy]| {
            let study = Study::new(policies.to_vec());
            let results = study.results(vec![study.transcript("made", &reading, None)]);
            results.rows
        };
        let all = rows(&policies);
        for policy in &policies[1..] {
            let of_policy = |rows: &[Row]| rows.iter().filter(|row| *row.policy == *policy.name).cloned().collect::<Vec<_>>();
            assert_eq!(of_policy(&all), of_policy(&rows(&[policies[0].clone(), policy.clone()])), "{}", policy.name);
        }
    });
}

/// Returns the text of a journal for the first calls. Blocks that layers wrote are numbered from the end of the range.
fn journal_text(journal: Journal, recorded: usize, calls: usize) -> String {
    let number = |id: &mut BlockId| {
        if let Some(made) = id.index().checked_sub(recorded) {
            *id = BlockId(u32::MAX - made as u32);
        }
    };
    let renumber = |changes: &mut Vec<Change>| {
        changes.iter_mut().flat_map(|change| change.removed.iter_mut().chain(&mut change.added)).for_each(number);
    };
    let Journal { mut requests, events, files, summaries, recorded: put_back, .. } = journal;
    requests.retain(|request| request.call < calls);
    for request in &mut requests {
        renumber(&mut request.changes);
        renumber(&mut request.view);
        request.delta.appended.iter_mut().for_each(|sent| number(&mut sent.block));
        request.faults.appended.iter_mut().for_each(|fault| number(&mut fault.block));
    }
    let events: Vec<_> = events.into_iter().filter(|event| event.call < calls).collect();
    let files: Vec<_> = files.into_iter().filter(|file| file.call < calls).collect();
    let summaries: Vec<_> = summaries.into_iter().filter(|summary| summary.call < calls).collect();
    let put_back: Vec<_> = put_back.into_iter().filter(|summary| summary.call < calls).collect();
    format!("{requests:#?}\n{events:#?}\n{files:#?}\n{summaries:#?}\n{put_back:#?}")
}

#[test]
fn replay_is_deterministic() {
    let trials = trials();
    generate::check_in_turn(4, &trials, |steps, trials| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for trial in trials {
            let [first, second] = [(); 2].map(|()| format!("{:?}", trial.replay(&conversation, &mut NoObserver)));
            assert!(first == second, "{}", trial.policy.name);
        }
    });
}

#[test]
fn keep_all_changes_nothing() {
    let trial = Trial::new(preset_with("keep-all", &[]));
    generate::check(10, |steps| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        let journal = trial.replay(&conversation, &mut NoObserver);
        let changes: Vec<_> = journal.requests.iter().flat_map(|request| &request.changes).collect();
        let is_thinking = |id: &BlockId| conversation.block(*id).kind == BlockKind::Thinking;
        assert!(changes.iter().all(|change| change.kind == ChangeKind::Drop && change.removed.iter().all(is_thinking)));
        assert!(changes.iter().all(|change| change.cause == Cause::Record));
        let mut faults = journal.requests.iter().flat_map(|request| &request.faults.appended);
        assert!(faults.all(|fault| fault.cause == Cause::Record));

        let whole = generate::conversation(steps, Thinking::All);
        for (call, request) in trial.requests(&whole).into_iter().enumerate() {
            assert_eq!(request, wires(&whole, 0..whole.calls[call].response), "call {call}");
        }
    });
}

#[test]
fn drop_all_sends_only_what_entered() {
    let trial = Trial::new(preset_with("drop-all", &[]));
    generate::check(10, |steps| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for (call, request) in trial.requests(&conversation).into_iter().enumerate() {
            assert_eq!(request, wires(&conversation, conversation.new_messages(call)), "call {call}");
        }
    });
}

/// Returns the messages of a conversation in the form of the API.
fn wires(conversation: &Conversation, messages: std::ops::Range<usize>) -> Value {
    let wire = |message: &recompact::transcript::conversation::Message| {
        let blocks = message.blocks.iter().map(|id| conversation.block(*id));
        let content = match message.is_string_content {
            true => blocks.map(|block| Value::from(block.text())).collect::<Vec<_>>().remove(0),
            false => blocks.map(|block| block.wire().clone()).collect(),
        };
        serde_json::json!({"role": message.role.as_str(), "content": content})
    };
    conversation.messages[messages].iter().map(wire).collect()
}

#[test]
fn recorded_without_compactions_is_keep_all() {
    let [recorded, keep_all] = ["recorded", "keep-all"].map(|name| Trial::new(preset_with(name, &[])));
    generate::check(5, |steps| {
        let mut conversation = generate::conversation(steps, Thinking::Turn);
        conversation.compactions.clear();
        assert_eq!(recorded.requests(&conversation), keep_all.requests(&conversation));
    });
}

#[test]
fn policy_round_trips_through_toml() {
    for trial in trials() {
        let toml = trial.policy.to_toml();
        let again = Policy::parse(&toml, "itself", &[]).unwrap_or_else(|error| panic!("{error}\n{toml}"));
        assert_eq!(again, trial.policy, "{toml}");
    }
}

#[test]
fn persisted_files_hold_the_whole_result() {
    let trials = trials();
    generate::check_in_turn(8, &trials, |steps, trials| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        let results = conversation.blocks.iter().filter(|block| matches!(block.kind, BlockKind::ToolResult(_)));
        let contents: Vec<_> =
            results.flat_map(|block| [block.text().into_owned(), python_text::repr(&block.wire()["content"])]).collect();
        for trial in trials {
            let mut files = Files(Vec::new());
            trial.replay(&conversation, &mut files);
            for (file, text) in files.0.iter().filter(|(file, _)| file.kind == FileKind::Persisted) {
                assert!(contents.contains(text), "{}: {} holds {text:?}", trial.policy.name, file.path);
            }
        }
    });
}

#[test]
fn smaller_window_overflows_at_least_as_often() {
    generate::check(5, |steps| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        let overflows = [100_000, 3_000, 800, 200, 0].map(|window| {
            let trial = Trial { window, ..Trial::new(preset_with("keep-all", &[])) };
            trial.replay(&conversation, &mut NoObserver).requests.iter().filter(|request| request.failed).count()
        });
        assert!(overflows.is_sorted(), "{overflows:?}");
    });
}

#[test]
fn request_views_do_not_change_the_stored_history() {
    let with_views = trials().into_iter().filter(|trial| trial.policy.layers.iter().any(|layer| layer.for_request_only()));
    let with_views: Vec<_> = with_views.filter(|trial| trial.window > 100_000).collect();
    assert!(with_views.len() >= 4);
    generate::check_in_turn(12, &with_views, |steps, with_views| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for trial in with_views {
            let mut without = Trial::new(trial.policy.clone());
            without.policy.layers.retain(|layer| !layer.for_request_only());
            let [with, without] = [trial, &without].map(|trial| trial.replay(&conversation, &mut NoObserver));
            assert_eq!(with.files, without.files, "{}", trial.policy.name);
            assert_eq!(with.summaries, without.summaries, "{}", trial.policy.name);
            let is_state = |layer: usize| !trial.policy.layers[layer].for_request_only();
            let events = |journal: &Journal| {
                let events = journal.events.iter().filter(|event| is_state(event.layer));
                events.map(|event| (event.call, event.kind.clone())).collect::<Vec<(usize, EventKind)>>()
            };
            assert_eq!(events(&with), events(&without), "{}", trial.policy.name);
        }
    });
}

/// A request and its faults: kind, index of the message, and cause. A call without a result has none here: a fault keeps its first cause,
/// and where calls share an id, an earlier request of a view can have had another.
type WithFaults = (Value, Vec<(FaultKind, usize, Option<Cause>)>);

#[derive(Default)]
struct SentWithFaults {
    faults: Vec<Fault>,
    requests: Vec<WithFaults>,
}

impl SentWithFaults {
    fn of(trial: &Trial, conversation: &Conversation) -> Vec<WithFaults> {
        let mut sent = Self::default();
        trial.replay(conversation, &mut sent);
        sent.requests
    }
}

impl Observer for SentWithFaults {
    fn request(&mut self, request: &Request, context: &Context) {
        self.faults.truncate(request.faults.shared_prefix);
        self.faults.extend(&request.faults.appended);
        let cause = |fault: &Fault| (fault.kind != FaultKind::UnansweredUse).then_some(fault.cause);
        let faults = self.faults.iter().map(|fault| (fault.kind, fault.message, cause(fault)));
        self.requests.push((context.messages().iter().map(|sent| context.wire(sent)).collect(), faults.collect()));
    }
}

#[test]
fn grown_view_equals_a_rebuilt_view() {
    let with_views = trials().into_iter().filter(|trial| trial.policy.layers.iter().any(|layer| layer.for_request_only()));
    let with_views: Vec<_> = with_views.collect();
    assert!(with_views.iter().filter(|trial| trial.policy.view_is_extendable()).count() >= 3);
    // Requests before which thinking left the history and the view followed, by policy.
    let followed = RefCell::new(BTreeMap::<String, usize>::new());
    generate::check_in_turn(64, &with_views, |steps, with_views| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for trial in with_views {
            let requests = trial.replay(&conversation, &mut NoObserver).requests;
            let follows = |request: &&Request| request.sent == SentCopy::SameView && !request.changes.is_empty();
            *followed.borrow_mut().entry(trial.policy.name.clone()).or_default() += requests.iter().filter(follows).count();
            let mut anew = Trial { window: trial.window, ..Trial::new(trial.policy.clone()) };
            // A layer that never acts; its threshold prevents that views are extended.
            let never = "name = \"never\"\n[[layer]]\nid = \"never\"\ndo = \"drop\"\nscope = \"request\"\nmeter = \"chars\"\nthreshold = 1_000_000_000\n";
            anew.policy.layers.extend(Policy::parse(never, "never", &[]).expect("a policy").layers);
            assert!(!anew.policy.view_is_extendable());
            let [grown, anew] = [trial, &anew].map(|trial| SentWithFaults::of(trial, &conversation));
            for (call, (grown, anew)) in grown.into_iter().zip(anew).enumerate() {
                assert_eq!(grown, anew, "{}, call {call}", trial.policy.name);
            }
        }
    });
    let followed = followed.into_inner();
    assert!(followed.values().filter(|requests| **requests > 0).count() >= 20, "{followed:?}");
}

#[test]
fn summaries_respect_max_tokens() {
    let mut trials = trials();
    trials.iter_mut().for_each(|trial| trial.summarizer = summarizer::by_name("extract").expect("a summarizer"));
    generate::check_in_turn(4, &trials, |steps, trials| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for trial in trials {
            let journal = trial.replay(&conversation, &mut NoObserver);
            for summary in &journal.summaries {
                let recompact::engine::layer::LayerSpec::Summarize(layer) = &trial.policy.layers[summary.layer].spec else {
                    panic!("only `summarize` asks for summaries")
                };
                let attempt = &summary.attempt;
                assert!(attempt.failed || attempt.tokens_out <= layer.max_tokens, "{}: {summary:?}", trial.policy.name);
            }
        }
    });
}

/// `extract` copies only what it read. (No word of the generated texts becomes a name if a limit cuts it.)
#[test]
fn extract_summaries_name_no_false_fact() {
    let mut trials = trials();
    trials.iter_mut().for_each(|trial| trial.summarizer = summarizer::by_name("extract").expect("a summarizer"));
    let facts = std::cell::Cell::new(0);
    generate::check_in_turn(8, &trials, |steps, trials| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for trial in trials {
            let journal = trial.replay(&conversation, &mut NoObserver);
            for summary in &journal.summaries {
                facts.set(facts.get() + summary.attempt.names.facts);
                assert_eq!(summary.attempt.names.false_facts, 0, "{}: {summary:?}", trial.policy.name);
            }
            assert!(trial.policy.name != "keep-all" || journal.summaries.is_empty() && journal.recorded.is_empty());
        }
    });
    assert!(facts.get() > effort::of(25, 100), "{facts:?}");
}

/// Block ids are consecutive, and the journal knows every block that it names.
#[test]
fn request_blocks_are_known_to_the_journal() {
    struct Known<'a>(&'a Conversation);
    impl Observer for Known<'_> {
        fn request(&mut self, request: &Request, context: &Context) {
            let known = self.0.blocks.len() + context.synthetic_blocks().len();
            let changes = request.changes.iter().chain(&request.view);
            let named = changes.flat_map(|change| change.removed.iter().chain(&change.added));
            let sent = context.messages().iter().flat_map(|sent| &sent.blocks);
            assert!(named.chain(sent).all(|id| id.index() < known), "call {}", request.call);
        }
    }
    let trials = trials();
    generate::check_in_turn(4, &trials, |steps, trials| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for trial in trials {
            trial.replay(&conversation, &mut Known(&conversation));
        }
    });
}
