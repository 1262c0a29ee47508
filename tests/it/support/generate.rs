//! Random conversations, the same ones in every run: everything that a record may contain, with sizes around the limits of
//! harnesses.

use proptest::prelude::*;
use recompact::transcript::conversation::{
    BlockId, Call, Compaction, Conversation, ConversationBuilder, Message, Origin, RecordedEdit, Role, Thinking, Usage,
};
use serde_json::{Value, json};

use crate::support::effort;

/// Checks a law for `cases` conversations, and for four times as many in a long run.
pub fn check(cases: u32, law: impl Fn(&[Step])) {
    effort::check(cases, prop::collection::vec(step(), 2..14), |steps, _| law(&steps));
}

/// The same for trials that take turns: the law gets those that replay the conversation.
pub fn check_in_turn<T>(cases: u32, trials: &[T], law: impl Fn(&[Step], Vec<&T>)) {
    effort::check(cases, prop::collection::vec(step(), 2..14), |steps, case| law(&steps, effort::in_turn(trials, case)));
}

/// One recorded call: the messages before it, besides the results of the previous call, and the response.
#[derive(Debug, Clone)]
pub struct Step {
    /// What the recorded harness did before new messages entered.
    compacted: Option<Compacted>,
    answers: Vec<Answer>,
    /// A result whose tool_use the record lacks.
    orphan: bool,
    note: Option<Text>,
    /// The note is a separate message.
    apart: bool,
    typed: Option<Text>,
    thinking: Option<Text>,
    said: Option<Text>,
    uses: Vec<Use>,
    /// Minutes since the previous step.
    minutes: Option<u16>,
    usage: Option<u16>,
}

#[derive(Debug, Clone, Copy)]
enum Compacted {
    Fold { keep: usize },
    Clear,
}

#[derive(Debug, Clone)]
struct Use {
    tool: &'static str,
    argument: (&'static str, &'static str),
    /// It has the id of the first call of all.
    same_id: bool,
}

#[derive(Debug, Clone)]
enum Answer {
    Text(Text),
    List(Text, Text),
    Error(Text),
    Missing,
}

/// Repeats a unit up to this number of characters.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    unit: &'static str,
    chars: usize,
}

impl Text {
    fn written(self) -> String {
        self.unit.chars().cycle().take(self.chars).collect()
    }
}

/// The last one is a stand-in for half a surrogate pair.
const UNITS: [&str; 7] = ["x", "word ", "it's \"so\"\n", "é", "😀\t", "src/a.rs:1\\", "\u{10D83D}"];
const LIMITS: [usize; 10] = [0, 1, 99, 100, 101, 119, 120, 121, 500, 501];
const HIGH_LIMITS: [usize; 5] = [30_000, 30_001, 50_001, 80_000, 200_001];
const TOOLS: [&str; 6] = ["bash", "Bash", "Read", "read_file", "Grep", "compact"];
const ARGUMENTS: [(&str, &str); 5] =
    [("command", "ls -la"), ("file_path", "src/a.rs"), ("path", "b.rs"), ("focus", "the bug"), ("pattern", "é")];

fn text() -> impl Strategy<Value = Text> {
    let chars = prop_oneof![1..60_usize, prop::sample::select(&LIMITS[..])];
    let short = (prop::sample::select(&UNITS[..]), chars).prop_map(|(unit, chars)| Text { unit, chars });
    let long = prop::sample::select(&HIGH_LIMITS[..]).prop_map(|chars| Text { unit: "word ", chars });
    prop_oneof![160 => short, 1 => long]
}

fn sometimes<S: Strategy>(share: f64, of: S) -> impl Strategy<Value = Option<S::Value>>
where
    S::Value: Clone,
{
    prop::option::weighted(share, of)
}

fn step() -> impl Strategy<Value = Step> {
    let answer = prop_oneof![
        8 => text().prop_map(Answer::Text),
        2 => (text(), text()).prop_map(|(a, b)| Answer::List(a, b)),
        2 => text().prop_map(Answer::Error),
        1 => Just(Answer::Missing),
    ];
    let one_use = (prop::sample::select(&TOOLS[..]), prop::sample::select(&ARGUMENTS[..]), prop::bool::weighted(0.05))
        .prop_map(|(tool, argument, same_id)| Use { tool, argument, same_id });
    let compacted = prop_oneof![(0..3_usize).prop_map(|keep| Compacted::Fold { keep }), Just(Compacted::Clear)];
    let before = (sometimes(0.07, compacted), prop::collection::vec(answer, 3), prop::bool::weighted(0.05));
    let entered = (sometimes(0.2, text()), any::<bool>(), sometimes(0.3, text()));
    let response = (sometimes(0.2, text()), sometimes(0.6, text()), prop::collection::vec(one_use, 0..4));
    let recorded = (sometimes(0.7, prop::sample::select(vec![1_u16, 59, 60, 200])), sometimes(0.5, 1..5_000_u16));
    (before, entered, response, recorded).prop_map(
        |((compacted, answers, orphan), (note, apart, typed), (thinking, said, uses), (minutes, usage))| Step {
            compacted,
            answers,
            orphan,
            note,
            apart,
            typed,
            thinking,
            said,
            uses,
            minutes,
            usage,
        },
    )
}

/// Returns the conversation of some steps. Fewer steps give a prefix of it, block by block.
pub fn conversation(steps: &[Step], thinking: Thinking) -> Conversation {
    let mut scribe =
        Scribe { builder: ConversationBuilder::new("made", "messages", thinking), open: Vec::new(), ids: 0, time: 0 };
    for (index, step) in steps.iter().enumerate() {
        scribe.step(step, index == 0);
    }
    scribe.builder.finish()
}

struct Scribe {
    builder: ConversationBuilder,
    /// Ids of the calls that wait for their results.
    open: Vec<String>,
    ids: usize,
    time: i64,
}

impl Scribe {
    fn step(&mut self, step: &Step, first: bool) {
        self.time += i64::from(step.minutes.unwrap_or(0)) * 60_000;
        let time = step.minutes.map(|_| self.time);
        if let Some(compacted) = step.compacted {
            self.compact(compacted);
        }
        let mut blocks = Vec::new();
        for (id, answer) in std::mem::take(&mut self.open).into_iter().zip(&step.answers) {
            blocks.extend(self.answer(&id, answer));
        }
        if step.orphan {
            self.ids += 1;
            let id = format!("orphan-{}", self.ids);
            blocks.extend(self.answer(&id, &step.answers[0]));
        }
        if let Some(note) = step.note {
            if step.apart {
                self.user(std::mem::take(&mut blocks), false, time);
            }
            blocks.push(self.builder.text(note.written(), Origin::Injected, 0));
        }
        let typed = if first { Some(step.typed.unwrap_or(Text { unit: "Go on! ", chars: 30 })) } else { step.typed };
        if let Some(typed) = typed {
            blocks.push(self.builder.text(typed.written(), Origin::User, 0));
        }
        let plain = blocks.len() == 1 && typed.is_some() && !step.apart;
        self.user(blocks, plain, time);
        self.respond(step, time);
    }

    fn user(&mut self, blocks: Vec<BlockId>, plain: bool, time: Option<i64>) {
        self.builder.message(Message { role: Role::User, is_string_content: plain, blocks, time, line: 0 });
    }

    fn answer(&mut self, id: &str, answer: &Answer) -> Option<BlockId> {
        let part = |text: &Text| json!({"type": "text", "text": text.written()});
        let content = match answer {
            Answer::Text(text) | Answer::Error(text) => Value::String(text.written()),
            Answer::List(a, b) => json!([part(a), part(b)]),
            Answer::Missing => return None,
        };
        let mut wire = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if matches!(answer, Answer::Error(_)) {
            wire["is_error"] = true.into();
        }
        Some(self.builder.block(wire, Origin::Tool, 0))
    }

    fn respond(&mut self, step: &Step, time: Option<i64>) {
        let mut wires = Vec::new();
        wires.extend(step.thinking.map(|text| json!({"type": "thinking", "thinking": text.written(), "signature": "s"})));
        wires.extend(step.said.map(|text| json!({"type": "text", "text": text.written()})));
        for tool in &step.uses {
            self.ids += usize::from(!tool.same_id || self.ids == 0);
            let id = format!("toolu_{}", if tool.same_id { 1 } else { self.ids });
            let (key, value) = tool.argument;
            wires.push(json!({"type": "tool_use", "id": id, "name": tool.tool, "input": {key: value}}));
            self.open.push(id);
        }
        if wires.is_empty() {
            wires.push(json!({"type": "text", "text": "ok"}));
        }
        let blocks = wires.into_iter().map(|wire| self.builder.block(wire, Origin::Agent, 0)).collect();
        let usage = step.usage.map(|input| Usage { input: input.into(), ..Usage::default() });
        let message = Message { role: Role::Assistant, is_string_content: false, blocks, time, line: 0 };
        self.builder.response(message, Call { usage, time, ..Call::default() });
    }

    fn compact(&mut self, compacted: Compacted) {
        let edit = match compacted {
            Compacted::Fold { keep } => {
                let summary = self.builder.text("What was said before.", Origin::Compaction, 0);
                let messages = &self.builder.so_far().messages;
                let mut into =
                    vec![Message { role: Role::User, is_string_content: true, blocks: vec![summary], time: None, line: 0 }];
                into.extend(messages[messages.len().saturating_sub(keep)..].iter().cloned());
                RecordedEdit::Fold { into }
            }
            Compacted::Clear => RecordedEdit::Clear { pairs: self.builder.pair("toolu_1").into_iter().collect() },
        };
        let at = self.builder.so_far().messages.len();
        self.builder.compaction(Compaction {
            message_index: at,
            edit,
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            summary_usage: None,
            line: 0,
        });
    }
}
